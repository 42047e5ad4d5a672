-- Imports the exchanges of a recorded run as turns: known ones are looked up, new ones are stored as children of the turn that they follow.

create or replace function _import_exchanges(
    p_run record,
    p_focus foci,
    p_head turns,
    inout last_at timestamptz,
    out parent turns,
    out turns_added integer,
    out calls_added integer,
    out last_iteration integer,
    out shared_turn_id uuid,
    out is_filled boolean)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_label text := p_focus.session_label;
  v_parts json := _recorded_parts(p_run."promptParts", p_run.prompt, p_run."isPromptByHarness");
  v_config text := _import_config(p_run.model, p_run.system, p_run.tools);
  v_n integer := coalesce(p_run.first, 0);
  v_past integer := v_n + json_array_length(p_run.exchanges) - case when p_run."isPart" then 0 else 1 end;
  v_exchange record;
  v_ids text[];
  v_parent turns;
  v_left turns;
  v_turn turns;
  v_added integer;
begin
  is_filled := false;
  turns_added := 0;
  calls_added := 0;
  last_iteration := p_focus.iteration;
  select * into parent
    from _import_turns(p_focus, array[p_run.format || ':' || p_run."firstAfter", v_label || '/' || (v_n - 1)], p_run."firstAfterResponse")
   where v_n > 0 limit 1;
  for v_exchange in select * from _recorded_exchanges(p_run.exchanges) loop
    v_ids := array[coalesce(p_run.format || ':' || v_exchange.id, v_label || '/' || v_n), v_label || '/' || v_n];
    v_parent := parent;
    v_left := case when v_exchange.after is not null then parent end;
    begin
      if v_exchange.after is not null then
        select * into v_parent from _import_turns(p_focus, array[p_run.format || ':' || v_exchange.after], v_exchange."afterResponse") limit 1;
        v_parts := _recorded_parts(v_exchange."saidParts", v_exchange.said, false);
      end if;
      v_turn := _import_known(p_focus, v_parent, v_ids, v_exchange."responseId");
      if v_turn.id is null then
        -- The conversation went back; or it did so since the last import, and the file no longer has the abandoned turns.
        perform _import_branch(v_label, case
          when turns_added = 0 and v_left.id is null and p_head.id is distinct from v_parent.id then p_head else v_left end);
        last_at := greatest(_recorded_time(v_exchange.at), last_at);
        if v_exchange."compactSummary" ~ '\S' and v_parent.id is not null then
          v_parent := _import_compaction(p_focus, v_parent, v_exchange."compactSummary", last_at);
        end if;
        v_turn := _import_turn(p_run, v_exchange, p_focus, v_parent, v_ids, last_iteration + 1, v_config, last_at);
        perform _import_said(v_turn, v_parts, case when p_run."parentSessionId" is null then 'human' else 'agent' end);
        v_added := _import_response(v_turn, v_exchange, v_n, v_n < v_past);
        perform message_lints_save(m.id, v_exchange.lints)
           from messages m where v_exchange.lints is not null and m.turn_id = v_turn.id and m.role = 'assistant';
        last_iteration := v_turn.iteration;
        turns_added := turns_added + 1;
      else
        shared_turn_id := case when v_turn.focus_id <> p_focus.id then v_turn.id else shared_turn_id end;
        select m.calls_added, m.is_filled or _import_exchanges.is_filled into v_added, is_filled
          from _import_more(p_focus, v_turn, v_exchange, v_n, v_n < v_past) m;
      end if;
      perform _import_spawns(v_turn, p_run.format, coalesce(p_run."parentSessionId", p_run."sessionId"), v_exchange, v_n);
      parent := v_turn;
      calls_added := calls_added + v_added;
      v_parts := _recorded_parts(v_exchange."followUpParts", v_exchange."followUp", v_exchange."isFollowUpByHarness");
    exception when data_exception or integrity_constraint_violation or program_limit_exceeded or sqlstate 'WL002' then
      -- An exchange that cannot be stored is kept as it came; what was said before it is stored with the next one.
      perform _import_left_out(v_label, to_json(v_exchange), 'exchange that cannot be stored: ' || sqlerrm);
      last_iteration := (select coalesce(max(t.iteration), 0) from turns t where t.work_item_id = p_focus.work_item_id and t.focus_id = p_focus.id);
      v_parts := _recorded_joined(v_parts, _recorded_parts(v_exchange."followUpParts", v_exchange."followUp", v_exchange."isFollowUpByHarness"));
    end;
    v_n := v_n + 1;
  end loop;
end
$$;

