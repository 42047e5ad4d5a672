// Notes of a project, as programs, two agents at once and people use them: the handlers for Anthropic's SDK, with its own helper and tool
// runner, and the command line.

import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';

import Anthropic from '@anthropic-ai/sdk';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import type { MemoryToolHandlers } from '@anthropic-ai/sdk/helpers/beta/memory';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { clientOf } from '../../runtime/client.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { main } from '../../runtime/main.ts';
import { cli as typed } from '../cli.ts';
import type { Ended } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

let database: TestDatabase;
let db: Db;
let home = '';
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  home = await mkdtemp(join(tmpdir(), 'memory-'));
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
  await rm(home, { recursive: true, force: true });
});

const cli = (args: string[], options: { stdin?: string; env?: Record<string, string> } = {}): Promise<Ended> =>
  typed([...args, '--project', 'shop'], {
    env: { PATH: process.env['PATH'], HOME: home, DATABASE_URL: database.url, ...options.env },
    cwd: home,
    ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
  });

type Request = {
  tools: { type: string; name: string }[];
  messages: { role: string; content: { type: string; content?: unknown; is_error?: boolean }[] }[];
};

/** A model that calls the memory tool with one input after the other, and says then that it is done. */
async function model(inputs: object[]): Promise<{ server: Server; url: string; requests: Request[] }> {
  const requests: Request[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      requests.push(JSON.parse(body) as Request);
      const input = inputs[requests.length - 1];
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          id: `m${requests.length}`,
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: input ? [{ type: 'tool_use', id: `t${requests.length}`, name: 'memory', input }] : [{ type: 'text', text: 'Done' }],
          stop_reason: input ? 'tool_use' : 'end_turn',
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

test('the handlers are what the SDK takes, and its tool runner says what they say', async () => {
  const handlers: MemoryToolHandlers = clientOf(db, '').memory({ project: 'sdk' });
  const { server, url, requests } = await model([
    { command: 'view', path: '/memories' },
    { command: 'create', path: '/memories/a.md', file_text: 'one\ntwo\n' },
    { command: 'create', path: '/memories/a.md', file_text: 'x' },
    { command: 'str_replace', path: '/memories/a.md', old_str: 'two', new_str: 'three' },
    { command: 'insert', path: '/memories/a.md', insert_line: 9, insert_text: 'x' },
    { command: 'insert', path: '/memories/a.md', insert_line: 0, insert_text: 'zero' },
    { command: 'rename', old_path: '/memories/a.md', new_path: '/memories/b.md' },
    { command: 'view', path: '/memories/b.md', view_range: [1, 2] },
    { command: 'delete', path: '/memories/b.md' },
    { command: 'view', path: '/memories/../b.md' },
  ]);
  try {
    const client = new Anthropic({ apiKey: 'k', baseURL: url, maxRetries: 0 });
    const last = await client.beta.messages.toolRunner({
      model: 'm',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Note' }],
      tools: [betaMemoryTool(handlers)],
    });
    expect(last.content).toMatchObject([{ type: 'text', text: 'Done' }]);
    expect(requests[0]?.tools).toEqual([{ type: 'memory_20250818', name: 'memory' }]);
    const results = requests.slice(1).map(({ messages }) => messages.at(-1)?.content[0]);
    expect(results.map((result) => [result?.content, result?.is_error ?? false])).toEqual([
      [
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories",
        false,
      ],
      ['File created successfully at: /memories/a.md', false],
      ['Error: File /memories/a.md already exists', true],
      [
        'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone\n     2\tthree\n     3\t',
        false,
      ],
      ['Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 3]', true],
      ['The file /memories/a.md has been edited.', false],
      ['Successfully renamed /memories/a.md to /memories/b.md', false],
      ["Here's the content of /memories/b.md with line numbers:\n     1\tzero\n     2\tone", false],
      ['Successfully deleted /memories/b.md', false],
      ['Error: Path /memories/../b.md would escape /memories directory', true],
    ]);
  } finally {
    server.close();
  }
});

test('twenty programs that edit one note at once lose nothing', async () => {
  await db.notes.write('/memories/list.md', Array.from({ length: 20 }, (_, n) => `- ${n}: open`).join('\n'), 'many', null, null);
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const memory = clientOf(db, '').memory({ project: 'many' });
      await memory.view({ command: 'view', path: '/memories/list.md' });
      const edited = await memory.str_replace({
        command: 'str_replace',
        path: '/memories/list.md',
        old_str: `- ${n}: open`,
        new_str: `- ${n}: done`,
      });
      const inserted = await memory.insert({ command: 'insert', path: '/memories/list.md', insert_line: 3, insert_text: `+ ${n}` }).then(
        () => 'inserted',
        (error: Error) => error.message.split('\n').at(-1),
      );
      return [edited.split('.')[0], inserted];
    }),
  );
  expect(outcomes.map(([edited]) => edited)).toEqual(Array.from({ length: 20 }, () => 'The memory file has been edited'));
  const found = await db.notes.read('/memories/list.md', 'many');
  const inserted = outcomes.flatMap(([, how], n) => (how === 'inserted' ? [`+ ${n}`] : []));
  expect(new Set(outcomes.map(([, how]) => how))).toEqual(
    inserted.length === 20 ? new Set(['inserted']) : new Set([...(inserted.length > 0 ? ['inserted'] : []), 'View it again, then decide.']),
  );
  const lines = found?.content.split('\n') ?? [];
  expect(lines.toSorted()).toEqual([...Array.from({ length: 20 }, (_, n) => `- ${n}: done`), ...inserted].toSorted());
  // Every version is there, each with one edit more.
  expect(found?.version).toBe(1 + 20 + inserted.length);
  expect(await db.notes.history('/memories/list.md', 'many')).toHaveLength(1 + 20 + inserted.length);
});

