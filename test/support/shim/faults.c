// Preloaded into the owner of a folder, the git it runs and the runner of an attempt. Counts the calls that write, sync,
// rename, remove or start something below one folder, and kills or refuses at the one that is asked for.
// The control block is shared memory: its layout is that of `control.ts`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT = 1, INJECT = 2 };
enum { KILL = 1, TORN = 2, REFUSE = 3 };

struct control {
  int32_t mode, what, error, stays, owner, killCaller, freed, reserved;
  int64_t occurrence, seen, hits;
  char root[512];
  char key[1024];
  char log[512];
};

static struct control *control;
static char program[64];
static int inAttempt;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void start(void) {
  const char *file = getenv("TEST_SHIM");
  if (file == NULL) return;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return;
  void *at = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (at == MAP_FAILED) return;
  inAttempt = getenv("SWARM_CHILD") != NULL;
  const char *name = program_invocation_short_name;
  struct control *found = at;
  if (strncmp(name, "node", 4) == 0) {
    int32_t none = 0;
    if (inAttempt || getenv("TEST_SHIM_OWNER") == NULL) return;
    if (!__atomic_compare_exchange_n(&found->owner, &none, (int32_t)getpid(), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return;
    strcpy(program, "owner");
  } else if (strncmp(name, "git", 3) == 0) {
    if (inAttempt) return;
    strcpy(program, "git");
  } else if (inAttempt && (strcmp(name, "sh") == 0 || strcmp(name, "dash") == 0 || strcmp(name, "mv") == 0))
    strcpy(program, "runner");
  else
    return;
  control = found;
}

static int startsWith(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

static int isDigit(char c) { return c >= '0' && c <= '9'; }

static int isWord(char c) { return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/** Names that are made up at each start, as a whole. */
static const char *madeUp(const char *part, int inObjects, int inLock) {
  size_t length = strcspn(part, "/");
  int lock = length > 5 && strncmp(part + length - 5, ".lock", 5) == 0;
  if (startsWith(part, "tmp_objdir")) return "objdir#";
  if (startsWith(part, "bulk_fsync_")) return "bulk#";
  if (startsWith(part, "tmp_")) return "tmp_#";
  if (startsWith(part, "index-")) return lock ? "index-#.lock" : "index-#";
  if (startsWith(part, "stage-")) return "stage-#";
  if (inObjects && length == 2) return "#";
  if (inLock && length > 4 && strncmp(part + length - 4, ".tmp", 4) == 0) return "#.tmp";
  return NULL;
}

/** What differs from run to run is left out, so that a call is found again in the next run. */
static void normalise(char *out, size_t size, const char *path) {
  size_t used = 0;
  int inObjects = 0, inLock = 0;
  for (const char *at = path; *at != 0 && used + 40 < size;) {
    if (at == path || at[-1] == '/') {
      const char *whole = madeUp(at, inObjects, inLock);
      inObjects = inObjects || startsWith(at, "objects/");
      inLock = startsWith(at, "lock/");
      if (whole != NULL) {
        used += (size_t)snprintf(out + used, size - used, "%s", whole);
        at += strcspn(at, "/");
        continue;
      }
    }
    size_t length = 0, digits = 0;
    for (; isWord(at[length]); length++) digits += isDigit(at[length]) ? 1 : 0;
    if (length == 0) {
      out[used++] = *at++;
      continue;
    }
    if (digits == length || (digits > 0 && length >= 6))
      out[used++] = '#';
    else
      for (size_t i = 0; i < length && used + 40 < size; i++) out[used++] = at[i];
    at += length;
  }
  out[used] = 0;
}

static int below(const char *path) {
  if (control == NULL || path == NULL || control->mode == 0) return 0;
  size_t length = strlen(control->root);
  if (strncmp(path, control->root, length) != 0) return 0;
  if (!inAttempt) return 1;
  return strstr(path, "/.swarm/") != NULL && strstr(path, "stdout.log") == NULL && strstr(path, "stderr.log") == NULL;
}

static void absolute(char *out, int folder, const char *path) {
  char from[PATH_MAX] = "";
  if (path[0] == '/') {
    snprintf(out, PATH_MAX, "%s", path);
    return;
  }
  if (folder == AT_FDCWD) {
    if (syscall(SYS_getcwd, from, sizeof(from)) < 0) from[0] = 0;
  } else {
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
    ssize_t got = readlink(link, from, sizeof(from) - 1);
    from[got < 0 ? 0 : got] = 0;
  }
  if (strlen(from) + strlen(path) + 2 > PATH_MAX) {
    out[0] = 0;
    return;
  }
  strcpy(out, from);
  strcat(out, "/");
  strcat(out, path);
}

static void note(const char *key) {
  int fd = (int)syscall(SYS_openat, AT_FDCWD, control->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  char line[1200];
  int length = snprintf(line, sizeof(line), "%s\n", key);
  syscall(SYS_write, fd, line, (size_t)length);
  syscall(SYS_close, fd);
}

static void die(void) {
  pid_t self = (pid_t)syscall(SYS_getpid);
  pid_t owner = control->owner;
  if (owner > 0 && owner != self) syscall(SYS_kill, owner, SIGKILL);
  if (owner == self || control->killCaller) syscall(SYS_kill, self, SIGKILL);
}

enum { GO = 0, FAIL = 1, HALF = 2 };

/** What is to happen at this call. `grows`: it needs space. */
static int point(const char *call, const char *what, int grows) {
  char key[1024], name[900];
  normalise(name, sizeof(name), what);
  snprintf(key, sizeof(key), "%s %s %s", program, call, name);
  if (control->mode == COUNT) {
    note(key);
    return GO;
  }
  if (__atomic_load_n(&control->hits, __ATOMIC_SEQ_CST) > 0) {
    if (!control->stays || control->freed) return GO;
    return control->error == EIO || grows ? FAIL : GO;
  }
  if (strcmp(key, control->key) != 0) return GO;
  if (__atomic_add_fetch(&control->seen, 1, __ATOMIC_SEQ_CST) != control->occurrence) return GO;
  __atomic_add_fetch(&control->hits, 1, __ATOMIC_SEQ_CST);
  if (control->what == KILL) {
    die();
    return GO;
  }
  return control->what == TORN || (!control->stays && strstr(call, "write") != NULL) ? HALF : FAIL;
}

static int refuse(void) {
  errno = control->what == REFUSE ? control->error : EIO;
  return -1;
}

static int onFd(const char *call, int fd, int grows) {
  if (control == NULL || control->mode == 0) return GO;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t got = readlink(link, path, sizeof(path) - 1);
  if (got <= 0) return GO;
  path[got] = 0;
  return below(path) ? point(call, path + strlen(control->root), grows) : GO;
}

static int onPath(const char *call, int folder, const char *name, int grows) {
  if (control == NULL || control->mode == 0 || name == NULL) return GO;
  char path[PATH_MAX];
  absolute(path, folder, name);
  return below(path) ? point(call, path + strlen(control->root), grows) : GO;
}

/** After half of it: the end of the process, or the refusal. */
static ssize_t after(void) {
  if (control->what == TORN) die();
  return refuse();
}

#define WRITES(name, DECLARATION, half, whole)              \
  ssize_t name DECLARATION {                                \
    __typeof__(&name) real = REAL(name);                    \
    int saved = errno, now = onFd("write", fd, 1);          \
    errno = saved;                                          \
    if (now == FAIL) return refuse();                       \
    if (now == HALF) {                                      \
      (void)!(half);                                        \
      return after();                                       \
    }                                                       \
    return whole;                                           \
  }

WRITES(write, (int fd, const void *bytes, size_t size), real(fd, bytes, size / 2), real(fd, bytes, size))
WRITES(pwrite, (int fd, const void *bytes, size_t size, off_t at), real(fd, bytes, size / 2, at), real(fd, bytes, size, at))
WRITES(pwrite64, (int fd, const void *bytes, size_t size, off64_t at), real(fd, bytes, size / 2, at), real(fd, bytes, size, at))
WRITES(writev, (int fd, const struct iovec *parts, int count), write(-1, "", 0), real(fd, parts, count))
WRITES(pwritev, (int fd, const struct iovec *parts, int count, off_t at), write(-1, "", 0), real(fd, parts, count, at))
WRITES(pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), write(-1, "", 0), real(fd, parts, count, at))

#define STEP(call)                                          \
  errno = saved;                                            \
  if (now != GO) return (int)after();                       \
  return call

int fsync(int fd) {
  int saved = errno, now = onFd("fsync", fd, 0);
  STEP(REAL(fsync)(fd));
}
int fdatasync(int fd) {
  int saved = errno, now = onFd("fsync", fd, 0);
  STEP(REAL(fdatasync)(fd));
}
int ftruncate(int fd, off_t length) {
  int saved = errno, now = onFd("truncate", fd, 0);
  STEP(REAL(ftruncate)(fd, length));
}
int ftruncate64(int fd, off64_t length) {
  int saved = errno, now = onFd("truncate", fd, 0);
  STEP(REAL(ftruncate64)(fd, length));
}
int rename(const char *from, const char *to) {
  int saved = errno, now = onPath("rename", AT_FDCWD, to, 0);
  STEP(REAL(rename)(from, to));
}
int renameat(int fromFolder, const char *from, int toFolder, const char *to) {
  int saved = errno, now = onPath("rename", toFolder, to, 0);
  STEP(REAL(renameat)(fromFolder, from, toFolder, to));
}
int renameat2(int fromFolder, const char *from, int toFolder, const char *to, unsigned int flags) {
  int saved = errno, now = onPath("rename", toFolder, to, 0);
  STEP(REAL(renameat2)(fromFolder, from, toFolder, to, flags));
}
int link(const char *from, const char *to) {
  int saved = errno, now = onPath("link", AT_FDCWD, to, 1);
  STEP(REAL(link)(from, to));
}
int symlink(const char *target, const char *path) {
  int saved = errno, now = onPath("symlink", AT_FDCWD, path, 1);
  STEP(REAL(symlink)(target, path));
}
int unlink(const char *path) {
  int saved = errno, now = onPath("unlink", AT_FDCWD, path, 0);
  STEP(REAL(unlink)(path));
}
int rmdir(const char *path) {
  int saved = errno, now = onPath("unlink", AT_FDCWD, path, 0);
  STEP(REAL(rmdir)(path));
}
int mkdir(const char *path, mode_t mode) {
  int saved = errno, now = onPath("mkdir", AT_FDCWD, path, 1);
  STEP(REAL(mkdir)(path, mode));
}

#define OPENS(name, DECLARATION, folder, realCall)                                    \
  int name DECLARATION {                                                              \
    mode_t mode = 0;                                                                  \
    if (flags & (O_CREAT | O_TMPFILE)) {                                              \
      va_list rest;                                                                   \
      va_start(rest, flags);                                                          \
      mode = va_arg(rest, mode_t);                                                    \
      va_end(rest);                                                                   \
    }                                                                                 \
    int saved = errno, now = flags & O_CREAT ? onPath("open", folder, path, 1) : GO;  \
    STEP(realCall);                                                                   \
  }

OPENS(open, (const char *path, int flags, ...), AT_FDCWD, REAL(open)(path, flags, mode))
OPENS(open64, (const char *path, int flags, ...), AT_FDCWD, REAL(open64)(path, flags, mode))
OPENS(openat, (int folder, const char *path, int flags, ...), folder, REAL(openat)(folder, path, flags, mode))
OPENS(openat64, (int folder, const char *path, int flags, ...), folder, REAL(openat64)(folder, path, flags, mode))

/** The first words of a command line say which start it is; the rest of one differs from run to run. */
static int onStart(const char *file, char *const args[]) {
  if (control == NULL || control->mode == 0 || inAttempt) return GO;
  char what[256] = "";
  const char *base = strrchr(file, '/');
  strncat(what, base == NULL ? file : base + 1, 60);
  for (int i = 1; args[i] != NULL && strlen(what) < 100; i++) {
    if (strcmp(args[i], "-c") == 0) {
      if (args[i + 1] != NULL) i++;
      continue;
    }
    if (args[i][0] == '-' || strchr(args[i], '/') != NULL || strchr(args[i], '\n') != NULL) continue;
    strcat(what, " ");
    strncat(what, args[i], 40);
    break;
  }
  return point("start", what, 0);
}

int execvp(const char *file, char *const args[]) {
  int saved = errno, now = onStart(file, args);
  STEP(REAL(execvp)(file, args));
}
int execve(const char *file, char *const args[], char *const environment[]) {
  int saved = errno, now = onStart(file, args);
  STEP(REAL(execve)(file, args, environment));
}
