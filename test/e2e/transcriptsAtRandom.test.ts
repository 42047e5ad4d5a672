// Sessions that their program keeps in the ledger while anything happens to them, at random: batches come twice, from two processes, over
// connections that break, or not at all; what was said is read at any moment, met by an import of its file, forked, erased. Whatever
// happens, what was appended comes back, and each turn and call that the ledger was told of is there once, in the order of the file.
// RUNS and SEED play others.

import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { clientOf } from '../../runtime/client.ts';
import { LedgerSessionStore } from '../../runtime/agentSdk/index.ts';
import type { SessionStoreEntry } from '../../runtime/agentSdk/sdkTypes.ts';
import { TranscriptReader } from '../../runtime/import/readTranscript.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { Importer } from '../importer.ts';

const { RUNS = '20', SEED = '31' } = process.env;

let importer: Importer;
const dbs: Db[] = [];
const stores: LedgerSessionStore[] = [];
const met = new Map<string, number>();

beforeAll(async () => {
  importer = await Importer.open();
  for (let n = 0; n < 2; n++) dbs.push(await openDb(importer.database.url, 'ledger'));
  stores.push(...dbs.map((db) => new LedgerSessionStore({ ledger: clientOf(db, '') })));
});
afterAll(async () => {
  for (const store of stores) await store.close();
  for (const db of dbs) await db.close();
  await importer?.close();
});

const count = fc.integer({ min: 1, max: 5 });
const by = fc.integer({ min: 0, max: 1 });
const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('append' as const), by, count }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('append again' as const), by, count }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('append twice' as const), by, count }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('append cut off' as const), by, count }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('not appended' as const), by, count }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('understood' as const), by, count }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('read by another' as const), by, count }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('import' as const), by, count }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fork' as const), by, count }) },
);
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;

const EXCHANGES = 8;

/** A session as its program and its own file have it, and what the ledger was told of it. */
class Session {
  readonly key = { projectKey: '-random', sessionId: randomUUID() };
  readonly lines: SessionStoreEntry[];
  /** So many of its lines are said, and in its file. */
  said = 0;
  /** What is in the transcript, in its order. */
  kept: SessionStoreEntry[] = [];
  /** The lines of which the ledger was told. */
  readonly told = new Set<SessionStoreEntry>();
  /** Of those that are in the transcript, whether they are read or not. */
  readonly unread: SessionStoreEntry[] = [];
  forks = 0;

  constructor() {
    const { sessionId } = this.key;
    this.lines = linesOf(sessionId).flatMap((line, n) => [
      line,
      ...(n % 4 === 2 ? [{ type: 'mode', mode: 'default', sessionId } as SessionStoreEntry] : []),
    ]);
  }

