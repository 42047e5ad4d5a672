// The one order of locks (sql/README.md): each function that writes is stopped at each stage by somebody who holds it, and must not
// have touched a later one by then. And families of deadlocks, interleaved by hand: who waits for whom is read from the server.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { Session } from '../session.ts';

let database: TestDatabase;
let first: Session;
let second: Session;
let third: Session;
beforeAll(async () => {
  database = await createDatabase();
  await database.query(`alter database ${new URL(database.url).pathname.slice(1)} set deadlock_timeout = '100ms'`);
  await database.query(`
    create function public.slow(input jsonb) returns jsonb language sql as $$ select pg_advisory_xact_lock(7); select '{}'::jsonb $$;
    select from ability_register('slow', 'Takes its time.', '{"type": "object"}', 'unsafe', 'safe', 'public.slow(jsonb)');
    select from ability_register('send', 'Sends.', '{"type": "object"}', 'unsafe', 'dangerous');
    select from ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe');
    select from ability_register('execute_code', 'Runs code.', '{"type": "object"}', 'idempotent', 'safe');
    select from model_price_save('claude-sonnet-5-5', 3, 15);
    select from faculty_save('{"name": "lead", "accepts": ["lead"], "engage": {"tools": ["slow"], "ledger_nudge_interval": 0}}');
    select from faculty_save('{"name": "part", "accepts": ["part"], "max_concurrent": 3, "engage": {"tools": ["send"], "require_approval": "dangerous", "ledger_nudge_interval": 0}}');
    select from faculty_save('{"name": "limited", "accepts": ["limited"], "max_concurrent": 3, "budget": {"calls": 100}}');
    select from faculty_save('{"name": "coder", "accepts": ["code"], "engage": {"tools": ["send"], "code_execution": true, "require_approval": "dangerous"}}');
    select from faculty_save('{"name": "careful", "accepts": ["careful"], "hooks": {"before_tool": "true"}, "engage": {"tools": ["send"], "require_approval": "dangerous"}}');
    select from faculty_save('{"name": "long", "accepts": ["long"], "awareness": {"enabled": false}, "engage": {"tools": ["look"], "compact_keep_recent": 2, "ledger_nudge_interval": 0}}');
    select from faculty_save('{"name": "hooked", "accepts": ["hooked"], "orient": {"command": "true"}}')`);
});
afterAll(() => database?.drop());
beforeEach(async () => {
  [first, second, third] = (await Promise.all([1, 2, 3].map(() => Session.open(database.url)))) as [Session, Session, Session];
});
afterEach(() => Promise.all([first, second, third].map((session) => session.close())));

const quoted = (value: unknown): string => `'${typeof value === 'string' ? value : JSON.stringify(value)}'`;
type Driven = { item: string; lease: string; turn: string };

/** Nothing else, a root with its budgets, and a child of it, whose faculty has three places. */
async function tree(
  budget: object = { tokens: 10_000_000, seconds: 10_000, calls: 10_000, children: 1000 },
): Promise<{ root: string; part: string }> {
  await first.run(
    `select count(c) from work_items w cross join lateral work_cancel(w.id) c where w.parent_id is null and w.resolved_at is null`,
  );
  await first.run('delete from daily_budgets; delete from daily_spending');
  const root = String(
    await first.run(`select id from work_submit('lead', ${quoted(`Lead ${crypto.randomUUID()}`)}, p_budget => ${quoted(budget)})`),
  );
  return { root, part: await partOf(root) };
}
/** The same, and what its faculties may use in a day is limited. */
async function treeOfADay(): Promise<{ root: string; part: string }> {
  const made = await tree();
  await first.run(
    `select daily_budget_set(r, 10000000, p_faculty => f) from unnest('{tokens,calls,seconds}'::text[]) r cross join unnest('{lead,part}'::text[]) f`,
  );
  return made;
}
/** Work that no budget limits. */
const alone = async (): Promise<string> =>
  String(await first.run(`select id from work_submit('part', ${quoted(`Alone ${crypto.randomUUID()}`)})`));
/** The result of a call that ran before its response was stored. */
const seen = [{ ordinal: 0, id: '00000000-0000-4000-8000-000000000000', content: 'seen', is_error: false }];
const childOf = async (root: string, type: string): Promise<string> =>
  String(
    await first.run(
      `select id from work_submit(${quoted(type)}, ${quoted(`Part ${crypto.randomUUID()}`)}, p_parent_id => ${quoted(root)})`,
    ),
  );
const partOf = (root: string): Promise<string> => childOf(root, 'part');
const claim = async (item: string): Promise<string> => String(await first.run(`select focus_claim(${quoted(item)}, 'worker') ->> 'lease'`));

/** Claims an item and takes its request. */
async function asking(item: string): Promise<Driven> {
  const lease = await claim(item);
  return { item, lease, turn: String(await first.run(`select iteration_begin(${quoted(item)}, ${quoted(lease)}) ->> 'turn_id'`)) };
}
const args = ({ item, lease }: Driven): string => `${quoted(item)}, ${quoted(lease)}`;
const response = (content: unknown[]): string =>
  quoted({
    id: 'm',
    model: 'claude-sonnet-5-5',
    content,
    stop_reason: content.some((block) => (block as { type: string }).type === 'tool_use') ? 'tool_use' : 'end_turn',
    usage: { input_tokens: 10, output_tokens: 5 },
  });
const use = (name: string, input: object = {}, id = 'a'): unknown => ({ type: 'tool_use', id, name, input });
/** Answers the request; the ids of the calls. */
async function answered(driven: Driven, ...content: unknown[]): Promise<string[]> {
  return (await first.run(
    `select array(select c ->> 'id' from json_array_elements(turn_record(${args(driven)}, ${quoted(driven.turn)}, ${response(content)}) -> 'calls') c)`,
  )) as string[];
}
const text = { type: 'text', text: 'Done.' };

/** Code that runs, and its call. */
async function coding(): Promise<{ driven: Driven; code: string }> {
  const driven = await asking(await childOf((await tree()).root, 'code'));
  const [code] = await answered(driven, use('execute_code', { code: 'send()' }));
  await first.run(`select tool_call_begin(${args(driven)}, ${quoted(code)})`);
  return { driven, code: String(code) };
}
const nested = ({ driven, code }: { driven: Driven; code: string }): string =>
  `tool_call_nested(${args(driven)}, ${quoted(code)}, 0, 'send', '{}')`;

/** Work whose context a model is asked to summarize. */
async function summarizing(): Promise<Driven> {
  const item = await childOf((await tree()).root, 'long');
  for (let n = 0; n < 5; n++) {
    const driven = await asking(item);
    const [call] = await answered(driven, use('look', {}, `look${n}`));
    await first.run(
      `select tool_call_settle(${args(driven)}, ${quoted(call)}, repeat('x', 3000)); select iteration_finish(${args(driven)})`,
    );
  }
  await first.run(`select context_compact(${quoted(item)}, 'rows')`);
  return asking(item);
}

