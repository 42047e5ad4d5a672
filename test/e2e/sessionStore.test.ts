// The SessionStore of the Claude Agent SDK: what was appended comes back as it was, once and in its order; and it is understood.

import { randomUUID } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { clientOf } from '../../runtime/client.ts';
import { ledgerHooks, ledgerSession, LedgerSessionStore, ledgerTools } from '../../runtime/agentSdk/index.ts';
import type { FoldSessionSummary, SessionKey, SessionStoreEntry } from '../../runtime/agentSdk/sdkTypes.ts';
import { readLeftTranscripts, TranscriptReader } from '../../runtime/import/readTranscript.ts';
import { connect } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { transcriptPages } from '../../runtime/ledger/transcripts.ts';
import { startTranscripts } from '../../runtime/worker/transcripts.ts';
import { isWaitedFor } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { claudeSession, Importer } from '../importer.ts';
import { until } from '../workerProcess.ts';

let importer: Importer;
let database: TestDatabase;
let db: Db;
let directory: string;
let store: LedgerSessionStore;

/** Counts what was folded, and keeps the newest title. */
const fold: FoldSessionSummary = (previous, { sessionId }, entries, options) => ({
  sessionId,
  mtime: options?.mtime ?? 0,
  data: {
    count: Number(previous?.data['count'] ?? 0) + entries.length,
    title: entries.findLast((entry) => typeof entry['title'] === 'string')?.['title'] ?? previous?.data['title'] ?? null,
  },
});

beforeAll(async () => {
  importer = await Importer.open();
  ({ database, db, directory } = importer);
  store = new LedgerSessionStore({ ledger: clientOf(db, ''), foldSessionSummary: fold });
});
afterAll(async () => {
  await store?.close();
  await importer?.close();
});

const one = (n: number, more: object = {}): SessionStoreEntry => ({ type: 'user', uuid: randomUUID(), n, ...more });
const key = (more: Partial<SessionKey> = {}): SessionKey => ({ projectKey: '-work', sessionId: randomUUID(), ...more });

test('what is no address, key or entry is refused as everywhere, when it is given', async () => {
  const nothing = null as never;
  const acts: (() => unknown)[] = [
    () => ledgerSession(nothing),
    () => ledgerSession({ url: 7 as never }),
    () => ledgerHooks({ url: 'nowhere' }),
    () => ledgerTools({ schema: 7 as never }),
    () => new LedgerSessionStore({ ledger: {} as never }),
    () => store.append(nothing, [one(1)]),
    () => store.append(key(), nothing),
    () => store.append(key(), [one(1, { n: 5n })]),
    () => store.load({ ...key(), subpath: '' }),
    () => store.delete({} as never),
    () => store.listSubkeys(nothing),
  ];
  for (const act of acts)
    await expect((async () => act())(), String(act)).rejects.toMatchObject({
      name: 'LedgerError',
      code: 'WL002',
      hint: expect.stringMatching(/\w/),
    });
});