  async do({ do: what, by: who, count: size }: Act): Promise<void> {
    met.set(what, (met.get(what) ?? 0) + 1);
    const store = stores[who]!;
    if (what === 'understood') return this.#isRead(() => stores[who]!.understood());
    if (what === 'read by another') return this.#isRead(async () => void (await new TranscriptReader(importer.db, this.key).readOn()));
    if (what === 'import') return this.#import();
    if (what === 'fork') return this.#fork();
    if (what === 'append again') {
      const again = this.kept.filter(({ uuid }) => uuid).slice(-size);
      return store.append(this.key, again);
    }
    if (what === 'not appended') return void (this.said = Math.min(this.said + size, this.lines.length));
    const batch = this.lines.slice(this.said, this.said + size);
    this.said += batch.length;
    if (batch.length === 0) return;
    if (what === 'append twice') {
      await Promise.all(stores.map((each, n) => each.append(this.key, n === who ? batch : batch.filter(({ uuid }) => uuid))));
    } else if (what === 'append cut off') {
      await Promise.all([
        store.append(this.key, batch),
        importer.database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%transcript_append%' and pid <> pg_backend_pid()`,
        ),
      ]);
    } else await store.append(this.key, batch);
    // Of two at once the lines without a uuid come between those of the other.
    const loaded = what === 'append twice' ? (await store.load(this.key))! : [...this.kept, ...batch];
    expect(loaded.slice(0, this.kept.length)).toEqual(this.kept);
    expect(loaded.slice(this.kept.length).toSorted(inOrder)).toEqual(batch.toSorted(inOrder));
    this.kept = loaded;
    this.unread.push(...batch);
  }

  async #isRead(read: () => Promise<void>): Promise<void> {
    // What both processes appended is read by both: whoever reads last has all of it.
    await read();
    for (const store of stores) await store.understood();
    for (const entry of this.unread.splice(0)) this.told.add(this.lines.find(({ uuid }) => uuid === entry.uuid) ?? entry);
    await this.check();
  }

  async #import(): Promise<void> {
    if (this.said === 0) return;
    const file = join(importer.directory, `${this.key.sessionId}.jsonl`);
    const said = this.lines.slice(0, this.said);
    if (!said.some((entry) => entry.type === 'assistant')) return; // a file without an answer is no recorded run
    await writeFile(file, said.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    await importer.import(file);
    expect((await importer.import(file)).added).toEqual({ turns: 0, calls: 0 });
    for (const entry of said) this.told.add(entry);
    await this.check();
  }

  async #fork(): Promise<void> {
    const [turn] = await importer.database.query<{ id: string }>(
      `select t.id from ledger.turns t join ledger.work_items w on w.id = t.work_item_id where w.external_id = '${this.#externalId}'
          and t.status = 'completed' and not exists (select from ledger.tool_calls k where k.turn_id = t.id and k.completed_at is null) order by t.depth desc limit 1`,
    );
    if (turn === undefined) return;
    await importer.database.query(`select ledger.work_fork('${turn.id}', 'Try another way')`);
    this.forks++;
  }

  /** What of each response the ledger was told, in the order of the file. */
  #responses(): Record<string, string[]> {
    const responses: Record<string, string[]> = {};
    for (const entry of this.lines) {
      const { message } = entry as { message?: { role: string; id: string; content: Block[] } };
      if (message?.role === 'assistant' && this.told.has(entry)) (responses[message.id] ??= []).push(...message.content.map(nameOf));
    }
    return responses;
  }

  get #externalId(): string {
    return `import:claude-code:${this.key.sessionId}`;
  }

  async check(): Promise<void> {
    expect(await stores[0]!.load(this.key)).toEqual(this.kept.length === 0 ? null : this.kept);
    const of = (table: string): string =>
      `from ledger.${table} x join ledger.work_items w on w.id = x.work_item_id where w.external_id = '${this.#externalId}'`;
    const [row] = await importer.database.query<{ turns: number; calls: string[]; problem: string | null }>(`
      select (select count(*)::int ${of('turns')} and x.turn_type = 'normal') as turns,
             (select coalesce(array_agg(x.provider_id order by x.provider_id), '{}') ${of('tool_calls')}) as calls,
             (select problem from ledger.transcripts where session_id = '${this.key.sessionId}') as problem`);
    const blocks = await importer.database.query<{ response_id: string; content: Block[] }>(
      `select response_id, m.content from ledger.messages m join (select x.* ${of('turns')}) t on t.id = m.turn_id where m.role = 'assistant' order by m.sequence`,
    );
    const stored: Record<string, string[]> = {};
    for (const { response_id: id, content } of blocks) (stored[id] ??= []).push(...content.map(nameOf));
    const responses = this.#responses();
    expect(row!.problem ?? null).toBeNull();
    expect(stored).toEqual(responses);
    expect(row!.calls).toEqual(
      Object.values(responses)
        .flat()
        .filter((name) => name.startsWith('t'))
        .toSorted(),
    );
    expect(row!.turns).toBe(Object.keys(responses).length);
  }

  /** A fork shares its turns: until it is erased, too, it stays. Then nothing of it is left, and it takes nothing more. */
  async end(): Promise<void> {
    if (this.kept.length === 0) return;
    await this.#isRead(() => stores[0]!.understood());
    const gone = stores[0]!.delete(this.key);
    if (this.forks > 0) {
      await expect(gone).rejects.toMatchObject({ code: 'WL008' });
      return this.check();
    }
    await gone;
    expect(await stores[1]!.load(this.key)).toBeNull();
    await expect(stores[1]!.append(this.key, this.lines.slice(0, 1))).rejects.toMatchObject({ code: 'WL003' });
  }
}

type Block = { type: string; id?: string; text?: string; thinking?: string };
const nameOf = ({ id, text, thinking }: Block): string => id ?? text ?? thinking ?? '';

/** A line for each block, as the SDK writes them; every other response has thought and made two calls. */
function linesOf(sessionId: string): SessionStoreEntry[] {
  const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 0 };
  const messages = [{ role: 'user', content: 'Mend the import' } as object];
  for (let n = 1; n <= EXCHANGES; n++) {
    const calls = n % 2 === 0 ? [`t${n}a`, `t${n}b`] : [`t${n}`];
    const blocks: object[] = [
      { type: 'text', text: `I look at ${n}.` },
      ...calls.map((id) => ({ type: 'tool_use', id, name: 'Read', input: { file_path: id } })),
    ];
    if (n % 2 === 0) blocks.unshift({ type: 'thinking', thinking: `What about ${n}?`, signature: 'signed' });
    messages.push(
      ...blocks.map((block) => ({ role: 'assistant', id: `m${n}`, model: 'claude-opus-5', usage, content: [block] })),
      ...calls.map((id) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: `content of ${id}` }] })),
    );
  }
  return messages.map((message, n) => ({
    type: (message as { role: string }).role,
    uuid: `${sessionId}-${n}`,
    parentUuid: n === 0 ? null : `${sessionId}-${n - 1}`,
    sessionId,
    cwd: '/work',
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString(),
    message,
  }));
}

const inOrder = (one: SessionStoreEntry, other: SessionStoreEntry): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

test('whatever happens to a session, what was appended comes back, and is understood once', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 16 }), async (acts) => {
      const session = new Session();
      for (const each of acts) await session.do(each);
      await session.end();
    }),
    { numRuns: Number(RUNS), seed: Number(SEED), endOnFailure: process.env['NOSHRINK'] !== undefined, includeErrorInReport: true },
  );
  expect([...met.keys()].toSorted()).toHaveLength(9);
  expect(await importer.database.query('select * from ledger.work_ledger_check()')).toEqual([]);
  expect(await importer.database.query('select * from ledger.ledger_verify()')).toEqual([]);
});