const stages = {
  fences: ['fences'],
  locks: ['locks'],
  foci: ['foci'],
  rows: ['turns', 'tool_calls', 'sessions', 'session_history', 'inbox', 'approvals', 'hook_runs', 'messages'],
  budgets: ['budgets'],
  days: ['daily_spending'],
  models: ['models'],
  jobs: ['graphile_worker._private_jobs'],
} as const;
type Stage = keyof typeof stages;
const stageOf = (table: string): number => Object.values(stages).findIndex((tables) => (tables as readonly string[]).includes(table));

/** Not those that are only tried, and not those of branches: whoever has one waits for nothing but rows of its own. */
const hold = (table: string): string =>
  table === 'locks'
    ? `select from locks where purpose in ('slots', 'spawns', 'trees', 'waits', 'memory') for no key update`
    : `lock table ${table} in exclusive mode`;

/** An item that has asked its model, of which a cooldown is over by now: whoever hears of the answer takes it away. */
const askingAgain = async (item: string): Promise<Driven> => {
  const driven = await asking(item);
  await first.run(`select model_save(model) from (select distinct model from turn_configs) c`);
  await first.run(`update models set cooldown_ends_at = now() - interval '1 second'`);
  return driven;
};

/**
 * Each function, what it is called on, and the stages that it comes to; holds: what it has out of turn, a row that is written under the
 * item's lock alone, the job of an item that it has submitted, or a lock for which nobody waits.
 */
