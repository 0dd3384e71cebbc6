import {
  type Call,
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

/** OpenAI Responses, as Codex speaks it. */
export const responses: Wire = {
  path: '/v1/responses',
  account: bearer,

  read(body) {
    const input = objects(body['input']);
    const results = input.filter(
      (item) => item['type'] === 'function_call_output' || item['type'] === 'custom_tool_call_output',
    );
    const texts = input
      .filter((item) => item['type'] === 'message' && item['role'] === 'user')
      .map((item) => contentText(item['content']));
    return {
      prompts: texts.filter((text) => !isInjected(text)),
      results: new Map(results.map((item) => [String(item['call_id']), outputText(item['output'])])),
      folder: lastMatch(texts.join('\n'), /<cwd>([^<]+)<\/cwd>/g),
      main: objects(body['tools']).length > 0,
      model: String(body['model']),
      stream: true,
    };
  },

  answer(response, _conversation, reply, usage) {
    startEvents(response);
    const id = `resp_${Math.random().toString(36).slice(2)}`;
    sendEvent(response, 'response.created', { response: { id } });
    const items = [
      ...(reply.text === ''
        ? []
        : [
            {
              type: 'message',
              role: 'assistant',
              id: `msg_${id}`,
              content: [{ type: 'output_text', text: reply.text }],
            },
          ]),
      ...(reply.call === null ? [] : [toolCall(reply.call)]),
    ];
    items.forEach((item, index) =>
      sendEvent(response, 'response.output_item.done', { output_index: index, item }),
    );
    sendEvent(response, 'response.completed', {
      response: {
        id,
        usage: {
          input_tokens: usage.input,
          input_tokens_details: { cached_tokens: usage.cachedInput },
          output_tokens: usage.output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: usage.input + usage.output,
        },
      },
    });
    response.end();
  },

  beginAnswer(response) {
    startEvents(response);
    sendEvent(response, 'response.created', { response: { id: 'resp_cut' } });
  },

  refuse(response, limit) {
    const resetsAt = limit.resetAt / 1000;
    const error = {
      type: 'usage_limit_reached',
      message: 'The usage limit has been reached',
      plan_type: 'plus',
      resets_at: resetsAt,
      resets_in_seconds: Math.max(1, Math.ceil((limit.resetAt - limit.now) / 1000)),
    };
    sendJson(
      response,
      429,
      { error },
      {
        'x-codex-primary-used-percent': '100',
        'x-codex-primary-window-minutes': '300',
        'x-codex-primary-reset-at': String(resetsAt),
      },
    );
  },

  overload(response) {
    sendJson(response, 503, { error: { type: 'server_error', message: 'The server is overloaded' } });
  },

  unauthorized(response) {
    sendJson(response, 401, { error: { type: 'authentication_error', message: 'OAuth token has expired' } });
  },
};

function outputText(output: unknown): string {
  return typeof output === 'string' ? output : contentText(output);
}

function toolCall({ id, step }: Call): object {
  const call = (name: string, input: object) => ({
    type: 'function_call',
    name,
    call_id: id,
    arguments: JSON.stringify(input),
  });
  if ('read' in step) return call('exec_command', { cmd: `cat ${step.read}` });
  if ('shell' in step) return call('exec_command', { cmd: step.shell });
  if ('write' in step) {
    const lines = step.content.replace(/\n$/, '').split('\n');
    const patch = [
      '*** Begin Patch',
      `*** Add File: ${step.write}`,
      ...lines.map((line) => `+${line}`),
      '*** End Patch',
      '',
    ];
    return { type: 'custom_tool_call', name: 'apply_patch', call_id: id, input: patch.join('\n') };
  }
  return call('update_plan', {
    plan: step.plan.map((item) => ({ step: item.text, status: item.done ? 'completed' : 'pending' })),
  });
}
