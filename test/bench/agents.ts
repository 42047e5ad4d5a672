// How many agents does one database carry? Agents that think for ten seconds between two iterations, driven by the functions that a
// worker calls, with its leases, heartbeats and sweeps, through few connections: so many agents ask for so many iterations a second, and
// where the database no longer follows is the knee. The driver shares the machine with the server, as a worker beside its Postgres does.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { seededRandom } from '../random.ts';
import { lineOf, median, spread } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';
import type { Server } from './harness/server.ts';
import { plainText } from './harness/text.ts';

const CONNECTIONS = 16;
const MORE_CONNECTIONS = 100;
/** Foci of a worker, which share a heartbeat. */
const OF_A_WORKER = 50;
const LEASE_SECONDS = 30;
/** Tables whose rows are updated at each iteration, not only added to. */
const UPDATED = ['fences', 'foci', 'sessions', 'work_items', 'work_usage'];
const CHANNELS = ['work_watched', 'work_journal', 'work_item_completed', '"jobs:insert"'];

export const agents: Question = {
  asks: 'How many agents does one database carry?',
  axis: 'agents',
  measure: ({ quick, say }) =>
    withServer(async (server) => {
      const [levels, thinkMs, seconds, total] = quick ? [[10, 20], 1000, 4, 200] : [[200, 400, 800, 1200, 2000, 3000], 10_000, 60, 100_000];
      const crowd = await startCrowd(server, thinkMs, say);
      const lines: Line[] = [];
      try {
        for (const count of levels) {
          await crowd.growTo(count);
          lines.push(...(await crowd.watch(seconds, '')));
        }
        await crowd.reach(total);
        lines.push(...(await crowd.watch(seconds, `, after ${total.toLocaleString('en-US')}`)));
        crowd.use(MORE_CONNECTIONS); // the last, since a pool that is busy does not shrink again
        lines.push(...(await crowd.watch(seconds, `, ${MORE_CONNECTIONS} connections`)));
      } finally {
        await crowd.end();
      }
      return lines;
    }),
};

type Agent = { item: string; lease: string; turn: string; iteration: number; random: () => number };

