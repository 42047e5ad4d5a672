// Reads what a client writes to stdin: one message per line. The SDK reads only single messages and silently ignores any other line, so
// that a client would wait forever. Here a batch is split into its messages, and a line that is not a message gets a JSON-RPC error.

import { Transform } from 'node:stream';

import { parseJSONRPCMessage, STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/server';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';

/** The same limit as the SDK has over HTTP. */
export const MAX_BATCH = 100;

const NEWLINE = 0x0a;

/** The answer to something that is not a message; `id` is null if it has none. */
export type Refusal = { jsonrpc: '2.0'; id: string | number | null; error: { code: number; message: string } };

/**
 * Turns the input into lines that are single messages for the SDK. A line that is too long is passed on unchanged; the SDK then gives up.
 */
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

/** The messages of a line, one per line. */
function messagesOf(line: string, answer: (refusal: Refusal) => void): string {
  const text = line.replace(/^\uFEFF/, '').trim(); // some clients write a byte order mark
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

/** JSON that can be parsed may still be too deep to be written. */
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
