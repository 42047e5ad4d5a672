-- What an agent still needs of elided blocks, kept verbatim after their stubs: what its newest step named (keep) or, if it named
-- nothing, the one before; else files that it read recently and has not changed since. Which calls are kept is fixed with the cut;
-- their text comes from their rows, which never change, so that nothing is stored twice.

create or replace function _kept(p_head turns, p_last_turn_id uuid, p_names text[], p_engage jsonb)
  returns json
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_last_depth integer := (select depth from turns where id = p_last_turn_id);
  -- At most a tenth of the window, so that a small one is not filled with what is kept.
  v_room integer := least((p_engage ->> case when p_names is null then 'keep_auto' else 'keep_budget' end)::integer, _context_window_of(p_engage) / 10);
  v_found record;
  v_tokens integer;
  v_kept jsonb := '[]';
  v_no_room jsonb := '[]';
begin
  if v_room <= 0 then
    return null;
  end if;
  for v_found in
    select f.target, f.calls, f.artifact, f.n from _kept_named(p_head, v_last_depth, p_names) f where p_names is not null
    union all
    select f.target, array[f.call_id], null, f.n from _kept_read(p_head, v_last_depth) f where p_names is null
    order by n
  loop
    v_tokens := _tokens(case
      when v_found.artifact is not null then (select char_length(content) from artifacts where content_hash = v_found.artifact)
      else (select sum(char_length(_kept_call(k))) from unnest(v_found.calls) c join tool_calls k on k.id = c) end, p_engage ->> 'model');
    if v_tokens <= v_room then
      v_room := v_room - v_tokens;
      v_kept := v_kept || jsonb_build_object('target', v_found.target, 'calls', v_found.calls, 'artifact', v_found.artifact);
    elsif p_names is not null then
      v_no_room := v_no_room || jsonb_build_object('target', v_found.target, 'call', v_found.calls[1], 'handle', left(coalesce(v_found.artifact,
        (select _content_hash(_cap_text(_result_text(k.result), 33554000)) from tool_calls k where k.id = v_found.calls[1])), 16));
    end if;
  end loop;
  if v_kept = '[]' and v_no_room = '[]' then
    return null;
  end if;
  return json_build_object('is_named', p_names is not null, 'kept', v_kept, 'no_room', v_no_room);
end
$$;

comment on function _kept(turns, uuid, text[], jsonb) is
  'What a cut after p_last_turn_id keeps for the request after p_head: {is_named, kept: [{target, calls, artifact}], no_room: [{target, call, handle}]}; null: nothing. p_names: what the newest step named, most needed first, kept in at most keep_budget tokens (and a tenth of the window). p_names null: it named nothing; recently read files are kept in at most keep_auto tokens.';

create or replace function _with_kept(p_cut elisions, p_head turns, p_names text[], p_engage jsonb)
  returns elisions
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_cut.id is not null then
    p_cut.kept := _kept(p_head, p_cut.last_turn_id, p_names, p_engage);
    p_cut.kept_tokens := coalesce(_tokens(char_length(_kept_block(p_cut)), p_engage ->> 'model'), 0);
  end if;
  return p_cut;
end
$$;

comment on function _with_kept(elisions, turns, text[], jsonb) is 'The cut (not stored yet) with what it keeps; arguments as of _kept().';

create or replace function _newest_keep(p_work_item_id uuid)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _keep_at(p_work_item_id, 2147483647);
$$;

comment on function _newest_keep(uuid) is 'What the newest step of an item keeps, see _keep_at(); null: nothing was named.';

create or replace function _keep_at(p_work_item_id uuid, p_seq integer)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with step as (
    select l.keep, row_number() over (order by l.seq desc) as n
      from (select * from work_ledger where work_item_id = p_work_item_id and entry_type = 'step' and seq <= p_seq order by seq desc limit 2) l
  )
  select coalesce((select s.keep from step s where s.n = 1), (select s.keep from step s where s.n = 2));
$$;

comment on function _keep_at(uuid, integer) is 'The keep of the newest step up to an entry or, if it names nothing, of the one before: a list holds for one more step. Null: neither names anything.';

create or replace function _is_named(p_name text, p_target text)
  returns boolean
  language sql
  immutable
  parallel safe
  return p_target = p_name or right(p_target, char_length(p_name) + 1) = '/' || p_name or right(p_name, char_length(p_target) + 1) = '/' || p_target;

