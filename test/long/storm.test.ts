// Everything at once, for half a minute: eighteen drivers on three trees with budgets, sixteen spawns in parallel, heartbeats, cancels,
// messages, pauses, forks, sweeps. However busy the machine is: no deadlock, the work goes on, and what the rows say holds.

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { seed, seededRandom } from '../random.ts';
import { until as waiting } from '../workerProcess.ts';

const SECONDS = Number(process.env['STORM_SECONDS'] ?? 30);
const drivers = 18;
/** What is chosen can be chosen again; who comes first cannot. */
const random = seededRandom();
const spawns = 16;
let database: TestDatabase;
let pool: pg.Pool;
const pids = new Set<number>();
beforeAll(async () => {
  database = await createDatabase();
  const name = new URL(database.url).pathname.slice(1);
  // who waits for nothing but work is not yet looked at by then
  await database.query(`alter database ${name} set deadlock_timeout = '100ms'`);
  pool = new pg.Pool({ connectionString: database.url, max: drivers + spawns + 10 });
  pool.on('connect', (client) => pids.add((client as unknown as { processID: number }).processID));
  await pool.query(`
    select from model_price_save('claude-sonnet-5-5', 3, 15);
    select from faculty_save('{"name": "lead", "accepts": ["lead"], "awareness": {"enabled": false}, "engage": {"max_children": 1000, "max_descendants": 5000, "max_turns": 1000, "stall_limit": 0}}');
    select from faculty_save('{"name": "part", "accepts": ["part"], "awareness": {"enabled": false}, "engage": {"max_children": 1000, "max_descendants": 5000, "max_turns": 1000, "stall_limit": 0}}');
    select from faculty_save('{"name": "narrow", "accepts": ["narrow"], "max_concurrent": 3, "awareness": {"enabled": false}, "engage": {"max_turns": 1000, "stall_limit": 0}}')`);
});
afterAll(async () => {
  await pool?.end();
  await waiting(
    async () =>
      (await database.query(`select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)).length === 0,
  );
  await database?.drop();
});

type Row = Record<string, unknown>;
const refused = new Map<string, number>();
/** The first row; null, and counted, where the ledger refuses it in one of its own codes or the server with another. */
async function ask(sql: string, values: unknown[] = []): Promise<Row | null> {
  try {
    return ((await pool.query(sql, values)).rows[0] as Row | undefined) ?? null;
  } catch (error) {
    const code = (error as { code?: string }).code ?? String(error);
    refused.set(code, (refused.get(code) ?? 0) + 1);
    return null;
  }
}
const id = async (sql: string): Promise<string | null> => ((await ask(sql))?.['id'] as string | undefined) ?? null;
const pick = <T>(things: readonly T[]): T => things[Math.floor(random() * things.length)]!;
const spawn = (n: number): object =>
  use('spawn_child_work', { work_type: pick(['part', 'part', 'part', 'narrow']), description: `Part ${crypto.randomUUID()}` }, n);
const use = (name: string, input: object, n: number): object => ({ type: 'tool_use', id: `t${n}`, name, input });

/** What a model says next: mostly notes; of leads, sixteen children at once and then to wait for them; at last that it is done. */
function content(isLead: boolean, children: readonly string[]): object[] {
  const roll = random();
  if (isLead && roll < 0.25) return Array.from({ length: spawns }, (_, n) => spawn(n));
  if (isLead && children.length > 0 && roll < 0.6)
    return [use('await_child_work', { work_item_ids: children, timeout_seconds: 1 + 3 * random() }, 0)];
  if (roll < 0.35) return [{ type: 'text', text: 'Done.' }];
  if (!isLead && roll < 0.42) return [spawn(0)];
  return [1, 2].map((n) => use('ledger_append', { entry_type: 'note', content: `${random()}` }, n));
}

/** The newest lease of each item. */
const leases = new Map<string, string>();

/** Drives one iteration of an item; whether it came to its end. */
async function drive(workItemId: string, worker: string): Promise<boolean> {
  const begun = await ask(
    random() < 0.7
      ? `select c -> 'claim' as claim, c -> 'begin' as begin from focus_begin($1, $2, 4) c`
      : `select focus_claim($1, $2, 4) as claim, null as begin`,
    [workItemId, worker],
  );
  const claim = begun?.['claim'] as Row | undefined;
  if (claim?.['kind'] !== 'claimed') return false;
  const held = [workItemId, claim['lease']];
  leases.set(workItemId, claim['lease'] as string);
  const begin = (begun?.['begin'] ?? (await ask('select iteration_begin($1, $2) as begin', held))?.['begin']) as
    | { kind: string; turn_id: string; calls?: { id: string }[] }
    | undefined;
  let calls = begin?.calls ?? [];
  const roll = random();
  if (roll < 0.05) return false; // it dies, and its lease runs out
  if (roll < 0.1) return (await ask('select iteration_release($1, $2)', held)) !== null && false;
  if (begin?.kind === 'call_model') {
    if (roll < 0.2) {
      await ask('select iteration_fail($1, $2, $3)', [
        ...held,
        { class: pick(['server_error', 'rate_limited', 'timeout', 'context_overflow']), message: 'x', retry_after_seconds: 1 },
      ]);
      return false;
    }
    const item = await ask(
      `select work_type, array(select id from work_items where parent_id = $1 and resolved_at is null) as children from work_items where id = $1`,
      [workItemId],
    );
    const said = content(item?.['work_type'] === 'lead', item?.['children'] as string[]);
    const response = {
      id: 'm',
      model: 'claude-sonnet-5-5',
      content: said,
      stop_reason: said.some((block) => 'input' in block) ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 100, output_tokens: 50 },
    };
    calls =
      (
        (await ask('select turn_record($1, $2, $3, $4) as told', [...held, begin.turn_id, response]))?.['told'] as
          | { calls: { id: string }[] }
          | undefined
      )?.calls ?? [];
  } else if (begin?.kind !== 'run_tools') return false;
  await Promise.all(calls.map((call) => ask('select tool_call_execute($1, $2, $3)', [...held, call.id])));
  return (await ask('select iteration_finish($1, $2)', held)) !== null;
}

test(`no deadlock in ${SECONDS} seconds of everything at once (SEED=${seed})`, { timeout: SECONDS * 1000 + 600_000 }, async () => {
  const end = performance.now() + SECONDS * 1000;
  const finished = Array<number>(drivers).fill(0);
  const plant = async (): Promise<void> => {
    const open = Number(
      (
        await ask(
          `select count(*) as n from work_items where parent_id is null and work_type = 'lead' and fork_turn_id is null and resolved_at is null`,
        )
      )?.['n'] ?? 3,
    );
    for (let n = open; n < 3; n++)
      await ask(
        `select work_submit('lead', 'Lead ' || gen_random_uuid(), p_project => 'storm/a', p_budget => '{"tokens": 300000, "seconds": 100000, "calls": 100000, "children": 100000, "money": 1000}')`,
      );
  };
  const until = async (every: number, act: () => Promise<unknown>): Promise<void> => {
    while (performance.now() < end) {
      await act();
      await sleep(every * random() * 2);
    }
  };
  const some = (where: string, first = 'random()'): string =>
    `select id from work_items where resolved_at is null and ${where} order by ${first}, random() limit 1`;
  await plant();
  await Promise.all([
    ...finished.map((_, n) =>
      until(5, async () => {
        const due = await id(
          some(
            `state in ('queued', 'claimed', 'running', 'waiting') and not _is_driven(id) and run_at < now() + interval '3 seconds' and (work_type <> 'narrow' or random() < 0.3)`,
            pick(['depth', 'random()']),
          ),
        );
        if (due !== null && (await drive(due, `worker ${n % 4}`))) finished[n]!++;
      }),
    ),
    // Each of four workers beats for all that it holds, under whatever lease.
    ...[0, 1, 2, 3].map((n) =>
      until(100, () => {
        const named = [...leases].filter(() => random() < 0.9);
        return ask('select lease_renew($1, $2, $3)', [`worker ${n}`, named.map(([item]) => item), named.map(([, lease]) => lease)]);
      }),
    ),
    until(300, plant),
    until(300, () => ask(`select work_sweep('5 seconds')`)),
    until(1500, async () => ask('select count(*) from work_cancel($1)', [await id(some('depth = 1 or random() < 0.1'))])),
    until(200, async () => ask('select work_message($1, $2, $3)', [await id(some('true')), 'A word', random() < 0.5])),
    until(200, async () => {
      const paused = await id(some('true'));
      await ask('select work_pause($1)', [paused]);
      await sleep(100);
      await ask('select work_resume($1)', [paused]);
    }),
    until(700, async () =>
      ask('select work_fork($1)', [
        await id(
          `select id from turns t where status = 'completed' and turn_type = 'normal' and not exists (select from tool_calls k where k.turn_id = t.id and k.completed_at is null) order by random() limit 1`,
        ),
      ]),
    ),
    until(500, async () =>
      ask(
        `select budget_set(work_item_id, resource, amount * 1.5) from budgets where work_item_id = (select work_item_id from budgets where resource = 'tokens' order by random() limit 1) and resource = 'tokens'`,
      ),
    ),
    until(250, async () => {
      const [resource, faculty] = [pick(['tokens', 'calls', 'seconds']), pick(['lead', 'part'])];
      await ask(`select daily_budget_set($1, case when $2 < 0.3 then null when $2 < 0.32 then 0 else 1000000000 end, p_faculty => $3)`, [
        resource,
        random(),
        faculty,
      ]);
    }),
    until(300, async () => {
      const resource = pick(['tokens', 'calls', 'seconds']);
      await ask(`select daily_budget_set($1, case when $2 < 0.3 then null else 1000000000 end, p_project => 'storm/a')`, [
        resource,
        random(),
      ]);
    }),
    until(400, () =>
      ask(`select project_rename(n, case n when 'storm/a' then 'storm/b' else 'storm/a' end) from project_name('storm/a') n`),
    ),
  ]);

  const own = [...refused.keys()].filter((code) => !/^WL00\d$/.test(code));
  expect(own, JSON.stringify(Object.fromEntries(refused))).toEqual([]);
  const log: string[] = [];
  // Line by line: what all tests logged is longer than a text can be.
  for await (const line of createInterface({ input: createReadStream(inject('serverLog')) }))
    if (line.includes('deadlock detected') && pids.has(Number(/\[(\d+)\]/.exec(line)?.[1]))) log.push(line);
  expect(log).toEqual([]);
  const total = finished.reduce((sum, n) => sum + n, 0);
  console.log(`${total} iterations, ${JSON.stringify(Object.fromEntries(refused))}`);
  expect(total).toBeGreaterThan(drivers);

  // All at rest: everything is ended, and what was said holds.
  await pool.query(`select count(c) from work_items w cross join lateral work_cancel(w.id) c where w.resolved_at is null`);
  const nothing = async (what: string, sql: string): Promise<void> => expect((await pool.query(sql)).rows, what).toEqual([]);
  await nothing(
    'an item is open, driven or has a place',
    'select id from work_items where resolved_at is null or slot_faculty is not null or _is_driven(id)',
  );
  await nothing('an invariant is broken', 'select * from work_ledger_check()'); // no open attempt, turn, call, wait; no gap, no budget held
  await nothing(
    'children are not counted exactly',
    `
    select b.work_item_id, b.spent, count(w.id) from budgets b left join work_items w on w.root_id = b.work_item_id and w.id <> b.work_item_id
     where b.resource = 'children' group by b.work_item_id, b.resource having b.spent <> count(w.id)`,
  );
  await nothing(
    'tokens are missing',
    `
    select b.work_item_id from budgets b where b.resource = 'tokens'
       and b.spent < (select coalesce(sum(t.total_tokens), 0) from turns t join work_items w on w.id = t.work_item_id where w.root_id = b.work_item_id)`,
  );
});