comment on function _import_exchanges(record, foci, turns, timestamptz) is
  'Stores the exchanges of a recorded run (p_run, as session_import() reads it) whose session ends with p_head so far. last_at: in: when the run began; out: when its last new exchange began. Returns the turn of the last exchange, what was added, the last iteration, the last turn shared with another session, if the run begins with a copy of it, and is_filled: something was added to an earlier turn.';

create or replace function _import_more(
    p_focus foci, p_turn turns, p_exchange record, p_n integer, p_is_past boolean, out calls_added integer, out is_filled boolean)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  calls_added := 0;
  is_filled := false;
  -- Nothing follows it yet, so results and more of the response may have come since the last import. Otherwise, records of it may have been missed.
  if not exists (select from turns c where c.parent_turn_id = p_turn.id and c.focus_id = p_turn.focus_id) then
    calls_added := _import_response(p_turn, p_exchange, p_n, p_is_past);
  elsif p_turn.focus_id = p_focus.id then
    select m.calls_added, m.is_filled into calls_added, is_filled from _import_missed(p_turn, p_exchange, p_n) m;
  end if;
end
$$;

comment on function _import_more(foci, turns, record, integer, boolean) is
  'Adds to a turn that is known what its exchange of a recorded run has besides; p_n and p_is_past as for _import_response(). Returns the calls added, and is_filled: a turn that others follow was added to.';

create or replace function _recorded_exchanges(p_exchanges json)
  returns table (
    id text, "responseId" text, after text, "afterResponse" text, at text, model text, "compactSummary" text, text text, thinking json, calls json,
    records jsonb, results json, usage jsonb, said text, "saidParts" json, "followUp" text, "isFollowUpByHarness" boolean, "followUpParts" json,
    lints jsonb, ordinality bigint)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select e.*
    from rows from (json_to_recordset(p_exchanges) as (
      id text, "responseId" text, after text, "afterResponse" text, at text, model text, "compactSummary" text, text text, thinking json, calls json,
      records jsonb, results json, usage jsonb, said text, "saidParts" json, "followUp" text, "isFollowUpByHarness" boolean, "followUpParts" json,
      lints jsonb)) with ordinality as e
   order by e.ordinality;
$$;

comment on function _recorded_exchanges(json) is 'The exchanges of a recorded run, in order.';

create or replace function _recorded_parts(p_parts json, p_text text, p_is_by_harness boolean)
  returns json
  language sql
  immutable
  parallel safe
  return coalesce(p_parts, json_build_array(json_build_object('text', p_text, 'isByHarness', p_is_by_harness)));

comment on function _recorded_parts(json, text, boolean) is 'What was said to the model of a recorded run, as a list of parts; a record without parts gives one.';

create or replace function _recorded_joined(p_parts json, p_more json)
  returns json
  language sql
  immutable
  parallel safe
  return (select json_agg(p.value) from (select json_array_elements(p_parts) union all select json_array_elements(p_more)) as p(value));

comment on function _recorded_joined(json, json) is 'Two lists of parts joined.';

create or replace function _import_known(p_focus foci, p_parent turns, p_external_ids text[], p_response_id text)
  returns turns
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select k.*
    from (select t.* from _import_turns(p_focus, p_external_ids, p_response_id) t limit 1) k
   where k.focus_id = p_focus.id
      or p_parent.id is null
      or p_parent.id in (k.parent_turn_id, (select c.parent_turn_id from turns c where c.id = k.parent_turn_id and c.turn_type = 'compaction'));
$$;

comment on function _import_known(foci, turns, text[], text) is
  'The existing turn of an exchange of a recorded run: this focus''s own, or another focus''s that follows p_parent (a compaction between them is ignored). Null: the exchange is new.';

create or replace function _import_turns(p_focus foci, p_external_ids text[], p_response_id text default null)
  returns setof turns
  language sql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select (f.turn).*
    from (
      select t as turn, i.n
        from work_items own
        cross join lateral unnest(p_external_ids) with ordinality as i(id, n)
        cross join lateral (values (i.id), (_import_id_of(i.id, own.submitted_by))) as k(id)
        join turns t on t.external_id = k.id
        join work_items w on w.id = t.work_item_id and w.submitted_by = own.submitted_by
       where own.id = p_focus.work_item_id
      union all
      -- Within a session only: elsewhere another provider may have used the same id.
      select t, 1.5 from turns t where t.focus_id = p_focus.id and t.response_id = p_response_id and t.external_id is not null) f
   order by (f.turn).focus_id = p_focus.id desc, f.n;
$$;

comment on function _import_turns(foci, text[], text) is 'The turns with one of these ids, of the focus and of whatever its submitter imported, those of the focus first: nothing is shared with others. p_response_id: and that of the focus which is this response. The first id counts for more, the others for less.';

