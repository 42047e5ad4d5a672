-- A work item as the conversation that it was, oldest first: what it was told, what it said, each call with its result, what it recorded, and what
-- happened to it on the way. Everything in a turn has the time of its answer, so that a window of time contains whole turns.

create or replace function _thought_in(p_content json)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select nullif(string_agg(b.value ->> 'thinking', E'\n\n' order by b.n), '')
    from json_array_elements(p_content) with ordinality as b(value, n)
   where b.value ->> 'type' = 'thinking' and b.value ->> 'thinking' ~ '\S';
$$;

comment on function _thought_in(json) is 'The thinking of a message, whole; null: it has none.';

create or replace function _images_in(p_content json)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_agg(b.value #>> '{source,artifact}' order by b.n)
    from json_array_elements(case json_typeof(p_content) when 'array' then p_content else '[]' end) with ordinality as b(value, n)
   where b.value ->> 'type' = 'image' and b.value #>> '{source,artifact}' is not null;
$$;

comment on function _images_in(json) is 'The artifacts of the images in a message or result, as a list; null: it has none.';

create or replace function _turn_error(p_turn turns)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select nullif(concat_ws(': ', p_turn.error ->> 'class', p_turn.error ->> 'message'), '');
$$;

comment on function _turn_error(turns) is 'Why a request failed, or why it had to be sent again, as class: message; null: neither.';

create or replace function _request_data(p_turn turns)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object(
           'attempt', (select f.attempt from foci f where f.id = p_turn.focus_id), 'iteration', p_turn.iteration,
           'call_number', (select z.call_number from turn_sizes z where z.turn_id = p_turn.id),
           'started_at', p_turn.started_at, 'seconds', round(p_turn.duration_ms / 1000.0, 3),
           'input_tokens', nullif(_input_total(p_turn), 0), 'cached_tokens', p_turn.cached_input_tokens, 'output_tokens', p_turn.output_tokens,
           'cost', _turn_cost(p_turn), 'requests', nullif(p_turn.call_count, 0), 'stop_reason', p_turn.stop_reason,
           'provider_status', p_turn.error ->> 'status', 'request_id', coalesce(p_turn.error ->> 'request_id', p_turn.request_id)));
$$;

comment on function _request_data(turns) is 'What is known of a request besides its words, as v_work_run has it.';

create or replace function _call_data(p_call tool_calls, p_approval approvals)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_strip_nulls(jsonb_build_object(
           'effect', p_call.effect, 'seconds', round(extract(epoch from p_call.completed_at - p_call.started_at), 3),
           'chars', char_length(_result_text(p_call.result)), 'artifact', p_call.artifact_hash, 'images', _images_in(p_call.result),
           'child', p_call.spawned_work_item_id, 'parent', p_call.parent_call_id, 'attempts', nullif(p_call.attempts, 1),
           'approval', case when p_approval.tool_call_id is not null then jsonb_build_object(
             'risk', p_approval.risk, 'requested_at', p_approval.requested_at, 'decision', p_approval.decision,
             'by', coalesce(p_approval.person, p_approval.decided_by), 'reason', p_approval.reason, 'decided_at', p_approval.decided_at) end));
$$;

comment on function _call_data(tool_calls, approvals) is 'What is known of a call besides input and result, as v_work_run has it.';

create or replace function _said_within(p_text text, p_work_type text)
  returns text
  language sql
  immutable
  parallel safe
  return case when _unwrapped(p_text, p_work_type) ~ '\S' then nullif(_unwrapped(p_text, p_work_type), p_text) end;

comment on function _said_within(text, text) is
  'What a person said in a recorded message, without what the client wrapped around it; null: it wrapped nothing around it, or there is nothing else.';

