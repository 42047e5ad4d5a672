// What a conversation costs under each context policy: recorded runs are put into a ledger through the engine's own
// functions, a step riding with the next calls after every so many, and context_replay() assembles all their requests
// anew under each policy. The ideals are plain arithmetic over the same sizes, with no engine.
//   npm run bench -- context --runs DIR [--close-every 5] [--json]

import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { parseRecordedRun, stepsOf } from '../../plv8/recordedRun.ts';
import type { RecordedRun } from '../../plv8/recordedRun.ts';
import { ensureEmbedded, stopEmbedded } from '../../runtime/embedded.ts';
import { installLedger } from '../../runtime/install.ts';

const { values: options } = parseArgs({ options: { runs: { type: 'string' }, 'close-every': { type: 'string', default: '5' }, json: { type: 'boolean', default: false } } });
if (options.runs === undefined) {
  console.error('usage: npm run bench -- context --runs DIR [--close-every 5] [--json]');
  process.exit(2);
}
const folder = options.runs;
const closeEvery = Number(options['close-every']);
/** A stub, without what was said in its block, which stays. */
const stubTokens = 30;
/** Shorter runs have nothing to be elided. */
const minToolCalls = 50;
const formats: Partial<Record<RecordedRun['format'], string>> = { 'claude-code': 'claude', codex: 'codex', copilot: 'copilot', 'mini-swe-agent': 'miniswe' };

const unlimited = { context_window: 2_000_000_000 };
const policies = {
  none: { truncate_closed_blocks: false, ...unlimited },
  immediate: { truncate_closed_blocks: true, elide_budget: 0, ...unlimited },
  budget_15k: { truncate_closed_blocks: true, elide_budget: 15_000, ...unlimited },
  ledger_compaction: { truncate_closed_blocks: false, context_window: 200_000, compact_threshold: 0.7, compact_keep_recent: 10 },
  sliding_20: { keep_messages: 20 },
  clear_100k: { clear_results_over: 100_000, clear_keep: 3 },
} as const;
const columns = ['none', 'immediate', 'ideal_immediate', 'budget_15k', 'ideal_budget_15k', 'ledger_compaction', 'sliding_20', 'clear_100k'] as const;
type Cost = { input_tokens: number; cost: number };
type Costs = Record<(typeof columns)[number], Cost>;
type FileReport = { file: string; format: string; model_calls: number; policies: Costs };

const dataDir = await mkdtemp(join(tmpdir(), 'wl-bench-'));
await chmod(dataDir, 0o755);
const { url } = await ensureEmbedded({ dataDir });
await installLedger(url, 'work_ledger');
const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query('set search_path to work_ledger, public; set synchronous_commit to off; set jit to off');

// One model call of the record, through the functions that a worker calls.
await client.query(`
create function pg_temp.load(p_item uuid, p_exchange json, p_step text, p_said text, p_model text) returns void language plpgsql as $$
declare
  v_lease uuid := (focus_claim(p_item, 'bench', 3600) ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(p_item, v_lease) ->> 'turn_id')::uuid;
  v_content text := (p_exchange -> 'content')::text;
begin
  if p_said is not null then
    insert into messages (turn_id, sequence, role, source, content)
    values (v_turn, 2, 'user', 'human', json_build_array(json_build_object('type', 'text', 'text', p_said)));
  end if;
  if p_step is not null then
    v_content := left(v_content, -1) || case v_content when '[]' then '' else ',' end
      || json_build_object('type', 'tool_use', 'id', 'step', 'name', 'ledger_append', 'input', json_build_object('entry_type', 'step', 'content', p_step)) || ']';
  end if;
  perform turn_record(p_item, v_lease, v_turn, json_build_object('model', p_model, 'content', v_content::json, 'usage', p_exchange -> 'usage',
    'stop_reason', case when v_content like '%"tool_use"%' then 'tool_use' else 'pause_turn' end));
  perform tool_call_settle(p_item, v_lease, k.id, p_exchange -> 'results' -> k.ordinal ->> 'content', (p_exchange -> 'results' -> k.ordinal ->> 'is_error')::boolean)
     from tool_calls k where k.turn_id = v_turn and k.tool_name <> 'ledger_append' and k.completed_at is null;
  perform tool_call_execute(p_item, v_lease, k.id) from tool_calls k where k.turn_id = v_turn and k.tool_name = 'ledger_append';
  -- A pause is no reason to give up: the record goes on.
  update foci set stall_count = 0 where work_item_id = p_item;
  perform iteration_finish(p_item, v_lease);
end
$$;
create function pg_temp.sizes(p_session text) returns table (kind text, tokens integer, n integer, is_step boolean, step_output integer) language plpgsql as $$
declare
  v_turns turns[] := _shown_turns((select t from sessions s join turns t on t.id = s.head_turn_id where s.label = p_session), null);
  v_last turns := v_turns[cardinality(v_turns)];
  v_model text := (select config -> 'engage' ->> 'model' from foci f join faculties c on c.content_hash = f.faculty_hash where f.id = v_last.focus_id);
  v_sizes record;
begin
  select * into v_sizes from _replay_sizes(v_turns, v_model);
  return query select 'prefix', v_sizes.prefix_tokens, 0, false, 0;
  return query
    select p.kind,
           ceil(p.chars * coalesce((v_sizes.per_char ->> case p.kind when 'said' then t.parent_turn_id else p.turn_id end::text)::double precision, (v_sizes.per_char ->> 'default')::double precision))::integer,
           t.depth,
           exists (select from work_ledger l where l.work_item_id = t.work_item_id and l.turn_id = t.id and l.entry_type = 'step'),
           (select coalesce(sum(_tokens(char_length(l.content) + 60, v_model)), 0)::integer from work_ledger l where l.work_item_id = t.work_item_id and l.turn_id = t.id and l.entry_type = 'step')
      from _message_parts(v_last.id, null, '') p
      join turns t on t.id = p.turn_id;
end
$$`);

