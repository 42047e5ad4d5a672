-- The entries of a digest that do not come from ledgers: a project's work items by state and age, and the files that an item and others work on at the same
-- time.

create or replace function _awareness_items(
    p_projects text[], p_but uuid[], p_settings jsonb, p_focus_id uuid, p_since timestamptz, p_news_since timestamptz)
  returns table (section integer, "position" bigint, line text, source text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  volatile
  rows 30
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := _now();
  v_own integer := coalesce(array_position(p_projects, ''), 1);
  v_is_root boolean[] := case when (p_settings ->> 'include_child_work')::boolean then '{true,false}' else '{true}' end;
  v_running integer := p_settings ->> 'max_running';
  v_completed integer := p_settings ->> 'max_recent_completed';
begin
  return query
    select w.section, w.n, format('- [%s] %s', _source_label(d.driver, w.work_type), _one_line(w.description, 240)),
           case when w.state in ('waiting', 'paused') then (select _state_words(o) from work_items o where o.id = w.id) end,
           case w.section when 5 then _ago(w.at, v_now) end,
           case w.section
             when 3 then 'Plan: ' || _one_line(_plan_line(w.id), 240)
             when 5 then 'Outcome: ' || _one_line(w.outcome, 240) end,
           w.id, case w.section when 3 then -1 when 4 then -3 else 0 end, ''
      from (select k.section, k.most, i.*,
                   row_number() over (partition by k.section order by p.n > v_own, i.state = 'paused', i.at desc, i.id desc) as n
              from (values (3, 'running', p_news_since, v_running), (3, 'waiting', p_news_since, v_running), (3, 'paused', p_since, v_running),
                           (3, 'created', v_now - interval '30 days', v_running), (4, 'queued', p_news_since, v_running),
                           (5, 'completed', p_since, v_completed)) k(section, state, since, most)
             cross join unnest(p_projects) with ordinality p(project, n)
             cross join unnest(v_is_root) r(is_root)
             cross join lateral _items_of(p.project, r.is_root, k.state, p_but, p_focus_id, k.since, k.most) i
             where k.section <> 4 or (p_settings ->> 'include_queued')::boolean) w
     cross join lateral _driver(w.id, w.faculty) d
     where w.n <= w.most;
end
$$;

comment on function _awareness_items(text[], uuid[], jsonb, uuid, timestamptz, timestamptz) is
  'The digest''s sections on work of projects (see _awareness_projects()) that is not over (running, waiting, paused and not old), on queued and completed work, and on interactive sessions, but some, of which the focus was not told yet. Columns as in _awareness_entries().';

create or replace function _is_untold(p_work_type text, p_params jsonb)
  returns boolean
  language sql
  immutable
  parallel safe
  return p_work_type = 'import' and p_params ?| '{isUntimed,isSubagent}';

comment on function _is_untold(text, jsonb) is
  'Whether nobody is told that this work was completed. An imported session whose record has no times: those of its rows are of the import. A subagent of a recorded session: it is part of that session, which knows of it, and its record does not say when it is over.';

create or replace function _items_of(
    p_project text, p_is_root boolean, p_state text, p_but uuid[], p_focus_id uuid, p_since timestamptz, p_max integer)
  returns table (id uuid, state text, faculty text, work_type text, description text, outcome text, at timestamptz)
  language sql
  stable
  rows 10
begin atomic
  select i.id, i.state, i.faculty, i.work_type, i.description, i.outcome_data ->> 'summary',
         case when i.state = 'completed' then i.resolved_at when i.state in ('running', 'waiting') then i.started_at else i.created_at end
    from work_items i
   where coalesce(i.project, '') = p_project and (i.parent_id is null) = p_is_root and i.state = p_state
     and i.state in ('created', 'queued', 'running', 'waiting', 'paused', 'completed') and i.id <> all (p_but)
     and case when i.state = 'completed' then i.resolved_at when i.state in ('running', 'waiting') then i.started_at else i.created_at end > p_since
     and (i.state <> 'completed' or not _is_untold(i.work_type, i.params)
          -- With a limit; otherwise the planner would read all items.
          and (select true from work_items c where c.continues_id = i.id limit 1) is null)
     and (i.state <> 'created'
          or i.work_type = 'journal' and i.heartbeat_ends_at > _now()
             and (not i.params ? 'isUnnamed' or exists (select from work_ledger l where l.work_item_id = i.id)))
     and (i.state <> 'paused' or i.work_type <> 'journal')
     and i.description <> '[erased]'
     and not exists (
       select from awareness_shown a
        where a.focus_id = p_focus_id and a.work_item_id = i.id and a.seq = case i.state when 'completed' then 0 when 'queued' then -3 else -1 end)
   order by case when i.state = 'completed' then i.resolved_at when i.state in ('running', 'waiting') then i.started_at else i.created_at end desc, i.id desc
   limit p_max;
end;

comment on function _items_of(text, boolean, text, uuid[], uuid, timestamptz, integer) is
  'The newest work items of a project in a state, except some, of which a focus was not told yet. Created ones: only live interactive sessions that were asked or recorded something. Paused ones: none of those. Completed ones: those whose time is known and that no later one continues (a conversation counts once), no subagents of recorded sessions, and none whose words are erased. p_is_root: roots, else children. It is inlined, and reads one stretch of an index.';

create or replace function _overlaps(p_work_item_id uuid, p_focus_id uuid, p_projects text[])
  returns table (id uuid, faculty text, work_type text, description text, path text)
  language sql
  stable
  rows 5
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select distinct o.id, o.faculty, o.work_type, o.description, mine.path
    from foci f
    join work_items i on i.id = f.work_item_id
    join faculties c on c.content_hash = f.faculty_hash and c.config #>> '{engage,workspace}' = 'host'
    cross join lateral (
      select x.target as path, bool_or(x.action in ('create', 'modify', 'delete')) as is_changed
        from turns t
        join tool_calls k on k.turn_id = t.id
        join touches x on x.tool_call_id = k.id
       where t.focus_id = f.id and t.iteration > f.iteration - 50 and t.status <> 'failed' and x.kind = 'path'
       group by 1
       limit 100) mine
    cross join lateral (
      select n.id
        from unnest(p_projects) p(project)
       cross join (values (true), (false)) r(is_root)
       cross join lateral _items_of(p.project, r.is_root, 'running', array[p_work_item_id], null, '-infinity', 50) n
       limit 50) r
    join work_items o on o.id = r.id
    join foci g on g.id = o.focus_id
    join faculties d on d.content_hash = g.faculty_hash and d.config #>> '{engage,workspace}' = 'host'
     and _works_in(o, d.config) is not distinct from _works_in(i, c.config)
   where f.id = p_focus_id
     and exists (select from touches x
                  where x.work_item_id = o.id and x.kind = 'path' and x.target = mine.path and (mine.is_changed or x.action in ('create', 'modify', 'delete')));
$$;

comment on function _overlaps(uuid, uuid, text[]) is
  'Files touched by a focus in its last 50 iterations and also by another running item of these projects, in the same directory of the host, if one of the two changes them.';

create or replace function _is_on_host(p_work_item_id uuid)
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return exists (
    select from work_items w
      join foci f on f.id = w.focus_id
      join faculties c on c.content_hash = f.faculty_hash and c.config #>> '{engage,workspace}' = 'host'
     where w.id = p_work_item_id);
end
$$;

comment on function _is_on_host(uuid) is 'Whether the item''s running attempt works in a directory of the host.';
