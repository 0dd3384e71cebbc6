/**
 * What stands between us and an agent: a constant script for `/bin/sh`, whose arguments are data and are never part of
 * its text. It leads a session of its own, so it and the agent outlive us, and it writes down how the agent ended.
 *
 * Arguments: folder, stdin file, path of `mv`, program, arguments. The nonce comes in the environment, as for the agent.
 *
 * - `claim` is made with O_EXCL: whoever makes it is the attempt's one start; a second runner ends with 97.
 * - The signals that ask a group to end are caught, not ignored: the agent gets them as usual, the runner stays to
 *   write down the status. The shell waits for the agent before it obeys a trap.
 * - The agent is started from a subshell: what the shell itself says of its end ("Terminated") is not in its log.
 * - The status is written over a file that was filled at the start, so that a full disk does not lose it, and then
 *   renamed, so that nobody reads half of it.
 * - What it makes is for the user alone; the agent gets the umask of its surroundings back.
 * - 98: the folder could not be written, 96: stdin not read; nothing was started.
 * - We may be gone already when it reports its claim: that must not end it, for the claim would stay without an agent.
 */
export const runnerScript = `
folder=$1; input=$2; move=$3; shift 3
trap : HUP INT QUIT TERM
mask=$(umask); umask 077
born=; boot=
if [ -r "/proc/$$/stat" ]; then
  read -r born < "/proc/$$/stat"
  read -r boot < /proc/sys/kernel/random/boot_id
else
  born=$(LC_ALL=C ps -o state=,lstart= -p $$)
fi 2>/dev/null
(set -C; : > "$folder/claim") 2>/dev/null || { [ -e "$folder/claim" ] && exit 97; exit 98; }
printf '%s\\n' "$$" "$SWARM_NONCE" "$boot" "$born" end > "$folder/claim" || exit 98
printf '%-95s\\n' '' > "$folder/exit.tmp" || exit 98
: >> "$folder/stdout.log" || exit 98
: >> "$folder/stderr.log" || exit 98
[ -r "$input" ] || exit 96
trap '' PIPE
printf 'claimed\\n' >&3
exec 3>&-
trap - PIPE
umask "$mask"
(exec "$@" < "$input" >> "$folder/stdout.log" 2>> "$folder/stderr.log")
code=$?
printf '%-95s\\n' "{\\"code\\":$code}" 1<> "$folder/exit.tmp"
"$move" -f "$folder/exit.tmp" "$folder/exit.json"
`;

/** Exit codes of the runner before it has started anything. */
export const runnerCodes = { noInput: 96, claimedBefore: 97, notWritable: 98 } as const;