const functions: { name: string; prepare: () => Promise<string>; comesTo: Stage[]; holds?: readonly string[] }[] = [
  {
    name: 'work_submit',
    comesTo: ['fences', 'budgets', 'jobs'],
    prepare: async () => `work_submit('part', 'x', p_parent_id => ${quoted((await tree()).root)})`,
  },
  {
    name: 'spawn_child_work',
    comesTo: ['fences', 'locks', 'budgets', 'jobs'],
    prepare: async () => `spawn_child_work(${quoted((await tree()).root)}, 'part', 'x')`,
  },
  {
    name: 'focus_claim',
    comesTo: ['fences', 'locks', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => {
      const { root } = await tree();
      const [part] = [await childOf(root, 'limited'), await childOf(root, 'limited')]; // there is a place for the second, too
      return `focus_claim(${quoted(part)}, 'worker')`;
    },
  },
  {
    name: 'focus_begin',
    comesTo: ['fences', 'locks', 'foci', 'rows', 'budgets'],
    holds: ['budgets'], // those that a new attempt begins with are rows of its own
    prepare: async () => `focus_begin(${quoted((await tree()).part)}, 'worker')`,
  },
  {
    name: 'focus_claim of a lease that was lost',
    comesTo: ['fences', 'foci', 'rows', 'budgets'],
    prepare: async () => {
      const { item } = await asking((await tree()).part);
      await first.run(`update foci set lease_expires_at = now() - interval '1 minute' where work_item_id = ${quoted(item)}`);
      return `focus_claim(${quoted(item)}, 'worker')`;
    },
  },
  {
    name: 'focus_claim of an item that dies',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => {
      const { item } = await asking((await tree()).part);
      await first.run(
        `update foci set lease_expires_at = now() - interval '1 minute', crash_count = 100 where work_item_id = ${quoted(item)}`,
      );
      return `focus_claim(${quoted(item)}, 'worker')`;
    },
  },
  {
    name: 'iteration_begin',
    comesTo: ['fences', 'foci', 'rows', 'budgets'],
    prepare: async () => {
      const { part } = await tree();
      return `iteration_begin(${quoted(part)}, ${quoted(await claim(part))})`;
    },
  },
  {
    name: 'iteration_begin under a budget by day',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'days'],
    prepare: async () => {
      const { part } = await treeOfADay();
      return `iteration_begin(${quoted(part)}, ${quoted(await claim(part))})`;
    },
  },
  {
    name: 'iteration_step under a budget by day',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'days', 'models'],
    prepare: async () => {
      const driven = await askingAgain((await treeOfADay()).part);
      return `iteration_step(${args(driven)}, 1, 0, ${quoted(driven.turn)}, ${response([use('look')])}, ${quoted(seen)})`;
    },
  },
  {
    name: 'iteration_begin without budget',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => {
      const { root, part } = await tree();
      await first.run(`select budget_set(${quoted(root)}, 'tokens', 0)`);
      await partOf(root);
      return `iteration_begin(${quoted(part)}, ${quoted(await claim(part))})`;
    },
  },
  {
    name: 'turn_record',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'models'],
    prepare: async () => {
      const driven = await askingAgain((await tree()).part);
      return `turn_record(${args(driven)}, ${quoted(driven.turn)}, ${response([use('send')])})`;
    },
  },
  {
    name: 'iteration_step under a budget',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'models'],
    prepare: async () => {
      const driven = await askingAgain((await tree()).part);
      return `iteration_step(${args(driven)}, 1, 0, ${quoted(driven.turn)}, ${response([use('look')])}, ${quoted(seen)})`;
    },
  },
  {
    name: 'iteration_step of an item that goes on',
    comesTo: ['fences', 'foci', 'rows', 'models'],
    prepare: async () => {
      const driven = await askingAgain(await alone());
      return `iteration_step(${args(driven)}, 1, 0, ${quoted(driven.turn)}, ${response([use('look')])}, ${quoted(seen)})`;
    },
  },
  {
    name: 'iteration_step of an item that is done',
    comesTo: ['fences', 'foci', 'rows', 'budgets'],
    prepare: async () => {
      const driven = await asking(await alone());
      return `iteration_step(${args(driven)}, 1, 0, ${quoted(driven.turn)}, ${response([text])})`;
    },
  },
  {
    name: 'tool_call_begin',
    comesTo: ['fences', 'rows'],
    prepare: async () => {
      const driven = await asking((await tree()).root);
      return `tool_call_begin(${args(driven)}, ${quoted((await answered(driven, use('slow')))[0])})`;
    },
  },
  {
    name: 'tool_call_execute',
    comesTo: ['fences', 'locks', 'rows', 'budgets', 'jobs'],
    holds: ['tool_calls'],
    prepare: async () => {
      const driven = await asking((await tree()).root);
      return `tool_call_execute(${args(driven)}, ${quoted((await answered(driven, use('spawn_child_work', { work_type: 'part', description: 'x' })))[0])})`;
    },
  },
  {
    name: 'tool_call_execute of wait_for',
    comesTo: ['fences', 'locks', 'rows'],
    holds: ['tool_calls'],
    prepare: async () => {
      const driven = await asking((await tree()).root);
      return `tool_call_execute(${args(driven)}, ${quoted((await answered(driven, use('wait_for', { work_item_ids: [await alone()] })))[0])})`;
    },
  },
  {
    name: 'iteration_finish',
    comesTo: ['fences', 'foci', 'budgets', 'jobs'],
    prepare: async () => {
      const driven = await asking((await tree()).root);
      const [call] = await answered(driven, use('ledger_append', { entry_type: 'note', content: 'x' }));
      await first.run(`select tool_call_execute(${args(driven)}, ${quoted(call)})`);
      return `iteration_finish(${args(driven)})`;
    },
  },
  {
    name: 'iteration_finish of an item that goes on',
    comesTo: ['fences', 'foci', 'rows', 'budgets'],
    prepare: async () => {
      const driven = await asking((await tree()).root);
      const [call] = await answered(driven, use('ledger_append', { entry_type: 'note', content: 'x' }));
      await first.run(`select tool_call_execute(${args(driven)}, ${quoted(call)})`);
      return `iteration_finish(${args(driven)}, 1, 0)`;
    },
  },
  {
    name: 'iteration_finish of an item that waits',
    comesTo: ['fences', 'foci', 'budgets', 'jobs'],
    prepare: async () => {
      const { root, part } = await tree();
      await partOf(root);
      const driven = await asking(part);
      await answered(driven, use('send'));
      return `iteration_finish(${args(driven)})`;
    },
  },
  {
    name: 'iteration_finish of an item that is done',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => {
      const driven = await asking((await tree()).part);
      await answered(driven, text);
      return `iteration_finish(${args(driven)})`;
    },
  },
  {
    name: 'iteration_fail',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'models', 'jobs'],
    prepare: async () => `iteration_fail(${args(await asking((await tree()).part))}, '{"class": "rate_limited", "message": "x"}')`,
  },
  {
    name: 'iteration_fail for good',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => `iteration_fail(${args(await asking((await tree()).part))}, '{"class": "invalid_request", "message": "x"}')`,
  },
  {
    name: 'iteration_fail for its size',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => `iteration_fail(${args(await asking((await tree()).part))}, '{"class": "context_overflow", "message": "x"}')`,
  },
  {
    name: 'iteration_release',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => `iteration_release(${args(await asking((await tree()).part))})`,
  },
  {
    name: 'hook_record',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => {
      const { root } = await tree();
      const item = String(await first.run(`select id from work_submit('hooked', 'x', p_parent_id => ${quoted(root)})`));
      const lease = await claim(item);
      const run = await first.run(`select iteration_begin(${quoted(item)}, ${quoted(lease)}) ->> 'hook_run_id'`);
      return `hook_record(${quoted(item)}, ${quoted(lease)}, ${quoted(run)}, '{"stdout": "{\\"refuse\\": \\"no\\"}", "exit_code": 0}')`;
    },
  },
  {
    name: 'work_complete',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => {
      const { item, lease } = await asking((await tree()).part);
      return `work_complete(${quoted(item)}, 'done', p_lease => ${quoted(lease)})`;
    },
  },
  {
    name: 'work_cancel',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => {
      const { root, part } = await tree();
      await asking(await partOf(part));
      await asking(part);
      await asking(await partOf(root));
      return `work_cancel(${quoted(part)})`;
    },
  },
  {
    name: 'work_sweep',
    holds: ['locks'],
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => {
      const { root, part } = await tree();
      for (const item of [part, await partOf(root), root]) await asking(item);
      await first.run(`update foci set lease_expires_at = now() - interval '1 minute', crash_count = case when work_item_id <> ${quoted(root)} then 100 else 0 end where lease_owner is not null;
      delete from graphile_worker._private_jobs`);
      return `work_sweep()`;
    },
  },
  {
    name: 'work_message that interrupts',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => `work_message(${quoted((await asking((await tree()).part)).item)}, 'Stop', true)`,
  },
  {
    name: 'work_pause',
    comesTo: ['fences', 'jobs'],
    prepare: async () => {
      const { root, part } = await tree();
      const driven = await asking(part);
      await first.run(`select iteration_release(${args(driven)})`);
      await partOf(root);
      return `work_pause(${quoted(part)})`;
    },
  },
  {
    name: 'claim_break',
    comesTo: ['fences', 'foci', 'rows'],
    prepare: async () => {
      const driven = await asking((await tree()).part);
      await first.run(`select claim_take(${quoted(driven.item)}, 'the server', p_lease => ${quoted(driven.lease)})`);
      return `claim_break(${quoted(driven.item)}, 'the server')`;
    },
  },
  {
    name: 'work_resume',
    comesTo: ['fences', 'jobs'],
    prepare: async () => {
      const { part } = await tree();
      await first.run(`select work_pause(${quoted(part)})`);
      return `work_resume(${quoted(part)})`;
    },
  },
  {
    name: 'budget_set',
    comesTo: ['fences', 'budgets', 'jobs'],
    prepare: async () => {
      const { root, part } = await tree();
      await first.run(`select budget_set(${quoted(root)}, 'tokens', 0)`);
      await first.run(`select iteration_begin(${quoted(part)}, ${quoted(await claim(part))})`);
      return `budget_set(${quoted(root)}, 'tokens', 10000000)`;
    },
  },
  {
    name: 'daily_budget_set',
    comesTo: ['fences', 'days', 'jobs'],
    prepare: async () => {
      const part = await alone();
      await first.run(`select daily_budget_set('tokens', 0, p_faculty => 'part')`);
      await first.run(`select iteration_begin(${quoted(part)}, ${quoted(await claim(part))})`);
      return `daily_budget_set('tokens', 10000000, p_faculty => 'part')`;
    },
  },
  {
    name: 'daily_budget_set that removes one',
    comesTo: ['fences', 'days', 'jobs'],
    prepare: async () => {
      const part = await alone();
      await first.run(`select daily_budget_set('tokens', 0, p_faculty => 'part')`);
      await first.run(`select iteration_begin(${quoted(part)}, ${quoted(await claim(part))})`);
      return `daily_budget_set('tokens', null, p_faculty => 'part')`;
    },
  },
  {
    name: 'tool_call_approve',
    comesTo: ['fences', 'rows', 'jobs'],
    prepare: async () => {
      const driven = await asking((await tree()).part);
      await answered(driven, use('send'));
      await first.run(`select iteration_finish(${args(driven)})`);
      return `tool_call_approve((select id from tool_calls where work_item_id = ${quoted(driven.item)}))`;
    },
  },
  {
    name: 'session_rollback',
    comesTo: ['fences', 'rows'],
    prepare: async () => {
      const driven = await asking((await tree()).root);
      const [call] = await answered(driven, use('ledger_append', { entry_type: 'note', content: 'x' }));
      await first.run(`select tool_call_execute(${args(driven)}, ${quoted(call)})`);
      await first.run(`select iteration_finish(${args(driven)})`);
      return `session_rollback(${quoted(driven.item)}, ${quoted(driven.turn)})`;
    },
  },
  {
    name: 'work_fail',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    prepare: async () => {
      const { item, lease } = await asking((await tree()).part);
      return `work_fail(${quoted(item)}, 'no', p_lease => ${quoted(lease)})`;
    },
  },
  {
    name: 'work_fork',
    comesTo: ['fences', 'locks', 'foci', 'rows', 'jobs'],
    holds: ['graphile_worker._private_jobs'],
    prepare: async () => {
      const driven = await asking((await tree()).part);
      await answered(driven, text);
      return `work_fork(${quoted(driven.turn)}, 'Another way')`;
    },
  },
  {
    name: 'work_continue',
    comesTo: ['fences', 'foci', 'rows', 'budgets', 'jobs'],
    holds: ['graphile_worker._private_jobs'],
    prepare: async () => {
      const driven = await asking((await tree()).part);
      await first.run(`select budget_set(${quoted(driven.item)}, 'tokens', 1000000)`);
      await answered(driven, text);
      await first.run(`select iteration_finish(${args(driven)})`);
      return `work_continue(${quoted(driven.item)}, 'And then?')`;
    },
  },
  {
    name: 'work_retry',
    comesTo: ['fences', 'rows', 'jobs'],
    holds: ['graphile_worker._private_jobs'],
    prepare: async () => {
      const { part } = await tree();
      await first.run(`select work_cancel(${quoted(part)})`);
      return `work_retry(${quoted(part)})`;
    },
  },
  {
    name: 'work_keep',
    comesTo: ['foci', 'jobs'],
    prepare: async () => {
      const { root, part } = await tree();
      await partOf(part);
      return `work_keep(${quoted(root)}, 'keeper')`;
    },
  },
  { name: 'workspace_bind', comesTo: ['fences'], prepare: async () => `workspace_bind(${args(await asking((await tree()).part))}, 'd')` },
  {
    name: 'workspace_abandon',
    comesTo: ['fences', 'rows', 'jobs'],
    prepare: async () => {
      const driven = await asking((await tree()).part);
      await first.run(`select workspace_bind(${args(driven)}, 'd'), iteration_release(${args(driven)})`);
      return `workspace_abandon(${quoted(driven.item)})`;
    },
  },
  {
    name: 'worker_stop',
    comesTo: ['jobs'],
    prepare: async () => {
      const { root, part } = await tree();
      await partOf(part);
      await first.run(`select work_keep(${quoted(root)}, 'keeper')`);
      return `worker_stop('keeper')`;
    },
  },
  {
    name: 'turn_stream',
    comesTo: ['fences', 'rows'],
    prepare: async () => {
      const driven = await asking((await tree()).part);
      await first.run(`select ledger_watch(${quoted(driven.item)})`);
      return `turn_stream(${args(driven)}, ${quoted(driven.turn)}, '[]')`;
    },
  },
  {
    name: 'summary_record',
    comesTo: ['fences', 'foci', 'rows', 'budgets'],
    prepare: async () => {
      const driven = await summarizing();
      return `summary_record(${args(driven)}, ${quoted(driven.turn)}, ${response([text])})`;
    },
  },
  {
    name: 'tool_call_settle',
    comesTo: ['fences', 'rows'],
    prepare: async () => {
      const running = await coding();
      await first.run(`select ${nested(running)}`);
      return `tool_call_settle(${args(running.driven)}, ${quoted(running.code)}, 'done')`;
    },
  },
  { name: 'tool_call_nested', comesTo: ['fences', 'rows'], prepare: async () => nested(await coding()) },
  {
    name: 'tool_call_suspend',
    comesTo: ['fences', 'rows'],
    prepare: async () => {
      const running = await coding();
      await first.run(`select ${nested(running)}`);
      return `tool_call_suspend(${args(running.driven)}, ${quoted(running.code)})`;
    },
  },
  // The focus only as what its new row refers to: for key share, which waits for nobody who locks rows.
  {
    name: 'tool_hook_record',
    comesTo: ['fences', 'foci', 'rows'],
    holds: ['tool_calls', 'hook_runs'],
    prepare: async () => {
      const driven = await asking(await childOf((await tree()).root, 'careful'));
      const [call] = await answered(driven, use('send'));
      return `tool_hook_record(${args(driven)}, ${quoted(call)}, 'before_tool', '{"stdout": "", "exit_code": 0}')`;
    },
  },
  {
    name: 'tool_call_reject',
    comesTo: ['fences', 'rows', 'jobs'],
    prepare: async () => {
      const driven = await asking((await tree()).part);
      await answered(driven, use('send'));
      await first.run(`select iteration_finish(${args(driven)})`);
      return `tool_call_reject((select id from tool_calls where work_item_id = ${quoted(driven.item)}))`;
    },
  },
  {
    name: 'ledger_retract',
    comesTo: ['fences'],
    prepare: async () => {
      const { root } = await tree();
      await first.run(`select ledger_append(${quoted(root)}, 'note', 'x')`);
      return `ledger_retract(${quoted(root)}, 1, 'wrong')`;
    },
  },
  {
    name: 'work_erase',
    comesTo: ['fences', 'locks', 'foci', 'rows'],
    prepare: async () => {
      const { root, part } = await tree();
      const driven = await asking(part);
      await answered(driven, use('send'));
      await first.run(`select count(*) from work_cancel(${quoted(root)})`);
      return `(select count(*) from work_erase(${quoted(root)}))`;
    },
  },
  {
    name: 'notify_me',
    comesTo: ['fences'],
    prepare: async () => `notify_me(${quoted((await tree()).part)}, 'text', 'x')`,
  },
  {
    name: 'memory_command',
    comesTo: ['fences', 'locks'],
    prepare: async () =>
      `memory_command('{"command": "create", "path": "/memories/a.md", "file_text": "x"}', p_work_item_id => ${quoted((await tree()).part)})`,
  },
  { name: 'memory_write', comesTo: ['locks'], prepare: async () => `memory_write('/memories/b.md', 'x')` },
  {
    name: 'journal_log',
    comesTo: ['fences', 'locks'],
    prepare: async () => {
      const session = String(await first.run(`select id from journal_session_create(gen_random_uuid()::text, 'Do it')`));
      await first.run(`update work_items set heartbeat_ends_at = now() where id = ${quoted(session)}`);
      return `journal_log(${quoted(session)}, 'thinking', '{"reasoning": "x"}')`;
    },
  },
  {
    name: 'ledger_append',
    comesTo: ['fences'],
    prepare: async () => `ledger_append(${quoted((await tree()).part)}, 'note', 'x', p_idempotency_key => 'k')`,
  },
];

