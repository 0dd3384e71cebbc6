import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { planFor, type Step } from './plan.js';

/** How the pretend account behaves. Each batch is an account of its own. */
const accountSettings = z.object({
  /** Answers before the limit is reached. */
  limitAfter: z.number().int().min(0).max(10_000).default(9),
  /** From the limit to its reset. */
  resetMs: z.number().int().min(0).max(3_600_000).default(20_000),
  /** How long the model thinks. */
  paceMs: z.number().int().min(0).max(60_000).default(900),
  /** Refuses and breaks off at random; the number says how. */
  chaos: z.number().int().min(0).optional(),
});

const ask = z.object({
  account: z.string().max(200),
  child: z.string().max(200),
  session: z.string().max(100).nullable(),
  prompt: z.string().max(400_000),
  /** The number of the step that was carried out last; null from a process that has carried out none. */
  did: z.number().int().min(1).nullable(),
  settings: accountSettings,
});

/** What the provider answers to one request of an agent. */
export type DemoAnswer =
  | {
      readonly session: string;
      readonly step: Step;
      readonly number: number;
      readonly of: number;
      readonly usage: { readonly input: number; readonly cachedInput: number; readonly output: number };
    }
  | {
      readonly error: {
        readonly type: 'usage_limit_reached';
        readonly message: string;
        readonly resets_at: number;
      };
    }
  | { readonly trouble: 'overloaded' | 'broken' };

interface Account {
  calls: number;
  troubles: number;
  closedUntil: number | null;
  limited: boolean;
}

/**
 * The embedded provider of the demo: an HTTP server on loopback that plays a model account with a usage limit.
 * It closes once per batch, after `limitAfter` answers, and opens `resetMs` later. It forgets everything when it ends.
 */
export function createDemoProvider(onUse: () => void = () => undefined): Server {
  const accounts = new Map<string, Account>();
  const sessions = new Map<string, { plan: readonly Step[]; done: number }>();

  const answer = (body: z.infer<typeof ask>): DemoAnswer => {
    const now = Date.now();
    const known = body.session === null ? undefined : sessions.get(body.session);
    // Also where the answer is refused. A step that a killed agent was told and has not carried out is told again.
    if (known && body.did !== null) known.done = body.did;
    const account = accounts.get(body.account) ?? {
      calls: 0,
      troubles: 0,
      closedUntil: null,
      limited: false,
    };
    accounts.set(body.account, account);
    if (!account.limited && account.calls >= body.settings.limitAfter) {
      account.limited = true;
      account.closedUntil = Math.ceil((now + body.settings.resetMs) / 1000) * 1000;
    }
    if (account.closedUntil !== null && now < account.closedUntil) {
      return {
        error: {
          type: 'usage_limit_reached',
          message: 'The demo account has reached its usage limit',
          resets_at: account.closedUntil / 1000,
        },
      };
    }
    account.calls += 1;
    const trouble = body.settings.chaos === undefined ? null : troubleAt(body.settings.chaos, account.calls);
    if (trouble !== null && account.troubles < mostTroubles) {
      account.troubles += 1;
      return { trouble };
    }
    const session = known && body.session !== null ? body.session : randomUUID();
    const place = known ?? { plan: planFor(body.prompt), done: 0 };
    sessions.set(session, place);
    const number = Math.min(place.done, place.plan.length - 1);
    const step = place.plan[number];
    if (!step) throw new Error('a plan has at least one step');
    return {
      session,
      step,
      number: number + 1,
      of: place.plan.length,
      usage: { input: 900 + 240 * number, cachedInput: 220 * number, output: 80 },
    };
  };

  return createServer((request, response) => {
    onUse();
    if (request.method !== 'POST') return send(response, 200, { demo: 'swarm' });
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size < 1_000_000) chunks.push(chunk);
      else request.destroy();
    });
    request.on('end', () => {
      const parsed = ask.safeParse(parseJson(Buffer.concat(chunks).toString('utf8')));
      if (!parsed.success)
        return send(response, 400, { error: { type: 'invalid_request', message: parsed.error.message } });
      setTimeout(() => {
        const value = answer(parsed.data);
        send(response, 'error' in value ? 429 : 200, value);
      }, parsed.data.settings.paceMs);
    });
  });
}

const mostTroubles = 5;

/** About every sixth answer; the same number gives the same troubles. */
function troubleAt(seed: number, call: number): 'overloaded' | 'broken' | null {
  const mixed = Math.imul((seed + 1) * 2_654_435_761 + call * 40_503, 2_246_822_519) >>> 13;
  if (mixed % 6 !== 0) return null;
  return (mixed >>> 4) % 2 === 0 ? 'overloaded' : 'broken';
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
