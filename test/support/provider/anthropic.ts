import type { ServerResponse } from 'node:http';
import path from 'node:path';
import {
  type Call,
  type Conversation,
  type Limit,
  type Wire,
  bearer,
  contentText,
  isInjected,
  lastMatch,
  objects,
  sendEvent,
  sendJson,
  startEvents,
} from './wire.js';

/** Anthropic Messages, as Claude Code speaks it with a subscription's token. */
export const anthropic: Wire = {
  path: '/v1/messages',
  account: (headers) => {
    const key = headers['x-api-key'];
    return typeof key === 'string' ? key : bearer(headers);
  },

  read(body) {
    const blocks = objects(body['messages']).flatMap((message) => {
      const content =
        typeof message['content'] === 'string'
          ? [{ type: 'text', text: message['content'] }]
          : objects(message['content']);
      return content.map((block): Record<string, unknown> => ({ role: message['role'], ...block }));
    });
    const results = blocks.filter((block) => block['type'] === 'tool_result');
    const surroundings = `${contentText(body['system'])}\n${blocks.map((block) => contentText([block])).join('\n')}`;
    return {
      prompts: blocks
        .filter((block) => block['role'] === 'user' && block['type'] === 'text')
        .map((block) => contentText([block]))
        .filter((text) => !isInjected(text)),
      results: new Map(results.map((block) => [String(block['tool_use_id']), contentText(block['content'])])),
      folder: lastMatch(surroundings, /Primary working directory: ([^\n]+)/g),
      main: objects(body['tools']).length > 0,
      model: String(body['model']),
      stream: body['stream'] === true,
    };
  },

  answer(response, conversation, reply, usage) {
    const content = [
      ...(reply.text === '' ? [] : [{ type: 'text', text: reply.text }]),
      ...(reply.call === null ? [] : [toolUse(reply.call, conversation.folder)]),
    ];
    const stopReason = reply.call === null ? 'end_turn' : 'tool_use';
    const counted = {
      input_tokens: usage.input - usage.cachedInput,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: usage.cachedInput,
    };
    const message = {
      id: `msg_${Math.random().toString(36).slice(2)}`,
      type: 'message',
      role: 'assistant',
      model: conversation.model,
    };
    if (!conversation.stream) {
      sendJson(
        response,
        200,
        {
          ...message,
          content,
          stop_reason: stopReason,
          stop_sequence: null,
          usage: { ...counted, output_tokens: usage.output },
        },
        allowed,
      );
      return;
    }
    startEvents(response, allowed);
    sendEvent(response, 'message_start', {
      message: {
        ...message,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...counted, output_tokens: 1 },
      },
    });
    content.forEach((block, index) => sendBlock(response, block, index));
    sendEvent(response, 'message_delta', {
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: usage.output },
    });
    sendEvent(response, 'message_stop', {});
    response.end();
  },

  beginAnswer(response, conversation) {
    startEvents(response, allowed);
    sendEvent(response, 'message_start', {
      message: {
        ...{ id: 'msg_cut', type: 'message', role: 'assistant', model: conversation.model, content: [] },
        ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
      },
    });
    sendEvent(response, 'content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    sendEvent(response, 'content_block_delta', {
      index: 0,
      delta: { type: 'text_delta', text: 'I was about' },
    });
  },

  refuse(response, limit) {
    const message = "This request would exceed your account's rate limit. Please try again later.";
    sendJson(
      response,
      429,
      { type: 'error', error: { type: 'rate_limit_error', message } },
      limitHeaders(limit),
    );
  },

  overload(response) {
    sendJson(response, 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
  },

  unauthorized(response) {
    const message = 'OAuth token has expired. Please obtain a new token or refresh your existing token.';
    sendJson(response, 401, { type: 'error', error: { type: 'authentication_error', message } });
  },
};

const allowed = { 'anthropic-ratelimit-unified-status': 'allowed' };

function limitHeaders(limit: Limit): Record<string, string> {
  const reset = String(limit.resetAt / 1000);
  return {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': reset,
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    'anthropic-ratelimit-unified-5h-status': 'rejected',
    'anthropic-ratelimit-unified-5h-reset': reset,
    'anthropic-ratelimit-unified-5h-utilization': '1.0',
    'anthropic-ratelimit-unified-fallback': 'unavailable',
    'anthropic-ratelimit-unified-overage-status': 'rejected',
    'anthropic-ratelimit-unified-overage-disabled-reason': 'org_level_disabled',
    'retry-after': String(Math.max(1, Math.ceil((limit.resetAt - limit.now) / 1000))),
    'x-should-retry': 'false',
  };
}

function sendBlock(response: ServerResponse, block: Record<string, unknown>, index: number): void {
  const text = block['type'] === 'text';
  sendEvent(response, 'content_block_start', {
    index,
    content_block: text ? { ...block, text: '' } : { ...block, input: {} },
  });
  const delta = text
    ? { type: 'text_delta', text: block['text'] }
    : { type: 'input_json_delta', partial_json: JSON.stringify(block['input']) };
  sendEvent(response, 'content_block_delta', { index, delta });
  sendEvent(response, 'content_block_stop', { index });
}

function toolUse({ id, step }: Call, folder: Conversation['folder']): Record<string, unknown> {
  const absolute = (file: string) => path.resolve(folder ?? '/', file);
  const use = (name: string, input: object) => ({ type: 'tool_use', id, name, input });
  if ('read' in step) return use('Read', { file_path: absolute(step.read) });
  if ('write' in step) return use('Write', { file_path: absolute(step.write), content: step.content });
  if ('shell' in step) return use('Bash', { command: step.shell, description: 'Run it' });
  return use('TodoWrite', {
    todos: step.plan.map((item) => ({
      content: item.text,
      activeForm: item.text,
      status: item.done ? 'completed' : 'pending',
    })),
  });
}