create or replace view v_work_run with (security_invoker = true) as
  select e.work_item_id, e.kind || '/' || e.source_id as block_id, e.kind, e.source_id, e.happened_at, e.place, e.rank, e.ordinal, e.turn_id, e.who,
         e.name, e.status, e.mark, e.content, e.input, e.data
    from (
      select w.id, 'task', w.id, w.created_at, -1, 0, 0, null::uuid, w.submitted_by::text, w.source::text, null, 'task', w.description, null::json,
             jsonb_strip_nulls(jsonb_build_object(
               'work_type', w.work_type, 'fork_turn_id', w.fork_turn_id, 'parent_id', w.parent_id, 'said', _said_within(w.description, w.work_type)))
        from work_items w
      union all
      select f.work_item_id, 'attempt', f.id, f.created_at, -1, 1, f.attempt, null, null, f.faculty, b.outcome,
             case when f.attempt > 1 then 'attempt' end, b.error ->> 'message', null,
             jsonb_strip_nulls(jsonb_build_object('attempt', f.attempt, 'session', f.session_label, 'after_attempt', b.attempt, 'class', b.error ->> 'class'))
        from foci f left join foci b on b.work_item_id = f.work_item_id and b.attempt = f.attempt - 1
      union all
      -- The blocks that this turn's request was the first to leave out. A compaction has its own row.
      select t.work_item_id, 'cut', t.id, t.completed_at, t.depth, 2, 0, t.id, null, 'elision', null, 'cut', null, null,
             jsonb_build_object(
               'elision', e.id, 'first_block', e.first_block, 'last_block', e.last_block, 'tokens_elided', e.tokens_elided, 'stub_tokens', e.stub_tokens)
        from turns t
        join turns p on p.id = t.parent_turn_id
        join elisions e on e.id = t.elision_id
       where t.completed_at is not null and t.turn_type = 'normal' and p.elision_id is distinct from t.elision_id
         and not exists (select from compactions c where c.turn_id = p.id)
      union all
      select t.work_item_id, 'compaction', t.id, t.completed_at, t.depth, 2, 0, t.id, null, c.compaction_type,
             case c.is_applied when true then 'applied' when false then 'not used' end, 'cut', c.error ->> 'message', null,
             jsonb_strip_nulls(jsonb_build_object(
               'trigger', c.trigger, 'tokens_before', c.tokens_before, 'tokens_after', c.tokens_after, 'turns', c.turns_summarized))
        from turns t join compactions c on c.turn_id = t.id
       where t.completed_at is not null
      union all
      -- The first message of a conversation is the task; in a recorded one it is what a person said first, whatever the program put before it. Messages
      -- from the inbox have their own rows, at the time when they were said.
      select t.work_item_id, case when s.is_person then 'person' else 'told' end, m.id, t.completed_at, t.depth, 3, m.sequence,
             t.id, null, s.kind, null, case when s.is_person then 'person' when s.kind = 'child_result' then 'child' end,
             _result_text(m.content), null,
             jsonb_strip_nulls(jsonb_build_object(
               'child', m.context ->> 'work_item', 'images', _images_in(m.content),
               'said', case when s.is_person then _said_within(_result_text(m.content), w.work_type) end))
        from turns t
        join work_items w on w.id = t.work_item_id
        join messages m on m.turn_id = t.id and m.role = 'user'
       cross join lateral (select coalesce(m.metadata ->> 'kind', m.source::text, 'said') as kind, _told_by(m) = 'person' is true as is_person) s
       where t.completed_at is not null and t.turn_type = 'normal' and not (t.parent_turn_id is null and m.sequence = 1)
         and not (
           t.parent_turn_id is null and t.external_id is not null and s.is_person
           and not exists (select from messages f where f.turn_id = t.id and f.sequence < m.sequence and _told_by(f) = 'person'))
         and not (s.kind in ('message', 'agent_message') and m.metadata ? 'inbox_id')
      union all
      select t.work_item_id, 'request', t.id, t.completed_at, t.depth, 4, 0, t.id, null, coalesce(t.model, t.error ->> 'model'), t.status,
             case when t.status = 'failed' then 'error' end, _turn_error(t), null, _request_data(t)
        from turns t
       where t.completed_at is not null and t.turn_type = 'normal'
      union all
      select f.work_item_id, 'request', t.id, t.started_at, t.depth, 4, 0, t.id, null, t.model, t.status,
             case when t.error is not null then 'error' end, _turn_error(t), null, _request_data(t)
        from foci f join turns t on t.focus_id = f.id and t.status in ('pending', 'streaming')
       where t.turn_type = 'normal'
      union all
      select t.work_item_id, 'words', m.id, t.completed_at, t.depth, 5, m.sequence, t.id, null, null, t.stop_reason, null, _said_in(m.content), null,
             jsonb_strip_nulls(jsonb_build_object('thinking', _thought_in(m.content)))
        from turns t join messages m on m.turn_id = t.id and m.role = 'assistant'
       where t.completed_at is not null and t.turn_type = 'normal' and (_said_in(m.content) is not null or _thought_in(m.content) is not null)
      union all
      -- A call made by code comes after the call that ran the code.
      select t.work_item_id, 'call', k.id, t.completed_at, t.depth, 6,
             coalesce((select o.ordinal from tool_calls o where o.id = k.parent_call_id), k.ordinal) * 10000
               + case when k.parent_call_id is null then 0 else 1 + least(k.ordinal, 9998) end,
             t.id, null, k.tool_name, k.status,
             case when k.is_error then 'error' when a.tool_call_id is not null then 'approval' when k.spawned_work_item_id is not null then 'child' end,
             _result_text(k.result), _call_input(k), _call_data(k, a)
        from turns t
        join tool_calls k on k.turn_id = t.id
        left join approvals a on a.tool_call_id = k.id
       where t.completed_at is not null and (k.tool_name <> 'ledger_append' or k.is_error)
      union all
      select l.work_item_id, 'entry', l.id, l.created_at, coalesce(t.depth, 0), 7, l.seq, l.turn_id, null, l.entry_type::text, null,
             case when l.entry_type <> 'note' then l.entry_type::text end, l.content, null,
             jsonb_strip_nulls(jsonb_build_object(
               'seq', l.seq, 'trust', l.trust, 'retracts', l.retracts, 'is_inherited', nullif(l.is_inherited, false), 'is_auto', nullif(l.is_auto, false)))
        from work_ledger l left join turns t on t.id = l.turn_id
      union all
      select i.work_item_id, case i.kind when 'message' then 'person' else 'told' end, i.id, i.created_at, 0, 8, 0, null, i.person, i.kind,
             case when i.consumed_at is null then 'waiting' else 'told' end, case i.kind when 'message' then 'person' end, i.content, null,
             jsonb_strip_nulls(jsonb_build_object('from', i.source_work_item_id, 'is_interrupt', nullif(i.is_interrupt, false), 'told_in', i.turn_id))
        from inbox i where i.kind <> 'child_result'
      union all
      select h.work_item_id, 'hook', h.id, t.completed_at, t.depth, case when h.hook = 'before_model_call' then 3 else 6 end, 100000, t.id, null,
             h.hook, h.status, case when h.status <> 'completed' then 'error' end, coalesce(h.error, h.output), null,
             jsonb_strip_nulls(jsonb_build_object('command', h.command, 'exit_code', h.exit_code, 'ms', h.duration_ms))
        from turns t
        join hook_runs h on h.focus_id = t.focus_id and h.hook = any ('{before_model_call,before_tool,after_tool,check}') and h.turn_id = t.id
       where t.completed_at is not null and h.completed_at is not null
      union all
      select h.work_item_id, 'hook', h.id, h.created_at, 0, 8, 1, null, null, h.hook, h.status,
             case when h.status in ('refused', 'failed') then 'error' end, coalesce(h.error, h.output), null,
             jsonb_strip_nulls(jsonb_build_object('command', h.command, 'exit_code', h.exit_code, 'ms', h.duration_ms))
        from foci f
        join hook_runs h on h.focus_id = f.id and h.hook = any ('{recover,orient,engage,check,consolidate}') and h.turn_id is null
      union all
      select j.work_item_id, 'journal', j.id, j.created_at, 0, 8, 2, null, null, j.entry_type, case when j.deleted_at is not null then 'deleted' end,
             case j.entry_type when 'user_feedback' then 'person' when 'decision' then 'decision' when 'error' then 'error' end,
             coalesce(j.content ->> 'message', j.content ->> 'reasoning', j.content ->> 'summary'), null, coalesce(j.content, '{}')
        from journal_entries j
      union all
      select c.work_item_id, 'checkpoint', c.id, c.created_at, 0, 8, 3, null, null, c.trigger, null, null, c.summary, null, '{}'
        from work_checkpoints c
      union all
      select w.id, 'end', w.id, w.resolved_at, 2147483647, 9, 0, null, null, w.state, w.state, case when w.state = 'completed' then 'end' else 'error' end,
             coalesce(w.outcome_data ->> 'summary', w.outcome_data ->> 'error', w.state_reason), null,
             jsonb_strip_nulls(jsonb_build_object('reason', w.state_reason))
        from work_items w where w.resolved_at is not null
    ) e(work_item_id, kind, source_id, happened_at, place, rank, ordinal, turn_id, who, name, status, mark, content, input, data);