test.each(functions)('$name locks in the one order', async ({ prepare, comesTo, holds = [] }) => {
  const call = await prepare();
  const met = new Set<Stage>();
  for (const [stage, tables] of Object.entries(stages) as [Stage, readonly string[]][]) {
    for (const table of tables) {
      await second.run(`begin; ${hold(table)}`);
      await third.run('begin');
      const running = third.begin(`select ${call}`);
      if (await running.waitsFor(second)) {
        met.add(stage);
        // What it has written, or locked rows of, before it came here.
        const held = (await second.run(`
          select array_agg(distinct replace(relation::regclass::text, 'ledger.', '')) from pg_locks
           where pid = ${third.pid} and granted and locktype = 'relation' and mode in ('RowShareLock', 'RowExclusiveLock')`)) as
          | string[]
          | null;
        expect(
          (held ?? []).filter((other) => stageOf(other) > stageOf(table) && !holds.includes(other)),
          `before ${table}`,
        ).toEqual([]);
      }
      await second.run('rollback');
      expect(await running.outcome).toBe('done');
      await third.run('rollback');
    }
  }
  expect([...met]).toEqual(comesTo);
});

test('every function that changes work, or that a worker calls, is stopped', async () => {
  const all = (await first.run(`
    select array_agg(f.name) from _public_functions() f join pg_proc p on p.pronamespace = 'ledger'::regnamespace and p.proname = f.name
     where p.provolatile = 'v' and (f.serves = 'workers' or f.subject in ('work', 'erasure'))`)) as string[];
  // Two never wait, see below; one locks what the ability does; the others lock nothing but how far an export has come, or what is kept;
  // one takes back all that it did with items of its own; and retention locks as work_erase does.
  const elsewhere = [
    'worker_warm_up',
    'retention_policy_save',
    'work_retention_run',
    'lease_renew',
    'tell_agent',
    'ability_invoke',
    'trace_take',
    'trace_record',
    'work_metrics_take',
    'work_hours_sum',
  ];
  const stopped = new Set([...functions.map(({ name }) => name.split(' ')[0]), ...elsewhere]);
  expect(
    all.filter((name) => !stopped.has(name)),
    'each has a line in `functions`, with the locks that it comes to, or in `elsewhere`',
  ).toEqual([]);
});

