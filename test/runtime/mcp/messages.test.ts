import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { expect, test } from 'vitest';

import { singleMessages } from '../../../runtime/mcp/messages.ts';
import type { Refusal } from '../../../runtime/mcp/messages.ts';

const ping = (id: number | string): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });

/** What is passed on, and what is answered, as `id code`. */
async function read(...chunks: (string | Buffer)[]): Promise<{ lines: string; refused: string[] }> {
  const refused: Refusal[] = [];
  const input = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const lines = await text(input.pipe(singleMessages((refusal) => void refused.push(refusal))));
  return { lines, refused: refused.map(({ id, error }) => `${id} ${error.code}`) };
}

test('a batch becomes its messages, in their order; what is none of them is answered by its own id', async () => {
  const notification = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  expect(await read(`[${ping(1)},${notification}, ${ping('two')}]\n`)).toEqual({
    lines: `${ping(1)}\n${notification}\n${ping('two')}\n`,
    refused: [],
  });
  expect(await read(`[${ping(1)},{"id":2,"method":"ping"},7]\n`)).toEqual({ lines: `${ping(1)}\n`, refused: ['2 -32600', 'null -32600'] });
  const deep = `{"jsonrpc":"2.0","id":3,"method":"ping","params":{"deep":${'['.repeat(500_000)}${']'.repeat(500_000)}}}`;
  expect(await read(`[${deep},${ping(4)}]\n`)).toEqual({ lines: `${ping(4)}\n`, refused: ['3 -32600'] });
});

test('a batch without messages, or with too many, is refused', async () => {
  const many = (count: number): string => `[${Array.from({ length: count }, (_, id) => ping(id)).join()}]\n`;
  expect(await read('[]\n')).toEqual({ lines: '', refused: ['null -32600'] });
  expect(await read(many(101))).toEqual({ lines: '', refused: ['null -32600'] });
  expect((await read(many(100))).lines.trim().split('\n')).toHaveLength(100);
});

test('a line that is no message is answered; an empty one is not', async () => {
  expect(
    await read('{"jsonrpc":\n', '\n', ' \r\n', '{"id":"a","method":"ping"}\n', 'null\n', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n'),
  ).toEqual({
    lines: '',
    refused: ['null -32700', 'a -32600', 'null -32600', '1.5 -32600'],
  });
});

test('lines come in pieces, with ends of lines and a byte order mark of Windows', async () => {
  const bytes = Buffer.from(`\uFEFF${ping('é')}\r\n${ping(2)}\n${ping(3)}`);
  const inside = bytes.indexOf(0xa9); // of é
  expect(await read(bytes.subarray(0, 5), bytes.subarray(5, inside), bytes.subarray(inside))).toEqual({
    lines: `${ping('é')}\n${ping(2)}\n`,
    refused: [],
  });
});