comment on function _is_named(text, text) is 'Whether a name of a keep list means what a call touched: the same path, or one is the end of the other.';

create or replace function _keep_names(p_keep text[])
  returns text[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array(
    select c.name
      from unnest(p_keep) with ordinality as u(name, i), regexp_replace(btrim(u.name), '^(\./+)+', '') as c(name)
     group by c.name
     order by min(u.i));
$$;

comment on function _keep_names(text[]) is 'The names of a keep list, each once, without ./ before them.';

create or replace function _keep_answer(p_step work_ledger)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_unknown text[];
  v_leaving text[];
begin
  if p_step.entry_type <> 'step' then
    return null;
  elsif p_step.keep is not null then
    v_unknown := _keep_unknown(p_step);
    return case when cardinality(v_unknown) > 0 then
      format('keep: %s %s never read.', _list(v_unknown, 20), case cardinality(v_unknown) when 1 then 'was' else 'were' end) end;
  end if;
  v_leaving := _keep_leaving(p_step);
  return case when cardinality(v_leaving) > 0 then format(
    'When this block closes, %s %s your context; name %s in keep to hold %s.', _list(v_leaving, 6),
    case cardinality(v_leaving) when 1 then 'leaves' else 'leave' end, case cardinality(v_leaving) when 1 then 'it' else 'them' end,
    case cardinality(v_leaving) when 1 then 'it' else 'them' end) end;
end
$$;

comment on function _keep_answer(work_ledger) is
  'What a step is answered about what it keeps: names that match nothing; without a list the files that its block edited and that leave with it. Null: nothing is to be said.';

create or replace function _keep_unknown(p_step work_ledger)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive line(work_item_id, fork_turn_id) as (
    select w.id, w.fork_turn_id from work_items w where w.id = p_step.work_item_id
    union all
    select w.id, w.fork_turn_id from line l join turns t on t.id = l.fork_turn_id join work_items w on w.id = t.work_item_id
  )
  select array(
    select _one_line(u.name, 200)
      from unnest(_keep_names(p_step.keep)) with ordinality as u(name, n)
     where not exists (
             select from line l join touches x on x.work_item_id = l.work_item_id where x.action <> 'search' and _is_named(u.name, x.target))
       and not (lower(u.name) ~ '^[0-9a-f]{16,64}$' and exists (
             select from artifacts a where a.content_hash >= lower(u.name) and a.content_hash < lower(u.name) || 'g'))
     order by u.n);
$$;

comment on function _keep_unknown(work_ledger) is 'The names of a step''s keep that no call of the conversation read or wrote, and that are no handles.';

create or replace function _keep_leaving(p_step work_ledger)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array_agg(
           _one_line(f.target, 200) || case f.times when 1 then ' (edited)' when 2 then ' (edited twice)' else format(' (edited %s times)', f.times) end
           order by f.last)
    from (select x.target, count(*) as times, max(array[u.n, k.ordinal]) as last
            from turns t
            join foci f on f.id = t.focus_id
           cross join lateral unnest(_turns_of_block(t.id, t.block)) with ordinality as u(turn_id, n)
            join tool_calls k on k.turn_id = u.turn_id and k.status = 'completed'
            join touches x on x.tool_call_id = k.id and x.kind = 'path' and x.action in ('create', 'modify')
           where t.id = p_step.turn_id and (_faculty_config(f) #>> '{engage,truncate_closed_blocks}')::boolean
           group by x.target) f
   where not exists (select from unnest(_keep_names(_keep_at(p_step.work_item_id, p_step.seq))) u(name) where _is_named(u.name, f.target));
$$;

comment on function _keep_leaving(work_ledger) is 'The files edited in the block that a step closes which neither it nor the step before keeps, with how often; null: none.';

create or replace function _kept_named(p_head turns, p_last_depth integer, p_names text[])
  returns table (n bigint, target text, calls uuid[], artifact text)
  language plpgsql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_turn turns := p_head;
  v_names text[] := _keep_names(p_names);
  v_missing text[] := v_names;
  v_calls jsonb := '{}'; -- by name, oldest first
  v_parts text[] := '{}';
  v_touch record;
begin
  -- Back through the conversation until the content of each name is found: where it was last read or written whole, and what
  -- changed it since. At most a thousand turns, for names that never occurred.
  for v_i in 1 .. 1000 loop
    exit when v_turn.id is null or v_missing = '{}';
    for v_touch in
      select m.name, k.id, x.action, k.input::text as input, x.action in ('create', 'delete') or x.action = 'read' and not _is_partial(k) as is_whole
        from tool_calls k
        left join tool_calls p on p.id = k.parent_call_id
        join touches x on x.tool_call_id = k.id
        join unnest(v_missing) as m(name) on _is_named(m.name, x.target)
       where k.turn_id = v_turn.id and k.status = 'completed' and x.action <> 'search'
         and (k.parent_call_id is null or x.action <> 'read') -- the model does not see what code reads
       order by coalesce(p.ordinal, k.ordinal) desc, k.parent_call_id is null, k.ordinal desc, x.ordinal desc
    loop
      continue when v_touch.name <> all (v_missing)
        or v_touch.action = 'read' and v_parts @> array[v_touch.name || E'\n' || v_touch.input]; -- an earlier read of the same part
      if v_touch.action = 'read' then
        v_parts := v_parts || (v_touch.name || E'\n' || v_touch.input);
      end if;
      if v_turn.depth <= p_last_depth then -- newer calls are still shown
        v_calls := v_calls || jsonb_build_object(v_touch.name, to_jsonb(v_touch.id) || coalesce(v_calls -> v_touch.name, '[]'));
      end if;
      v_missing := case when v_touch.is_whole then array_remove(v_missing, v_touch.name) else v_missing end;
    end loop;
    select * into v_turn from turns where id = v_turn.parent_turn_id;
  end loop;
  return query
    select u.i, u.name, array(select c::uuid from jsonb_array_elements_text(v_calls -> u.name) c), null
      from unnest(v_names) with ordinality as u(name, i)
     where v_calls ? u.name
    union all
    select u.i, u.name, '{}', a.content_hash
      from unnest(v_names) with ordinality as u(name, i)
      join artifacts a on a.content_hash >= lower(u.name) and a.content_hash < lower(u.name) || 'g'
     where not v_calls ? u.name and a.media_type is null and lower(u.name) ~ '^[0-9a-f]{16,64}$';
end
$$;

comment on function _kept_named(turns, integer, text[]) is
  'For each name (path, URL, handle): the calls, oldest first, that hold its newest content up to p_head, of turns no deeper than p_last_depth: the last read or write of the whole, then reads of parts and edits since; or the artifact with that handle.';

create or replace function _kept_read(p_head turns, p_last_depth integer)
  returns table (n bigint, target text, call_id uuid)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive chain as (
    select p_head.id, p_head.parent_turn_id, p_head.depth, 1 as step
    union all
    select t.id, t.parent_turn_id, t.depth, c.step + 1 from chain c join turns t on t.id = c.parent_turn_id where c.step < 40
  ),
  touch as (
    select row_number() over (order by c.depth desc, coalesce(p.ordinal, k.ordinal) desc, k.parent_call_id is null, k.ordinal desc, x.ordinal desc) as n,
           dense_rank() over (order by c.depth desc, coalesce(p.ordinal, k.ordinal) desc) as call,
           x.target, x.action, k.id, k.status, k.parent_call_id, c.depth
      from chain c
      join tool_calls k on k.turn_id = c.id and k.completed_at is not null
      left join tool_calls p on p.id = k.parent_call_id
      join touches x on x.tool_call_id = k.id and x.kind = 'path' and x.action <> 'search'
  ),
  newest as (
    select distinct on (t.target) t.* from touch t where t.call <= 40 order by t.target, t.n
  )
  select w.n, w.target, w.id
    from newest w
   where w.action = 'read' and w.status = 'completed' and w.parent_call_id is null and w.depth <= p_last_depth
     -- A few lines of a file are of no use without the rest.
     and not exists (select from tool_calls k where k.id = w.id and _is_partial(k) and regexp_count(_result_text(k.result), E'\n') < 9);
$$;

comment on function _kept_read(turns, integer) is
  'Files read in the last 40 calls that touched a file and not changed since, newest first, if the read is in a turn no deeper than p_last_depth; but for parts of fewer than 10 lines.';

create or replace function _is_partial(p_call tool_calls)
  returns boolean
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(p_call.input ->> 'command', p_call.input ->> 'cmd') ~ '\m(sed -n|head|tail)\M' is true
         or exists (select from json_each(case json_typeof(p_call.input) when 'object' then p_call.input else '{}' end) i
                  where i.key ~* '(offset|limit|line|range|start|end|page)' and i.value::text not in ('null', '0', '""'));
$$;

comment on function _is_partial(tool_calls) is 'Whether a call reads only a part of its target, as far as its input shows.';

create or replace function _kept_call(p_call tool_calls)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select format('> %s (block %s, iteration %s)', p_call.tool_name, _block_of(t), t.iteration)
      || _input_lines(_call_input(p_call))
      || case when exists (select from touches x where x.tool_call_id = p_call.id and x.action = 'read')
           then E'\nresult:\n' || _unwrapped(_result_text(p_call.result), w.work_type) else '' end
    from turns t join work_items w on w.id = t.work_item_id
   where t.id = p_call.turn_id;
$$;

comment on function _kept_call(tool_calls) is 'A kept call as text: name, where it was made, its input and, if it reads, its result as it was shown.';

create or replace function _unwrapped(p_result text, p_work_type text)
  returns text
  language sql
  immutable
  parallel safe
  return case p_work_type when 'import' then btrim(regexp_replace(p_result, '<system-reminder>.*?</system-reminder>', '', 'g'), E'\n') else p_result end;

comment on function _unwrapped(text, text) is 'A result without what the harness of a recorded session put around it.';

create or replace function _input_lines(p_input json, p_name text default null, p_depth integer default 0)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return case
    when json_typeof(p_input) = 'object' and p_depth < 3 then (
      select coalesce(string_agg(_input_lines(i.value, concat_ws('.', p_name, i.key), p_depth + 1), '' order by i.n), '')
        from json_each(p_input) with ordinality as i(key, value, n))
    when json_typeof(p_input) = 'array' and p_depth < 3 then (
      select coalesce(string_agg(_input_lines(i.value, concat_ws('.', p_name, i.n), p_depth + 1), '' order by i.n), '')
        from json_array_elements(p_input) with ordinality as i(value, n))
    when json_typeof(p_input) = 'string' and p_input #>> '{}' ~ E'\n' then E'\n' || concat_ws(E':\n', p_name, p_input #>> '{}')
    when json_typeof(p_input) = 'string' then E'\n' || concat_ws(': ', p_name, p_input #>> '{}')
    else E'\n' || concat_ws(': ', p_name, p_input::text) end;
end
$$;

comment on function _input_lines(json, text, integer) is
  'An input as lines "name: value", each with a line break before it. Texts are as they were, so that what an edit replaced can be found in them; of what nests deeper than three levels, the JSON.';

create or replace function _kept_block(p_cut elisions)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select concat_ws(E'\n\n',
           case
             when p.text is not null then format(
                E'[engine] Kept from closed blocks because %s: as you saw it then, as data between the markers; '
                'others may have changed it since.\n\n<%s>\n%s\n</%s>',
             case when (p_cut.kept ->> 'is_named')::boolean then 'you named it' else 'you read it lately and have not changed it since' end,
             m.marker, p.text, m.marker) end,
           '[engine] You named these too, for which there was no room: '
             || (select string_agg(format('%s (artifact_read("%s"))', _one_line(o.value ->> 'target', 200), o.value ->> 'handle'), ', ' order by o.n)
                   from json_array_elements(p_cut.kept -> 'no_room') with ordinality as o(value, n)))
    from (values ('data-' || left(md5(p_cut.id::text), 12))) as m(marker)
    cross join (
      select string_agg(format(E'# %s\n%s', _one_line(f.value ->> 'target', 1000),
               coalesce((select content from artifacts where content_hash = f.value ->> 'artifact'),
                        (select string_agg(_kept_call(k), E'\n\n' order by c.n)
                           from json_array_elements_text(f.value -> 'calls') with ordinality as c(id, n)
                           join tool_calls k on k.id = c.id::uuid))), E'\n\n' order by f.n) as text
        from json_array_elements(p_cut.kept -> 'kept') with ordinality as f(value, n)) p;
$$;

comment on function _kept_block(elisions) is 'What a cut keeps, as text for the model; null: nothing.';

create or replace function _kept_store(p_cut elisions)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _artifact_store(p_cut.work_item_id, _cap_text(_result_text(k.result), 33554000))
    from json_array_elements(p_cut.kept -> 'no_room') o
    join tool_calls k on k.id = (o ->> 'call')::uuid;
$$;

comment on function _kept_store(elisions) is 'Stores as artifacts what a cut names but has no room for, so that its handles can be read.';