comment on view v_work_run is
  'Each work item as a conversation, one row per block: task, attempt (one began), told (by the engine, another agent, a hook), person (a person said it), request (to the model: how it was answered, or why not), words, call (with its result), entry (of the ledger), cut, compaction, hook, journal (entries of journal_log()), checkpoint, end. In order: select * from v_work_run where work_item_id = ''…'' order by happened_at, place, rank, ordinal, block_id. For a long one, use work_run(), which reads a window.';
comment on column v_work_run.block_id is 'Unique in the work item; the console''s pages use it as their fragment.';
comment on column v_work_run.kind is 'One of those listed in the view''s comment.';
comment on column v_work_run.source_id is 'The row that the block is made from.';
comment on column v_work_run.happened_at is 'When it happened; for everything that belongs to a turn, when the turn was answered or given up.';
comment on column v_work_run.place is 'Orders what happened at the same time: the depth of its turn, -1 for how the item began.';
comment on column v_work_run.rank is 'Orders blocks in the same place.';
comment on column v_work_run.ordinal is 'Orders blocks of the same rank.';
comment on column v_work_run.who is 'Who said it: the person; for a task, the role that submitted it; null: not known, or an agent.';
comment on column v_work_run.name is 'For a call its tool, for an entry its type, for a request its model, for an attempt its faculty, for a hook its point; else its subtype.';
comment on column v_work_run.status is 'Its state or how it ended: for a request and a call their status, for an attempt the outcome of the previous one.';
comment on column v_work_run.mark is 'The mark to search for: task, attempt, error (a call, request, hook or the item failed), approval (a person was asked), child, person, cut, end, or the type of a ledger entry other than note. Null: none of these.';
comment on column v_work_run.content is 'What was said, in full; for a call, what the model was shown of its result; for a failed request, the provider''s answer.';
comment on column v_work_run.input is 'For a call, the arguments that it runs with.';
comment on column v_work_run.data is 'What else is known, by kind: for a request {attempt, iteration, seconds, input_tokens, cached_tokens, output_tokens, cost, requests, provider_status}; for a call {seconds, chars, artifact, images, child, parent, approval}; for words {thinking}; for the task of a recorded session and what a person said in it, if its client wrapped something around it, {said}: the words alone; for a cut its blocks and tokens.';