/**
 * A root, a child and a grandchild, each with a request under way and budgets of two resources; the ids of foci are in another order than
 * those of items.
 */
async function family(): Promise<{ items: string[]; driven: Driven }> {
  const { root, part } = await treeOfADay();
  const items = [root, part, await partOf(part)];
  for (const item of items)
    await first.run(`select budget_set(${quoted(item)}, 'tokens', 10000000), budget_set(${quoted(item)}, 'calls', 10000)`);
  const driven = await asking(items[2]!);
  for (const item of [part, root]) await asking(item);
  return { items, driven };
}

/** Where a function locks several rows of a table: what names a row, and the order. */
const rows = {
  fences: 'work_item_id',
  foci: 'id',
  budgets: 'work_item_id, resource',
  daily_spending: 'scope, name, resource, day',
} as const;
/** Functions that lock several rows of a table and may wait for each. */
const several: { name: string; tables: (keyof typeof rows)[]; call: (of: { items: string[]; driven: Driven }) => Promise<string> }[] = [
  {
    name: 'work_cancel',
    tables: ['fences', 'foci', 'budgets', 'daily_spending'],
    call: async ({ items: [root] }) => `count(*) from work_cancel(${quoted(root)})`,
  },
  {
    name: 'work_erase',
    tables: ['fences', 'foci'],
    call: async ({ items: [root] }) => {
      await first.run(`select count(*) from work_cancel(${quoted(root)})`);
      return `count(*) from work_erase(${quoted(root)})`;
    },
  },
  {
    name: 'work_sweep',
    tables: ['foci', 'budgets', 'daily_spending'],
    call: async () => {
      await first.run(`update foci set lease_expires_at = now() - interval '1 minute' where lease_owner is not null`);
      return 'work_sweep()';
    },
  },
  { name: 'iteration_release', tables: ['budgets'], call: async ({ driven }) => `iteration_release(${args(driven)})` },
];

test.each(several.flatMap(({ tables, ...of }) => tables.map((table) => ({ table, ...of }))))(
  '$name locks the rows of $table in their order, not as they lie there',
  async ({ table, call }) => {
    const made = await family();
    const running = await call(made);
    const key = `(${rows[table]})::text`;
    const from = `from ${table} where ${table === 'daily_spending' ? 'true' : `work_item_id = any (${quoted(`{${made.items.join()}}`)})`}`;
    // They lie there the other way round, and are found as they lie.
    await first.run(
      `create index backwards on ${table} (${rows[table].replaceAll(/\w+/g, '$& desc')}); cluster ${table} using backwards; drop index backwards`,
    );
    await third.run('set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = off');
    const keys = (await first.run(`select array(select ${key} ${from} order by ${rows[table]})`)) as string[];
    expect(await first.run(`select array(select ${key} ${from} order by ctid)`)).toEqual(keys.toReversed());
    expect(keys.length).toBeGreaterThan(2);
    for (const [n, held] of keys.entries()) {
      await second.run(`begin; select ${from} and ${key} = ${quoted(held)} for no key update`);
      await third.run('begin');
      const locking = third.begin(`select ${running}`);
      expect(await locking.waitsFor(second)).toBe(true);
      expect(
        await first.run(`select array(select ${key} ${from} order by ${rows[table]} for no key update skip locked)`),
        `while it waits for ${held}`,
      ).toEqual(keys.slice(n + 1));
      await second.run('rollback');
      expect(await locking.outcome).toBe('done');
      await third.run('rollback');
    }
  },
);

test('calls that change the same files in opposite order wait for each other, without a deadlock: one has them, the other is refused', async () => {
  await first.run(`
    select from ability_register('edit_file', 'Edits.', '{"type": "object"}', 'unsafe', 'moderate');
    select from faculty_save('{"name": "editor", "accepts": ["edit"], "claims": "refuse", "engage": {"tools": ["edit_file"], "workspace": "host", "workspace_dir": "/srv", "ledger_nudge_interval": 0}}')`);
  const editing = async (): Promise<Driven> =>
    asking(String(await first.run(`select id from work_submit('edit', ${quoted(`Edit ${crypto.randomUUID()}`)})`)));
  const edits = (driven: Driven, ...paths: string[]): string =>
    `turn_record(${args(driven)}, ${quoted(driven.turn)}, ${response(paths.map((path, n) => use('edit_file', { path }, `edit${n}`)))})`;
  const [one, other] = [await editing(), await editing()];
  await second.run(`begin; select ${edits(one, 'a.js', 'b.js')}`);
  await third.run('begin');
  const running = third.begin(`select ${edits(other, 'b.js', 'a.js')}`);
  expect(await running.waitsFor(second)).toBe(true);
  await second.run('commit');
  expect(await running.outcome).toBe('done');
  await third.run('commit');
  const errors = (driven: Driven) =>
    first.run(`select array_agg(is_error is true order by ordinal) from tool_calls where work_item_id = ${quoted(driven.item)}`);
  expect(await errors(one)).toEqual([false, false]);
  expect(await errors(other)).toEqual([true, true]);
  for (const { item } of [one, other]) await first.run(`select count(*) from work_cancel(${quoted(item)})`);
});

