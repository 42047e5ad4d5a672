-- The entries of a digest: a few queries, each with its own partial index and a limit, so that the cost does not grow with the
-- ledger.

create or replace function _awareness_entries(p_work_item_id uuid, p_settings jsonb, p_focus_id uuid default null)
  returns table (section integer, "position" bigint, line text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  volatile
  rows 50
  set search_path = pg_catalog, @extschema@, pg_temp
  -- Planned each time with the faculty's settings, so that a digest without child work uses the indexes that leave it out.
  set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := _now();
  v_since timestamptz := v_now - make_interval(hours => least((p_settings ->> 'lookback_hours')::numeric, 876000)::integer);
  v_news_since timestamptz := '-infinity';
  v_children boolean := (p_settings ->> 'include_child_work')::boolean;
  v_query tsquery := case when p_settings ->> 'rank_by' = 'relevance' then _relevance_query(p_work_item_id) end;
begin
  if p_focus_id is not null then
    -- News is what came since the last digest, minus a minute for transactions that were open then.
    v_news_since := coalesce(
      (select max(shown_at) from awareness_shown where focus_id = p_focus_id),
      (select created_at from foci where id = p_focus_id)) - interval '1 minute';
    v_since := greatest(v_since, v_news_since);
  end if;
  return query
    select 1, row_number() over (order by o.path, o.id),
           format('- %s: [%s] %s', _one_line(o.path, 200), _source_label(o.id, o.faculty, o.work_type), _one_line(o.description, 200)),
           null, null, o.id, -2, o.path
      from _overlaps(p_work_item_id, (select w.focus_id from work_items w where w.id = p_work_item_id)) o
     where not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = o.id and a.seq = -2 and a.path = o.path)
     limit 20;
  return query select * from _awareness_active(p_work_item_id, p_settings, p_focus_id, v_news_since);
  if (p_settings ->> 'include_queued')::boolean then
    return query
      select 3, row_number() over (order by w.created_at desc, w.id desc),
             format('- [%s] %s', _source_label(w.id, w.faculty, w.work_type), _one_line(w.description, 240)), null, null, w.id, -3, ''
        from (select *
                from work_items i
               where i.state = 'queued' and i.id is distinct from p_work_item_id and (v_children or i.parent_id is null)
                 and i.created_at > v_news_since
                 and not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = i.id and a.seq = -3)
               order by i.created_at desc, i.id desc
               limit (p_settings ->> 'max_running')::integer) w;
  end if;
  return query
    select 4, row_number() over (order by w.resolved_at desc, w.id desc),
           format('- [%s] %s', _source_label(w.id, w.faculty, w.work_type), _one_line(w.description, 240)), _ago(w.resolved_at, v_now),
           'Outcome: ' || _one_line(w.outcome_data ->> 'summary', 240), w.id, 0, ''
      from (select *
              from work_items i
             where i.state = 'completed' and i.resolved_at > v_since and i.id is distinct from p_work_item_id
               and (v_children or i.parent_id is null)
               and not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = i.id and a.seq = 0)
             order by i.resolved_at desc, i.id desc
             limit (p_settings ->> 'max_recent_completed')::integer) w;
  return query select * from _awareness_told('finding', p_work_item_id, p_settings, p_focus_id, v_since, v_query);
  return query select * from _awareness_told('error', p_work_item_id, p_settings, p_focus_id, v_since, v_query);
end
$$;

comment on function _awareness_entries(uuid, jsonb, uuid) is
  'The entries of a digest: text, age, and the work item, ledger entry or file that each is about. With p_focus_id: only what is news to that focus. section: 1 files, 2 active, 3 queued, 4 completed, 5 findings, 6 errors.';

create or replace function _awareness_active(p_work_item_id uuid, p_settings jsonb, p_focus_id uuid, p_since timestamptz)
  returns table (section integer, "position" bigint, line text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  volatile
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := _now();
  v_children boolean := (p_settings ->> 'include_child_work')::boolean;
begin
  return query
    select 2, row_number() over (order by w.created_at desc, w.id desc),
           format('- [%s] %s', _source_label(w.id, w.faculty, w.work_type), _one_line(w.description, 240)), null,
           'Plan: ' || _one_line(w.plan, 240), w.id, -1, ''
      from (select i.*,
                   (select l.content from work_ledger l where l.work_item_id = i.id and l.entry_type = 'plan' order by l.seq desc limit 1) as plan
              from ((select *
                       from work_items i
                      where i.state = 'running' and i.id is distinct from p_work_item_id and (v_children or i.parent_id is null)
                        and i.started_at > p_since
                        and not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = i.id and a.seq = -1)
                      order by i.created_at desc, i.id desc
                      limit (p_settings ->> 'max_running')::integer)
                    union all
                    (select * -- interactive sessions
                       from work_items i
                      where i.state = 'created' and i.work_type = 'journal' and i.id is distinct from p_work_item_id
                        and i.heartbeat_ends_at > v_now and i.created_at > v_now - interval '30 days'
                        and not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = i.id and a.seq = -1)
                      order by i.created_at desc, i.id desc
                      limit (p_settings ->> 'max_running')::integer)) i
             order by i.created_at desc, i.id desc
             limit (p_settings ->> 'max_running')::integer) w;
