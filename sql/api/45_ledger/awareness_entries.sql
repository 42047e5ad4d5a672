-- The entries of a digest: a few queries, each of which reads an index with a limit, so that the cost does not grow with the ledger. They are planned once
-- per connection: from digest to digest only the projects, a time, a limit and the reader differ.

create or replace function _awareness_entries(p_work_item_id uuid, p_settings jsonb, p_focus_id uuid default null)
  returns table (section integer, "position" bigint, line text, source text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  volatile
  rows 50
  set search_path = pg_catalog, @extschema@, pg_temp
  -- Applies to everything that it calls. With the settings of 97_planner, a plan for any limit reads an index in order; the cost estimates would not show
  -- that.
  set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_lookback timestamptz := _now() - make_interval(hours => least((p_settings ->> 'lookback_hours')::numeric, 876000)::integer);
  v_since timestamptz := v_lookback;
  v_news_since timestamptz := '-infinity';
  v_projects text[] := case
    when p_work_item_id is not null then _awareness_projects((select w.project from work_items w where w.id = p_work_item_id), p_settings ->> 'scope')
    else _awareness_projects(nullif(p_settings ->> 'project', ''), case when p_settings ? 'project' then 'project' else 'ledger' end) end;
  v_team uuid[];
  v_but uuid[];
begin
  if p_focus_id is not null then
    -- News is what came since the reader was last told anything, and whatever it was not told of the last 15 minutes; minus a minute for transactions that
    -- were open then. None is older than the focus. A session, which may ask only once in hours, is told everything since it began.
    select f.told_at - interval '1 minute'
      into v_news_since
      from (select greatest(created_at, least(coalesce((select max(a.shown_at) from awareness_shown a where a.focus_id = id), created_at),
                                              _now() - interval '15 minutes')) as told_at
              from foci where id = p_focus_id
            union all
            select created_at from work_items where id = p_focus_id) f;
    v_since := greatest(v_since, v_news_since);
  end if;
  return query select * from _subscribed(p_work_item_id, v_projects, p_focus_id, v_since);
  if _is_on_host(p_work_item_id) then
    return query
      select 1, row_number() over (order by o.path, o.id),
             format('- %s: [%s] %s', _one_line(o.path, 200), _source_label(d.driver, o.work_type), _one_line(o.description, 200)),
             null, null, null, o.id, -2, o.path
        from _overlaps(p_work_item_id, (select w.focus_id from work_items w where w.id = p_work_item_id), v_projects) o
       cross join lateral _driver(o.id, o.faculty) d
       where not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = o.id and a.seq = -2 and a.path = o.path)
       limit 20;
  end if;
  v_team := array(select _team_of(p_work_item_id));
  return query select * from _awareness_team(p_work_item_id, v_team, p_focus_id, v_since) where cardinality(v_team) > 0;
  -- The items that it continues count as itself.
  v_but := array_remove(p_work_item_id || v_team || array(select _past_of(p_work_item_id)), null);
  return query select * from _awareness_items(v_projects, v_but, p_settings, p_focus_id, v_since, v_news_since);
  return query select * from _awareness_told(p_work_item_id, v_projects, v_but, p_settings, p_focus_id, v_since);
  return query select * from _awareness_unread(p_work_item_id, p_focus_id, v_lookback);
end
$$;

comment on function _awareness_entries(uuid, jsonb, uuid) is
  'The entries of a digest: text, whose it is, age, and the work item, ledger entry or file that each is about. With p_focus_id: only what is news to that focus, or to that session of another program (its item). section: 0 what it asked for, 1 files, 2 team, 3 active, 4 queued, 5 completed, 6 decisions, 7 findings, 8 errors, 9 own messages that are unread. Entries that differ only in age are one to a reader.';

