// Claude Code itself with the plugin, against a model that says what this file tells it to: what is put in at the start of a
// session, tools by MCP, the journal that the hooks keep, and the session files of that very version imported.

import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { importFiles } from '../../runtime/commands/import.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { claude, ClaudeHome, isWait, plugin, saySkipped, toolOf, use, waitForTools } from '../claudeClient.ts';
import type { Block, Request } from '../claudeClient.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

saySkipped('claudeCode.test.ts');

const run = promisify(execFile);
const appendTool = toolOf('ledger_append');

let database: TestDatabase;
let db: Db;
let home: ClaudeHome;
let work: string;

/** What somebody else finds meanwhile. */
let found = async (): Promise<unknown> => null;

/** What the model says next: the main session reads, notes and delegates; what it delegated runs a command. */
function reply({ messages, tools }: Request): Block[] {
  const all = JSON.stringify(messages);
  const exchange = messages.filter((message) => message.role === 'assistant' && !isWait(message)).length;
  if (all.includes('SUBTASK') && !all.includes('Delegate it'))
    return exchange === 0
      ? [{ type: 'text', text: 'I look.' }, use('Bash', { command: 'echo seen below', description: 'Look' })]
      : [{ type: 'text', text: 'SUB RESULT' }];
  if (all.includes('Edit a.txt')) {
    const path = { file_path: join(work, 'a.txt') };
    if (exchange === 0) return [use('Read', path)];
    if (exchange === 1) return [use('Edit', { ...path, old_string: 'content', new_string: 'new content' })];
  }
  if (all.includes('Look around')) {
    if (exchange === 1) void found();
    return exchange < 60 && !all.includes('The drawer sticks')
      ? [use('Bash', { command: `echo look ${exchange}`, description: 'Look' })]
      : [{ type: 'text', text: 'Seen.' }];
  }
  if (!all.includes('Delegate it')) return [{ type: 'text', text: 'Done.' }];
  if (exchange === 0 && !tools?.some(({ name }) => name === appendTool)) return waitForTools();
  if (exchange === 0)
    return [
      { type: 'text', text: 'I read and note.' },
      use('Read', { file_path: join(work, 'a.txt') }),
      use(appendTool, { entry_type: 'finding', content: 'Seen by an interactive session' }),
    ];
  if (exchange === 1)
    return [
      use('Agent', { description: 'Look below', prompt: 'SUBTASK: look', subagent_type: 'general-purpose' }),
      use('Bash', { command: 'echo beside', description: 'Look' }),
    ];
  return [{ type: 'text', text: 'All done.' }];
}

const told = (from: number): string => JSON.stringify(home.requests[from]?.messages);

