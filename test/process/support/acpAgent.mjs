// A scripted agent of the Agent Client Protocol. What it does is in the prompt, one step a line; what it has heard
// is appended to $TEST_MEMORY/heard.jsonl.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

const memory = process.env.TEST_MEMORY;
const account = path.join(memory, 'account');
const note = (entry) => fs.appendFileSync(path.join(memory, 'heard.jsonl'), `${JSON.stringify(entry)}\n`);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const waiting = new Map();
let last = 1000;
let canceled = null;
const canceling = new Promise((resolve) => (canceled = resolve));

const ask = (method, params) =>
  new Promise((resolve) => {
    const id = ++last;
    waiting.set(id, resolve);
    send({ id, method, params });
  });
const update = (sessionId, content) =>
  send({ method: 'session/update', params: { sessionId, update: content } });
const say = (sessionId, text) =>
  update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

note({ started: process.pid, session: process.env.SWARM_SESSION ?? null });
for await (const line of readline.createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.method === undefined) {
    waiting.get(message.id)?.(message);
    continue;
  }
  note({ method: message.method, params: message.params });
  void answer(message);
}
note({ closed: true });

async function answer({ id, method, params }) {
  switch (method) {
    case 'initialize':
      return send({
        id,
        result: {
          protocolVersion: 1,
          agentCapabilities: { loadSession: process.env.TEST_NO_LOAD === undefined },
        },
      });
    case 'session/new':
      return send({ id, result: { sessionId: 'session-1' } });
    case 'session/load':
      if (params.sessionId !== 'session-1')
        return send({ id, error: { code: -32602, message: `Session not found: ${params.sessionId}` } });
      update('session-1', {
        sessionUpdate: 'tool_call',
        toolCallId: 'old',
        kind: 'edit',
        status: 'completed',
        locations: [{ path: path.join(params.cwd, 'replayed.txt') }],
      });
      return send({ id, result: null });
    case 'session/cancel':
      return canceled();
    case 'session/prompt':
      return send({ id, ...(await turn(params.sessionId, params.prompt[0].text)) });
    default:
      return send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  }
}

async function turn(sessionId, prompt) {
  const cwd = process.cwd();
  for (const [n, line] of prompt.split('\n').entries()) {
    const [step, ...rest] = line.trim().split(' ');
    const file = path.resolve(cwd, rest[0] ?? '');
    const toolCallId = `call-${n}`;
    switch (step) {
      case 'edit': {
        const call = { toolCallId, title: `Edit ${rest[0]}`, kind: 'edit', locations: [{ path: file }] };
        update(sessionId, { sessionUpdate: 'tool_call', status: 'pending', ...call });
        if (!(await allowed(sessionId, call))) break;
        fs.writeFileSync(file, `${rest.slice(1).join(' ')}\n`);
        update(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
        break;
      }
      case 'shell': {
        const call = { toolCallId, title: 'Shell', kind: 'execute', rawInput: { command: rest.join(' ') } };
        update(sessionId, { sessionUpdate: 'tool_call', status: 'pending', ...call });
        if (await allowed(sessionId, call))
          update(sessionId, {
            sessionUpdate: 'tool_call_update',
            toolCallId,
            status: 'completed',
            rawOutput: { exitCode: 0 },
          });
        break;
      }
      case 'fs': {
        const reply = await ask('fs/write_text_file', { sessionId, path: file, content: 'by the client\n' });
        note({ fs: rest[0], error: reply.error?.message ?? null });
        break;
      }
      case 'limit': {
        if (fs.existsSync(account)) break;
        const resetsAt = Math.ceil(Date.now() / 1000) + 2;
        fs.writeFileSync(account, String(resetsAt));
        update(sessionId, {
          sessionUpdate: 'usage_update',
          used: 1,
          size: 9,
          _meta: { '_claude/rateLimit': { status: 'rejected', resetsAt, rateLimitType: 'five_hour' } },
        });
        say(sessionId, "You've hit your 5-hour limit");
        return {
          error: {
            code: -32603,
            message: "Internal error: You've hit your 5-hour limit",
            data: { errorKind: 'rate_limit' },
          },
        };
      }
      case 'wait':
        say(sessionId, 'waiting\n');
        update(sessionId, { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: '…' } });
        await canceling;
        fs.writeFileSync(path.join(cwd, 'tidy.txt'), 'tidied up\n');
        return { result: { stopReason: 'cancelled' } };
      case 'stop':
        return { result: { stopReason: rest[0] } };
      case 'die':
        process.exit(3);
    }
  }
  if (/You were interrupted/.test(prompt)) fs.writeFileSync(path.join(cwd, 'resumed.txt'), 'went on\n');
  say(sessionId, 'All ');
  say(sessionId, 'done.');
  return {
    result: { stopReason: 'end_turn', usage: { inputTokens: 100, cachedReadTokens: 40, outputTokens: 7 } },
  };
}

async function allowed(sessionId, toolCall) {
  const options = [
    { optionId: 'always', name: 'Always', kind: 'allow_always' },
    { optionId: 'once', name: 'Once', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ];
  const { result } = await ask('session/request_permission', { sessionId, toolCall, options });
  note({ permission: toolCall.title, outcome: result.outcome });
  return result.outcome.optionId === 'once';
}