create or replace function _subscribed(p_work_item_id uuid, p_projects text[], p_focus_id uuid, p_since timestamptz)
  returns table (section integer, "position" bigint, line text, source text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  volatile
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select 0, row_number() over (order by e.at desc, e.event), '- ' || e.line, e.source, _ago(e.at, _now()), null, e.work_item_id, e.seq, s.id || ' ' || e.event
      from subscriptions s
     cross join lateral (
       select w.resolved_at as at, 'end' as event, w.id as work_item_id, -4 as seq, null as source,
              concat_ws(': ', format('Work %s (%s) is %s', w.id, _one_line(w.work_type, 60), w.state),
                        _one_line(coalesce(w.outcome_data ->> 'summary', w.state_reason), 240)) as line
         from work_items w
        where w.id = case s.kind when 'end' then s.target::uuid end and w.resolved_at is not null and s.told_at is null
       union all
       select c.at, c.event, c.work_item_id, -4, _source_label(d.driver, w.work_type), format('%s was changed', _one_line(s.target, 200))
         from _changes_of(p_work_item_id, s, p_projects) c
         join work_items w on w.id = c.work_item_id
        cross join lateral _driver(w.id, w.faculty) d
        where s.kind = 'path'
       union all
       select l.created_at, 'text', l.work_item_id, l.seq, t.source, format('"%s": %s', _one_line(s.target, 60), t.line)
         from work_ledger l
        cross join lateral _told_entry(l.work_item_id, l.content, l.created_at, l.trust, l.tool_call_id) t
        where s.kind = 'text' and coalesce(l.project, '') = any (p_projects) and l.entry_type in ('plan', 'decision', 'finding', 'error')
          and not l.is_inherited and l.created_at > greatest(p_since, s.created_at - interval '1 minute') and l.work_item_id <> p_work_item_id
          and strpos(lower(l.content), lower(s.target)) > 0
          and not exists (select from work_ledger r where r.work_item_id = l.work_item_id and r.retracts = l.seq)) e
     where s.work_item_id = p_work_item_id and (s.is_always or s.told_at is null)
       and not exists (
         select from awareness_shown a
          where a.focus_id = p_focus_id and a.work_item_id = e.work_item_id and a.seq = e.seq and (e.seq > 0 or a.path = s.id || ' ' || e.event))
     order by e.at desc
     limit 20;
end
$$;

comment on function _subscribed(uuid, text[], uuid, timestamptz) is
  'The digest''s section on what an item subscribed to and was not told yet, whether as subscribed or as news. p_since: earlier entries are not read. Columns as in _awareness_entries(); path: the subscription, and what happened.';

create or replace function _awareness_projects(p_project text, p_scope text)
  returns text[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_own text[] := _project_and_none(p_project);
begin
  return case when p_scope = 'ledger' then v_own || array(select p.name from _projects_told() p where p.name <> all (v_own)) else v_own end;
end
$$;

comment on function _awareness_projects(text, text) is
  'The projects whose work an item of one project is told of, as their work was submitted ('''': of none), its own first. p_scope: project: its own, and work in none; ledger: all.';

create or replace function _projects_told()
  returns table (name text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive found(name) as (
    (select coalesce(w.project, '') from work_items w order by 1 limit 1)
    union all
    select (select coalesce(w.project, '') from work_items w where coalesce(w.project, '') > f.name order by 1 limit 1) from found f where f.name is not null
  )
  select name from found where name is not null;
$$;

comment on function _projects_told() is 'The projects that work was submitted for, each once ('''': for none). It skips through an index from one to the next.';

create or replace function _awareness_unread(p_work_item_id uuid, p_focus_id uuid, p_since timestamptz)
  returns table (section integer, "position" bigint, line text, source text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select 9, row_number() over (order by u.at desc, u.id), format('- %s to %s', u.count, _agent_name(w)), _state_words(w), _ago(u.at, _now()), null,
           u.id, -5, u.newest
      from (select i.work_item_id as id, count(*) as count, max(i.created_at) as at, (array_agg(i.id::text order by i.id desc))[1] as newest
              from inbox i
             where i.source_work_item_id = p_work_item_id and i.kind = 'agent_message' and i.consumed_at is null and i.created_at > p_since
             group by i.work_item_id
             order by max(i.created_at) desc
             limit 5) u
      join work_items w on w.id = u.id
     -- A message that was just sent is no news to its sender.
     where (p_focus_id is null or u.at < _now() - interval '2 minutes' or w.resolved_at is not null)
       and not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = u.id and a.seq = -5 and a.path = u.newest);
end
$$;

comment on function _awareness_unread(uuid, uuid, timestamptz) is
  'The digest''s section on messages that an agent sent since p_since and that were not read: how many to whom, for up to five. Columns as in _awareness_entries(). With p_focus_id: only what has been unread for two minutes, or will never be read, and was not reported before.';

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
  -- What is read of a session while it runs has the faculty of imported runs, which no model works under.
  return case p_work_type when 'journal' then 'session' else concat_ws('/', _faculty_label(p_faculty), _one_line(p_work_type, 60)) end;
end
$$;

comment on function _source_label(text, text) is 'Where an entry comes from, for a digest: faculty/work type; of a program''s own session (work type journal): session.';

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