async function startCrowd(server: Server, thinkMs: number, say: (text: string) => void) {
  await server.admin.query(`select ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe')`);
  await server.admin.query('select faculty_save($1)', [
    { name: 'thinker', accepts: ['think'], engage: { tools: ['look'], max_turns: 1_000_000, context_window: 2_000_000_000 } },
  ]);
  const pool = new pg.Pool({ connectionString: server.url, max: CONNECTIONS });
  // Not behind a crowd that is too large: workers have connections of their own.
  const growing = await server.connect();
  const beating = new pg.Pool({ connectionString: server.url, max: 8 });
  const listener = await server.connect();
  let notifications = 0;
  listener.on('notification', () => notifications++);
  for (const channel of CHANNELS) await listener.query(`listen ${channel}`);
  const crowd: Agent[] = [];
  const lives: Promise<void>[] = [];
  const over = new AbortController();
  let failure: unknown;
  const failed = (error: unknown): void => void (failure ??= error);
  let iterations = 0;
  let took: number[] = []; // milliseconds of each iteration, beside its thinking
  const heart = (async () => {
    while (!over.signal.aborted) {
      await beat(beating, crowd);
      await sleep((LEASE_SECONDS * 1000) / 4, undefined, { signal: over.signal }).catch(() => {});
    }
  })().catch(failed);
  return {
    use: (connections: number) => void (pool.options.max = connections),
    /** Waits until there were so many iterations. */
    async reach(total: number): Promise<void> {
      for (;;) {
        if (failure !== undefined) throw failure;
        if (iterations >= total) return;
        await sleep(500);
      }
    },
    async growTo(count: number): Promise<void> {
      while (crowd.length < count) {
        const agent = await begin(growing, crowd.length);
        crowd.push(agent);
        lives.push(
          live(pool, agent, thinkMs, over.signal, (ms) => {
            iterations++;
            took.push(ms);
          }).catch(failed),
        );
      }
    },
    /** Waits until all have thought with what there is now, then looks for so many seconds. */
    async watch(seconds: number, named: string): Promise<Line[]> {
      await sleep(thinkMs * 1.5);
      const [before, startedAt] = [await counted(server), performance.now()];
      [took, notifications] = [[], 0];
      const waits: { running: number; locks: number; disk: number }[] = [];
      while (performance.now() < startedAt + seconds * 1000) {
        await sleep(500);
        waits.push(await waitsOf(server.admin));
        if (failure !== undefined) throw failure;
      }
      const [after, passed] = [await counted(server), (performance.now() - startedAt) / 1000];
      const memory = await server.memory();
      const [count, done] = [crowd.length, took.length];
      const beside = spread(took);
      const late = took.toSorted((a, b) => a - b)[Math.floor(done * 0.95)] ?? Number.NaN;
      const updates = after.updates - before.updates;
      say(
        `agents: ${count}${named}: ${(done / passed).toFixed(1)} iterations a second of ${((count * 1000) / thinkMs).toFixed(0)}, ${iterations} until now`,
      );
      const figures: [name: string, unit: string, value: number | null][] = [
        ['iterations', 'a second', done / passed],
        ['iterations', 'of those asked for', ((done / passed) * (thinkMs / 1000)) / count],
        ['an iteration without its thinking', 'ms, median', beside.median],
        ['an iteration without its thinking', 'ms, 95 of 100 are faster', late],
        [
          'an iteration',
          'ms of CPU in the server',
          after.cpu === null || before.cpu === null ? null : (after.cpu - before.cpu) / 1000 / done,
        ],
        ['an iteration', 'ms of CPU in the driver', (after.driver - before.driver) / 1000 / done],
        ['an iteration', 'bytes of WAL', (after.wal - before.wal) / done],
        ['an iteration', 'bytes stored', (after.stored - before.stored) / done],
        ['an iteration', 'notifications', notifications / done],
        ['backends', 'running', median(waits.map(({ running }) => running))],
        ['backends', 'waiting for a lock', median(waits.map(({ locks }) => locks))],
        ['backends', 'waiting for the disk', median(waits.map(({ disk }) => disk))],
        ['backends', 'MB of memory, the largest', memory === null ? null : memory / 2 ** 20],
        ['rows that are updated', 'KB of tables for each agent', after.updated / 1024 / count],
        ['rows that are updated', 'updates within their page (HOT)', (after.hot - before.hot) / updates],
        ['rows that are updated', 'vacuums', after.vacuums - before.vacuums],
      ];
      return figures.flatMap(([name, unit, value]) => (value === null ? [] : [lineOf(`${name}${named}`, unit, [value], count)]));
    },
    async end(): Promise<void> {
      over.abort();
      await Promise.allSettled([heart, ...lives]);
      await Promise.all([pool.end(), beating.end()]);
    },
  };
}

const ask = async (pool: pg.Pool | pg.Client, name: string, text: string, values: unknown[]): Promise<string> =>
  (await pool.query<{ value: string }>({ name, text, values })).rows[0]?.value ?? '';
const turnOf = (answer: string): string => /"turn_id"\s*:\s*"([0-9a-f-]{36})"/.exec(answer)?.[1] ?? '';

async function begin(client: pg.Client, n: number): Promise<Agent> {
  const item = await ask(client, 'submit', `select (work_submit('think', 'Think about thing ' || $1::text)).id as value`, [n]);
  const lease = await ask(
    client,
    'claim',
    `select focus_claim($1, 'bench-' || $2::integer / ${OF_A_WORKER}, ${LEASE_SECONDS}) ->> 'lease' as value`,
    [item, n],
  );
  return {
    item,
    lease,
    turn: turnOf(await ask(client, 'begin', 'select iteration_begin($1, $2)::text as value', [item, lease])),
    iteration: 1,
    random: seededRandom(7, n + 1),
  };
}

/** Thinks, says what it calls, gets the results, goes on. */
async function live(pool: pg.Pool, agent: Agent, thinkMs: number, over: AbortSignal, onIteration: (ms: number) => void): Promise<void> {
  while (!over.aborted) {
    await sleep(thinkMs * (0.5 + agent.random()), undefined, { signal: over }).catch(() => {});
    if (over.aborted) return;
    const from = performance.now();
    await iterate(pool, agent);
    onIteration(performance.now() - from);
  }
}

