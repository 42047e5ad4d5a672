// A recorded run in a ledger, and what its parts have in tokens.

import type pg from 'pg';

import { stepsOf } from '../../../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../../../plv8/readers/recordedRun.ts';
import { storableJson, storableText } from '../../../plv8/storable.ts';
import type { Sizes } from './ideal.ts';

/** Tools that only look: what is cleared first where results of pure calls are. */
const looks = /^(?:read|view|cat|grep|glob|ls|list|find|search|fetch|web|get|tool_?search|notebookread)|read|snapshot|messages$/i;

/** One model call of the record, through the functions that a worker calls; and the sizes of a session's parts. */
export async function prepare(client: pg.Client): Promise<void> {
  await client.query(`
create function pg_temp.load(p_item uuid, p_exchange json, p_step text, p_said json, p_model text) returns void language plpgsql as $$
declare
  v_lease uuid := (focus_claim(p_item, 'bench', 3600) ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(p_item, v_lease) ->> 'turn_id')::uuid;
  v_content text := (p_exchange -> 'content')::text;
begin
  -- Words of people stay through cuts, what their client put in does not: told apart as an import tells them.
  insert into messages (turn_id, sequence, role, source, content)
  select v_turn, 1 + p.n, 'user', case when (p.value ->> 'isByHarness')::boolean then 'event' else 'human' end, json_build_array(json_build_object('type', 'text', 'text', p.value ->> 'text'))
    from json_array_elements(p_said) with ordinality as p(value, n)
   where p.value ->> 'text' ~ '\\S';
  if p_step is not null then
    v_content := left(v_content, -1) || case v_content when '[]' then '' else ',' end
      || json_build_object('type', 'tool_use', 'id', 'step', 'name', 'ledger_append', 'input', json_build_object('entry_type', 'step', 'content', p_step)) || ']';
  end if;
  perform turn_record(p_item, v_lease, v_turn, json_build_object('model', p_model, 'provider', 'replay', 'content', v_content::json, 'usage', p_exchange -> 'usage',
    'stop_reason', case when v_content like '%"tool_use"%' then 'tool_use' else 'pause_turn' end));
  perform tool_call_settle(p_item, v_lease, k.id, p_exchange -> 'results' -> k.ordinal ->> 'content', (p_exchange -> 'results' -> k.ordinal ->> 'is_error')::boolean)
     from tool_calls k where k.turn_id = v_turn and k.tool_name <> 'ledger_append' and k.completed_at is null;
  perform tool_call_execute(p_item, v_lease, k.id) from tool_calls k where k.turn_id = v_turn and k.tool_name = 'ledger_append';
  -- A pause is no reason to give up: the record goes on.
  update foci set stall_count = 0 where work_item_id = p_item;
  perform iteration_finish(p_item, v_lease);
end
$$;
create function pg_temp.sizes(p_session text) returns json language plpgsql as $$
declare
  v_turns turns[] := _shown_turns((select t from sessions s join turns t on t.id = s.head_turn_id where s.label = p_session), null);
  v_last turns := v_turns[cardinality(v_turns)];
  v_model text := (select config -> 'engage' ->> 'model' from foci f join faculties c on c.content_hash = f.faculty_hash where f.id = v_last.focus_id);
  v_sizes record;
  v_default double precision;
begin
  select * into v_sizes from _replay_sizes(v_turns, v_model);
  v_default := v_sizes.per_char ->> 'default';
  return json_build_object('prefix', v_sizes.prefix_tokens, 'per_char', v_default,
    'stubs', (select json_agg(case when stub = '' then 0 else ceil((char_length(stub) + 27) * v_default) end order by n)
                from generate_series(1, _next_block(v_last, _boundary(v_last.id)) - 1) as n cross join lateral _block_stub(v_last.work_item_id, v_turns, 0, n) as stub),
    'exchanges', (select json_agg(x order by x.depth) from (
      select t.depth, coalesce(sum(s.tokens) filter (where p.kind = 'said'), 0) as said, coalesce(sum(s.tokens) filter (where p.kind = 'response'), 0) as response,
             coalesce(sum(s.bare) filter (where p.kind = 'response'), 0) as bare, coalesce(sum(s.tokens) filter (where p.kind = 'result'), 0) as results,
             _exchange_chars(t.id) as chars, _boundary(t.id) as boundary, _next_block(t, _boundary(t.id)) - 1 as closed_blocks,
             (select coalesce(sum(_tokens(char_length(l.content) + 60, v_model)), 0) from work_ledger l where l.work_item_id = t.work_item_id and l.turn_id = t.id and l.entry_type = 'step') as step_output
        from unnest(v_turns) t
        left join _message_parts(v_last.id, null, '') p on p.turn_id = t.id
        left join lateral (
          select ceil(p.chars * r.ratio) as tokens,
                 ceil((select sum(char_length(_without_thinking(coalesce(m.sent_content, m.content)))) from messages m where m.turn_id = t.id and m.role = 'assistant') * r.ratio) as bare
            from (select coalesce((v_sizes.per_char ->> case p.kind when 'said' then t.parent_turn_id else t.id end::text)::double precision, v_default) as ratio) r) s on true
       group by t.id, t.depth, t.block, t.parent_turn_id, t.work_item_id, t) x));
end
$$`);
}