/** The item's row, as each function that writes for it locks it. */
const holding = (item: string): string => `begin; select from _open_item(${quoted(item)})`;
const enqueued = (...items: string[]): string => `select _enqueue_all(${quoted(`{${items.join()}}`)})`;

test('children are claimed, driven and ended while a tool of their parent takes its time', async () => {
  const { root, part } = await tree();
  const driven = await asking(root);
  const [call] = await answered(driven, use('slow'));
  await second.run('select pg_advisory_lock(7)');
  const slow = third.begin(`select tool_call_execute(${args(driven)}, ${quoted(call)})`);
  expect(await slow.waitsFor(second)).toBe(true);
  const fourth = await Session.open(database.url);
  const passes = async (sql: string): Promise<void> => {
    const running = fourth.begin(sql);
    expect(await running.waitsFor(third), sql).toBe(false);
    expect(await running.outcome, sql).toBe('done');
  };
  await passes(`create temporary table driven as select (focus_claim(${quoted(part)}, 'worker') ->> 'lease')::uuid as lease`);
  const lease = String(await fourth.run('select lease from driven'));
  const child = `${quoted(part)}, ${quoted(lease)}`;
  await passes(
    `select ledger_append_batch(${quoted(part)}, '[{"entry_type": "note", "content": "a"}, {"entry_type": "note", "content": "b"}]', ${quoted(lease)})`,
  );
  await passes(`select iteration_begin(${child})`);
  await passes(`select iteration_fail(${child}, '{"class": "server_error", "message": "x", "retry_after_seconds": 0}')`);
  await first.run(`update work_items set run_at = now() where id = ${quoted(part)}`);
  await passes(`update driven set lease = (focus_claim(${quoted(part)}, 'worker') ->> 'lease')::uuid`);
  await passes(`select work_complete(${quoted(part)}, 'done', p_lease => lease) from driven`);
  await second.run('select pg_advisory_unlock(7)');
  expect(await slow.outcome).toBe('done');
  await fourth.close();
});

test('whoever only refers to an item waits for nobody who writes for it', async () => {
  const { root } = await tree({ tokens: 1000 });
  await second.run(
    `${holding(root)}; update work_items set state_reason = 'x' where id = ${quoted(root)}; update fences set ledger_count = ledger_count where work_item_id = ${quoted(root)}`,
  );
  for (const sql of [
    `insert into budgets (work_item_id, resource, amount) values (${quoted(root)}, 'calls', 1)`,
    `select journal_log(${quoted(root)}, 'user_feedback', '{"message": "good"}')`,
    `select checkpoint_create(${quoted(root)})`,
    `select tell_agent((select id from work_submit('part', 'Speak')), ${quoted(root)}, 'Look at d, too')`,
    `insert into work_items (id, root_id, parent_id, depth, work_type, description) values (gen_random_uuid(), ${quoted(root)}, ${quoted(root)}, 1, 'part', 'x')`,
  ]) {
    const referring = third.begin(`begin; ${sql}; rollback`);
    expect(await referring.waitsFor(second), sql).toBe(false);
    expect(await referring.outcome, sql).toBe('done');
  }
  await second.run('rollback');
});

test('a faculty with few places goes on while somebody holds the parent of its items', async () => {
  const { root, part } = await tree();
  const other = await partOf(root);
  await second.run(holding(root));
  for (const item of [part, other]) {
    const claiming = third.begin(`select focus_claim(${quoted(item)}, 'worker')`);
    expect(await claiming.waitsFor(second)).toBe(false);
    expect(await claiming.outcome).toBe('done');
  }
  await second.run('rollback');
});

test('a heartbeat waits for nobody, and what its holder is writing just now is held', async () => {
  const { root, part } = await tree();
  const leases = [await claim(root), await claim(part)];
  await second.run(`begin; select iteration_release(${quoted(part)}, ${quoted(leases[1])})`);
  const beat = third.begin(
    `create temporary table renewed as select lease_renew('worker', ${quoted(`{${root},${part}}`)}, ${quoted(`{${leases.join()}}`)}) as lease`,
  );
  expect(await beat.waitsFor(second)).toBe(false);
  expect(await beat.outcome).toBe('done');
  expect(((await third.run('select array_agg(lease) from renewed')) as string[]).toSorted()).toEqual(leases.toSorted());
  await second.run('rollback');
});

test('a tree is cancelled beside a sibling that ends: the one who has the budgets rings first', async () => {
  const { root, part: sibling } = await tree();
  const idle = await partOf(root);
  const driven = await asking(await partOf(idle));
  await first.run(`select ledger.work_message(${quoted(driven.item)}, 'x')`);
  const queued = await partOf(root); // gets the sibling's place
  const lease = await claim(sibling);
  // Whoever holds the bell of the item that gets the place stops the sibling when it has the budgets already.
  await first.run(enqueued(root, queued));
  await second.run(
    `begin; update graphile_worker._private_jobs set priority = priority where key like '%' || ${quoted(queued)} || '%' or key like '%' || ${quoted(root)} || '%'`,
  );
  const ending = third.begin(`select work_complete(${quoted(sibling)}, 'done', p_lease => ${quoted(lease)})`);
  expect(await ending.waitsFor(second)).toBe(true);
  const fourth = await Session.open(database.url);
  const cancelling = fourth.begin(`select count(*) from work_cancel(${quoted(idle)})`);
  expect(await cancelling.waitsFor(third)).toBe(true);
  await second.run('rollback');
  expect([await ending.outcome, await cancelling.outcome]).toEqual(['done', 'done']);
  await fourth.close();
});

test('two who ring for the same items wait for each other, whatever their order', async () => {
  const { root, part } = await tree();
  await second.run(`begin; ${enqueued(root)}`);
  const running = third.begin(enqueued(part, root));
  expect(await running.waitsFor(second)).toBe(true);
  await second.run(enqueued(part));
  await second.run('commit');
  expect(await running.outcome).toBe('done');
});

test('a budget is raised while a parked item is held by somebody', async () => {
  const { root, part } = await tree();
  await first.run(`select budget_set(${quoted(root)}, 'tokens', 0)`);
  await first.run(`select iteration_begin(${quoted(part)}, ${quoted(await claim(part))})`);
  await first.run('delete from graphile_worker._private_jobs');
  await second.run(holding(part));
  const raise = third.begin(`select budget_set(${quoted(root)}, 'tokens', 1000000)`);
  expect(await raise.waitsFor(second)).toBe(false);
  expect(await raise.outcome).toBe('done');
  await second.run('rollback');
  expect(await first.run(`select count(*)::int from graphile_worker.jobs where key like '%' || ${quoted(part)} || '%'`)).toBe(1);
  expect(await claim(part)).not.toBe('null');
});

