-- The standing of an agent: one block, made only here, for every place where something shorter replaces old turns: after the stubs of a cut, in a
-- compaction, at the beginning of a fork and of a further attempt, in the packet, and for people. Its parts have a fixed order; empty ones are left out.

create or replace function standing(p_work_item_id uuid, p_turn_id uuid default null)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  select * into v_item from work_items where id = p_work_item_id;
  if not found then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  if p_turn_id is not null and not exists (select from turns where id = p_turn_id and work_item_id = v_item.id) then
    perform _raise_not_found('turn of this work item', p_turn_id);
  end if;
  return _standing_of(v_item, p_turn_id, null, 8000);
end
$$;

comment on function standing(uuid, uuid) is
  'The current state of a work item, as its agent is told after a cut, in a fork and in a further attempt: its task; its plan, with the state of each item; its steps; which files it changed, and how often; what still fails (each command whose newest run failed, with its last words); what it waits for and its children; its notes; how to look back. Empty parts are left out. p_turn_id: the state when that turn ended; null: now. At most about 8,000 characters. Raises WL001.';

create or replace function _standing_of(p_item work_items, p_turn_id uuid, p_above text, p_max_chars integer)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return _standing_text(
    p_item, case p_item.work_type when 'journal' then _facts_logged(p_item.id) else _facts_at(coalesce(p_turn_id, _newest_turn(p_item.id))) end,
    p_above, p_max_chars, coalesce((select coalesce(t.completed_at, _now()) from turns t where t.id = p_turn_id), 'infinity'));
end
$$;

comment on function _standing_of(work_items, uuid, text, integer) is 'standing() of a work item when a turn had ended, null: now, in about p_max_chars characters; p_above as in _standing_text().';

create or replace function _standing_text(p_item work_items, p_facts jsonb, p_above text, p_max_chars integer, p_until timestamptz default 'infinity')
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_until_seq integer := case when p_until = 'infinity' then 2147483647 else coalesce(
    (select max(l.seq) from work_ledger l where l.work_item_id = p_item.id and l.created_at <= p_until), 0) end;
  v_share integer := p_max_chars / 5;
begin
  return concat_ws(E'\n',
    '=== WHERE YOU STAND ===', '',
    -- If the task itself is shown above, its beginning is enough.
    format('Work item %s: %s', p_item.id,
      _one_line(p_item.description, least(case when p_above in ('stubs', 'ledger', 'conversation') then 120 else 300 end, v_share))),
    'Plan' || rtrim(_standing_plan(p_item, v_until_seq, 2 * v_share), E'\n'),
    case p_above
      when 'stubs' then 'Done: the completed steps above, with what you were told in them.'
      when 'ledger' then (
        select 'Done: STEPS COMPLETED, above.'
          from work_ledger l
         where l.work_item_id = p_item.id and l.entry_type = 'step' and l.seq <= v_until_seq and l.seq > p_item.ledger_epoch
         limit 1)
      when 'conversation' then 'Done: the conversation above.'
      when 'packet' then 'Done: see below.'
      else E'Done:\n' || _newest_lines(array(
        select '- ' || _one_line(l.content, 240)
          from work_ledger l
         where l.work_item_id = p_item.id and l.entry_type = 'step' and l.seq <= v_until_seq and l.seq > p_item.ledger_epoch
           and not _is_retracted(p_item.id, l.seq, v_until_seq)
         order by l.seq desc limit 51), v_share, 50) end,
    'Changed' || _standing_files(p_facts, v_share),
    E'Still failing:\n' || _newest_lines(array(
      select format('- %s%s', f ->> 0, coalesce(', last: "' || (f ->> 1) || '"', ''))
        from jsonb_array_elements(p_facts -> 'failing') with ordinality as x(f, n) order by n desc), v_share, null),
    _standing_family(p_item, p_until, v_share),
    E'Notes:\n' || _newest_lines(array(
      select '- ' || _one_line(l.content, 400)
        from work_ledger l
       where l.work_item_id = p_item.id and l.entry_type = 'note' and l.seq <= v_until_seq and l.seq > p_item.ledger_epoch
         and not _is_retracted(p_item.id, l.seq, v_until_seq)
       order by l.seq desc limit 51), v_share, 50),
    'To look back: recall_block(n, query) for a completed step, artifact_read(handle) for a long result, ledger_read for your entries.');
end
$$;

comment on function _standing_text(work_items, jsonb, text, integer, timestamptz) is
  'The text of standing(), in about p_max_chars characters. p_facts: see _facts_after(). p_above: what stands before it and tells what is done (stubs, ledger, conversation, packet); null: the steps are listed.';

create or replace function _standing_plan(p_item work_items, p_until_seq integer, p_max_chars integer)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Items being done and open items get the available room first; all are listed in the plan's order.
  with item as (
    select i.n, i.state, format('%s. %s %s', i.n, _plan_box(i.state), _one_line(i.text, 300)) as line,
           count(*) filter (where i.state = 'done') over () as done, count(*) filter (where i.state <> 'dropped') over () as counted
      from _plan_of(p_item.id, p_until_seq) i
  ), fitting as (
    select i.*, sum(char_length(i.line) + 1)
             over (order by array_position(array['doing', 'open', 'done', 'dropped'], i.state),
                            case when i.state in ('doing', 'open') then i.n else -i.n end) <= least(p_max_chars, 1600) as is_shown
      from item i
  )
  select format(E' (%s of %s done):\n', min(f.done), min(f.counted))
         || coalesce(string_agg(f.line, E'\n' order by f.n) filter (where f.is_shown) || E'\n', '')
         || case when not bool_and(f.is_shown) then format(E'(%s more: ledger_read)\n', count(*) filter (where not f.is_shown)) else '' end
    from fitting f
  having count(*) > 0;
