-- Content of elided blocks that an agent still needs is kept verbatim after their stubs: what its newest step named (keep) or, if it named nothing, the step
-- before; failing that, files that it read recently and has not changed since. Which calls are kept is fixed with the cut; their text comes from their
-- rows, which never change, so that nothing is stored twice.

create or replace function _kept(p_head turns, p_last_turn_id uuid, p_names text[], p_engage jsonb)
  returns json
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_last_depth integer := (select depth from turns where id = p_last_turn_id);
  -- At most a tenth of the window, so that kept content does not fill a small one.
  v_room integer := least((p_engage ->> case when p_names is null then 'keep_auto' else 'keep_budget' end)::integer, _context_window_of(p_engage) / 10);
  v_share integer := v_room / greatest(cardinality(p_names), 1);
  v_step_depth integer := _step_depth(p_head, p_names);
  v_found record;
  v_one jsonb;
  v_tokens integer;
  v_kept jsonb := '[]';
  v_no_room jsonb := '[]';
begin
  if v_room <= 0 then
    return null;
  end if;
  for v_found in
    select f.target, f.calls, f.artifact, f.n, f.has_part, f.first_line, f.last_line, f.part
      from _kept_parts(p_head, v_last_depth, p_names, v_step_depth) f where p_names is not null
    union all
    select f.target, array[f.call_id], null, f.n, false, null, null, null from _kept_read(p_head, v_last_depth) f where p_names is null
    order by n
  loop
    v_one := jsonb_build_object('target', v_found.target, 'calls', v_found.calls, 'artifact', v_found.artifact)
          || case when v_found.has_part then jsonb_build_object('lines', to_jsonb(array[v_found.first_line, v_found.last_line])) else '{}' end;
    v_tokens := _tokens(char_length(coalesce(v_found.part, _kept_text(v_one::json))), p_engage ->> 'model');
    if v_tokens <= v_room and (v_found.first_line is not null or not v_found.has_part or v_tokens <= v_share) then
      v_room := v_room - v_tokens;
      v_kept := v_kept || v_one;
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
  'What a cut after p_last_turn_id keeps for the request after p_head: {is_named, kept: [{target, calls, artifact, lines}], no_room: [{target, call, handle}]}; null: nothing. lines: of a name that means a part of a file, the first and the last one; null elements: it was not found, and the file is kept whole in its share of the room. p_names: what the newest step named, most needed first, kept in at most keep_budget tokens (and a tenth of the window). p_names null: it named nothing; recently read files are kept in at most keep_auto tokens.';

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
  -- Walks back through the conversation until it has found the content of each name: where it was last read or written as a whole, and what changed it
  -- since. At most a thousand turns, for names that never occurred.
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

create or replace function _kept_parts(p_head turns, p_last_depth integer, p_names text[], p_depth integer)
  returns table (n bigint, target text, calls uuid[], artifact text, has_part boolean, first_line integer, last_line integer, part text)
  language sql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with named as materialized (
    select f.*, _keep_path(f.target) as path, substr(f.target, char_length(_keep_path(f.target)) + 1) as rest
      from _kept_named(p_head, p_last_depth, p_names) f
  ), asked as materialized (
    select d.*, regexp_match(d.rest, '^:(\d+)(?:-(\d+))?$')::integer[] as given,
           d.rest <> '' and exists (
             select from touches x
              where x.tool_call_id = any (d.calls) and _is_same_file(d.path, x.target) and not _is_same_file(d.target, x.target)) as has_part
      from named d
  )
  -- Walks a file's calls once for all of its parts.
  select u.n, u.target, g.calls, null, true, p.first_line, p.last_line, p.part
    from (select a.path, a.calls, array_agg(a.n order by a.n) as names, array_agg(a.target order by a.n) as targets, array_agg(a.rest order by a.n) as rests,
                 array_agg(least(a.given[1], a.given[2]) order by a.n) as firsts, array_agg(greatest(a.given[1], a.given[2]) order by a.n) as lasts
            from asked a where a.has_part group by a.path, a.calls) g
   cross join lateral _file_seen(g.calls, g.path, p_depth, g.firsts, g.lasts) f
   cross join lateral unnest(g.names, g.targets, g.rests, f.first_lines, f.last_lines) as u(n, target, rest, first_line, last_line)
   cross join lateral _keep_part(f.lines, u.rest, u.first_line, u.last_line) p
  union all
  select a.n, a.target, a.calls, a.artifact, false, null, null, null from asked a where not a.has_part;
$$;

comment on function _kept_parts(turns, integer, text[], integer) is
  'What _kept_named() finds, and of a name that means a part of a file (has_part) where that stands now, and as it is shown; first_line null: it was not found. p_depth: of the turn that named it.';

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
     -- A few lines of a file are useless without the rest.
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
  select _command_of(p_call.input) ~ '\m(sed -n|head|tail)\M' is true
         or exists (select from json_each(case json_typeof(p_call.input) when 'object' then p_call.input else '{}' end) i
                  where i.key ~* '(offset|limit|line|range|start|end|page)' and i.value::text not in ('null', '0', '""'));
$$;

comment on function _is_partial(tool_calls) is 'Whether a call reads only a part of its target, as far as its input shows.';

create or replace function _step_depth(p_head turns, p_names text[])
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select t.depth
    from work_ledger l
    join turns t on t.id = l.turn_id
   where l.work_item_id = p_head.work_item_id and l.entry_type = 'step' and l.keep = p_names and t.depth <= p_head.depth
   order by l.seq desc
   limit 1;
$$;

comment on function _step_depth(turns, text[]) is 'The depth of the turn in which the newest step up to p_head named these; null: none did.';

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