describe('the contract', () => {
  test('what was appended is loaded', async () => {
    const at = key();
    const entries = [one(1), { type: 'mode', mode: 'default', nested: { list: [1, null, true, 'x'] } }];
    await store.append(at, entries);
    expect(await store.load(at)).toEqual(entries);
  });

  test('a session that was never written is null', async () => {
    expect(await store.load(key())).toBeNull();
    expect(await store.load(key({ subpath: 'subagents/agent-1' }))).toBeNull();
  });

  test('nothing appended is nothing written', async () => {
    const at = key();
    await store.append(at, []);
    expect(await store.load(at)).toBeNull();
    expect(await store.listSessions('-work')).not.toContainEqual(expect.objectContaining({ sessionId: at.sessionId }));
  });

  test('appends follow each other in their order, also those that nobody waited for', async () => {
    const at = key();
    const entries = Array.from({ length: 40 }, (_, n) => one(n));
    await Promise.all(entries.map((entry) => store.append(at, [entry])));
    expect(await store.load(at)).toEqual(entries);
  });

  test('an entry with a uuid is there once, one without as often as it came', async () => {
    const at = key();
    const [named, mode] = [one(1), { type: 'mode', mode: 'plan' }];
    await store.append(at, [named, mode]);
    await store.append(at, [named, mode, one(1, { uuid: named.uuid, n: 2 })]);
    expect(await store.load(at)).toEqual([named, mode, mode]);
    await store.append(at, [one(3, { uuid: 'twice' }), one(4, { uuid: 'twice' })]);
    expect((await store.load(at))?.slice(3)).toEqual([{ type: 'user', uuid: 'twice', n: 3 }]);
  });

  test('a uuid counts within its transcript', async () => {
    const at = key();
    const entry = one(1);
    await store.append(at, [entry]);
    await store.append({ ...at, subpath: 'subagents/agent-1' }, [entry]);
    await store.append({ ...at, projectKey: '-other' }, [entry]);
    for (const each of [at, { ...at, subpath: 'subagents/agent-1' }, { ...at, projectKey: '-other' }])
      expect(await store.load(each)).toEqual([entry]);
  });

  test('projects and subpaths are apart', async () => {
    const at = key();
    await store.append(at, [one(1)]);
    await store.append({ ...at, projectKey: '-other' }, [one(2)]);
    await store.append({ ...at, subpath: 'subagents/agent-1' }, [one(3)]);
    expect((await store.load(at))?.map(({ n }) => n)).toEqual([1]);
    expect((await store.load({ ...at, projectKey: '-other' }))?.map(({ n }) => n)).toEqual([2]);
    expect((await store.load({ ...at, subpath: 'subagents/agent-1' }))?.map(({ n }) => n)).toEqual([3]);
  });

  test('sessions are listed with the time of the database, subagents under their session', async () => {
    const projectKey = `-listed-${randomUUID()}`;
    const [first, second] = [key({ projectKey }), key({ projectKey })];
    await store.append(first, [one(1, { timestamp: '2001-01-01T00:00:00Z' })]);
    await store.append(second, [one(2)]);
    await store.append({ ...second, subpath: 'subagents/agent-1' }, [one(3)]);
    await store.append({ ...second, subpath: 'subagents/agent-2' }, [one(4)]);
    const listed = await store.listSessions(projectKey);
    expect(listed.map(({ sessionId }) => sessionId).toSorted()).toEqual([first.sessionId, second.sessionId].toSorted());
    for (const { mtime } of listed) {
      expect(Number.isInteger(mtime)).toBe(true);
      expect(Math.abs(Date.now() - mtime)).toBeLessThan(60_000);
    }
    expect(await store.listSessions(`-nothing-${randomUUID()}`)).toEqual([]);
    expect((await store.listSubkeys(second)).toSorted()).toEqual(['subagents/agent-1', 'subagents/agent-2']);
    expect(await store.listSubkeys(first)).toEqual([]);
  });

  test('a session that is appended to comes to the top', async () => {
    const at = key();
    await store.append(at, [one(1)]);
    const before = (await store.listSessions('-work')).find(({ sessionId }) => sessionId === at.sessionId)!.mtime;
    await new Promise((resolve) => setTimeout(resolve, 5));
    await store.append(at, [one(2)]);
    expect((await store.listSessions('-work')).find(({ sessionId }) => sessionId === at.sessionId)!.mtime).toBeGreaterThan(before);
  });

  test('summaries are folded with each append, with the time of their session', async () => {
    const projectKey = `-folded-${randomUUID()}`;
    const at = key({ projectKey });
    await store.append(at, [one(1, { title: 'First' }), one(2)]);
    await store.append(at, [one(3, { title: 'Second' })]);
    await store.append({ ...at, subpath: 'subagents/agent-1' }, [one(4, { title: 'Not this' })]);
    const [session] = await store.listSessions(projectKey);
    expect(await store.listSessionSummaries(projectKey)).toEqual([{ ...session!, data: { count: 3, title: 'Second' } }]);
    // One that knows nothing of it goes on from what is stored.
    const other = new LedgerSessionStore({ ledger: clientOf(db, ''), foldSessionSummary: fold });
    await other.append(at, [one(5)]);
    await store.append(at, [one(6)]);
    expect((await store.listSessionSummaries(projectKey))[0]!.data).toEqual({ count: 5, title: 'Second' });
    // One that folds nothing leaves none that ends too early; the next one folds all.
    const silent = new LedgerSessionStore({ ledger: clientOf(db, ''), foldSessionSummary: null as unknown as FoldSessionSummary });
    await silent.append(at, [one(7, { title: 'Third' })]);
    expect(await store.listSessionSummaries(projectKey)).toEqual([]);
    await store.append(at, [one(8)]);
    expect((await store.listSessionSummaries(projectKey))[0]!.data).toEqual({ count: 7, title: 'Third' });
    await other.close();
    await silent.close();
  });

  test('a summary that cannot be folded keeps no entry away, and a retry is not folded twice', async () => {
    const projectKey = `-odd-${randomUUID()}`;
    const at = key({ projectKey });
    const odd = new LedgerSessionStore({
      ledger: clientOf(db, ''),
      foldSessionSummary: (previous, of, entries) => {
        if (entries.some((entry) => entry['n'] === 2)) throw new TypeError('not an entry of mine');
        return fold(previous, of, entries);
      },
    });
    await odd.append(at, [one(1)]);
    await odd.append(at, [one(2)]);
    expect(await odd.load(at)).toHaveLength(2);
    await odd.close();
    const again = key({ projectKey });
    const first = one(1, { title: 'Old' });
    await store.append(again, [first]);
    await store.append(again, [one(2, { title: 'New' })]);
    await store.append(again, [first]);
    await store.append(again, [one(3)]);
    expect((await store.listSessionSummaries(projectKey)).find(({ sessionId }) => sessionId === again.sessionId)!.data).toEqual({
      count: 3,
      title: 'New',
    });
  });

  test('what is no id is none: each such entry is kept', async () => {
    const at = key();
    await store.append(at, [one(1, { uuid: null }), one(2, { uuid: null }), one(3, { uuid: '' }), one(4, { uuid: 7 })]);
    expect(await store.load(at)).toHaveLength(4);
  });

  test('a deleted session is gone with its subagents, and takes nothing more', async () => {
    const at = key();
    await store.append(at, [one(1)]);
    await store.append({ ...at, subpath: 'subagents/agent-1' }, [one(2)]);
    await store.delete(at);
    expect(await store.load(at)).toBeNull();
    expect(await store.load({ ...at, subpath: 'subagents/agent-1' })).toBeNull();
    expect(await store.listSubkeys(at)).toEqual([]);
    expect(await store.listSessions('-work')).not.toContainEqual(expect.objectContaining({ sessionId: at.sessionId }));
    await expect(store.append(at, [one(3)])).rejects.toMatchObject({ code: 'WL003' });
    await expect(store.append({ ...at, subpath: 'subagents/agent-2' }, [one(3)])).rejects.toMatchObject({ code: 'WL003' });
    await store.delete(at);
  });

  test('a deleted subagent leaves the session', async () => {
    const at = key();
    await store.append(at, [one(1)]);
    await store.append({ ...at, subpath: 'subagents/agent-1' }, [one(2)]);
    await store.delete({ ...at, subpath: 'subagents/agent-1' });
    expect(await store.listSubkeys(at)).toEqual([]);
    expect((await store.load(at))?.map(({ n }) => n)).toEqual([1]);
  });

  test('keys are opaque, and an empty subpath is none', async () => {
    const at = key({ projectKey: "C--a'b%_\\ü", subpath: 'subagents/workflows/x/agent-ü' });
    await store.append(at, [one(1)]);
    expect(await store.load(at)).toHaveLength(1);
    await expect(store.append(key({ subpath: '' }), [one(1)])).rejects.toThrow('subpath is empty');
    await expect(store.append(key({ projectKey: 'a\0b' }), [one(1)])).rejects.toThrow('U+0000');
  });
});