test('a command that is repeated with its key does nothing again', async () => {
  const hand = { project: 'again', workItemId: null, lease: null, reader: 'anna' };
  const commands = [
    { command: 'create', path: '/memories/a.md', file_text: 'one' },
    { command: 'insert', path: '/memories/a.md', insert_line: 1, insert_text: 'two' },
    { command: 'str_replace', path: '/memories/a.md', old_str: 'two', new_str: 'two two' },
    { command: 'rename', old_path: '/memories/a.md', new_path: '/memories/b.md' },
  ];
  for (const [n, command] of commands.entries()) {
    const first = await db.notes.command(command, hand, `key ${n}`);
    expect(await db.notes.command(command, hand, `key ${n}`)).toBe(first);
  }
  expect(await db.notes.read('/memories/b.md', 'again')).toMatchObject({ content: 'one\ntwo two', version: 4 });
  const gone = { command: 'delete', path: '/memories/b.md' };
  expect(await db.notes.command(gone, hand, 'key 4')).toBe('Successfully deleted /memories/b.md');
  expect(await db.notes.command(gone, hand, 'key 4')).toBe('Successfully deleted /memories/b.md');
  await expect(db.notes.command(gone, hand, 'key 5')).rejects.toThrow('The path /memories/b.md does not exist');
});

test('for a work item the handlers are of its project, and need its lease while it is driven', async () => {
  const item = await db.workSubmit({ workType: 'x', description: 'Note', project: 'shop' });
  const memory = clientOf(db, '').memory({ workItemId: item.id });
  await memory.create({ command: 'create', path: '/memories/of.md', file_text: 'mine' });
  expect(await db.notes.history('/memories/of.md', 'shop')).toMatchObject([{ work_item_id: item.id, command: 'create' }]);
  await expect(clientOf(db, '').memory({ project: 'elsewhere' }).view({ command: 'view', path: '/memories/of.md' })).rejects.toThrow(
    'The path /memories/of.md does not exist. Please provide a valid path.',
  );
});

