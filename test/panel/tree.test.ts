import { afterAll, beforeAll, expect, test } from 'vitest';
import { drawnAsText } from './drawnAsText.js';
import { situations, type Situation } from './fixtures.js';
import { PanelHarness } from './harness.js';

let harness: PanelHarness;
beforeAll(async () => {
  harness = await PanelHarness.start();
});
afterAll(() => harness.stop());

async function check(situation: Situation, width: number, expected: string): Promise<void> {
  const panel = await harness.open(situation, { width, height: 900 });
  try {
    expect((await drawnAsText(panel)).split('\n')).toEqual(
      expected
        .trim()
        .split('\n')
        .map((l) => l.replace(/^ {4}/, '')),
    );
  } finally {
    await panel.close();
  }
}

test('a limit is a wait: the account says when it resets, each child counts down, nobody is red', () =>
  check(
    situations.limit,
    900,
    `
= claude limit reached · resets 18:30 · in 1 h 12 min 05 s · 5 waiting [Resume now…]
    - Auth hardening | 2 running 3 paused 2 held 1 done
      +*> [wait] Login form validation | Paused 1:12:05 | usage limit | claude | 3 | 184k
        " 3 files moved to its worktree; your build is clean
      + [wait] Rotate refresh tokens | Paused 1:12:05 | usage limit | claude | 5 | 96k
      + [wait] Audit log for sign-ins | Paused 1:12:05 | usage limit | claude | 1 | 41k
      + [run] Session store on Redis | Running 33 min | Running npx vitest run src/session | codex | 6 | 122k
      + [run] Rate limit for sign-in | Running 14 min | Editing src/http/limiter.ts | codex | 2 | 58k
      + [idle] End-to-end sign-in tests | Held | waits for claude | claude
      + [idle] Second factor by app | Held | waits for claude | claude
      + [ok] Document the sign-in flow | Done 21 min | ready to apply | codex | 4 | 73k | [Review]
    `,
  ));

test('after a reset one child is tried first and the others say whom they follow', () =>
  check(
    situations.canary,
    900,
    `
= claude trying one first · Audit log for sign-ins · 2 next · 2 held
    -* Auth hardening | 3 running 2 paused 2 held 1 applied
      + [wait] Login form validation | Paused next | goes after Audit log for sign-ins | claude | 3 | 184k
        " 3 files moved to its worktree; your build is clean
      + [wait] Rotate refresh tokens | Paused next | goes after Login form validation | claude | 5 | 96k
      + [run] Audit log for sign-ins | Running first | Resumed its session, reading src/audit/log.ts | claude | 1 | 41k
      + [run] Session store on Redis | Running 1 h 46 | Running npx vitest run src/session | codex | 6 | 122k
      + [run] Rate limit for sign-in | Running 1 h 27 | Editing src/http/limiter.ts | codex | 2 | 58k
      + [idle] End-to-end sign-in tests | Held | waits for claude | claude
      + [idle] Second factor by app | Held | waits for claude | claude
      + [ok] Document the sign-in flow | Applied 21 min | in your tree | codex | 4 | 73k
    `,
  ));

test('a decision is one strip with one primary button, and the child that asks opens by itself', () =>
  check(
    situations.needs,
    300,
    `
= claude signed out · 2 waiting [Sign in…!]
    = kimi out of credits · no reset time · 1 waiting [Try again!]
    = codex weekly limit · resets Mon 09:00 · 2 waiting [Resume Mon 09:00!] [Now] [Don't]
    - Auth hardening | 1 4 1 1
      -* [need] Session store on Redis | Needs you
        ! It stopped twice with exit code 1. Its last line does not say why: panic: index out of range [7] Its work is kept. Look at Why?, then resume or stop it. [Why?] [Resume]
      + [need] Login form validation | Paused
      + [need] Rotate refresh tokens | Paused
      + [need] Audit log for sign-ins | Paused
      + [need] Rate limit for sign-in | Paused Mon 09:00
      + [idle] Second factor by app | Held
      + [ok] Document the sign-in flow | Done 21 min | [Review]
    `,
  ));

test('a finished batch says what is ready, whose errors they are and what stays out', () =>
  check(
    situations.done,
    900,
    `
= Auth hardening check red · 16 errors: 0 in your tree, 16 in child Login form validation [Give back!] [Show errors]
    = Auth hardening done · 2 ready · 2 applied · 2 stay out [Apply all!] [Review all]
    -* Auth hardening | 1 conflict 1 check red 2 done 2 applied
      + [bad] Login form validation | Check red | 16 errors | claude | 3 | 231k | [Review]
      + [need] Session store on Redis | Conflict | you changed src/session/store.ts too | codex | 6 | 122k | [Review]
      + [ok] Rotate refresh tokens | Done 34 min | ready to apply | claude | 5 | 140k | [Review]
      + [ok] Audit log for sign-ins | Done 28 min | ready to apply | claude | 2 | 77k | [Review]
      + [ok] Document the sign-in flow | Applied 21 min | in your tree since 17:20 | codex | 4 | 73k
      + [ok] Strict types in src/auth | Applied 1 min | in your tree since 16:55 | local | 11
    `,
  ));