describe('what is hard to keep', () => {
  test('U+0000, lone surrogates, numbers and deep nesting come back', async () => {
    const at = key();
    const entries = [
      one(1, { text: 'a\0b', 'k\0': '\ud800', pair: '\ud83d\ude00', odd: '\udc00x', escaped: '\\u0000', quote: '"\\' }),
      one(2, { numbers: [1e308, 5e-324, -0.1, 9007199254740991], empty: {}, list: [], nothing: null }),
      one(3, { deep: Array.from({ length: 500 }).reduce<unknown>((inner) => [{ inner }], 'x') }),
      { type: 'x', uuid: 'a\0b' },
      { type: 'x', uuid: '\ud800' },
    ];
    await store.append(at, entries);
    await store.append(at, entries);
    expect(await store.load(at)).toEqual(entries);
    await store.understood();
    const [row] = await database.query<{ problem: string | null }>(
      `select problem from ledger.transcripts where session_id = '${at.sessionId}'`,
    );
    expect(row).toEqual({ problem: null });
  });

  test('an entry of 20 MB', async () => {
    const at = key();
    const entry = one(1, { image: 'aB3/'.repeat(5_000_000) });
    await store.append(at, [entry]);
    expect(await store.load(at)).toEqual([entry]);
  });

  test('many such entries are not in memory together: a page has some megabytes', async () => {
    const at = key();
    const entries = Array.from({ length: 9 }, (_, n) => one(n, { image: `${n}aB3/`.repeat(300_000) }));
    for (const entry of entries) await store.append(at, [entry]);
    const pages: number[] = [];
    for await (const page of transcriptPages(db, at, 0)) {
      pages.push(page.length);
      expect(page.reduce((sum, { entry }) => sum + entry.length, 0)).toBeLessThan(6_000_000);
    }
    expect(pages).toEqual([3, 3, 3, 0]);
    expect(await store.load(at)).toEqual(entries);
  });

  test('10,000 entries', async () => {
    const at = key();
    const entries = Array.from({ length: 10_000 }, (_, n) => one(n));
    for (let from = 0; from < entries.length; from += 500) await store.append(at, entries.slice(from, from + 500));
    expect(await store.load(at)).toEqual(entries);
  });

  test('two processes on one session: each in its own order, nothing lost or doubled', async () => {
    const at = key();
    const others = await Promise.all([1, 2].map(() => openDb(database.url, 'ledger')));
    const stores = others.map((each) => new LedgerSessionStore({ ledger: clientOf(each, ''), foldSessionSummary: fold }));
    const shared = one(-1);
    await Promise.all(
      stores.map(async (each, s) => {
        for (let n = 0; n < 50; n++) await each.append(at, [one(n, { s }), shared]);
      }),
    );
    const loaded = (await store.load(at))!;
    expect(loaded).toHaveLength(101);
    for (const s of [0, 1])
      expect(loaded.filter((entry) => entry['s'] === s).map(({ n }) => n)).toEqual(Array.from({ length: 50 }, (_, n) => n));
    const summary = (await store.listSessionSummaries(at.projectKey)).find(({ sessionId }) => sessionId === at.sessionId);
    expect(Number(summary?.data['count'])).toBeGreaterThanOrEqual(101); // what was folded again counts what is there
    for (const each of stores) await each.close();
    for (const each of others) await each.close();
  });

  test('a secret is taken out, unless it is to be kept; turns never hold it', async () => {
    const secret = ['sk-', 'ant-api03-', 'aB3_'.repeat(10)].join('');
    const lines = (sessionId: string): SessionStoreEntry[] => [
      { type: 'user', uuid: randomUUID(), sessionId, message: { role: 'user', content: `The key is ${secret}` } },
    ];
    const [taken, kept] = [key(), key()];
    const keeping = new LedgerSessionStore({ ledger: clientOf(db, ''), keepSecrets: true });
    await store.append(taken, lines(taken.sessionId));
    const entries = lines(kept.sessionId);
    await keeping.append(kept, entries);
    expect(JSON.stringify(await store.load(taken))).toContain('The key is [redacted]');
    expect(await keeping.load(kept)).toEqual(entries);
    await store.understood();
    await keeping.close();
    const found = await database.query(
      `select description from ledger.work_items where params ->> 'conversationId' in ('${taken.sessionId}', '${kept.sessionId}')`,
    );
    expect(found).toEqual([{ description: 'The key is [redacted]' }, { description: 'The key is [redacted]' }]);
  });
});