create or replace function _import_id_of(p_external_id text, p_submitter name)
  returns text
  language sql
  immutable
  parallel safe
  return p_external_id || ' of ' || p_submitter;

comment on function _import_id_of(text, name) is 'The id of an imported exchange whose own id somebody else''s import has.';

create or replace function _import_turn(
    p_run record,
    p_exchange record,
    p_focus foci,
    p_parent turns,
    p_external_ids text[],
    p_iteration integer,
    p_config_hash text,
    p_at timestamptz)
  returns turns
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
  v_input integer := _recorded_count(p_exchange.usage -> 'inputTokens');
  v_output integer := _recorded_count(p_exchange.usage -> 'outputTokens');
  v_cached integer := _recorded_count(p_exchange.usage -> 'cachedInputTokens');
  v_owner name := (select submitted_by from work_items where id = p_focus.work_item_id);
  v_id text := p_external_ids[case when exists (select from _import_turns(p_focus, p_external_ids)) then 2 else 1 end]; -- the first is taken by another branch
begin
  if exists (select from turns t join work_items w on w.id = t.work_item_id where t.external_id = v_id and w.submitted_by <> v_owner) then
    v_id := _import_id_of(v_id, v_owner);
  end if;
  insert into turns (
    parent_turn_id, fork_turn_id, depth, status, work_item_id, focus_id, iteration, config_hash, elision_id,
    provider, model, stop_reason, response_id, call_count, input_tokens, output_tokens, cached_input_tokens, chain_tokens,
    external_id, workspace_path, started_at, completed_at)
  values (
    p_parent.id, _fork_turn(p_parent, p_focus.work_item_id), coalesce(p_parent.depth + 1, 0), 'completed', p_focus.work_item_id,
    p_focus.id, p_iteration, p_config_hash, p_parent.elision_id,
    p_run.format, coalesce(p_exchange.model, p_run.model), 'tool_use', p_exchange."responseId", 1, v_input, v_output, v_cached,
    coalesce(p_parent.chain_tokens, 0) + coalesce(v_input, 0)::bigint + coalesce(v_output, 0) + coalesce(v_cached, 0),
    v_id, p_run.cwd, p_at, p_at)
  returning * into v_turn;
  perform _usage_add(v_turn);
  return v_turn;
end
$$;

comment on function _import_turn(record, record, foci, turns, text[], integer, text, timestamptz) is
  'Stores the turn of a recorded exchange as a child of p_parent, and returns it. p_external_ids: the exchange''s own id, and one made from its position in the session, which is used if another turn of the same submitter already has one of the two.';

create or replace function _import_said(p_turn turns, p_parts json, p_speaker text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  insert into messages (turn_id, sequence, role, source, content, created_at)
  select p_turn.id, row_number() over (order by p.n), 'user', case when (p.value ->> 'isByHarness')::boolean then 'event' else p_speaker end,
         ('[' || concat_ws(',',
           case when not _is_blank(p.value ->> 'text') then _text_block(_cap_said(p.value ->> 'text', 3000000)) end,
           _recorded_images(p_turn.work_item_id, p.value -> 'images')) || ']')::json,
         p_turn.started_at
    from json_array_elements(p_parts) with ordinality as p(value, n)
   where not _is_blank(p.value ->> 'text') or json_array_length(p.value -> 'images') > 0;
  if not found and p_turn.parent_turn_id is null then
    -- A conversation begins with a message to the model: here the work item's description, which says that there is no prompt.
    insert into messages (turn_id, sequence, role, source, content, created_at)
    select p_turn.id, 1, 'user', 'event', ('[' || _text_block(w.description) || ']')::json, p_turn.started_at
      from work_items w where w.id = p_turn.work_item_id;
  end if;
  perform _turn_sizes_store(p_turn);
end
$$;

comment on function _import_said(turns, json, text) is
  'Stores what the model of a recorded run was told before a turn, one message for each part, and the sizes of its request. A first turn that was told nothing is told the work item''s description.';

create or replace function _import_left_out(p_label text, p_exchange json, p_reason text)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  insert into session_records (session_label, line, ordinal, reason, content)
  values (p_label, 0, hashtext(p_exchange::text), p_reason, p_exchange::text)
  on conflict do nothing;
$$;

comment on function _import_left_out(text, json, text) is 'Keeps an exchange of which not all can be stored in session_records, as it came, with the reason.';

create or replace function _recorded_count(p_count jsonb)
  returns integer
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when jsonb_typeof(p_count) = 'number' and p_count::numeric between 0 and 200000000 then round(p_count::numeric) end::integer;
$$;

comment on function _recorded_count(jsonb) is 'A recorded count of tokens; null if it is not plausible.';
