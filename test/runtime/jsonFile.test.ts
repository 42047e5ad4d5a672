// Files that a person wrote in an editor that puts a mark before the text.

import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { withTools } from '../../runtime/commands/loadTools.ts';
import { scriptFile } from '../../runtime/commands/scriptFile.ts';

test('replies and servers are read with a byte-order mark', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'mark-'));
  const [replies, servers] = ['replies.json', 'servers.json'].map((name) => join(directory, name)) as [string, string];
  await writeFile(replies, '\uFEFF[{"say": "Done."}]');
  expect(scriptFile(replies)).toBeDefined();
  await writeFile(servers, '\uFEFF{"mcpServers": {}}');
  const plain = await withTools([], async (tools) => tools.length);
  expect(await withTools([servers], async (tools) => tools.length)).toBe(plain);
});