test('a failed child says what happened, what to do, and offers that step', () =>
  check(
    situations.failed,
    900,
    `
- Auth hardening | 2 failed 1 running 1 done 1 canceled
      -* [bad] Login form validation | Failed | request refused | claude
        ! The server does not accept the request: unknown model claude-sonet-5 Correct model of executor claude in the settings, then retry. [Open setting] [Retry]
      - [bad] Session store on Redis | Failed | context full | codex | 6 | 398k
        ! The task is too large for the model's context. Its 6 files are kept. Start fresh from its checkpoint, or split the task. [Start fresh] [Review]
      + [run] Rotate refresh tokens | Running 29 min | Editing src/auth/refresh.ts | claude | 5 | 88k
      + [idle] Audit log for sign-ins | Canceled | by you, work kept | claude | 1 | 12k
      + [ok] Document the sign-in flow | Done 21 min | ready to apply | codex | 4 | 73k | [Review]
    `,
  ));

test('a silent child is called quiet, a queued one says how many slots are busy', () =>
  check(
    situations.running,
    900,
    `
-* Auth hardening | 3 running 1 queued 2 done
      + [run] Login form validation | Running 12 min | Editing src/auth/login.ts | claude | 3 | 84k
      + [run] Session store on Redis | Running 8 min | quiet 4 min, npx vitest run src/session | codex | 6 | 61k
      + [run] Rotate refresh tokens | Running 3 min | Reading src/auth/refresh.ts | claude | 18k
      + [idle] Audit log for sign-ins | Queued | 3 of 3 slots busy | claude
      + [ok] Document the sign-in flow | Done 9 min | ready to apply | codex | 4 | 73k | [Review]
      + [ok] Strict types in src/auth | Done 1 min | ready to apply | local | 11 | [Review]
    `,
  ));

test('from 24 children on they are grouped, what asks first, and every group says its count', () =>
  check(
    situations.scale,
    300,
    `
= claude limit reached · resets 18:30 · in 1 h 12 min 05 s · 40 waiting [Resume now…]
    ? filter 128 | 2 need you, 1 failed, 11 running, 6 paused, 34 held, 74 done
    - Strict null checks | 2 1 53 of 96
      - [need] Needs you 2
        +* [need] src/…/currency.ts | Needs you | [Why?]
        + [need] settlement-report.ts | Needs you | [Why?]
      - [bad] Failed 1
        + [bad] src/…/address-form.tsx | Failed | [Retry]
      - [run] Running 7
        + [run] src/…/retry-queue.ts | 15 min
        + [run] src/…/reconcile.ts | 14 min
        + [run] src/…/address-form.tsx | 13 min
        + [run] src/…/ledger/currency.ts | 12 min
        + [run] …/settlement-report.ts | 11 min
        + [run] src/…/checkout/rules.ts | 10 min
        + [run] src/…/template-cache.ts | 9 min
      + [wait] Paused 6 | 1:12:05
      + [idle] Held 27
      + [ok] Done 53
    - Missing unit tests | 4 7 21
      - [run] Running 4
        + [run] src/…/mail/rules.ts | 15 min
        + [run] src/…/template-cache.ts | 14 min
        + [run] src/…/profile/index.ts | 13 min
        + [run] src/…/retry-queue.ts | 12 min
      + [idle] Held 7
      + [ok] Done 21
    `,
  ));

test('text of an agent is only ever text', async () => {
  const panel = await harness.open(situations.empty, { width: 900 });
  const nasty = '<img src=x onerror="window.hit=1"><b>bold</b>';
  const [first] = situations.running.view.batches;
  const children = (first?.children ?? []).map((child) => ({ ...child, title: nasty, lastLine: nasty }));
  await panel.show({
    host: situations.running.host,
    view: { ...situations.running.view, batches: first ? [{ ...first, name: nasty, children }] : [] },
  });
  expect(await panel.page.locator('.row img, .row b').count()).toBe(0);
  expect(await panel.page.locator('.row .ttl').first().textContent()).toBe(nasty);
  expect(panel.complaints).toEqual([]);
  await panel.close();
});
