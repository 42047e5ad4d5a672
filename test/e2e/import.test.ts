// Recorded runs of other agents as sessions of ours: counted as the files say, stored once, grown files by what is new, and
// gone on from like our own.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { importFile } from '../../runtime/commands/import.ts';
import { openDb } from '../../runtime/db.ts';
import type { Db } from '../../runtime/db.ts';
import { createModelClient } from '../../runtime/focus/callModel.ts';
import { startWorker } from '../../runtime/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { done, startTeam } from '../team.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let directory: string;

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  directory = await mkdtemp(join(tmpdir(), 'import-test-'));
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
  await rm(directory, { recursive: true, force: true });
});

const stored = async (workItemId: string) =>
  (await database.query<{ turns: number; calls: number; open: number; unanswered: number; compactions: number }>(`
    select (select count(*)::int from ledger.turns where work_item_id = '${workItemId}' and turn_type = 'normal') as turns,
           (select count(*)::int from ledger.tool_calls where work_item_id = '${workItemId}') as calls,
           (select count(*)::int from ledger.tool_calls where work_item_id = '${workItemId}' and completed_at is null) as open,
           (select count(*)::int from ledger.tool_calls where work_item_id = '${workItemId}' and result::text like '%has no result for this call%') as unanswered,
           (select count(*)::int from ledger.compactions where work_item_id = '${workItemId}') as compactions`))[0]!;
const rows = async (): Promise<number> =>
  Number((await database.query<{ n: string }>(`select (select count(*) from ledger.turns) + (select count(*) from ledger.messages) + (select count(*) from ledger.tool_calls) + (select count(*) from ledger.sessions) + (select count(*) from ledger.session_history) as n`))[0]?.n);
async function imported(file: string) {
  const report = await importFile(db, file);
  if ('error' in report) throw new Error(report.error);
  return report;
}

