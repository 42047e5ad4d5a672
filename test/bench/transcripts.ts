// What it costs to keep a session of the Claude Agent SDK as it runs, a line at a time: the append that its program waits for, reading what
// it says into turns, and how long it takes until a call is seen.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type pg from 'pg';

import { clientOf } from '../../runtime/client.ts';
import { LedgerSessionStore } from '../../runtime/agentSdk/index.ts';
import type { SessionKey, SessionStoreEntry } from '../../runtime/agentSdk/sdkTypes.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { linesOf, median, takeTurns, timed } from './harness/question.ts';
import type { Line, Question, Sample } from './harness/question.ts';
import { withServer } from './harness/server.ts';
import type { Server } from './harness/server.ts';
import { plainText } from './harness/text.ts';

/** Characters of a result; what the model says has half of them. */
const SIZE = 1000;

export const transcripts: Question = {
  asks: 'What does it cost to keep a session of the Agent SDK as it runs?',
  axis: 'entries',
  measure: ({ quick, say }) =>
    withServer(async (server) => {
      await server.admin.query(
        'create table bench_plain (session uuid not null, seq bigint generated always as identity, uuid text not null, entry text not null, primary key (session, seq))',
      );
      const db = await openDb(server.url, 'work_ledger');
      const store = new LedgerSessionStore({
        ledger: clientOf(db, ''),
        project: 'bench',
        foldSessionSummary: (before, { sessionId }, entries) => ({
          sessionId,
          mtime: 0,
          data: { count: Number(before?.data['count'] ?? 0) + entries.length },
        }),
      });
      const lines: Line[] = [];
      for (const size of quick ? [100] : [100, 3000]) {
        say(`transcripts: ${size}`);
        const session = new Session(server, await server.connect(), store);
        await session.grow(size);
        const samples = await takeTurns(quick ? 3 : 5, {
          'plain INSERT': () => session.cost(500, (entry) => session.insert(entry)),
          append: () => session.cost(100, (entry) => session.append(entry)),
          'append, read into turns': () =>
            session.cost(10, async (entry) => {
              await session.append(entry);
              await store.understood();
            }),
          'append, until its call is in v_turn_tools': () => session.seen(6),
        });
        lines.push(...linesOf(samples, { unit: 'ms', of: 'plain INSERT', at: size }));
      }
      await store.close();
      await db.close();
      return lines;
    }),
};

/** A session that calls a tool, and again, a line each. */
class Session {
  readonly #server: Server;
  readonly #plain: pg.Client;
  readonly #store: LedgerSessionStore;
  readonly #key: SessionKey = { projectKey: '-bench', sessionId: randomUUID() };
  #count = 0;

  constructor(server: Server, plain: pg.Client, store: LedgerSessionStore) {
    this.#server = server;
    this.#plain = plain;
    this.#store = store;
  }

  async grow(size: number): Promise<void> {
    await this.append(this.#next());
    while (this.#count < size) await this.#store.append(this.#key, [this.#next(), this.#next()]);
    await this.#store.understood();
    await this.#server.admin.query('vacuum analyze');
  }

  append = (entry: SessionStoreEntry): Promise<void> => this.#store.append(this.#key, [entry]);

  async insert(entry: SessionStoreEntry): Promise<void> {
    await this.#plain.query({
      name: 'plain',
      text: 'insert into bench_plain (session, uuid, entry) values ($1, $2, $3)',
      values: [this.#key.sessionId, entry.uuid, JSON.stringify(entry)],
    });
  }

  /** One after the other; their median, and the CPU of one. */
  async cost(times: number, use: (entry: SessionStoreEntry) => Promise<void>): Promise<Sample> {
    const found: number[] = [];
    const before = await this.#server.cpu();
    for (let n = 0; n < times; n++) {
      const entry = this.#next();
      found.push(await timed(() => use(entry)));
    }
    const after = await this.#server.cpu();
    await this.#store.understood();
    return { value: median(found), cpu: before === null || after === null ? null : (after - before) / times };
  }

  /** How long after the append somebody else sees the call; whoever looks takes CPU, so that none is told. */
  async seen(times: number): Promise<Sample> {
    const found: number[] = [];
    // To a result: a call that never ends keeps all that follows from being read for good.
    while (found.length < times || this.#count % 2 === 0) {
      const entry = this.#next();
      const id = entry.type === 'assistant' ? `call-${this.#count - 1}` : null;
      const took = await timed(async () => {
        await this.append(entry);
        if (id !== null) await this.#untilSeen(id);
      });
      if (id !== null) found.push(took);
    }
    await this.#store.understood();
    return { value: median(found) };
  }

  async #untilSeen(id: string): Promise<void> {
    for (let tries = 0; !(await this.#isSeen(id)); tries++) {
      if (tries > 10_000) throw new Error(`${id} was not seen`);
      await sleep(1);
    }
  }

  async #isSeen(id: string): Promise<boolean> {
    const { rowCount } = await this.#server.admin.query({
      name: 'seen',
      text: `select from v_turn_tools where tools_used is not null and turn_id = (
        select k.turn_id from tool_calls k join transcripts t on t.work_item_id = k.work_item_id where t.session_id = $1 and $2 in (k.provider_id, k.given_id))`,
      values: [this.#key.sessionId, id],
    });
    return rowCount === 1;
  }

  #next(): SessionStoreEntry {
    const n = this.#count++;
    const { sessionId } = this.#key;
    const common = { uuid: `${sessionId}-${n}`, sessionId, cwd: '/work', timestamp: new Date().toISOString() };
    if (n === 0) return { type: 'user', ...common, message: { role: 'user', content: 'Find why the import is slow' } };
    const isCall = n % 2 === 1;
    const call = { type: 'tool_use', id: `call-${n}`, name: 'Read', input: { file_path: `src/${n}.ts`, why: plainText(SIZE / 2) } };
    const result = { type: 'tool_result', tool_use_id: `call-${n - 1}`, content: plainText(SIZE) };
    return isCall
      ? { type: 'assistant', ...common, message: { role: 'assistant', id: `m-${n}`, model: 'claude-sonnet-5-5', content: [call] } }
      : { type: 'user', ...common, message: { role: 'user', content: [result] } };
  }
}
