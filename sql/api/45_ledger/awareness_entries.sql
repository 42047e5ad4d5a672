-- The entries of a digest: a few queries, each with its own partial index and a limit, so that the cost does not grow with the
-- ledger. They are planned once a connection: from digest to digest only a time, a limit and who asks differ, and items and
-- entries with and without child work, which have indexes of their own, are branches of their own.

create or replace function _awareness_entries(p_work_item_id uuid, p_settings jsonb, p_focus_id uuid default null)
  returns table (section integer, "position" bigint, line text, source text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  volatile
  rows 50
  set search_path = pg_catalog, @extschema@, pg_temp
  -- For all that it calls. With the settings of 97_planner a plan for any limit reads an index in its order; costs cannot tell.
  set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_since timestamptz := _now() - make_interval(hours => least((p_settings ->> 'lookback_hours')::numeric, 876000)::integer);
  v_news_since timestamptz := '-infinity';
  v_team uuid[];
  v_but uuid[];
begin
  if p_focus_id is not null then
    -- News is what came since it was told anything, and what it was not told of the last 15 minutes; minus a minute for transactions that
    -- were open then. None is older than the focus.
    select greatest(f.created_at, least(coalesce((select max(a.shown_at) from awareness_shown a where a.focus_id = f.id), f.created_at),
                                        _now() - interval '15 minutes'))
             - interval '1 minute'
      into v_news_since
      from foci f
     where f.id = p_focus_id;
    v_since := greatest(v_since, v_news_since);
  end if;
  if _is_on_host(p_work_item_id) then
    return query
      select 1, row_number() over (order by o.path, o.id),
             format('- %s: [%s] %s', _one_line(o.path, 200), _source_label(d.driver, o.work_type), _one_line(o.description, 200)),
             null, null, null, o.id, -2, o.path
        from _overlaps(p_work_item_id, (select w.focus_id from work_items w where w.id = p_work_item_id)) o
       cross join lateral _driver(o.id, o.faculty) d
       where not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = o.id and a.seq = -2 and a.path = o.path)
       limit 20;
  end if;
  v_team := array(select _team_of(p_work_item_id));
  return query select * from _awareness_team(p_work_item_id, v_team, p_focus_id, v_since) where cardinality(v_team) > 0;
  v_but := array_remove(p_work_item_id || v_team, null);
  return query select * from _awareness_items(v_but, p_settings, p_focus_id, v_since, v_news_since);
  return query select * from _awareness_told(p_work_item_id, v_but, p_settings, p_focus_id, v_since);
end
$$;

comment on function _awareness_entries(uuid, jsonb, uuid) is
  'The entries of a digest: text, whose it is, age, and the work item, ledger entry or file that each is about. With p_focus_id: only what is news to that focus. section: 1 files, 2 team, 3 active, 4 queued, 5 completed, 6 decisions, 7 findings, 8 errors. Entries that differ only in age are one to a reader.';