test('a budget by day is raised while somebody is about to park for it: he is woken', async () => {
  const item = await alone();
  await first.run(`select daily_budget_set('tokens', 0, p_faculty => 'part')`);
  const lease = await claim(item);
  await first.run('delete from graphile_worker._private_jobs');
  await second.run(`begin; select iteration_begin(${quoted(item)}, ${quoted(lease)})`);
  const raise = third.begin(`select daily_budget_set('tokens', 10000000, p_faculty => 'part')`);
  expect(await raise.waitsFor(second)).toBe(true);
  await second.run('commit');
  expect(await raise.outcome).toBe('done');
  expect(await first.run(`select count(*)::int from graphile_worker.jobs where key like '%' || ${quoted(item)} || '%'`)).toBe(1);
  await first.run(`select daily_budget_set('tokens', null, p_faculty => 'part')`);
});

const ofProject = async (project: string): Promise<string> =>
  String(await first.run(`select id from work_submit('lead', ${quoted(`Lead ${crypto.randomUUID()}`)}, p_project => ${quoted(project)})`));
/** A name that no other test has. */
const project = (): string => `acme/${crypto.randomUUID()}`;

test('a budget by day is set while a transaction has drawn on another one: it draws on both, and nobody who waits for it is in its way', async () => {
  const name = project();
  await first.run(`select daily_budget_set('calls', 1000, p_project => ${quoted(name)})`);
  await asking(await ofProject(name)); // so that what all their requests share is stored
  const [one, other] = [await ofProject(name), await ofProject(name)];
  const lease = await claim(other);
  // It claims in this transaction, too: nobody sees yet that it has anything reserved.
  await second.run('begin');
  const held = String(await second.run(`select focus_claim(${quoted(one)}, 'worker') ->> 'lease'`));
  await second.run(`select iteration_begin(${quoted(one)}, ${quoted(held)})`);
  await first.run(`select daily_budget_set('calls', 1000, p_faculty => 'lead')`);
  const waiting = third.begin(`select iteration_begin(${quoted(other)}, ${quoted(lease)})`);
  expect(await waiting.waitsFor(second)).toBe(true);
  expect(await second.begin(`select iteration_release(${quoted(one)}, ${quoted(held)})`).outcome).toBe('done');
  await second.run('commit');
  expect(await waiting.outcome).toBe('done');
  await first.run(`select daily_budget_set('calls', null, p_faculty => 'lead')`);
});

test.each([
  ['asked', 'the rename'],
  ['asked', 'the call'],
  ['answered', 'the rename'],
  ['answered', 'the call'],
])(
  'a project is renamed while a model is %s for its work, %s first: its budget by day goes along, with all that is used and reserved',
  async (stage, order) => {
    const [from, to] = [project(), project()];
    await first.run(`select daily_budget_set('calls', 1000, p_project => ${quoted(from)})`);
    const item = await ofProject(from);
    const lease = await claim(item);
    const ask = `select iteration_begin(${quoted(item)}, ${quoted(lease)})`;
    if (stage === 'answered') await first.run(ask);
    const both = [
      `select project_rename(${quoted(from)}, ${quoted(to)})`,
      stage === 'asked'
        ? ask
        : `select turn_record(${quoted(item)}, ${quoted(lease)}, (select id from turns where work_item_id = ${quoted(item)}), ${response([text])})`,
    ];
    const [one, other] = order === 'the rename' ? both : both.toReversed();
    await second.run(`begin; ${one}`);
    const running = third.begin(other!);
    expect(await running.waitsFor(second)).toBe(true);
    await second.run('commit');
    expect(await running.outcome).toBe('done');
    expect(
      await first.run(
        `select array(select format('%s: %s used, %s reserved', name, spent, reserved) from daily_spending where name in (${quoted(from)}, ${quoted(to)}))`,
      ),
    ).toEqual([`${to}: ${stage === 'asked' ? '0 used, 1' : '1 used, 0'} reserved`]);
  },
);

test('a project is renamed while a transaction of its work has drawn on a budget by day: the rename waits, it draws on the same ones again', async () => {
  const [from, to] = [project(), project()];
  await first.run(`select daily_budget_set('calls', 1000, p_faculty => 'lead')`);
  const item = await ofProject(from);
  const lease = await claim(item);
  await second.run(`begin; select iteration_begin(${quoted(item)}, ${quoted(lease)})`);
  const rename = third.begin(`select project_rename(${quoted(from)}, ${quoted(to)})`);
  expect(await rename.waitsFor(second)).toBe(true);
  expect(await second.begin(`select iteration_release(${quoted(item)}, ${quoted(lease)})`).outcome).toBe('done');
  await second.run('commit');
  expect(await rename.outcome).toBe('done');
  await first.run(`select daily_budget_set('calls', null, p_faculty => 'lead')`);
});

/** A parent whose newest call waits for its child, which works. */
async function awaiting(): Promise<{ parent: Driven; child: string; childLease: string }> {
  const { root, part: child } = await tree({}); // a budget of both would let one wait for the other
  const [parent, childLease] = [await asking(root), await claim(child)];
  const [call] = await answered(parent, use('await_child_work', { work_item_ids: [child] }));
  await first.run(`select tool_call_execute(${args(parent)}, ${quoted(call)})`);
  await first.run('delete from graphile_worker._private_jobs');
  return { parent, child, childLease };
}
test.each(['the parent first', 'the child first'])(
  'the last child ends while its parent parks, %s: no wake-up is lost, its result is delivered once',
  async (order) => {
    const { parent, child, childLease } = await awaiting();
    const both = [
      `select iteration_finish(${args(parent)})`,
      `select work_complete(${quoted(child)}, 'It is done', p_lease => ${quoted(childLease)})`,
    ];
    const [one, other] = order === 'the parent first' ? both : both.toReversed();
    await second.run(`begin; ${one}`);
    const running = third.begin(other!);
    expect(await running.waitsFor(second)).toBe(false);
    expect(await running.outcome).toBe('done');
    await second.run('commit');
    expect(await first.run(`select state from work_items where id = ${quoted(parent.item)}`)).toBe('waiting');
    expect(
      await first.run(`select count(*)::int from graphile_worker.jobs where key like '%' || ${quoted(parent.item)} || '%'`),
      'nobody rings for the parent',
    ).toBe(1);
    await claim(parent.item);
    expect(
      await first.run(
        `select k.result #>> '{}' from inbox i join tool_calls k on k.id = i.tool_call_id where i.work_item_id = ${quoted(parent.item)}`,
      ),
    ).toContain('It is done');
    expect(await first.run(`select count(*)::int from inbox where work_item_id = ${quoted(parent.item)}`)).toBe(1);
  },
);

