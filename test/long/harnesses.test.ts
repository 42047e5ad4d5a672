// Codex and Gemini CLI themselves with what `work-ledger plugin NAME --install` gives them, against models that say what this file tells
// them to: told of others at the start and while they work, asked before they change a file, refused, journaled, one item with their record.

import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { codex, CodexHome, said } from '../codexClient.ts';
import type { Item } from '../codexClient.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { gemini, GeminiHome } from '../geminiClient.ts';
import { makePatient } from '../patientHooks.ts';
import { until } from '../workerProcess.ts';

if (codex === '') console.warn('Codex in harnesses.test.ts is skipped: WORK_LEDGER_CODEX is not set (test/fetchCodex.sh DIRECTORY)');
if (gemini === '')
  console.warn('Gemini CLI in harnesses.test.ts is skipped: WORK_LEDGER_GEMINI is not set (test/fetchGemini.sh DIRECTORY)');

type Hooks = { hooks: Record<string, unknown[]> };
const main = fileURLToPath(new URL('../../runtime/main.ts', import.meta.url));

let database: TestDatabase;
let db: Db;
let other: string;
beforeEach(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterEach(async () => {
  await db?.close();
  await database?.drop();
});

/** Another session in the same directory, which is at money.js. */
async function begin(directory: string): Promise<void> {
  await writeFile(join(directory, 'money.js'), 'round(1)\n');
  const [row] = await database.query<{ id: string }>(
    `select o.id from ledger.journal_session_open('other', null, '${directory}', 'shop') o, ledger.journal_session_prompt(o.id, 'Round all amounts')`,
  );
  other = row!.id;
  await database.query(`select ledger.claim_check('${other}', array['${directory}/money.js'])`);
}

async function install(name: string, home: string): Promise<void> {
  await promisify(execFile)(process.execPath, [main, 'plugin', name, '--install'], {
    env: { ...process.env, HOME: home, CODEX_HOME: join(home, 'codex') },
  });
}

/** The newest session but the other one. */
const sessionOf = async (): Promise<{ id: string; description: string; state: string; notes: string[]; entries: string[] }> => {
  const rows = await database.query<{ id: string; description: string; state: string; notes: string[]; entries: string[] }>(`
    select w.work_item_id as id, w.description, w.session_status as state,
           array(select j.entry_type || coalesce(': ' || (j.content ->> 'filePath'), '') from ledger.journal_entries j
                  where j.work_item_id = w.work_item_id and j.entry_type in ('file_read', 'file_written', 'tool_result') order by j.created_at) as notes,
           array(select e.content from ledger.work_ledger e where e.work_item_id = w.work_item_id and e.entry_type = 'finding') as entries
      from ledger.v_work_list w where w.work_item_id <> '${other}' order by w.created_at desc limit 1`);
  expect(rows).toHaveLength(1);
  return rows[0]!;
};

/** The end of a session is told in the background, after the program has ended. */
const ended = (): Promise<unknown> => until(async () => (await sessionOf()).state === 'paused');

const finding = (text: string): Promise<unknown> => database.query(`select ledger.ledger_append('${other}', 'finding', '${text}')`);

/** What the ledger has of the session, when it is over and its own record was imported, too. */
async function recorded(files: string): Promise<{ description: string; state: string; notes: string[]; entries: string[] }> {
  await ended();
  const before = await sessionOf();
  const [file] = globSync(files);
  const env = { ...process.env, DATABASE_URL: database.url, WORK_LEDGER_PROJECT: 'shop' };
  await promisify(execFile)(process.execPath, [main, 'import', file!], { env });
  const { id, ...after } = await sessionOf();
  expect(id).toBe(before.id);
  expect(await database.query(`select from ledger.work_items`)).toHaveLength(2);
  return after;
}

const patch: Item = {
  type: 'custom_tool_call',
  name: 'apply_patch',
  input: '*** Begin Patch\n*** Update File: money.js\n@@\n-round(1)\n+round(2)\n*** Add File: cents.js\n+cents()\n*** End Patch\n',
};

test.skipIf(codex === '')(
  'Codex hears of others, asks before it patches a file, and is one item with its tools and its record',
  async () => {
    const replies: Item[] = [
      { ...patch, call_id: 'c1' },
      { type: 'function_call', call_id: 'c2', name: 'exec_command', arguments: '{"cmd": "cat money.js"}' },
      {
        type: 'function_call',
        call_id: 'c3',
        namespace: 'mcp__work_ledger',
        name: 'ledger_append',
        arguments: '{"entry_type": "finding", "content": "Cents are integers"}',
      },
      said('Done.'),
      { ...patch, call_id: 'd1' },
      said('Left alone.'),
    ];
    const home = await CodexHome.open((n) => replies[n]!);
    const env = { DATABASE_URL: database.url, WORK_LEDGER_PROJECT: 'shop' };
    const file = (name: string): Promise<string> => readFile(join(home.work, name), 'utf8');
    const heard = (n: number): string => JSON.stringify(home.requests[n]);
    try {
      await begin(home.work);
      await install('codex', home.root);
      await install('codex', home.root); // once more changes nothing
      expect((JSON.parse(await readFile(join(home.home, 'hooks.json'), 'utf8')) as Hooks).hooks['PreToolUse']).toHaveLength(1);
      await makePatient(join(home.home, 'hooks.json'));
      await finding('Amounts are in cents');

      expect(await home.exec('Round at the edge', env)).toContain('Done.');
      expect(heard(0)).toContain('Amounts are in cents');
      expect(heard(0)).not.toContain('Another session changed');
      expect(heard(1)).toMatch(/Another session changed .*money\.js/);
      expect(await file('money.js')).toBe('round(2)\n');
      expect(await recorded(join(home.home, 'sessions/**/*.jsonl'))).toEqual({
        description: 'Round at the edge',
        state: 'paused',
        notes: [`file_written: ${home.work}/money.js`, `file_written: ${home.work}/cents.js`, 'tool_result'],
        entries: ['Cents are integers'],
      });

      await database.query(`select ledger.project_set('shop', 'refuse')`);
      await writeFile(join(home.work, 'money.js'), 'round(1)\n');
      expect(await home.exec('Round once more', env)).toContain('Left alone.');
      expect(heard(5)).toContain('Not executed: Another session holds');
      expect(await file('money.js')).toBe('round(1)\n');
      await ended();
      expect((await sessionOf()).notes).toEqual([]);
    } finally {
      await home.close();
    }
  },
);

test.skipIf(gemini === '')(
  'Gemini CLI hears of others, is refused a file that another session is at, and is one item with its record',
  async () => {
    const home = await GeminiHome.open((n, { work }) => {
      const write = { functionCall: { name: 'write_file', args: { file_path: join(work, 'money.js'), content: 'round(2)\n' } } };
      const read = { functionCall: { name: 'run_shell_command', args: { command: 'cat money.js' } } };
      const ledger = (name: string, args: object) => ({ functionCall: { name: `mcp_work-ledger_${name}`, args } });
      const note = ledger('ledger_append', { entry_type: 'finding', content: 'Cents are integers' });
      const cents = { functionCall: { name: 'write_file', args: { file_path: join(work, 'cents.js'), content: 'cents()\n' } } };
      const done = { text: 'Done.' };
      return [write, note, read, done, write, ledger('claim', { key: 'file:cents.js' }), cents, { text: 'Left alone.' }][n]!;
    });
    // It hands programs no DATABASE_URL: the person's own settings name the database.
    const env = { WORK_LEDGER_PROJECT: 'shop' };
    const heard = (n: number): string => JSON.stringify(home.requests[n]);
    try {
      await begin(home.work);
      const own = { type: 'command', command: 'true' };
      await writeFile(home.settings, JSON.stringify({ ...(await home.configured()), hooks: { BeforeTool: [{ hooks: [own] }] } }));
      for (let n = 0; n < 2; n++) await install('gemini-cli', home.root);
      const { hooks, mcpServers } = await home.configured();
      expect(hooks['BeforeTool']).toMatchObject([{ hooks: [own] }, { matcher: 'write_file|replace' }]);
      expect(Object.keys(mcpServers)).toEqual(['work-ledger']);
      await makePatient(home.settings, 1000);
      await mkdir(join(home.root, '.config', 'work-ledger'), { recursive: true });
      await writeFile(join(home.root, '.config', 'work-ledger', 'work-ledger.toml'), `database_url = "${database.url}"\n`);
      await finding('Amounts are in cents');

      expect(await home.exec('Round at the edge', env)).toContain('Done.');
      expect(heard(0)).toContain('Amounts are in cents');
      expect(await readFile(join(home.work, 'money.js'), 'utf8')).toBe('round(2)\n');
      expect(heard(3)).not.toContain('Recent findings'); // its own are no news
      expect(await recorded(join(home.root, '.gemini/tmp/*/chats/*.jsonl'))).toEqual({
        description: 'Round at the edge',
        state: 'paused',
        notes: [`file_written: ${home.work}/money.js`, 'tool_result'],
        entries: ['Cents are integers'],
      });

      await database.query(`select ledger.project_set('shop', 'refuse')`);
      await writeFile(join(home.work, 'money.js'), 'round(1)\n');
      expect(await home.exec('Round once more', env)).toContain('Left alone.');
      expect(heard(5)).toContain('Not executed: Another session holds');
      expect(await readFile(join(home.work, 'money.js'), 'utf8')).toBe('round(1)\n');
      expect(await readFile(join(home.work, 'cents.js'), 'utf8')).toBe('cents()\n'); // what it claimed itself
      await ended(); // before its settings are gone, which name the database
    } finally {
      await home.close();
    }
  },
);