create or replace function _awareness_items(p_but uuid[], p_settings jsonb, p_focus_id uuid, p_since timestamptz, p_news_since timestamptz)
  returns table (section integer, "position" bigint, line text, source text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  volatile
  rows 30
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := _now();
  v_children boolean := p_settings ->> 'include_child_work';
  v_queued boolean := p_settings ->> 'include_queued';
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
      from (select i.*, row_number() over (partition by i.section order by i.state = 'paused', i.at desc, i.id desc) as n
              from (select 3 as section, r.* from _items_of('running', true, p_but, p_focus_id, p_news_since, v_running) r where not v_children
                    union all
                    select 3, r.* from _items_of('running', false, p_but, p_focus_id, p_news_since, v_running) r where v_children
                    union all
                    select 3, r.* from _items_of('waiting', true, p_but, p_focus_id, p_news_since, v_running) r where not v_children
                    union all
                    select 3, r.* from _items_of('waiting', false, p_but, p_focus_id, p_news_since, v_running) r where v_children
                    union all
                    select 3, r.* from _items_of('paused', not v_children, p_but, p_focus_id, p_since, v_running) r
                    union all
                    select 3, r.* from _items_of('created', false, p_but, p_focus_id, v_now - interval '30 days', v_running) r
                    union all
                    select 4, r.* from _items_of('queued', true, p_but, p_focus_id, p_news_since, v_running) r where v_queued and not v_children
                    union all
                    select 4, r.* from _items_of('queued', false, p_but, p_focus_id, p_news_since, v_running) r where v_queued and v_children
                    union all
                    select 5, r.* from _items_of('completed', true, p_but, p_focus_id, p_since, v_completed) r where not v_children
                    union all
                    select 5, r.* from _items_of('completed', false, p_but, p_focus_id, p_since, v_completed) r where v_children) i) w
     cross join lateral _driver(w.id, w.faculty) d
     where w.section <> 3 or w.n <= v_running;
end
$$;

comment on function _awareness_items(uuid[], jsonb, uuid, timestamptz, timestamptz) is
  'The digest''s sections on work that is not over (running, waiting, paused and not old), on queued and completed work, and on interactive sessions, but some, of which the focus was not told yet. Columns as in _awareness_entries().';

create or replace function _is_untimed(p_work_type text, p_params jsonb)
  returns boolean
  language sql
  immutable
  parallel safe
  return p_work_type = 'import' and p_params ? 'isUntimed';

comment on function _is_untimed(text, jsonb) is 'Whether nobody knows when the work was done: it is an imported session whose record has no times; those of its rows are when it was imported.';

create or replace function _items_of(p_state text, p_is_root boolean, p_but uuid[], p_focus_id uuid, p_since timestamptz, p_max integer)
  returns table (id uuid, state text, faculty text, work_type text, description text, outcome text, at timestamptz)
  language sql
  stable
  rows 10
begin atomic
  select i.id, i.state, i.faculty, i.work_type, i.description, i.outcome_data ->> 'summary',
         case when p_state = 'completed' then i.resolved_at when p_state in ('running', 'waiting') then i.started_at else i.created_at end
    from work_items i
   where i.state = p_state and not (p_is_root and i.parent_id is not null) and i.id <> all (p_but)
     and case when p_state = 'completed' then i.resolved_at when p_state in ('running', 'waiting') then i.started_at else i.created_at end > p_since
     and (p_state <> 'completed' or not _is_untimed(i.work_type, i.params))
     and (p_state <> 'created'
          or i.work_type = 'journal' and i.heartbeat_ends_at > _now()
             and (not i.params ? 'isUnnamed' or exists (select from work_ledger l where l.work_item_id = i.id)))
     and (p_state <> 'paused' or i.work_type <> 'journal')
     and not exists (
       select from awareness_shown a
        where a.focus_id = p_focus_id and a.work_item_id = i.id and a.seq = case p_state when 'completed' then 0 when 'queued' then -3 else -1 end)
   order by case when p_state = 'completed' then i.resolved_at when p_state in ('running', 'waiting') then i.started_at else i.created_at end desc, i.id desc
   limit p_max;
end;

comment on function _items_of(text, boolean, uuid[], uuid, timestamptz, integer) is
  'The newest work items in a state, but some, of which a focus was not told yet; of created ones those of interactive sessions that are alive and were asked or recorded something, of paused ones none of those, of completed ones those of which it is known when. Written to be inlined with a literal p_state and p_is_root (true: no child items), so that each use has its own index.';

create or replace function _overlaps(p_work_item_id uuid, p_focus_id uuid)
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
      select w.* from work_items w where w.state = 'running' and w.id <> p_work_item_id order by w.started_at desc limit 50) o
    join foci g on g.id = o.focus_id
    join faculties d on d.content_hash = g.faculty_hash and d.config #>> '{engage,workspace}' = 'host'
     and coalesce(o.workspace_dir, d.config #>> '{engage,workspace_dir}') is not distinct from coalesce(i.workspace_dir, c.config #>> '{engage,workspace_dir}')
   where f.id = p_focus_id
     and exists (select from touches x
                  where x.work_item_id = o.id and x.kind = 'path' and x.target = mine.path and (mine.is_changed or x.action in ('create', 'modify', 'delete')));
$$;

comment on function _overlaps(uuid, uuid) is
  'Files touched by a focus in its last 50 iterations and also by another running item, in the same directory of the host, if one of the two changes them.';

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

comment on function _is_on_host(uuid) is 'Whether the item''s attempt under way works in a directory of the host.';

create or replace function _driver(p_work_item_id uuid, p_faculty text)
  returns table (driver text)
  language sql
  stable
  rows 1
begin atomic
  select coalesce((select f.faculty from foci f where f.work_item_id = p_work_item_id order by f.attempt desc limit 1), p_faculty);
end;

comment on function _driver(uuid, text) is 'One row: the faculty that works or last worked on an item, else p_faculty, the one requested; null: none. Inlined, as _items_of() is.';

create or replace function _faculty_label(p_faculty text)
  returns text
  language sql
  immutable
  parallel safe
  return case when p_faculty ~ '[A-Z]' then p_faculty else initcap(translate(p_faculty, '-_', '  ')) end;

comment on function _faculty_label(text) is 'A faculty''s name as people write it: Computer Use for computer-use. Null for null.';

create or replace function _source_label(p_faculty text, p_work_type text)
  returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return concat_ws('/', _faculty_label(p_faculty), _one_line(p_work_type, 60));
end
$$;

comment on function _source_label(text, text) is 'Where an entry comes from, for a digest: faculty/work type.';

create or replace function _ago(p_at timestamptz, p_now timestamptz)
  returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_seconds bigint := floor(extract(epoch from p_now - p_at));
begin
  return case
    when v_seconds < 60 then 'just now'
    when v_seconds < 3600 then v_seconds / 60 || 'm ago'
    when v_seconds < 86400 then v_seconds / 3600 || 'h ago'
    else v_seconds / 86400 || 'd ago' end;
end
$$;

comment on function _ago(timestamptz, timestamptz) is 'How long ago, in the largest whole unit: 5m ago, 2h ago, 3d ago.';
