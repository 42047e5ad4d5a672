// What a client writes to stdin: one message a line. The SDK reads single messages, and passes over any other line without a word, so
// that a client waits for good. Here a batch becomes its messages, and what is no message is answered as JSON-RPC has it.

import { Transform } from 'node:stream';

import { parseJSONRPCMessage, STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/server';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';

/** As many as the SDK takes over HTTP. */
export const MAX_BATCH = 100;

const NEWLINE = 0x0a;

/** An answer to what is no message; `id` is null where it has none. */
export type Refusal = { jsonrpc: '2.0'; id: string | number | null; error: { code: number; message: string } };

/** Makes of what comes in lines that are messages for the SDK; a line that is too long goes on as it is, for the SDK to give up. */
export function singleMessages(answer: (refusal: Refusal) => void): Transform {
  let parts: Buffer[] = [];
  let length = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        this.push(messagesOf(Buffer.concat([...parts, chunk.subarray(from, end)]).toString(), answer));
        [parts, length, from] = [[], 0, end + 1];
      }
      parts.push(chunk.subarray(from));
      length += chunk.length - from;
      if (length > STDIO_DEFAULT_MAX_BUFFER_SIZE) this.push(Buffer.concat(parts));
      done();
    },
  });
}

/** The messages of a line, a line each. */
function messagesOf(line: string, answer: (refusal: Refusal) => void): string {
  const text = line.replace(/^\uFEFF/, '').trim(); // some write a byte order mark
  if (text === '') return '';
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    answer(refusal(null, -32700, 'a line is no JSON'));
    return '';
  }
  if (!Array.isArray(json)) return isMessage(json, answer) ? `${text}\n` : '';
  if (json.length === 0 || json.length > MAX_BATCH) {
    answer(refusal(null, -32600, `a batch has 1 to ${MAX_BATCH} messages`));
    return '';
  }
  return json.map((one) => (isMessage(one, answer) ? lineOf(one, answer) : '')).join('');
}

/** JSON can be read that is too deep to be written. */
function lineOf(message: JSONRPCMessage, answer: (refusal: Refusal) => void): string {
  try {
    return `${JSON.stringify(message)}\n`;
  } catch {
    answer(refusal('id' in message ? (message.id ?? null) : null, -32600, 'this message is too deep for a batch'));
    return '';
  }
}

function isMessage(json: unknown, answer: (refusal: Refusal) => void): json is JSONRPCMessage {
  try {
    parseJSONRPCMessage(json);
    return true;
  } catch {
    const id = (json as { id?: unknown } | null)?.id;
    answer(refusal(typeof id === 'string' || typeof id === 'number' ? id : null, -32600, 'this is no message of JSON-RPC 2.0'));
    return false;
  }
}

const refusal = (id: Refusal['id'], code: number, message: string): Refusal => ({ jsonrpc: '2.0', id, error: { code, message } });