/** Puts a run into the ledger, call by call, and returns its session. */
export async function load(client: pg.Client, run: RecordedRun, closeEvery: number): Promise<string> {
  const names = [...new Set(run.exchanges.flatMap((exchange) => exchange.calls.map((call) => call.name)))];
  for (const name of names)
    await client.query(`select ability_register($1, 'A recorded tool.', '{"type": "object"}', $2, 'safe')`, [
      name,
      looks.test(name) ? 'pure' : 'unsafe',
    ]);
  await client.query('select faculty_save($1)', [
    {
      name: 'recorded',
      engage: {
        model: run.model ?? 'recorded',
        tools: names,
        max_turns: 100_000,
        ledger_nudge_interval: 0,
        stall_limit: 0,
        max_result_chars: 2_000_000_000,
        truncate_closed_blocks: false,
        context_window: 2_000_000_000,
        ...(run.system !== '' && { system_prompt: storableText(run.system) }),
      },
      awareness: { enabled: false },
    },
  ]);
  const { rows } = await client.query<{ id: string }>(`select id from work_submit('recorded', $1, p_faculty => 'recorded')`, [
    storableText(run.prompt).slice(0, 60_000) || 'A run whose beginning was not recorded.',
  ]);
  const id = rows[0]?.id ?? '';
  const steps = stepsOf(run, closeEvery);
  for (const [n, exchange] of run.exchanges.entries()) {
    await client.query('select pg_temp.load($1, $2, $3, $4, $5)', [
      id,
      recorded(exchange, n),
      steps[n],
      saidAfter(run.exchanges[n - 1]),
      run.model ?? 'recorded',
    ]);
  }
  return id;
}

/** What the model was told after an exchange, word by word. */
function saidAfter(exchange: RecordedRun['exchanges'][number] | undefined): string | null {
  if (exchange?.followUp === undefined) return null;
  return storableJson(exchange.followUpParts ?? [{ text: exchange.followUp, ...(exchange.isFollowUpByHarness && { isByHarness: true }) }]);
}

function recorded(exchange: RecordedRun['exchanges'][number], n: number): string {
  return (
    storableJson({
      content: [
        ...(exchange.thinking ?? []).map((block) => ({ type: 'thinking', ...block })),
        ...(exchange.text.trim() === '' ? [] : [{ type: 'text', text: exchange.text }]),
        ...exchange.calls.map((call, i) => ({ type: 'tool_use', id: `call_${n}_${i}`, name: call.name, input: call.input })),
      ],
      results: exchange.calls.map((call) => ({
        content: call.result ?? 'The record has no result for this call.',
        is_error: call.isError,
      })),
      usage:
        exchange.usage === null
          ? {}
          : {
              input_tokens: exchange.usage.inputTokens,
              cached_input_tokens: exchange.usage.cachedInputTokens,
              output_tokens: exchange.usage.outputTokens,
            },
    }) ?? 'null'
  );
}

/** What each exchange has in tokens, by the parts of the last request with nothing left out. */
export async function readSizes(client: pg.Client, session: string): Promise<Sizes> {
  const { rows } = await client.query<{ sizes: Sizes }>('select pg_temp.sizes($1) as sizes', [session]);
  if (!rows[0]) throw new Error('no sizes');
  return rows[0].sizes;
}