const files: FileReport[] = [];
try {
  for (const file of await filesBelow(folder)) {
    const run = await readRun(file);
    if (typeof run === 'string') console.error(`skipped ${file}: ${run}`);
    else files.push(await measure(file, run));
  }
} finally {
  await client.end();
  await stopEmbedded(dataDir);
  await rm(dataDir, { recursive: true, force: true });
}
report(files);

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(directory, join(entry.parentPath, entry.name))).toSorted();
}

/** The run, or why the file is left out. */
async function readRun(file: string): Promise<RecordedRun | string> {
  try {
    const run = parseRecordedRun(await readFile(join(folder, file), 'utf8'));
    const calls = run.exchanges.reduce((sum, exchange) => sum + exchange.calls.length, 0);
    if (formats[run.format] === undefined) return `a ${run.format} run`;
    return calls < minToolCalls ? `${calls} tool calls are not long` : run;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function measure(file: string, run: RecordedRun): Promise<FileReport> {
  console.error(`${file}: ${run.exchanges.length} model calls`);
  const session = await load(run);
  const costs: Partial<Costs> = {};
  for (const [name, policy] of Object.entries(policies)) {
    const { rows } = await client.query<{ input_tokens: string; cost: string }>('select * from context_replay($1, $2)', [session, policy]);
    costs[name as keyof typeof policies] = { input_tokens: Number(rows[0]?.input_tokens), cost: Number(rows[0]?.cost) };
  }
  const sizes = await readSizes(session);
  costs.ideal_immediate = ideal(sizes, 0);
  costs.ideal_budget_15k = ideal(sizes, 15_000);
  return { file, format: formats[run.format] ?? run.format, model_calls: run.exchanges.length, policies: costs as Costs };
}

/** Puts a run into the ledger, call by call, and returns its session. */
async function load(run: RecordedRun): Promise<string> {
  const names = [...new Set(run.exchanges.flatMap((exchange) => exchange.calls.map((call) => call.name)))];
  for (const name of names) await client.query(`select ability_register($1, 'A recorded tool.', '{"type": "object"}', 'pure', 'safe')`, [name]);
  await client.query('select faculty_save($1)', [{
    name: 'recorded',
    engage: {
      model: run.model ?? 'recorded', tools: names, max_turns: 100_000, ledger_nudge_interval: 0, max_result_chars: 2_000_000_000,
      truncate_closed_blocks: false, ...unlimited, ...(run.system !== '' && { system_prompt: clean(run.system) }),
    },
    awareness: { enabled: false },
  }]);
  const { rows } = await client.query<{ id: string }>(`select id from work_submit('recorded', $1, p_faculty => 'recorded')`, [clean(run.prompt).slice(0, 60_000) || 'A run whose beginning was not recorded.']);
  const id = rows[0]?.id ?? '';
  const steps = stepsOf(run, closeEvery);
  for (const [n, exchange] of run.exchanges.entries()) {
    await client.query('select pg_temp.load($1, $2, $3, $4, $5)', [id, loader(exchange, n), steps[n], run.exchanges[n - 1]?.followUp === undefined ? null : clean(run.exchanges[n - 1]?.followUp ?? ''), run.model ?? 'recorded']);
  }
  return id;
}

/** Postgres text holds no NUL and no lone surrogate. */
function clean(text: string): string {
  return text.toWellFormed().replaceAll('\0', '␀');
}

function loader(exchange: RecordedRun['exchanges'][number], n: number): string {
  return clean(JSON.stringify({
    content: [
      ...(exchange.thinking ?? []).map((block) => ({ type: 'thinking', ...block })),
      ...(exchange.text.trim() === '' ? [] : [{ type: 'text', text: exchange.text }]),
      ...exchange.calls.map((call, i) => ({ type: 'tool_use', id: `call_${n}_${i}`, name: call.name, input: call.input })),
    ],
    results: exchange.calls.map((call) => ({ content: call.result ?? 'The record has no result for this call.', is_error: call.isError })),
    usage: exchange.usage === null ? {} : {
      input_tokens: exchange.usage.inputTokens, cached_input_tokens: exchange.usage.cachedInputTokens, output_tokens: exchange.usage.outputTokens,
    },
  }).replaceAll(String.raw`\u0000`, '␀'));
}

type Exchange = { response: number; results: number; said: number; isStep: boolean; stepOutput: number };
type Sizes = { prefix: number; exchanges: Exchange[] };

/** What each exchange has in tokens, by the parts of the last request with nothing left out. */
async function readSizes(session: string): Promise<Sizes> {
  const { rows } = await client.query<{ kind: string; tokens: number; n: number; is_step: boolean; step_output: number }>('select * from pg_temp.sizes($1)', [session]);
  const exchanges: Exchange[] = [];
  let prefix = 0;
  for (const row of rows) {
    if (row.kind === 'prefix') prefix += row.tokens;
    else {
      const exchange = (exchanges[row.n] ??= { response: 0, results: 0, said: 0, isStep: row.is_step, stepOutput: row.step_output });
      if (row.kind === 'said' && row.n === 0) prefix += row.tokens; // the task
      else if (row.kind === 'said') exchange.said += row.tokens;
      else if (row.kind === 'response') exchange.response += row.tokens;
      else exchange.results += row.tokens;
    }
  }
  return { prefix, exchanges };
}

/** Blocks closed by riding steps leave, when they hold more than the budget, with the request after the step; what stands before them is cached. */
function ideal({ prefix, exchanges }: Sizes, budget: number): Cost {
  let inputTokens = 0;
  let cost = 0;
  let stubs = 0;
  let open: Exchange[] = []; // of the block that is open, then …
  let closed: Exchange[] = []; // … of those that are closed and still shown
  let pending = 0; // stubs that the closed blocks will have
  let before = 0; // the request before
  const sizeOf = (part: Exchange[]): number => part.reduce((sum, one) => sum + one.said + one.response + one.results, 0);
  exchanges.forEach((exchange, n) => {
    let cached = before;
    if (n > 0) {
      const last = exchanges[n - 1] as Exchange;
      if (last.isStep) {
        // The step rode with the exchange before this request: its own exchange opens the next block.
        closed = [...closed, ...open];
        open = [last];
        pending += 1;
        if (sizeOf(closed) - closed.reduce((sum, one) => sum + one.said, 0) > budget) {
          cached = prefix + stubs;
          stubs += pending * stubTokens + closed.reduce((sum, one) => sum + one.said, 0);
          closed = [];
          pending = 0;
        }
      } else open.push(last);
    }
    const size = prefix + stubs + sizeOf(closed) + sizeOf(open) + exchange.said;
    inputTokens += size;
    cost += 0.1 * cached + 1.25 * (size - cached) + 5 * exchange.stepOutput;
    before = size;
    // What was said before this response stays with its exchange from here on.
  });
  return { input_tokens: inputTokens, cost: Math.round(cost) };
}

function report(all: readonly FileReport[]): void {
  const total = Object.fromEntries(columns.map((column) => [column, {
    input_tokens: all.reduce((sum, file) => sum + file.policies[column].input_tokens, 0),
    cost: Math.round(all.reduce((sum, file) => sum + file.policies[column].cost, 0)),
  }])) as Costs;
  if (options.json) {
    console.log(JSON.stringify({ files: all, total }, null, 2));
    return;
  }
  const percent = (costs: Costs, column: keyof Costs): string => ((100 * costs[column].cost) / costs.none.cost).toFixed(1);
  console.log(['file', 'calls', ...columns].join(' | '));
  for (const file of all) console.log([file.file, file.model_calls, ...columns.map((column) => percent(file.policies, column))].join(' | '));
  console.log([`total of ${all.length}, cost in % of none`, '', ...columns.map((column) => percent(total, column))].join(' | '));
  console.log(['input tokens in % of none', '', ...columns.map((column) => ((100 * total[column].input_tokens) / total.none.input_tokens).toFixed(1))].join(' | '));
  console.log(`immediate / ideal ${(total.immediate.cost / total.ideal_immediate.cost).toFixed(3)}, budget / ideal ${(total.budget_15k.cost / total.ideal_budget_15k.cost).toFixed(3)}`);
}
