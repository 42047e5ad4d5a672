-- The trace of work, from its rows: for a whole tree, or for what an attempt has done since it was last exported.

create or replace function work_trace(p_work_item_id uuid, p_with_content boolean default false)
  returns setof trace_span
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_focus foci;
begin
  if not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  for v_focus in
    select f.* from _traced_items(p_work_item_id) i join foci f on f.work_item_id = i order by f.created_at, f.id
  loop
    return query select * from _focus_trace(v_focus, 1, v_focus.iteration, v_focus.ended_at is not null, p_with_content);
  end loop;
end
$$;

comment on function work_trace(uuid, boolean) is
  'The spans of a work item, of everything below it and of what was forked from them, in all attempts: select name, ended_at - started_at, attributes from work_trace(''…''). name: as OpenTelemetry''s GenAI conventions have it (invoke_agent …, chat …, execute_tool …); attribute work.span: which of this ledger''s spans it is. Only what is over: the iterations that have ended and, of attempts that have ended, everything; it never changes. trace_id (the root item''s id) and span_id, in hexadecimal, are cut from ids of rows; parent_span_id is null for the first. kind: client (chat) or internal. status: error or unset. attributes: an object of texts, numbers, truths and arrays of texts. events: [{name, at, attributes}], at in ISO 8601. links: [{trace_id, span_id, attributes}]. p_with_content: also the prompts, responses, arguments, results and messages of errors, which are left out otherwise. Its cost is linear in what was done; with content each request is rebuilt. Raises WL001.';

create or replace function _traced_items(p_work_item_id uuid)
  returns setof uuid
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive traced(id) as (
    select p_work_item_id
    union
    select n.id
      from traced d
      cross join lateral (
        select w.id from work_items w where w.parent_id = d.id
        union all
        select w.id from turns t join work_items w on w.fork_turn_id = t.id where t.work_item_id = d.id) n
  )
  select id from traced;
$$;

comment on function _traced_items(uuid) is 'A work item, everything below it, and what was forked from any of these.';

create or replace function _focus_trace(p_focus foci, p_first integer, p_last integer, p_is_end boolean, p_with_content boolean)
  returns setof trace_span
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := (select w from work_items w where w.id = p_focus.work_item_id);
  v_common jsonb := jsonb_build_object(
    'work.item.id', v_item.id, 'work.focus.id', p_focus.id, 'work.attempt', p_focus.attempt, 'work.faculty', p_focus.faculty, 'work.type', v_item.work_type,
    'gen_ai.conversation.id', p_focus.session_label, 'gen_ai.agent.name', p_focus.faculty, 'gen_ai.agent.id', p_focus.faculty_hash);
begin
  if p_is_end then
    p_last := 2147483647; -- the last iteration of a focus is not counted
  end if;
  return query
    select _trace_id(v_item.root_id), s.span_id, s.parent_span_id, s.name, s.kind, s.started_at, s.ended_at, s.status,
           v_common || s.attributes, s.events, s.links
      from (
        select * from _focus_spans(v_item, p_focus, p_first, p_is_end, p_with_content)
        union all
        select * from _iteration_spans(v_item, p_focus, p_first, p_last)
        union all
        select * from _compaction_spans(p_focus, p_first, p_last)
        union all
        select * from _digest_spans(p_focus, p_first, p_last)
        union all
        select * from _chat_spans(p_focus, p_first, p_last, p_with_content)
        union all
        select * from _call_spans(v_item, p_focus, p_first, p_last, p_with_content)
      ) s
     order by s.started_at, s.ended_at desc, s.span_id;
end
$$;

comment on function _focus_trace(foci, integer, integer, boolean, boolean) is
  'The spans of an attempt in these iterations, all of which have ended; with p_is_end also what follows them and the attempt itself. With the first iteration, or with the end if there was none: those before it.';

create or replace function trace_take(p_focus_id uuid, p_with_content boolean default false)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_focus foci;
  v_export trace_exports;
  v_is_end boolean;
  v_last integer;
begin
  if not exists (select from foci where id = p_focus_id) then
    perform _raise_not_found('focus', p_focus_id);
  end if;
  insert into trace_exports as e (focus_id, claim_ends_at)
  values (p_focus_id, _now() + interval '1 minute')
  on conflict (focus_id) do update set claim_ends_at = excluded.claim_ends_at where not _is_trace_claimed(e.claim_ends_at)
  returning * into v_export;
  if not found then
    return '{"kind": "held"}';
  end if;
  select * into v_focus from foci where id = p_focus_id; -- after the claim, so that it sees what ended meanwhile
  v_is_end := v_focus.ended_at is not null and v_focus.iteration - v_export.iteration <= 100;
  v_last := least(v_focus.iteration, v_export.iteration + 100);
  if v_export.is_done or (v_last = v_export.iteration and not v_is_end) then
    perform trace_record(p_focus_id);
    return '{"kind": "nothing"}';
  end if;
  return json_build_object('kind', 'spans', 'iteration', v_last, 'is_done', v_is_end, 'spans', (
    select coalesce(json_agg(s), '[]') from _focus_trace(v_focus, v_export.iteration + 1, v_last, v_is_end, p_with_content) s));
end
$$;

comment on function trace_take(uuid, boolean) is
  'The spans of an attempt that ended since they were last exported, for who exports them: {kind: spans, iteration, is_done, spans: [as work_trace() returns them]}, of at most 100 iterations. Then report with trace_record() how far they were exported, and ask again unless is_done. {kind: nothing}: there are none. {kind: held}: another process is exporting this attempt; ask again later. Who asked holds the attempt until trace_record(), at most for a minute. It waits for nobody who works on the item, and nobody waits for it. Raises WL001.';

create or replace function _is_trace_claimed(p_ends_at timestamptz)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(p_ends_at > _now() and p_ends_at <= _now() + interval '1 minute', false);
$$;

comment on function _is_trace_claimed(timestamptz) is 'Whether a process exports a trace now: its claim ends within a minute. One that ends later is of a time before the clock was set back.';

create or replace function trace_record(p_focus_id uuid, p_iteration integer default 0, p_is_done boolean default false)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  update trace_exports
     set iteration = greatest(iteration, p_iteration), is_done = is_done or p_is_done, claim_ends_at = null
   where focus_id = p_focus_id;
$$;

comment on function trace_record(uuid, integer, boolean) is
  'Reports that the spans that trace_take() returned were exported (its iteration and is_done), or without these that they were not, and lets others export the attempt. Who reports after more than a minute does so, too, while another may hold the attempt: then spans may be exported twice, with the same ids; none is lost.';

create or replace function trace_due(p_within interval default '1 hour')
  returns setof uuid
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _check_span('p_within', p_within);
  return query
    select f.id
      from foci f
      left join trace_exports e on e.focus_id = f.id
     where f.ended_at > _now() - p_within and not coalesce(e.is_done, false) and not _is_trace_claimed(e.claim_ends_at)
     order by f.ended_at
     limit 100;
end
$$;

comment on function trace_due(interval) is
  'The attempts that ended within the last p_within and whose spans are not all exported: their worker died, or they were ended from elsewhere. At most 100, for trace_take(). Raises WL002.';