$$;

comment on function _standing_plan(work_items, integer, integer) is 'The plan of a work item as standing() has it, in at most 1,600 characters, about 400 tokens; what does not fit is counted. Null: there is none.';

create or replace function _standing_files(p_facts jsonb, p_max_chars integer)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with file as (
    select f ->> 0 as path, (f ->> 1)::integer as times, (f ->> 2)::boolean as is_deleted, x.n
      from jsonb_array_elements(p_facts -> 'changed') with ordinality as x(f, n)
  ), folder as (
    select _common_folder(array_agg(path)) as name from file
  ), line as (
    select _one_line(substr(f.path, char_length(d.name) + 1), 200) || case when f.times > 1 then ' ×' || f.times else '' end
             || case when f.is_deleted then ' (deleted)' else '' end as line, f.n
      from file f cross join folder d
  ), fitting as (
    select l.*, sum(char_length(l.line) + 2) over (order by l.n desc) as chars from line l
  )
  select coalesce(' in ' || nullif((select name from folder), ''), '') || ': ' || string_agg(f.line, ', ' order by f.n) filter (where f.chars <= p_max_chars)
         || case when bool_or(f.chars > p_max_chars) then format(' and %s before', count(*) filter (where f.chars > p_max_chars)) else '' end
    from fitting f
  having count(*) > 0;
$$;

comment on function _standing_files(jsonb, integer) is 'The changed files as standing() has them, the newest that fit, their common folder once. Null: none.';

create or replace function _common_folder(p_paths text[])
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Compares characters (collate "C"): in a language's order, a path between two others may begin differently.
  select coalesce(substring(left(e.first, (
           select coalesce(min(n) - 1, least(char_length(e.first), char_length(e.last)))::integer
             from generate_series(1, least(char_length(e.first), char_length(e.last), 500)) n
            where substr(e.first, n, 1) <> substr(e.last, n, 1))) from '^.*[/\\]'), '')
    from (select min(p collate "C"), max(p collate "C") from unnest(p_paths) p) e(first, last);
$$;

comment on function _common_folder(text[]) is 'The folder, with its slash, in which all of some paths are; empty: none.';

create or replace function _standing_family(p_item work_items, p_until timestamptz, p_max_chars integer)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select nullif(concat_ws(E'\n',
    'Waits: ' || case when p_until = 'infinity' and p_item.state = 'waiting' then coalesce(_one_line(p_item.state_reason, 200), 'for what it asked for') end,
    E'Children:\n' || _newest_lines(array(
      select format('- child %s (%s) is %s: %s', c.id, _one_line(c.work_type, 60), c.state, _one_line(c.description, 100))
        from work_items c
       where c.parent_id = p_item.id and c.created_at <= p_until
       order by c.resolved_at is null desc, c.created_at desc limit 51), p_max_chars, 50),
    case when p_item.continues_id is null then 'Children started before this point belong to the other branch: '
         else 'Children started before this point belong to the previous work item: ' end
      || (select string_agg(c.id::text, ', ' order by c.created_at)
            from (select c.id, c.created_at
                    from _forked_at(p_item.fork_turn_id) o
                    join work_items c on c.parent_id = o.work_item_id
                     and (c.created_at <= o.completed_at or exists (select from tool_calls k where k.id = c.spawn_tool_call_id and k.turn_id = o.id))
                   order by c.created_at desc limit 20) c)), '');
$$;

comment on function _standing_family(work_items, timestamptz, integer) is
  'What a work item waits for, its children with their states, and for a fork, those of the conversation that it was forked from, which are not its own. Null: nothing.';

create or replace function _newest_lines(p_lines text[], p_max_chars integer, p_most integer)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when bool_and(l.is_shown) then ''
              else format(E'(%s%s before)\n', case when count(*) > p_most then 'at least ' else '' end, count(*) filter (where not l.is_shown)) end
         || string_agg(l.line, E'\n' order by l.n desc) filter (where l.is_shown)
    from (select u.line, u.n, u.n = 1 or u.n <= coalesce(p_most, u.n) and sum(char_length(u.line) + 1) over (order by u.n) <= p_max_chars as is_shown
            from unnest(p_lines) with ordinality as u(line, n)) l
  having count(*) > 0;
$$;

comment on function _newest_lines(text[], integer, integer) is 'Lines that come newest first, in their order and as many as fit, at least the newest, with the number of earlier ones. p_most: no more are shown, and if there are more, their number is not known (null: all are given). Null: there are none.';

create or replace function _with_standing(
    p_cut elisions, p_item work_items, p_current elisions, p_leaving turns[], p_staying turns[], p_above text, p_max_chars integer)
  returns elisions
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_facts jsonb := _facts_after(_facts_before(p_current, p_leaving || p_staying), array(select t.id from unnest(p_leaving) t));
  v_text text := _standing_text(p_item, _facts_after(v_facts, array(select t.id from unnest(p_staying) t)), p_above, p_max_chars);
begin
  p_cut.standing := (jsonb_build_object('text', v_text) || coalesce(v_facts, '{}'))::json;
  return p_cut;
end
$$;

comment on function _with_standing(elisions, work_items, elisions, turns[], turns[], text, integer) is
  'A cut with where the agent stands then (its text), and the facts as they were when its last turn ended. p_current: the cut in force before.';

create or replace function _standing_room(p_engage jsonb)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select least(8000, greatest(800, _context_window_of(p_engage) / 5));
$$;

comment on function _standing_room(jsonb) is 'How many characters a cut gives to where the agent stands: 8,000, and in a small window about a twentieth of it.';
