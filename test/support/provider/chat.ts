import type { ServerResponse } from 'node:http';
import {
  type Call,
  type Wire,
  bearer,
  contentText,
  isInjected,
  lastMatch,
  objects,
  sendJson,
  startEvents,
} from './wire.js';

/** OpenAI Chat Completions, as Kimi Code speaks it. */
export const chat: Wire = {
  path: '/v1/chat/completions',
  account: bearer,

  read(body) {
    const messages = objects(body['messages']);
    const texts = (role: string) =>
      messages
        .filter((message) => message['role'] === role)
        .map((message) => contentText(message['content']));
    const results = messages.filter((message) => message['role'] === 'tool');
    return {
      prompts: texts('user').filter((text) => !isInjected(text)),
      results: new Map(
        results.map((message) => [String(message['tool_call_id']), contentText(message['content'])]),
      ),
      folder: lastMatch(texts('system').join('\n'), /current working directory is `([^`]+)`/g),
      main: objects(body['tools']).length > 0,
      model: String(body['model']),
      stream: body['stream'] === true,
    };
  },

  answer(response, conversation, reply, usage) {
    const toolCalls = reply.call === null ? [] : [toolCall(reply.call)];
    const finishReason = reply.call === null ? 'stop' : 'tool_calls';
    const counted = {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      cached_tokens: usage.cachedInput,
    };
    if (!conversation.stream) {
      const message = {
        role: 'assistant',
        content: reply.text,
        ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
      };
      sendJson(response, 200, {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: finishReason }],
        usage: counted,
      });
      return;
    }
    startEvents(response);
    sendChunk(response, conversation.model, { delta: { role: 'assistant', content: reply.text } });
    for (const [index, call] of toolCalls.entries())
      sendChunk(response, conversation.model, { delta: { tool_calls: [{ index, ...call }] } });
    sendChunk(response, conversation.model, { delta: {}, finish_reason: finishReason }, counted);
    response.end('data: [DONE]\n\n');
  },

  beginAnswer(response, conversation) {
    startEvents(response);
    sendChunk(response, conversation.model, { delta: { role: 'assistant', content: 'I was about' } });
  },

  refuse(response) {
    const message =
      "You've reached your usage limit for this billing cycle. Your quota will be refreshed in the next cycle. Upgrade to get more: https://www.kimi.com/code/console?from=quota-upgrade";
    sendJson(response, 403, { error: { type: 'permission_error', message } });
  },

  overload(response) {
    sendJson(response, 503, {
      error: {
        type: 'engine_overloaded_error',
        message: 'The engine is currently overloaded, please try again later',
      },
    });
  },

  unauthorized(response) {
    const message =
      'The API Key appears to be invalid or may have expired. Please verify your credentials and try again.';
    sendJson(response, 401, { error: { type: 'invalid_authentication_error', message } });
  },
};

function sendChunk(response: ServerResponse, model: string, choice: object, usage?: object): void {
  const chunk = {
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model },
    choices: [{ index: 0, finish_reason: null, ...choice }],
    ...(usage === undefined ? {} : { usage }),
  };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}

function toolCall({ id, step }: Call): object {
  const call = (name: string, input: object) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  });
  if ('read' in step) return call('Read', { path: step.read });
  if ('write' in step) return call('Write', { path: step.write, content: step.content });
  if ('shell' in step) return call('Bash', { command: step.shell, timeout: 60 });
  return call('TodoList', {
    todos: step.plan.map((item) => ({ title: item.text, status: item.done ? 'done' : 'pending' })),
  });
}
