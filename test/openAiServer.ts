// A server with OpenAI's chat API, as strict as its providers about what the AI SDK sends, which answers by a script.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export type ChatMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | null | ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[];
  reasoning_content?: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
};
export type ChatRequest = { model: string; messages: ChatMessage[]; tools?: unknown[]; stream?: boolean; [key: string]: unknown };
export type ChatReply =
  | { reasoning?: string; text?: string; calls?: [name: string, input: object][]; cached?: number; finish?: string }
  | { status: number; error: { message: string; code?: string; type?: string }; headers?: Record<string, string> };

export type OpenAiServer = { url: string; requests: ChatRequest[]; close(): Promise<void> };

/** The n-th request gets the n-th reply. */
export async function startOpenAiServer(replies: readonly ChatReply[]): Promise<OpenAiServer> {
  const requests: ChatRequest[] = [];
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = (await json(incoming)) as ChatRequest;
    const n = requests.push(request) - 1;
    const wrong = mistakeIn(request);
    const reply: ChatReply = wrong === null ? (replies[n] ?? { text: 'Done.' }) : { status: 400, error: { message: wrong } };
    if ('error' in reply) {
      response
        .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
        .end(JSON.stringify({ error: reply.error }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': `req_${n}` });
    for (const chunk of chunksOf(reply, request, n)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  };
  const server = createServer((...exchange) => void answer(...exchange)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Calls are answered by the very next messages, each once; the system speaks first and once. */
function mistakeIn({ messages, stream }: ChatRequest): string | null {
  if (stream !== true) return 'the request does not stream';
  if (messages.some(({ role }, n) => (role === 'system') !== (n === 0))) return 'the system message is not the first, or not the only one';
  let open: string[] = [];
  for (const { role, tool_calls, tool_call_id } of messages) {
    if (role === 'tool') {
      if (!open.includes(tool_call_id ?? '')) return `a result for no call: ${tool_call_id}`;
      open = open.filter((id) => id !== tool_call_id);
    } else if (open.length > 0) return `a call without its result: ${open.join()}`;
    if (tool_calls) open = tool_calls.map(({ id }) => id);
  }
  return open.length > 0 ? `a call without its result: ${open.join()}` : null;
}

function* chunksOf(
  { reasoning, text, calls = [], cached = 0, finish }: Exclude<ChatReply, { error: unknown }>,
  { model }: ChatRequest,
  n: number,
): Generator<object> {
  const chunk = (delta: object, more: object = {}): object => ({
    id: `chatcmpl-${n}`,
    object: 'chat.completion.chunk',
    created: 1,
    model: `${model}-2026`,
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  });
  yield chunk({ role: 'assistant' });
  for (const part of halves(reasoning ?? '')) yield chunk({ reasoning_content: part });
  for (const part of halves(text ?? '')) yield chunk({ content: part });
  const begun = calls.map(([name], index) => ({ index, id: `call_${n}_${index}`, type: 'function', function: { name, arguments: '' } }));
  for (const call of begun) yield chunk({ tool_calls: [call] });
  for (const [index, [, input]] of calls.entries())
    for (const part of halves(JSON.stringify(input))) yield chunk({ tool_calls: [{ index, function: { arguments: part } }] });
  yield chunk({}, { finish_reason: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop') });
  yield {
    id: `chatcmpl-${n}`,
    choices: [],
    usage: {
      prompt_tokens: 100 + cached,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning === undefined ? 0 : 7 },
    },
  };
}

const halves = (text: string): string[] => [text.slice(0, text.length / 2), text.slice(text.length / 2)].filter((part) => part !== '');