describe.skipIf(claude === '')('Claude Code', () => {
  beforeAll(async () => {
    database = await createDatabase();
    db = await openDb(database.url, 'ledger');
    home = await ClaudeHome.open(database.url, reply);
    work = home.work;
    await writeFile(join(work, 'a.txt'), 'content of a');
  });
  afterAll(async () => {
    await home?.close();
    await db?.close();
    await database?.drop();
  });

  test.for(['plugin.json', 'marketplace.json'])('finds nothing wrong with the plugin: %s', async (manifest) => {
    const { stdout } = await run(claude, ['plugin', 'validate', join(plugin, '.claude-plugin', manifest)], {
      env: { PATH: process.env['PATH'], HOME: join(home.root, 'home') },
    });
    expect(stdout).toMatch(/Validation passed\s*$/);
  });

  test('shares notes and digest with background work, keeps a journal, and its sessions can be imported', async () => {
    const background = await db.workSubmit({ workType: 'analyze', description: 'Look at the import', workspaceDir: work });
    await db.ledgerAppend(background.id, 'finding', 'The import misses an index');

    const session = await home.prompt('Delegate it');
    expect(told(0)).toContain('The import misses an index');
    const results = home.requests.flatMap(({ messages }) =>
      messages.flatMap(({ content }) => (Array.isArray(content) ? content.filter(({ type }) => type === 'tool_result') : [])),
    );
    expect(results.filter((result) => result['is_error'] === true)).toEqual([]);
    const [mine] = await database.query<{ work_item_id: string }>(
      `select work_item_id from ledger.work_ledger where content = 'Seen by an interactive session'`,
    );
    expect(await db.awarenessDigest(null)).toContain('Seen by an interactive session');
    const journal = () => db.journal.read(mine!.work_item_id, 0, null, null);
    // Some of its hooks are not waited for.
    const expected = ['session_start', 'user_feedback', 'file_read', 'tool_result', 'checkpoint'];
    await until(async () => {
      const types = new Set<string>((await journal()).map(({ entryType }) => entryType));
      return expected.every((type) => types.has(type));
    });

    // Another session in that directory is another work item, and is offered what the first one left.
    const before = home.requests.length;
    await home.prompt('What do we know?');
    expect(told(before)).toContain('Seen by an interactive session');

    // What is for a session is not for its fork, which begins under its name.
    await db.workMessage(mine!.work_item_id, 'For the first alone', false);
    const heard = async (...words: [string, ...string[]]): Promise<{ id: string; isTold: boolean }> => {
      const from = home.requests.length;
      return { id: await home.prompt(...words), isTold: told(from).includes('For the first alone') };
    };
    const { id: fork, ...forked } = await heard('Another way', '--resume', session, '--fork-session');
    expect([forked, await heard('Go on', '--resume', session)]).toEqual([{ isTold: false }, { id: session, isTold: true }]);
    // What its server wrote, by the id that the client tells it, is with what its hooks wrote.
    expect(
      await database.query(
        `select description, params ->> 'conversationId' = '${session}' as is_first, id = '${mine!.work_item_id}' as is_noted from ledger.work_items where work_type = 'journal' order by id`,
      ),
    ).toEqual([
      { description: 'Delegate it', is_first: true, is_noted: true },
      { description: 'What do we know?', is_first: false, is_noted: false },
      { description: 'Another way', is_first: false, is_noted: false },
    ]);
    expect(
      await importFiles([join(home.root, 'home', '.claude', 'projects')], { databaseUrl: database.url, schema: 'ledger', json: true }),
    ).toBe(0);
    const sessions = await database.query<{ label: string; own: number; shared: number; tool: string | null }>(`
      select s.label, count(*) filter (where t.focus_id = f.id)::int as own, count(*) filter (where t.focus_id <> f.id)::int as shared, max(k.tool_name) as tool
        from ledger.sessions s join ledger.foci f on f.session_label = s.label left join ledger.tool_calls k on k.id = s.spawn_tool_call_id, ledger.turn_ancestry(s.head_turn_id) a join ledger.turns t using (id)
       where s.label like 'claude-code:${session}%' or s.label = 'claude-code:${fork}' group by s.label`);
    // Counted in its file: what a busy client asked for again it was answered twice, and may have kept once, or not at all.
    const [file = ''] = globSync(join(home.root, 'home', '.claude', 'projects', '*', `${session}.jsonl`));
    const waits = new Set(
      (await readFile(file, 'utf8'))
        .split('\n')
        .filter((one) => one.includes('"type":"assistant"') && one.includes('echo not yet'))
        .map((one) => (JSON.parse(one) as { message: { id: string } }).message.id),
    ).size;
    const line = (id: string) => sessions.find(({ label }) => label === `claude-code:${id}`);
    // The session and its fork begin with the same three turns, whoever was read first.
    expect([
      line(session)!.own + line(session)!.shared,
      line(fork)!.own + line(fork)!.shared,
      line(session)!.shared + line(fork)!.shared,
    ]).toEqual([4 + waits, 4 + waits, 3 + waits]);
    expect(sessions.filter(({ label }) => label.includes('#'))).toEqual([
      { label: expect.stringMatching(/#[0-9a-f]+$/), own: 2, shared: 0, tool: 'Agent' },
    ]);
  });

  test('goes on with --continue, and to another session with /clear: its notes are where its hooks journal', async () => {
    let left: string | null = null;
    const own = await ClaudeHome.open(database.url, ({ tools }) => {
      if (left === null) return [{ type: 'text', text: 'Noted.' }];
      if (!tools?.some(({ name }) => name === appendTool)) return waitForTools();
      const content = left;
      left = null;
      return [use(appendTool, { entry_type: 'note', content })];
    });
    const prompt = (...words: [string, ...string[]]): Promise<string> => own.prompt((left = words[0]), ...words.slice(1));
    try {
      const first = await prompt('begun');
      expect(await prompt('continued', '--continue')).toBe(first);
      const open = own.session('cleared');
      await open.say((left = 'another'));
      const second = open.id();
      await open.say('/clear');
      await open.say((left = 'cleared'));
      const third = open.id();
      await open.end();
      expect(new Set([first, second, third]).size).toBe(3);
      expect(
        await database.query(`
          select w.params ->> 'conversationId' as session, string_agg(l.content, ', ' order by l.seq) as notes
            from ledger.work_items w left join ledger.work_ledger l on l.work_item_id = w.id
           where w.params ->> 'directory' = '${own.work}' group by w.id order by w.id`),
      ).toEqual([
        { session: first, notes: 'begun, continued' },
        { session: second, notes: 'another' },
        { session: third, notes: 'cleared' },
      ]);
    } finally {
      await own.close();
    }
  });

  test('hears while it works what others found, without a tool that waits for it', async () => {
    const background = await db.workSubmit({ workType: 'analyze', description: 'Look at the drawer', workspaceDir: work });
    found = () => db.ledgerAppend(background.id, 'finding', 'The drawer sticks');
    const before = home.requests.length;
    await home.prompt('Look around');
    const heard = home.requests.slice(before).map(({ messages }) => JSON.stringify(messages).split('The drawer sticks').length - 1);
    expect(heard.slice(0, 2)).toEqual([0, 0]);
    expect(heard.at(-1)).toBe(1);
  });

  test('hears of who is at a file that it edits, and is denied the edit where the project says so, until that ends', async () => {
    const file = join(work, 'a.txt');
    const [other] = await database.query<{ id: string }>(
      `select id, ledger.claim_check(id, array['${file}']) from ledger.journal_session_open('other', 'Round at the edge', '/elsewhere')`,
    );
    const edit = async (words: string) => {
      const before = home.requests.length;
      const session = await home.prompt(`Edit a.txt: ${words}`);
      return { session, heard: JSON.stringify(home.requests.slice(before).at(-1)?.messages) };
    };
    const warned = await edit('it goes on');
    expect(warned.heard).toMatch(/\[claim\] Another session changed a\.txt .* and is still working on it: .*Round at the edge/);
    expect(await readFile(file, 'utf8')).toBe('new content of a');

    await database.query(
      `select ledger.project_set(project, 'refuse') from ledger.work_items where params ->> 'conversationId' = '${warned.session}'`,
    );
    const denied = await edit('it is denied');
    expect(denied.heard).toMatch(
      /\[claim\] Not executed: Another session holds a\.txt since .*Round at the edge.* \(work item [0-9a-f-]{36}\)/,
    );
    expect(await readFile(file, 'utf8')).toBe('new content of a');

    await database.query(`select from ledger.journal_session_status('${other!.id}', 'paused')`);
    await edit('it is free');
    expect(await readFile(file, 'utf8')).toBe('new new content of a');
  });
});