/** Entries of a session of Claude Code, as they would be appended. */
const session = (sessionId: string, exchanges: number): SessionStoreEntry[] =>
  claudeSession(exchanges).map((line) => JSON.parse(line.replaceAll('session-1', sessionId)) as SessionStoreEntry);

const items = (sessionId: string) =>
  database.query<{ id: string; work_type: string; state: string; description: string; project: string; external_id: string }>(
    `select id, work_type, state, description, project, external_id from ledger.work_items
      where params ->> 'conversationId' in ('${sessionId}', 'claude-code:${sessionId}') or external_id like '%${sessionId}%' order by external_id`,
  );
const counts = async (id: string) =>
  (
    await database.query<{ turns: number; calls: number; open: number }>(`
      select (select count(*)::int from ledger.turns where work_item_id = '${id}') as turns,
             (select count(*)::int from ledger.tool_calls where work_item_id = '${id}') as calls,
             (select count(*)::int from ledger.tool_calls where work_item_id = '${id}' and completed_at is null) as open`)
  )[0]!;

describe('what is understood', () => {
  test('a session is one item while it runs, call by call; its file adds nothing', async () => {
    const at = key();
    const entries = session(at.sessionId, 8);
    const lines = entries.map((entry) => JSON.stringify(entry));
    let id = '';
    for (const [n, entry] of entries.entries()) {
      await store.append(at, [entry, { type: 'mode', mode: 'default', sessionId: at.sessionId }]);
      await store.understood();
      const found = await items(at.sessionId);
      id ||= found[0]!.id;
      expect(found).toMatchObject([{ id, work_type: 'journal', state: 'created', description: 'Mend the import' }]);
      expect(await counts(id)).toMatchObject({ turns: Math.ceil(n / 3), calls: Math.floor((n + 1) / 3), open: n % 3 === 2 ? 1 : 0 });
    }
    expect(await db.workList(null, '/work', 10)).toContainEqual(expect.objectContaining({ id, state: 'created' }));
    const before = await importer.rows();
    const file = join(directory, `${at.sessionId}.jsonl`);
    await writeFile(file, `${lines.join('\n')}\n`);
    expect(await importer.import(file)).toMatchObject({ workItemId: id, turns: 8, calls: 8, added: { turns: 0, calls: 0 } });
    expect(await importer.rows()).toBe(before);
    // Whoever reads it from the start finds all of it there.
    await database.query(
      `update ledger.transcripts set understood_seq = 0, updated_at = now() - interval '1 hour' where session_id = '${at.sessionId}'`,
    );
    expect(await readLeftTranscripts(db)).toBeGreaterThan(0);
    expect(await importer.rows()).toBe(before);
    expect(await items(at.sessionId)).toHaveLength(1);
  });

  test('what the person says is told once, while the session grows and afterwards, and on the run page of the console', async () => {
    const at = key();
    const said = (n: number, text: string): SessionStoreEntry => ({
      ...session(at.sessionId, 0)[0]!,
      uuid: randomUUID(),
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString(),
      message: { role: 'user', content: text },
    });
    const entries = session(at.sessionId, 3);
    await store.append(at, entries.slice(0, 4));
    await store.understood();
    const id = (await items(at.sessionId))[0]!.id;
    const told: string[] = [];
    const stopped = new AbortController();
    const heard = (async () => {
      for await (const event of clientOf(db, database.url).follow(id, { signal: stopped.signal }))
        if (event.kind === 'told' || event.kind === 'said') told.push(`${event.kind} ${event.text}`);
    })();
    await until(() => told.length === 2);
    await store.append(at, [said(12, 'Look at the index, too\n<system-reminder>Be short</system-reminder>'), ...entries.slice(4, 7)]);
    await store.understood();
    await until(() => told.length === 4);
    await store.append(at, [
      said(23, '<system-reminder>The date is known</system-reminder>'),
      said(24, 'And at the log'),
      ...entries.slice(7),
    ]);
    await store.understood();
    await until(() => told.length === 6);
    stopped.abort();
    await heard.catch(() => {});
    const wanted = [
      'told Mend the import',
      'said I look at 1.',
      'told Look at the index, too',
      'said I look at 2.',
      'told And at the log',
      'said I look at 3.',
    ];
    expect(told).toEqual(wanted);
    const log = (await db.workLog(id, 100)).filter(({ kind }) => kind === 'told' || kind === 'said');
    expect(log.map(({ kind, text }) => `${kind} ${text}`)).toEqual(wanted);
    const run = await database.query<{ words: string }>(
      `select split_part(content, E'\\n', 1) as words from ledger.v_work_run where work_item_id = '${id}' and kind = 'person' order by happened_at, place, ordinal`,
    );
    expect(run.map(({ words }) => words)).toEqual(['Look at the index, too', 'And at the log']);
  });

  test('whoever asks when there is nothing to read does not keep it from being read later', async () => {
    const at = key();
    const entries = session(at.sessionId, 2);
    await store.append(at, entries.slice(0, 4));
    for (let times = 0; times < 2; times++) await store.understood();
    await store.append(at, entries.slice(4));
    await store.understood();
    expect(await counts((await items(at.sessionId))[0]!.id)).toMatchObject({ turns: 2, calls: 2 });
  });

  test('a session whose journal hooks keep is the same item, whichever came first', async () => {
    for (const isFirst of [true, false]) {
      const at = key();
      const opened = isFirst ? await db.journal.sessionOpen(at.sessionId, '/work', '/work') : null;
      await store.append(at, session(at.sessionId, 2));
      await store.understood();
      const id = await db.journal.sessionOpen(at.sessionId, '/work', '/work');
      expect(id).toBe(opened ?? id);
      expect(await items(at.sessionId)).toMatchObject([
        { id, work_type: 'journal', state: 'created', external_id: `import:claude-code:${at.sessionId}` },
      ]);
      await database.query(`select * from ledger.ledger_append('${id}', 'finding', 'Found it')`);
      expect((await counts(id)).turns).toBe(2);
    }
  });

  test('a file of a session whose journal hooks keep is imported into that item', async () => {
    const { sessionId } = key();
    const id = await db.journal.sessionOpen(sessionId, '/work', '/work');
    const file = join(directory, `${sessionId}.jsonl`);
    await writeFile(
      file,
      `${session(sessionId, 3)
        .map((entry) => JSON.stringify(entry))
        .join('\n')}\n`,
    );
    expect(await importer.import(file)).toMatchObject({ workItemId: id, turns: 3 });
    expect(await items(sessionId)).toMatchObject([{ id, state: 'created', description: 'Mend the import' }]);
    expect(await importer.import(file)).toMatchObject({ workItemId: id, added: { turns: 0, calls: 0 } });
  });

  test('what a process left that died is read by another one', async () => {
    const at = key();
    await db.transcripts.append(
      at,
      { lines: session(at.sessionId, 2).map((entry) => JSON.stringify(entry)), uuids: session(at.sessionId, 2).map(({ uuid }) => uuid!) },
      { project: 'shop' },
    );
    expect(await items(at.sessionId)).toEqual([]);
    expect(await readLeftTranscripts(db)).toBe(0); // its own process may be about to
    await database.query(`update ledger.transcripts set updated_at = now() - interval '1 hour' where session_id = '${at.sessionId}'`);
    expect(await readLeftTranscripts(db)).toBe(1);
    const [item] = await items(at.sessionId);
    expect(item).toMatchObject({ work_type: 'journal', project: 'shop' });
    expect(await counts(item!.id)).toMatchObject({ turns: 2, calls: 2 });
    expect(await db.journal.session(item!.id)).toMatchObject({ status: 'crashed' });
  });

  test('the project is what its own process says, never what is on the disk of whoever reads it', async () => {
    const cwd = await mkdtemp(join(directory, 'cwd-'));
    await writeFile(join(cwd, 'work-ledger.toml'), 'project = "shop of this host"\n');
    const of = (sessionId: string) => session(sessionId, 1).map((entry) => ({ ...entry, cwd }));
    const [here, elsewhere] = [key(), key()];
    await store.append(here, [{ type: 'queue-operation', sessionId: here.sessionId }]);
    await store.append(here, of(here.sessionId));
    await store.understood();
    expect(await items(here.sessionId)).toMatchObject([{ project: 'shop of this host' }]);
    // Another program appended it on another host, where that directory is something else.
    const entries = of(elsewhere.sessionId);
    await db.transcripts.append(
      elsewhere,
      { lines: entries.map((entry) => JSON.stringify(entry)), uuids: entries.map(({ uuid }) => uuid!) },
      {},
    );
    await new TranscriptReader(db, elsewhere).readOn();
    expect(await items(elsewhere.sessionId)).toMatchObject([{ project: cwd }]);
  });

  test('whoever reads a subagent in the transcript of its session, it is that of whoever began it', async () => {
    const at = key();
    const said = (uuid: string, type: string, content: unknown) => ({
      type,
      uuid: `${at.sessionId}-${uuid}`,
      sessionId: at.sessionId,
      cwd: '/work',
      isSidechain: true,
      agentId: 'a1',
      message: { role: type, content, ...(type === 'assistant' && { id: `m-${uuid}`, model: 'claude-opus-5' }) },
    });
    const entries = [...session(at.sessionId, 1), said('b', 'user', 'Look'), said('c', 'assistant', [{ type: 'text', text: 'Seen.' }])];
    const batch = { lines: entries.map((entry) => JSON.stringify(entry)), uuids: entries.map(({ uuid }) => uuid!) };
    await db.transcripts.append(at, batch, {});
    const role = `reader_${randomUUID()}`;
    await database.query(`create role "${role}" login superuser`);
    try {
      const url = new URL(database.url);
      url.username = role;
      const worker = await openDb(url.href, 'ledger');
      await new TranscriptReader(worker, at).readOn();
      await worker.close();
      expect(
        await database.query(
          `select external_id, submitted_by = session_user as is_ours from ledger.work_items where external_id like '%${at.sessionId}%' order by 1`,
        ),
      ).toEqual([
        { external_id: `import:claude-code:${at.sessionId}`, is_ours: true },
        { external_id: `import:claude-code:${at.sessionId}#a1`, is_ours: true },
      ]);
    } finally {
      await database.query(`drop role "${role}"`);
    }
  });

  test('what cannot be understood waits for its turn, and then is read', async () => {
    const at = key();
    const state = async () =>
      (
        await database.query<{ problem: string | null; failures: number; unread: number }>(
          `select problem, failure_count as failures, last_seq - understood_seq as unread from ledger.transcripts where session_id = '${at.sessionId}'`,
        )
      )[0];
    const [taken] = await database.query<{ id: string }>(
      `select id from ledger.work_submit('task', 'x', p_external_id => 'import:claude-code:${at.sessionId}')`,
    );
    const entries = session(at.sessionId, 2);
    await store.append(at, entries.slice(0, 4));
    await store.understood();
    expect(await state()).toEqual({ problem: expect.stringContaining('which is not an import'), failures: 1, unread: 4 });
    await store.append(at, entries.slice(4));
    await store.understood();
    await new TranscriptReader(db, at).readOn(); // nor does another process
    expect(await state()).toMatchObject({ failures: 1, unread: entries.length });
    await database.query(`update ledger.work_items set external_id = null where id = '${taken!.id}'`);
    await database.query(
      `update ledger.transcripts set retry_at = now(), updated_at = now() - interval '1 hour' where session_id = '${at.sessionId}'`,
    );
    expect(await readLeftTranscripts(db)).toBe(1);
    expect(await state()).toEqual({ problem: null, failures: 0, unread: 0 });
    expect(await counts((await items(at.sessionId))[0]!.id)).toMatchObject({ turns: 2, calls: 2 });
  });

  test('a worker that stops reads the transcript to its end that it reads, and takes no other', async () => {
    const ids = [1, 2, 3].map(() => randomUUID());
    for (const sessionId of ids) {
      const entries = session(sessionId, 1);
      const batch = { lines: entries.map((entry) => JSON.stringify(entry)), uuids: entries.map(({ uuid }) => uuid!) };
      await db.transcripts.append({ projectKey: '-left', sessionId }, batch, {});
    }
    const left = () =>
      database.query(
        `select last_seq - understood_seq as unread, taken_ends_at from ledger.transcripts where project_key = '-left' order by unread`,
      );
    await database.query(`update ledger.transcripts set updated_at = now() - interval '1 hour' where project_key = '-left'`);
    // Only so long is the first one read as nobody holds the ledger's sessions.
    const holder = await connect({ connectionString: database.url });
    await holder.query('begin; lock ledger.sessions in exclusive mode');
    const reading = startTranscripts(db, pino({ level: 'silent' }));
    await until(() => isWaitedFor(database, 'ledger.sessions'));
    const stopped = reading.stop();
    await holder.query('commit');
    await holder.end();
    await stopped;
    expect(await left()).toEqual([
      { unread: 0, taken_ends_at: null },
      { unread: 4, taken_ends_at: null },
      { unread: 4, taken_ends_at: null },
    ]);
    await readLeftTranscripts(db);
    expect(await left()).toEqual(ids.map(() => ({ unread: 0, taken_ends_at: null })));
  });

  test('nor does it read a long one to its end', async () => {
    const at = key();
    const [prompt, ...rest] = session(at.sessionId, 3);
    const image = 'aB3/'.repeat(1_100_000);
    await db.transcripts.append(
      at,
      {
        lines: [{ ...prompt, image }, ...rest].map((entry) => JSON.stringify(entry)),
        uuids: [prompt!, ...rest].map(({ uuid }) => uuid!),
      },
      {},
    );
    await new TranscriptReader(db, at).readOn(AbortSignal.abort());
    expect(await database.query(`select understood_seq from ledger.transcripts where session_id = '${at.sessionId}'`)).toEqual([
      { understood_seq: 1 },
    ]);
    await database.query(`update ledger.transcripts set updated_at = now() - interval '1 hour' where session_id = '${at.sessionId}'`);
    expect(await readLeftTranscripts(db)).toBe(1);
    expect(await counts((await items(at.sessionId))[0]!.id)).toMatchObject({ turns: 3, calls: 3 });
  });

  test('a gap is filled by the file without doubling', async () => {
    const at = key();
    const entries = session(at.sessionId, 6);
    await store.append(at, entries.slice(0, 7)); // two exchanges
    await store.append(at, entries.slice(13)); // the store was down for the third and the fourth
    await store.understood();
    const [item] = await items(at.sessionId);
    expect(await counts(item!.id)).toMatchObject({ turns: 4, calls: 4 });
    const file = join(directory, `${at.sessionId}.jsonl`);
    await writeFile(file, `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`);
    expect(await importer.import(file)).toMatchObject({ workItemId: item!.id, turns: 6, added: { turns: 2, calls: 2 } });
    expect(await counts(item!.id)).toMatchObject({ turns: 6, calls: 6 });
    expect(await importer.import(file)).toMatchObject({ added: { turns: 0, calls: 0 } });
    expect(await database.query('select * from ledger.work_ledger_check()')).toEqual([]);
  });

  test('subagents are sessions of their own, found by the call that started them', async () => {
    const at = key();
    const [prompt] = session(at.sessionId, 1);
    const of = (type: string, uuid: string, content: unknown, more: object = {}): SessionStoreEntry => ({
      type,
      uuid,
      sessionId: at.sessionId,
      cwd: '/work',
      timestamp: '2026-01-01T00:00:09Z',
      message: { role: type, content, ...(type === 'assistant' && { id: `m-${uuid}`, model: 'claude-opus-5' }) },
      ...more,
    });
    await store.append(at, [
      prompt!,
      of('assistant', `${at.sessionId}-a`, [
        { type: 'tool_use', id: 'toolu_1', name: 'Task', input: { prompt: 'Look there', description: 'look' } },
      ]),
    ]);
    const agent = { ...at, subpath: 'subagents/agent-a1' };
    await store.append(agent, [
      of('user', `${at.sessionId}-b`, 'Look there', { isSidechain: true, agentId: 'a1' }),
      of('assistant', `${at.sessionId}-c`, [{ type: 'text', text: 'Seen.' }], { isSidechain: true, agentId: 'a1' }),
    ]);
    await store.append(at, [
      of('user', `${at.sessionId}-d`, [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Seen.' }], {
        toolUseResult: { agentId: 'a1' },
      }),
      of('assistant', `${at.sessionId}-e`, [{ type: 'text', text: 'Done.' }]),
    ]);
    await store.understood();
    expect((await items(at.sessionId)).map(({ external_id, work_type }) => [external_id, work_type])).toEqual([
      [`import:claude-code:${at.sessionId}`, 'journal'],
      [`import:claude-code:${at.sessionId}#a1`, 'import'],
    ]);
    const [spawned] = await database.query<{ tool_name: string }>(
      `select k.tool_name from ledger.sessions s join ledger.tool_calls k on k.id = s.spawn_tool_call_id where s.label = 'claude-code:${at.sessionId}#a1'`,
    );
    expect(spawned).toEqual({ tool_name: 'Task' });
    await store.delete(at);
    const left = await database.query(
      `select erased_at is not null as is_erased, description from ledger.work_items where external_id like 'import:claude-code:${at.sessionId}%'`,
    );
    expect(left).toEqual([
      { is_erased: true, description: '[erased]' },
      { is_erased: true, description: '[erased]' },
    ]);
  });

  test('a session goes on though a subagent was erased whose lines stand in its own record', async () => {
    const at = key();
    const entries = session(at.sessionId, 3);
    const side = (n: number, type: string, content: unknown): SessionStoreEntry => ({
      type,
      uuid: `${at.sessionId}-side-${n}`,
      sessionId: at.sessionId,
      isSidechain: true,
      agentId: 'a1',
      timestamp: '2026-01-01T00:00:11Z',
      message: { role: type, content, ...(type === 'assistant' && { id: `m-side-${n}`, model: 'claude-opus-5' }) },
    });
    const lines = [side(1, 'user', 'Look there'), side(2, 'assistant', [{ type: 'text', text: 'Seen.' }])];
    const agent = { ...at, subpath: 'subagents/agent-a1' };
    await store.append(at, entries.slice(0, 4));
    await store.append(agent, lines);
    await store.understood();
    await store.delete(agent);
    await store.append(at, [...lines, ...entries.slice(4)]);
    await store.understood();
    const [own, side1] = await items(at.sessionId);
    expect(await counts(own!.id)).toMatchObject({ turns: 3, calls: 3 });
    expect(side1).toMatchObject({ external_id: `import:claude-code:${at.sessionId}#a1`, description: '[erased]' });
    const transcript = await database.query(
      `select problem, last_seq = understood_seq as is_read from ledger.transcripts where session_id = '${at.sessionId}' and subpath = ''`,
    );
    expect(transcript).toEqual([{ problem: null, is_read: true }]);
    const file = join(directory, `${at.sessionId}.jsonl`);
    await writeFile(file, `${[...entries.slice(0, 4), ...lines, ...entries.slice(4)].map((entry) => JSON.stringify(entry)).join('\n')}\n`);
    const report = await importer.import(file);
    expect(report).toMatchObject({ workItemId: own!.id, turns: 3 });
    expect(report.leftOut).toContainEqual({ reason: `subagent ${at.sessionId}#a1, which was erased`, count: 1 });
    expect(
      await database.query(`select from ledger.messages where content::text like '%Seen.%' and turn_id in
      (select id from ledger.turns where work_item_id in ('${own!.id}', '${side1!.id}'))`),
    ).toEqual([]);
  });

  test('an erased session takes nothing more: not from its program, not from its file', async () => {
    const at = key();
    const entries = session(at.sessionId, 2);
    await store.append(at, entries);
    await store.understood();
    const [item] = await items(at.sessionId);
    await db.journal.sessionStatus(item!.id, 'completed');
    await database.query(`select * from ledger.work_erase('${item!.id}')`);
    expect(await store.load(at)).toBeNull();
    expect(
      await database.query(
        `select e.* from ledger.transcript_entries e join ledger.transcripts t on t.id = e.transcript_id where t.session_id = '${at.sessionId}'`,
      ),
    ).toEqual([]);
    await expect(store.append(at, [one(1)])).rejects.toMatchObject({ code: 'WL003' });
    const file = join(directory, `${at.sessionId}.jsonl`);
    await writeFile(file, `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`);
    await expect(importer.import(file)).rejects.toThrow('was erased');
  });

  test('an imported session that was erased is not appended to', async () => {
    const at = key();
    const file = join(directory, `${at.sessionId}.jsonl`);
    await writeFile(
      file,
      `${session(at.sessionId, 2)
        .map((entry) => JSON.stringify(entry))
        .join('\n')}\n`,
    );
    const { workItemId } = await importer.import(file);
    await database.query(`select * from ledger.work_erase('${workItemId}')`);
    await expect(store.append(at, session(at.sessionId, 3))).rejects.toMatchObject({ code: 'WL003' });
  });

  test('closing pauses the session; the program ends without it, too', async () => {
    const at = key();
    const own = new LedgerSessionStore({ url: database.url, schema: 'ledger', project: 'shop' });
    await own.append(at, session(at.sessionId, 2));
    await own.close();
    const [item] = await items(at.sessionId);
    expect(item).toMatchObject({ state: 'paused', project: 'shop' });
    await store.append(at, session(at.sessionId, 3));
    await store.understood();
    expect(await items(at.sessionId)).toMatchObject([{ id: item!.id, state: 'created' }]);
    expect(await counts(item!.id)).toMatchObject({ turns: 3, calls: 3 });
  });

  test('where hooks say what a session does, an append does not', async () => {
    const at = key();
    const own = ledgerSession({ url: database.url, schema: 'ledger', project: 'shop' });
    expect(Object.keys(own)).toEqual(['sessionStore', 'hooks', 'mcpServers']);
    await own.sessionStore.append(at, session(at.sessionId, 2));
    await own.sessionStore.understood();
    const [item] = await items(at.sessionId);
    await db.journal.sessionStatus(item!.id, 'paused');
    await own.sessionStore.append(at, session(at.sessionId, 3));
    await own.close();
    expect(await items(at.sessionId)).toMatchObject([{ id: item!.id, state: 'paused' }]);
    expect(await counts(item!.id)).toMatchObject({ turns: 3, calls: 3 });
  });
});