test('of two waits for each other one is refused, also where both begin at once', async () => {
  const [one, other] = [await asking(await alone()), await asking(await alone())];
  const [call] = await answered(one, use('wait_for', { work_item_ids: [other.item] }));
  const [otherCall] = await answered(other, use('wait_for', { work_item_ids: [one.item] }));
  await second.run(`begin; select tool_call_execute(${args(one)}, ${quoted(call)})`);
  const running = third.begin(`select tool_call_execute(${args(other)}, ${quoted(otherCall)})`);
  expect(await running.waitsFor(second)).toBe(true);
  await second.run('commit');
  expect(await running.outcome).toBe('done');
  expect(await first.run(`select status from tool_calls where id = ${quoted(call)}`)).toBe('waiting');
  expect(await first.run(`select result #>> '{}' from tool_calls where id = ${quoted(otherCall)}`)).toContain('would wait for itself');
});

test('work ends while a wait for it begins: who waits is woken, at the latest by the sweep', async () => {
  const [waiting, part] = [await asking(await alone()), await alone()];
  const [call] = await answered(waiting, use('wait_for', { work_item_ids: [part] }));
  await second.run(`begin; select work_complete(${quoted(part)}, 'It is done')`);
  await first.run(`select tool_call_execute(${args(waiting)}, ${quoted(call)})`);
  await first.run(`select iteration_finish(${args(waiting)})`);
  await first.run('delete from graphile_worker._private_jobs');
  await second.run('commit');
  await first.run('select work_sweep()');
  expect(await first.run(`select count(*)::int from graphile_worker.jobs where key like '%' || ${quoted(waiting.item)} || '%'`)).toBe(1);
  await claim(waiting.item);
  expect(await first.run(`select result #>> '{}' from tool_calls where id = ${quoted(call)}`)).toContain('It is done');
});

test('one entry is appended by two with one key: the second waits, and finds what the first one wrote', async () => {
  const { part } = await tree();
  const append = `select ledger_append(${quoted(part)}, 'note', 'It is slow', p_idempotency_key => 'k')`;
  await second.run(`begin; ${append}`);
  const running = third.begin(append);
  expect(await running.waitsFor(second)).toBe(true);
  await second.run('commit');
  expect(await running.outcome).toBe('done');
  expect(await first.run(`select count(*)::int from work_ledger where work_item_id = ${quoted(part)}`)).toBe(1);
});

test('a turn is forked by two with one key: the second waits, and has the fork that the first one made', async () => {
  const id = String(await first.run(`select id from work_submit('long', ${quoted(`Forked ${crypto.randomUUID()}`)})`));
  const lease = String(await first.run(`select focus_claim(${quoted(id)}, 'w') ->> 'lease'`));
  const turn = String(await first.run(`select iteration_begin(${quoted(id)}, ${quoted(lease)}) ->> 'turn_id'`));
  const said = { stop_reason: 'end_turn', content: [{ type: 'text', text: 'It is slow' }] };
  await first.run(`select ledger_append(${quoted(id)}, 'note', 'It is slow', p_lease => ${quoted(lease)})`);
  await first.run(`select turn_record(${quoted(id)}, ${quoted(lease)}, ${quoted(turn)}, ${quoted(said)})`);
  const fork = `select work_fork(${quoted(turn)}, 'Another way', p_idempotency_key => ${quoted(`fork of ${turn}`)})`;
  await second.run(`begin; ${fork}`);
  const running = third.begin(fork);
  expect(await running.waitsFor(second)).toBe(true);
  await second.run('commit');
  expect(await running.outcome).toBe('done');
  expect(
    await first.run(`
      select array_agg(w.ledger_count || ' entry, ' || (select count(*) from inbox i where i.work_item_id = w.id) || ' message')
        from work_items w where w.fork_turn_id = ${quoted(turn)}`),
  ).toEqual(['1 entry, 1 message']);
});

const grows = (item: string): string => `select spawn_child_work(${quoted(item)}, 'part', 'A part of it')`;
test.each([
  { what: 'spawns', change: grows, refused: 'WL003' },
  {
    what: 'is given a child by somebody else',
    change: (item: string) => `select work_submit('part', 'A part of it', p_parent_id => ${quoted(item)})`,
    refused: 'WL003',
  },
  { what: 'ends', change: (item: string) => `select work_complete(${quoted(item)}, 'done')`, refused: 'WL003' },
  { what: 'is paused', change: (item: string) => `select work_pause(${quoted(item)})`, refused: 'WL003' },
])('a tree is cancelled while an item of it $what: one waits for the other, nothing survives', async ({ change, refused }) => {
  for (const isCancelFirst of [false, true]) {
    const { root, part } = await tree();
    await partOf(part);
    const cancel = `select count(*) from work_cancel(${quoted(root)})`;
    await second.run(`begin; ${isCancelFirst ? cancel : change(part)}`);
    const running = third.begin(isCancelFirst ? change(part) : cancel);
    expect(await running.waitsFor(second)).toBe(true);
    await second.run('commit');
    expect(await running.outcome).toBe(isCancelFirst ? refused : 'done');
    expect(await first.run(`select count(*)::int from work_items where root_id = ${quoted(root)} and resolved_at is null`)).toBe(0);
  }
});

test('two who open a session of a new name have the same one', async () => {
  await second.run(`begin; select session_open('main')`);
  const opening = third.begin(`select session_open('main')`);
  expect(await opening.waitsFor(second)).toBe(true);
  await second.run('commit');
  expect(await opening.outcome).toBe('done');
});

test('a claim that takes a lost lease over does not wait for a sweep that counts another one', async () => {
  const lost = async (): Promise<string> => {
    const id = String(await third.run(`select id from work_submit('long', ${quoted(`Lost ${crypto.randomUUID()}`)})`));
    expect(await third.run(`select focus_claim(${quoted(id)}, 'gone', 5) ->> 'kind'`)).toBe('claimed');
    await third.run(`update foci set lease_expires_at = now() - interval '1 second' where work_item_id = ${quoted(id)}`);
    return id;
  };
  await lost();
  await first.run('begin');
  expect(await first.run(`select work_sweep() ->> 'expired'`)).toBe('1');
  const other = await lost();
  await second.run(`set lock_timeout = '10s'`);
  expect(await second.run(`select focus_claim(${quoted(other)}, 'next') ->> 'kind'`)).toBe('claimed');
  await first.run('commit');
});

test('a submission waits for the item with its deduplication key that is just ending, and is not taken for it', async () => {
  const submit = `select id from work_submit('part', 'Look again', p_dedup_key => 'look')`;
  const ending = String(await first.run(submit));
  expect(await first.run(submit)).toBe(ending);
  await second.run(`begin; select from work_complete(${quoted(ending)}, 'Looked')`);
  const submitting = third.begin(submit);
  expect(await submitting.waitsFor(second)).toBe(true);
  await second.run('commit');
  expect(await submitting.outcome).toBe('done');
  expect(await first.run(`select state from work_items where dedup_key = 'look' and id <> ${quoted(ending)}`)).toBe('queued');
});