end
$$;

comment on function _awareness_active(uuid, jsonb, uuid, timestamptz) is
  'The digest''s section on running work: items that started after p_since, and interactive sessions, of which the focus was not told yet. Columns as in _awareness_entries().';

create or replace function _awareness_told(p_entry_type text, p_work_item_id uuid, p_settings jsonb, p_focus_id uuid, p_since timestamptz, p_query tsquery)
  returns table (section integer, "position" bigint, line text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  volatile
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := _now();
  v_children boolean := (p_settings ->> 'include_child_work')::boolean;
  v_max integer := (p_settings ->> case p_entry_type when 'finding' then 'max_recent_findings' else 'max_recent_errors' end)::integer;
begin
  return query
    select case p_entry_type when 'finding' then 5 else 6 end, row_number() over (order by e.rank desc, e.created_at desc, e.seq desc),
           '- ' || _one_line(e.content, 240),
           case i.state when 'running' then _faculty_label(i.id, i.faculty) || ', in progress'
                        else _source_label(i.id, i.faculty, i.work_type) || ', ' || _ago(e.created_at, v_now) end,
           null, e.work_item_id, e.seq, ''
      from (select f.*, case when p_query is null then 0 else ts_rank_cd(to_tsvector('english', f.content), p_query) end as rank
              from (select l.content, l.created_at, l.seq, l.work_item_id
                      from work_ledger l
                     where l.entry_type = p_entry_type and not l.is_inherited and l.created_at > p_since
                       and l.work_item_id is distinct from p_work_item_id and (v_children or not l.is_child_work)
                       and not exists (
                         select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = l.work_item_id and a.seq = l.seq)
                     order by l.created_at desc
                     limit case when p_query is null then v_max when v_max > 0 then 200 else 0 end) f
             order by rank desc, f.created_at desc
             limit v_max) e
      join work_items i on i.id = e.work_item_id;
end
$$;

comment on function _awareness_told(text, uuid, jsonb, uuid, timestamptz, tsquery) is
  'The digest''s section on findings or on errors (p_type) that others recorded after p_since and of which the focus was not told yet; the newest first or, with p_query, those that match it best. Columns as in _awareness_entries().';

create or replace function _overlaps(p_work_item_id uuid, p_focus_id uuid)
  returns table (id uuid, faculty text, work_type text, description text, path text)
  language sql
  stable
  rows 5
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
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
       where t.focus_id = f.id and t.iteration > f.iteration - 50 and x.kind = 'path'
       group by 1
       limit 100) mine
    cross join lateral (
      select w.* from work_items w where w.state = 'running' and w.id <> p_work_item_id order by w.created_at desc limit 50) o
    join foci g on g.id = o.focus_id
    join faculties d on d.content_hash = g.faculty_hash and d.config #>> '{engage,workspace}' = 'host'
     and coalesce(o.workspace_dir, d.config #>> '{engage,workspace_dir}') is not distinct from coalesce(i.workspace_dir, c.config #>> '{engage,workspace_dir}')
   where f.id = p_focus_id
     and exists (select from touches x
                  where x.work_item_id = o.id and x.kind = 'path' and x.target = mine.path and (mine.is_changed or x.action in ('create', 'modify', 'delete')));
$$;

comment on function _overlaps(uuid, uuid) is
  'Files touched by a focus in its last 50 iterations and also by another running item, in the same directory of the host, if one of the two changes them.';

create or replace function _relevance_query(p_work_item_id uuid)
  returns tsquery
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select string_agg(quote_literal(u.lexeme), ' | ')::tsquery
    from work_items w
    cross join lateral unnest(to_tsvector('english', left(w.description, 20000))) as u
   where w.id = p_work_item_id;
$$;

comment on function _relevance_query(uuid) is 'A query for any word of a work item''s description; null: it has none.';

create or replace function _faculty_label(p_work_item_id uuid, p_faculty text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when n.name ~ '[A-Z]' then n.name else initcap(translate(n.name, '-_', '  ')) end
    from (select coalesce(
            (select f.faculty from foci f where f.work_item_id = p_work_item_id order by f.attempt desc limit 1),
            p_faculty) as name) n;
$$;

comment on function _faculty_label(uuid, text) is 'The faculty that works or last worked on an item, else the one requested, as people write it: Computer Use for computer-use. Null: none.';

create or replace function _source_label(p_work_item_id uuid, p_faculty text, p_work_type text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select concat_ws('/', _faculty_label(p_work_item_id, p_faculty), _one_line(p_work_type, 60));
$$;

comment on function _source_label(uuid, text, text) is 'Where an entry comes from, for a digest: faculty/work type.';

create or replace function _ago(p_at timestamptz, p_now timestamptz)
  returns text
  language sql
  immutable
  parallel safe
  return (
    select case
             when v.seconds < 60 then 'just now'
             when v.seconds < 3600 then floor(v.seconds / 60) || 'm ago'
             when v.seconds < 86400 then floor(v.seconds / 3600) || 'h ago'
             else floor(v.seconds / 86400) || 'd ago'
           end
      from (select extract(epoch from p_now - p_at)) as v(seconds));

comment on function _ago(timestamptz, timestamptz) is 'How long ago, in the largest whole unit: 5m ago, 2h ago, 3d ago.';