/** As a worker does it: its tool has run by the time the response is stored, and the step is run by the database. */
async function iterate(pool: pg.Pool, agent: Agent): Promise<void> {
  const { item, lease, turn, iteration: n } = agent;
  const step = { type: 'tool_use', id: `s${n}`, name: 'ledger_append', input: { entry_type: 'step', content: `Step ${n / 5} is done` } };
  const response = {
    model: 'claude-sonnet-5-5',
    stop_reason: 'tool_use',
    usage: { input_tokens: 3000 + 1050 * n, output_tokens: 60 },
    content: [{ type: 'tool_use', id: `l${n}`, name: 'look', input: { n } }, ...(n % 5 === 0 ? [step] : [])],
  };
  const seen = { ordinal: 0, id: randomUUID(), content: plainText(4000), is_error: false };
  const tell = (name: string, args: string, ...values: unknown[]): Promise<string> =>
    ask(pool, name, `select iteration_step($1, $2, $3, 0, p_kept_turn_id => $4${args})::text as value`, [item, lease, n, turn, ...values]);
  let answer = await tell('step', ', p_turn_id => $4, p_response => $5, p_results => $6', JSON.stringify(response), JSON.stringify([seen]));
  if (n % 5 === 0) {
    await ask(
      pool,
      'execute',
      `select tool_call_execute($1, $2, k.id)::text as value from tool_calls k where k.turn_id = $3 and k.tool_name = 'ledger_append'`,
      [item, lease, turn],
    );
    answer = await tell('end', '');
  }
  agent.turn = turnOf(answer);
  if (agent.turn === '' || agent.turn === turn) throw new Error(`the agent of ${item} does not go on`);
  agent.iteration++;
}

/** What the workers that would hold these foci do besides, side by side: heartbeats, and a sweep. */
async function beat(workers: pg.Pool, crowd: readonly Agent[]): Promise<void> {
  await Promise.all(
    Array.from({ length: Math.ceil(crowd.length / OF_A_WORKER) }, async (_, n) => {
      const held = crowd.slice(n * OF_A_WORKER, (n + 1) * OF_A_WORKER);
      const renewed = await workers.query({
        name: 'renew',
        text: 'select lease_renew($1, $2, $3)',
        values: [`bench-${n}`, held.map(({ item }) => item), held.map(({ lease }) => lease)],
      });
      if (renewed.rowCount !== held.length) throw new Error(`${held.length - (renewed.rowCount ?? 0)} leases were lost`);
    }),
  );
  await workers.query({ name: 'sweep', text: 'select work_sweep()' });
}

type Counted = {
  cpu: number | null;
  driver: number;
  wal: number;
  stored: number;
  updated: number;
  updates: number;
  hot: number;
  vacuums: number;
};

async function counted({ admin, cpu }: Server): Promise<Counted> {
  const {
    rows: [row],
  } = await admin.query<Omit<Counted, 'cpu' | 'driver'>>(
    `
    select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal, pg_database_size(current_database())::float8 as stored,
           sum(pg_relation_size(s.relid))::float8 as updated, sum(s.n_tup_upd)::float8 as updates, sum(s.n_tup_hot_upd)::float8 as hot,
           sum(s.autovacuum_count)::float8 as vacuums
      from pg_stat_user_tables s
     where s.schemaname = 'work_ledger' and s.relname = any ($1)`,
    [UPDATED],
  );
  const { user, system } = process.cpuUsage();
  if (!row) throw new Error('the server tells nothing of its tables');
  return { ...row, cpu: await cpu(), driver: user + system };
}

async function waitsOf(admin: pg.Client): Promise<{ running: number; locks: number; disk: number }> {
  const {
    rows: [row],
  } = await admin.query<{ running: number; locks: number; disk: number }>(`
    select (count(*) filter (where wait_event is null))::integer as running,
           (count(*) filter (where wait_event_type in ('Lock', 'LWLock', 'BufferPin')))::integer as locks,
           (count(*) filter (where wait_event_type = 'IO'))::integer as disk
      from pg_stat_activity
     where backend_type = 'client backend' and state = 'active' and pid <> pg_backend_pid()`);
  return row ?? { running: 0, locks: 0, disk: 0 };
}