/** A Claude Code session: a line for each content block, as it writes them. */
const claude = (n: number): string[] => {
  const at = (i: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, i)).toISOString();
  const record = (i: number, message: object, more: object = {}) => JSON.stringify({ type: (message as { role: string }).role, uuid: `u${i}`, sessionId: 'session-1', cwd: '/work', timestamp: at(i), message, ...more });
  const lines = [record(0, { role: 'user', content: 'Mend the import' })];
  for (let i = 1; i <= n; i++) {
    const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 0 };
    lines.push(record(i * 10, { role: 'assistant', id: `m${i}`, model: 'claude-opus-5', usage, content: [{ type: 'text', text: `I look at ${i}.` }] }));
    lines.push(record(i * 10 + 1, { role: 'assistant', id: `m${i}`, model: 'claude-opus-5', usage, content: [{ type: 'tool_use', id: `t${i}`, name: 'Read', input: { file_path: `f${i}` } }] }));
    lines.push(record(i * 10 + 2, { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${i}`, content: `content of ${i}` }] }));
  }
  return lines;
};

test('a session is stored once; a file that grew line by line brings the rest only', { timeout: 60_000 }, async () => {
  const file = join(directory, 'grown.jsonl');
  const lines = claude(6);
  let before = 0;
  let id = '';
  for (let length = 2; length <= lines.length; length++) {
    await writeFile(file, `${lines.slice(0, length).join('\n')}\n`);
    const report = await imported(file);
    id ||= report.workItemId;
    expect(report).toMatchObject({ workItemId: id, session: 'claude-code:session-1', turns: Math.ceil((length - 1) / 3) });
    const count = await rows();
    expect(count).toBeGreaterThanOrEqual(before);
    before = count;
    expect(await stored(id)).toMatchObject({ turns: Math.ceil((length - 1) / 3), calls: Math.floor(length / 3), open: length % 3 === 0 ? 1 : 0, unanswered: 0 });
  }
  expect((await imported(file)).added).toEqual({ turns: 0, calls: 0 });
  expect(await rows()).toBe(before);
  // As if it had been read at once.
  const whole = join(directory, 'whole.jsonl');
  await writeFile(whole, lines.join('\n').replaceAll('session-1', 'session-2'));
  const other = await imported(whole);
  const shape = async (item: string) => JSON.parse((await db.contextAt((await database.query<{ id: string }>(`select id from ledger.turns where work_item_id = '${item}' order by depth desc limit 1`))[0]!.id))) as unknown;
  expect(await shape(id)).toEqual(await shape(other.workItemId));
  expect(await shape(id)).toMatchObject({ model: 'claude-opus-5', messages: { length: 11 }, tools: [{ name: 'Read' }] });
  expect((await db.journal.read(id, 0, null, null)).filter((entry) => entry.entryType === 'tool_result')).toHaveLength(6);
});

test('odd files: two objects on a line, a line of two megabytes, broken ones, NUL and half of a character; one that is none stops nobody', { timeout: 60_000 }, async () => {
  const lines = claude(3);
  const large = lines[3]!.replace('content of 1', 'x'.repeat(2_000_000));
  const file = join(directory, 'odd.jsonl');
  await writeFile(file, [lines[0], lines[1]! + lines[2]!, large, '{"type": "assis', lines[4], lines[5], lines[6]!.replace('content of 2', String.raw`NUL \u0000 half \ud800`), lines[7], lines[8]].join('\n').replaceAll('session-1', 'session-3'));
  const report = await imported(file);
  expect(report).toMatchObject({ turns: 3, calls: 3 });
  expect(report.leftOut).toEqual([{ reason: 'line that is no JSON', count: 1 }]);
  expect(await stored(report.workItemId)).toMatchObject({ turns: 3, calls: 3, open: 1 });
  await writeFile(join(directory, 'none.jsonl'), 'hello');
  expect(await importFile(db, join(directory, 'none.jsonl'))).toEqual({ file: join(directory, 'none.jsonl'), error: expect.stringContaining('not a recorded run') });
  expect(await importFile(db, join(directory, 'nowhere.jsonl'))).toMatchObject({ error: expect.stringContaining('ENOENT') });
});

const transcripts = fileURLToPath(new URL('../../../shared/transcripts/', import.meta.url));

/** Another count than the reader's own: by what the lines hold, not by what it made of them. */
function countClaude(text: string): { turns: number; calls: number } {
  const [ids, calls] = [new Set<string>(), new Set<string>()];
  const isSidechainFile = !text.split('\n').some((line) => line.includes('"message"') && line.includes('"isSidechain":false'));
  for (const piece of text.replaceAll('}{"', '}\n{"').split('\n')) {
    let record: { type?: string; isSidechain?: boolean; isApiErrorMessage?: boolean; message?: { id?: string; model?: string; content?: { type: string; id: string }[] } };
    try {
      record = JSON.parse(piece) as typeof record;
    } catch {
      continue;
    }
    if (record.type !== 'assistant' || record.message?.model === '<synthetic>' || record.isApiErrorMessage || (record.isSidechain === true && !isSidechainFile)) continue;
    ids.add(record.message?.id ?? '');
    for (const block of record.message?.content ?? []) if (block.type === 'tool_use') calls.add(block.id);
  }
  return { turns: ids.size, calls: calls.size };
}

describe.skipIf(!existsSync(transcripts))('the recorded runs beside the project', () => {
  const index = existsSync(transcripts) ? readFileSync(`${transcripts}INDEX.md`, 'utf8') : '';
  const named = [...index.matchAll(/^\| `([^`]+)` \| (claude|claude-sidechain|codex|copilot|miniswe|sweagent) \| (\d+) \| (\d+) \|/gm)].map(([, file, format, turns, calls]) => ({ file: file!, format: format!, turns: Number(turns), calls: Number(calls) }));
  const items = new Map<string, string>();

  test('every one imports, counted as the index and another count say, and twice is once', { timeout: 300_000 }, async () => {
    expect(named.length).toBeGreaterThan(30);
    for (const { file, format, turns, calls } of named) {
      const path = transcripts + file;
      const report = await imported(path);
      expect({ file, turns: report.turns, calls: report.calls }).toEqual({ file, turns, calls });
      if (format.startsWith('claude')) expect({ file, ...countClaude(await readFile(path, 'utf8')) }).toEqual({ file, turns, calls });
      expect({ file, ...(await stored(report.workItemId)) }).toMatchObject({ file, turns, calls });
      items.set(file, report.workItemId);
    }
    const before = await rows();
    for (const { file } of named) expect((await imported(transcripts + file)).added).toEqual({ turns: 0, calls: 0 });
    expect(await rows()).toBe(before);
    // Others are refused by name, and nothing else happens.
    for (const other of readdirSync(transcripts, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(jsonl|json|traj)$/.test(name) && !named.some(({ file }) => file === name))) {
      expect(await importFile(db, transcripts + other)).toMatchObject({ error: expect.stringMatching(/not a recorded run|no model call/) });
    }
  });

  test('their packets fit 500, 2,000 and 8,000 tokens, and are the same each time', { timeout: 120_000 }, async () => {
    for (const [file, id] of items) {
      for (const target of [500, 2000, 8000]) {
        const packet = await db.journal.resumptionContext(id, target);
        expect(packet.tokenCount, file).toBeLessThanOrEqual(target);
        expect(JSON.stringify(packet).length, file).toBeLessThanOrEqual(target * 4);
        expect(packet.originalPrompt.length, file).toBeGreaterThan(0);
        expect(await db.journal.resumptionContext(id, target)).toEqual(packet);
      }
    }
  });

  test('a run of 200 calls is forked in its middle and gone on with; a fork from before a compaction does not see it', { timeout: 120_000 }, async () => {
    const id = items.get('entireio-cli/a64c933a42.jsonl') ?? '';
    const turns = await database.query<{ id: string; depth: number; turn_type: string }>(`select id, depth, turn_type from ledger.turns where work_item_id = '${id}' order by depth`);
    const compaction = turns.findIndex((turn) => turn.turn_type === 'compaction');
    expect(compaction).toBeGreaterThan(10);
    const [beforeCut, afterCut] = [turns[compaction - 5]!, turns[compaction + 5]!];
    const summary = (await database.query<{ summary: string }>(`select e.summary from ledger.compactions c join ledger.elisions e on e.id = c.elision_id where c.turn_id = '${turns[compaction]!.id}'`))[0]!.summary.slice(0, 100);
    expect(await db.contextAt(beforeCut.id)).not.toContain(JSON.stringify(summary).slice(1, -1));
    expect(await db.contextAt(afterCut.id)).toContain(JSON.stringify(summary).slice(1, -1));

    await db.facultySave({ name: 'goes-on', awareness: { enabled: false }, engage: { workspace: 'none', context_window: 2_000_000, elide_budget: 0, ledger_nudge_interval: 0 } });
    const model = await startTeam({ '': () => done('gone on') });
    const worker = await startWorker({ url: database.url, schema: 'ledger', tools: [], log: pino({ level: 'silent' }), docker: null, model: createModelClient({ apiKey: 'k', baseURL: model.url }) });
    try {
      for (const [from, sees] of [[beforeCut, false], [afterCut, true]] as const) {
        const fork = await db.workFork(from.id, 'Go another way', 'goes-on');
        await until(async () => (await db.workItem(fork.id))?.resolved_at);
        expect((await db.workItem(fork.id))?.state).toBe('completed');
        const [made] = await database.query<{ id: string; parent_turn_id: string }>(`select id, parent_turn_id from ledger.turns where work_item_id = '${fork.id}' order by depth limit 1`);
        expect(made?.parent_turn_id).toBe(from.id);
        type Request = { messages: unknown[] };
        const mine = JSON.parse(await db.contextAt(made!.id)) as Request;
        const theirs = JSON.parse(await db.contextAt(turns[turns.indexOf(from) + 1]!.id)) as Request;
        // The same up to the fork; then its own words.
        expect(mine.messages.slice(0, -1)).toEqual(theirs.messages.slice(0, mine.messages.length - 1));
        expect(JSON.stringify(mine.messages.at(-1))).toMatch(/You are on a branch.*Go another way/);
        expect(JSON.stringify(mine).includes(JSON.stringify(summary).slice(1, -1))).toBe(sees);
      }
    } finally {
      await worker.stop();
      await model.close();
    }
  });
});