create or replace function work_run(
    p_work_item_id uuid,
    p_after text default null,
    p_before text default null,
    p_limit integer default 200,
    p_marks text[] default null,
    p_query text default null)
  returns table (
    "position" text, block_id text, kind text, source_id uuid, happened_at timestamptz, turn_id uuid, who text, name text, status text, mark text,
    content text, input json, data jsonb)
  language plpgsql
  stable
  rows 200
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_is_back boolean := p_before is not null;
  v_query text := lower(nullif(p_query, ''));
  v_edge record := _run_place(coalesce(p_before, p_after), v_is_back);
  v_other timestamptz; -- the other end of the window that is read
  v_window integer := greatest(p_limit / 4, 1); -- a turn has a handful of blocks
  v_read integer := 0;
  v_rows integer;
  v_left integer := p_limit;
begin
  perform _check_page(p_limit, 500);
  perform _check_word('a mark', m, _run_marks()) from unnest(p_marks) m;
  if p_after is not null and p_before is not null then
    perform _raise_invalid('a page is either after a position or before one', 'Pass p_after or p_before, not both.');
  elsif not exists (select from work_items w where w.id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  loop
    v_other := case when v_is_back then _journal_since(p_work_item_id, v_edge.at, v_window) else _run_until(p_work_item_id, v_edge.at, v_window) end;
    return query
      select _run_position(r.happened_at, r.place, r.rank, r.ordinal, r.block_id), r.block_id, r.kind, r.source_id, r.happened_at, r.turn_id, r.who,
             r.name, r.status, r.mark, r.content, r.input, r.data
        from v_work_run r
       where r.work_item_id = p_work_item_id
         and r.happened_at between least(v_edge.at, v_other) and greatest(v_edge.at, v_other)
         and case when v_is_back
               then (r.happened_at, r.place, r.rank, r.ordinal, r.block_id) < (v_edge.at, v_edge.place, v_edge.rank, v_edge.ordinal, v_edge.block_id)
               else (r.happened_at, r.place, r.rank, r.ordinal, r.block_id) > (v_edge.at, v_edge.place, v_edge.rank, v_edge.ordinal, v_edge.block_id) end
         and (p_marks is null or r.mark = any (p_marks))
         and (v_query is null or strpos(lower(concat_ws(' ', r.name, r.content, r.input)), v_query) > 0)
       order by case when v_is_back then r.happened_at end desc, case when v_is_back then r.place end desc, case when v_is_back then r.rank end desc,
                case when v_is_back then r.ordinal end desc, case when v_is_back then r.block_id end desc,
                r.happened_at, r.place, r.rank, r.ordinal, r.block_id
       limit v_left;
    get diagnostics v_rows = row_count;
    v_left := v_left - v_rows;
    v_read := v_read + v_window;
    exit when v_left = 0 or not isfinite(v_other);
    -- Everything at that time has been read; going back, what is just before it comes next.
    v_edge := _run_place(_run_position(v_other, case when v_is_back then -2 else 2147483647 end, case when v_is_back then 0 else 1000 end, 0, ''), v_is_back);
    if v_read >= 2000 then
      "position" := _run_position(v_edge.at, v_edge.place, v_edge.rank, v_edge.ordinal, v_edge.block_id);
      block_id := null;
      return next;
      exit;
    end if;
    v_window := least(v_window * 4, 1000);
  end loop;
end
$$;

comment on function work_run(uuid, text, text, integer, text[], text) is
  'A window of a work item as a conversation, see v_work_run: select * from work_run(''…''), then work_run(''…'', p_after => the last row''s position). Oldest first; with p_before, the rows before that position, newest first; p_before => ''end'' begins at the end. p_limit: 1 to 500 blocks. p_marks: only blocks with one of these, such as {error,decision,cut,person}. p_query: only blocks whose words, input or result contain this text, ignoring case. A call reads at most a few thousand turns, however long the item is. If they do not fill the page, its last row has a position and nothing else, and the next call continues from there. A page that is not full and has no such row is the last one. position: where a block is in the conversation, for p_after and p_before only. Raises WL001, WL002.';

create or replace function _run_marks()
  returns text[]
  language sql
  immutable
  parallel safe
  return '{task,attempt,approval,child,person,cut,end,retraction}'::text[] || array_remove(_ledger_entry_types(), 'note');

comment on function _run_marks() is 'The marks of blocks in v_work_run.';

create or replace function _run_position(p_at timestamptz, p_place integer, p_rank integer, p_ordinal integer, p_block_id text)
  returns text
  language sql
  immutable
  parallel safe
  return concat_ws('/', (extract(epoch from p_at) * 1000000)::bigint, p_place, p_rank, p_ordinal, p_block_id);

comment on function _run_position(timestamptz, integer, integer, integer, text) is 'The place of a block in its order, as text.';

create or replace function _run_place(
    p_position text,
    p_is_back boolean,
    out at timestamptz,
    out place integer,
    out rank integer,
    out ordinal integer,
    out block_id text)
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_parts text[] := regexp_match(p_position, '^(\d{1,18})/(-?\d{1,9}|2147483647)/(\d{1,4})/(\d{1,9})/(.{0,100})$');
begin
  if p_position is null or (p_is_back and p_position = 'end') then
    at := case when p_is_back then 'infinity' else '-infinity' end;
    return;
  elsif v_parts is null or v_parts[1]::bigint > 253402300799000000 then
    perform _raise_invalid(format('"%s" is not the position of a block', _one_line(p_position, 60)), 'Pass the position of a row of work_run(), or null.');
  end if;
  at := timestamptz 'epoch' + v_parts[1]::bigint * interval '1 microsecond';
  place := v_parts[2];
  rank := v_parts[3];
  ordinal := v_parts[4];
  block_id := v_parts[5];
end
$$;

comment on function _run_place(text, boolean) is 'The values from which _run_position() made a text; for null, the beginning of every run or, backwards, like "end", its end. Raises WL002.';

create or replace function _run_until(p_work_item_id uuid, p_from timestamptz, p_count integer)
  returns timestamptz
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Each of these is a block, so the first p_count blocks are not later than the p_count-th of any kind.
  select least(
    'infinity',
    (select t.completed_at from turns t
      where t.work_item_id = p_work_item_id and t.completed_at > p_from
      order by t.completed_at offset p_count - 1 limit 1),
    (select l.created_at from work_ledger l
      where l.work_item_id = p_work_item_id and l.created_at > p_from
      order by l.created_at offset p_count - 1 limit 1),
    (select j.created_at from journal_entries j
      where j.work_item_id = p_work_item_id and j.created_at > p_from
      order by j.created_at offset p_count - 1 limit 1));
$$;

comment on function _run_until(uuid, timestamptz, integer) is 'A time until which a run has at least p_count blocks after p_from; infinity: it has fewer. Reads at most that many rows of three tables.';

create or replace view v_work_times with (security_invoker = true) as
  select w.id as work_item_id, w.created_at as submitted_at, w.started_at as began_at, w.resolved_at as ended_at,
         coalesce(_age(w.created_at) - coalesce(_age(w.started_at), _age(w.resolved_at), 0), 0) as queued_seconds,
         _age(w.started_at) - coalesce(_age(w.resolved_at), 0) as seconds,
         (select sum(t.duration_ms) / 1000.0 from turns t where t.work_item_id = w.id)::double precision as model_seconds,
         (select sum(extract(epoch from k.completed_at - k.started_at)) from tool_calls k
           where k.work_item_id = w.id and k.parent_call_id is null and not _is_wait(k.tool_name))::double precision as tool_seconds,
         (select sum(_age(k.created_at) - coalesce(_age(k.completed_at), 0)) from tool_calls k
           where k.work_item_id = w.id and _is_wait(k.tool_name)) as waited_seconds,
         (select sum(_age(a.requested_at) - coalesce(_age(a.decided_at), 0)) from approvals a where a.work_item_id = w.id) as asked_seconds
    from work_items w;
comment on view v_work_times is 'When each work item was submitted, began and ended, how long it took, and where the time went. Calls that ran at the same time are added up.';
comment on column v_work_times.submitted_at is 'When it was submitted.';
comment on column v_work_times.began_at is 'When its first attempt began; null: none has.';
comment on column v_work_times.ended_at is 'When it reached a final state; null: it has not.';
comment on column v_work_times.queued_seconds is 'From its submission until it began.';
comment on column v_work_times.seconds is 'From its beginning to its end, or until now.';
comment on column v_work_times.model_seconds is 'Total time of its answered requests.';
comment on column v_work_times.tool_seconds is 'Total time of its calls, without those that wait.';
comment on column v_work_times.waited_seconds is 'How long its calls waited for children, other work, claims or times.';
comment on column v_work_times.asked_seconds is 'How long its calls waited for people to approve or reject them.';

create or replace view v_images with (security_invoker = true) as
  select content_hash as artifact_hash, media_type, content from artifacts where media_type is not null;
comment on view v_images is 'Images that tools returned or people attached, by the hashes in data.images of v_work_run.';
comment on column v_images.artifact_hash is 'The artifact.';
comment on column v_images.media_type is 'image/png, image/jpeg, image/gif or image/webp.';
comment on column v_images.content is 'The image, in base64.';