test('people read, edit, go back, pin and erase', async () => {
  await database.query(`select ledger.memory_erase(path, 'test', 'shop') from ledger.v_memory_files where project = 'shop'`);
  expect((await cli(['memory', 'list'])).stdout).toBe('no notes in shop yet\n');
  expect((await cli(['memory', 'edit', 'style.md', '--why', 'first'], { stdin: 'Tabs\n' })).stdout).toBe(
    '/memories/style.md is version 1\n',
  );
  expect(await cli(['memory', 'edit', 'style.md'], { stdin: 'Blanks' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--replaces 1'),
  });
  expect(await cli(['memory', 'edit', 'style.md', '--replaces', '1'], { stdin: '' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('stdin was empty'),
  });
  expect((await cli(['memory', 'edit', '/memories/style.md', '--replaces', '1'], { stdin: 'Blanks\u001b[2J\n' })).stdout).toBe(
    '/memories/style.md is version 2\n',
  );
  expect((await cli(['memory', 'edit', 'style.md', '--replaces', '2'], { stdin: 'Blanks\u001b[2J\n' })).stderr).toBe(
    'nothing was changed\n',
  );
  expect(await cli(['memory', 'edit', 'style.md', '--replaces', '1'], { stdin: 'Late\n' })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('was changed since you viewed it'),
  });
  const shown = (await cli(['memory', 'show', 'style.md'])).stdout;
  expect(shown).toMatch(/^Blanks.*\n$/);
  expect(shown).not.toContain('\u001b');
  expect((await cli(['memory', 'list'])).stdout).toMatch(/^ +2 +\d+ {2}\S+ \S+ {2}\/memories\/style\.md {2}by \S+\n$/);
  expect((await cli(['memory', 'history', 'style.md'])).stdout).toMatch(/^ +2 .* write .*\n +1 .* write .*: first\n$/);
  expect((await cli(['memory', 'rollback', 'style.md', '1'])).stdout).toBe(
    '/memories/style.md was restored from version 1, as version 3\n',
  );
  expect(await cli(['memory', 'pin', 'style.md', 'newest'])).toMatchObject({ code: 2, stderr: expect.stringContaining('name a version') });
  expect(await cli(['memory', 'pin', 'style.md', '1'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('was changed since you viewed it'),
  });
  expect((await cli(['memory', 'list'])).stdout).not.toContain('(pinned)');
  expect((await cli(['memory', 'pin', 'style.md'])).stdout).toBe('/memories/style.md is pinned\n');
  expect((await cli(['memory', 'pin', 'style.md'])).stdout).toBe('/memories/style.md is pinned already\n');
  expect((await cli(['memory', 'list'])).stdout).toContain('(pinned)');
  expect(JSON.parse((await cli(['memory', 'show', 'style.md', '--json'])).stdout)).toMatchObject({ content: 'Tabs\n', version: 3 });
  expect((await cli(['memory', 'unpin', 'style.md'])).stdout).toBe('/memories/style.md is not pinned\n');
  expect(await cli(['memory', 'erase', 'style.md'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--reason') });
  expect((await cli(['memory', 'erase', 'style.md', '--reason', 'because', '--keep-newest'])).stdout).toBe(
    'permanently erased the text of 2 versions\n',
  );
  expect(await cli(['memory', 'show', 'other.md'])).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no note') });
  expect(await cli(['memory', 'rollback', 'style.md', 'x'])).toMatchObject({ code: 2 });
});

test('what several agents were told of is listed, with where it is from', async () => {
  expect((await cli(['memory', 'suggest'])).stdout).toBe(
    'no suggestions: every finding that several agents were told of is covered by a note\n',
  );
  const item = await db.workSubmit({ workType: 'untaken', description: 'Looks', project: 'shop' });
  await database.query(`
    select ledger.ledger_append('${item.id}', 'finding', E'Redis\\nfirst \\u001b[2J');
    insert into ledger.awareness_shown (focus_id, work_item_id, seq)
    select w.id, '${item.id}'::uuid, 1 from ledger.work_submit('untaken', 'One') w union all
    select w.id, '${item.id}'::uuid, 1 from ledger.work_submit('untaken', 'Two') w`);
  const said = (await cli(['memory', 'suggest'])).stdout;
  expect(said).toMatch(new RegExp(`^finding of ${item.id}/1, told to 2 since \\S+ \\S+:\\n {2}Redis\\n {2}first .*\\n$`));
  expect(said).not.toContain('\u001b');
  expect(JSON.parse((await cli(['memory', 'suggest', '--json'])).stdout)).toMatchObject([{ work_item_id: item.id, seq: 1, told: 2 }]);
});

test('an editor leaves what a note is to say', async () => {
  const editor = join(home, 'editor');
  await writeFile(editor, '#!/bin/sh\necho More >> "$1"\n');
  await chmod(editor, 0o755);
  const before = process.env['EDITOR'];
  let said = '';
  const kept = new Writable({ write: (chunk: Buffer, _, done) => ((said += chunk.toString()), done()) });
  process.env['EDITOR'] = editor;
  try {
    const streams = { stdin: Object.assign(Readable.from(['']), { isTTY: true }), stdout: kept, stderr: kept, exitCode: 0 };
    await db.notes.write('/memories/edited.md', 'First\n', 'shop', null, null);
    await main(['memory', 'edit', 'edited.md', '--project', 'shop', '--database-url', database.url], streams);
  } finally {
    if (before === undefined) delete process.env['EDITOR'];
    else process.env['EDITOR'] = before;
  }
  expect(said).toBe('/memories/edited.md is version 2\n');
  expect((await db.notes.read('/memories/edited.md', 'shop'))?.content).toBe('First\nMore\n');
});
