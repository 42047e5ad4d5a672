-- An agent's team in its digest: the item that delegated its work, the other items delegated by that one, and the items it delegated.

create or replace function _team_of(p_work_item_id uuid)
  returns setof uuid
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select m.id
    from work_items own
   cross join lateral (
     select own.parent_id where own.parent_id is not null
     union all
     -- Items in progress first, then those that ended, then those that wait for a worker.
     (select s.id from work_items s
       where s.parent_id = own.parent_id and s.id <> own.id
       order by s.state in ('running', 'waiting', 'claimed', 'paused') desc, s.state = 'queued', coalesce(s.resolved_at, s.created_at) desc, s.id desc
       limit 20)
     union all
     (select c.id from work_items c
       where c.parent_id = own.id and c.resolved_at is null
       order by c.state = 'queued', c.created_at desc, c.id desc
       limit 20)) m(id)
   where own.id = p_work_item_id;
$$;

comment on function _team_of(uuid) is
  'The items next to one in its tree: the one above it, up to 20 others below that one (those being worked on first, those that wait for a worker last), and up to 20 of its own unfinished children; how the finished ones ended it is told anyway.';

create or replace function _awareness_team(p_work_item_id uuid, p_team uuid[], p_focus_id uuid, p_since timestamptz)
  returns table (section integer, "position" bigint, line text, source text, age text, more text, work_item_id uuid, seq integer, path text)
  language plpgsql
  volatile
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := _now();
begin
  return query
    with member as (
      select w, case when w.parent_id = p_work_item_id then 'your child'
                     when w.id = (select o.parent_id from work_items o where o.id = p_work_item_id) then 'your parent' end as role,
             case when w.resolved_at is null then -1 else 0 end as seq
        from unnest(p_team) as t(id)
        join work_items w on w.id = t.id
       where w.resolved_at is null or w.resolved_at > p_since
    ),
    said as (
      select l.*, row_number() over (partition by l.work_item_id, l.entry_type order by l.seq desc) as newer
        from member m
       cross join lateral (
         select * from work_ledger l where l.work_item_id = (m.w).id and l.created_at > p_since order by l.seq desc limit 100) l
       where l.entry_type in ('plan', 'decision', 'finding', 'error')
         and not exists (select from work_ledger r where r.work_item_id = l.work_item_id and r.retracts = l.seq)
    ),
    -- A plan or decision that a newer one has replaced is not news, even if it was never told.
    told as (
      select *, row_number() over (partition by s.work_item_id, s.entry_type order by s.seq desc) as n
        from said s
       where (s.newer = 1 or s.entry_type not in ('plan', 'decision'))
         and not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = s.work_item_id and a.seq = s.seq)
    )
    select 2, row_number() over (order by m.seq, m.role is null, (m.w).created_at, (m.w).id),
           format('- [%s] %s', _source_label(d.driver, (m.w).work_type), _one_line((m.w).description, 240)),
           concat_ws(', ', m.role, _state_words(m.w)), _ago((m.w).resolved_at, v_now),
           nullif(concat_ws(E'\n  ', 'Outcome: ' || _one_line((m.w).outcome_data ->> 'summary', 240), 'Changed: ' || _files_changed((m.w).id),
                     case when m.role is distinct from 'your parent' then 'Its children: ' || _children_by_state((m.w).id) end), ''),
           (m.w).id, m.seq, ''
      from member m
     cross join lateral _driver((m.w).id, (m.w).faculty) d
     where not exists (select from awareness_shown a where a.focus_id = p_focus_id and a.work_item_id = (m.w).id and a.seq = m.seq)
    union all
    select 2, 1000 + row_number() over (order by s.created_at desc, s.seq desc),
           format('- %s: %s', initcap(s.entry_type::text), t.line), t.source, t.age, null, s.work_item_id, s.seq, ''
      from told s
     cross join lateral _told_entry(
       s.work_item_id, case s.entry_type when 'plan' then _plan_line(s.work_item_id) else s.content end, s.created_at, s.trust, s.tool_call_id) t
     where s.n <= 3;
end
$$;

comment on function _awareness_team(uuid, uuid[], uuid, timestamptz) is
  'The digest''s section on an item''s team, whatever include_child_work says: each member that is not over or ended after p_since, with its state, outcome, the files that it changed and its children, and its newest plan and decision and its newest three findings and errors, unless the focus was told of them already. Columns as in _awareness_entries().';

create or replace function _state_words(p_item work_items)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_item.work_type = 'journal' then
    return _journal_state(p_item);
  elsif p_item.state not in ('waiting', 'paused', 'queued') then
    return p_item.state;
  end if;
  return (
    -- "waits for …" already says that it is waiting.
    select concat_ws(': ', nullif(p_item.state, 'waiting'), coalesce(_one_line(y.why, 120), p_item.state))
      from _why_waiting(p_item, (select t.id from turns t where t.work_item_id = p_item.id order by t.id desc limit 1)) y);
end
$$;

comment on function _state_words(work_items) is 'The state of a work item for other agents and, where a worker does not drive it, what it waits for; of a session of another program whether it is alive.';

create or replace function _files_changed(p_work_item_id uuid)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return (
    select string_agg(_one_line(f.target, 120), ', ' order by f.n) filter (where f.n <= 5) || case when count(*) > 5 then ', …' else '' end
      from (select l.target, row_number() over (order by max(c.at) desc, l.target) as n
              from (select x.target, k.created_at as at
                      from touches x
                      join tool_calls k on k.id = x.tool_call_id
                     where x.work_item_id = p_work_item_id and x.kind = 'path' and x.action in ('create', 'modify', 'delete')
                       and k.status = 'completed' and k.is_error is not true
                    union all
                    -- Files reported by a session's program.
                    select j.path, j.created_at
                      from (select n.entry_type, n.content ->> 'filePath' as path, n.created_at
                              from journal_entries n
                             where n.work_item_id = p_work_item_id
                             order by n.created_at desc, n.id desc
                             limit 500) j
                     where j.entry_type = 'file_written' and j.path ~ '\S') c
             cross join (select rtrim(_session_directory(w), '/') || '/' as path from work_items w where w.id = p_work_item_id) d
             -- For a session, relative to its directory if the file is there.
             cross join lateral (select case when starts_with(c.target, d.path) then substr(c.target, length(d.path) + 1) else c.target end) l(target)
             group by l.target) f
     where f.n <= 6);
end
$$;

comment on function _files_changed(uuid) is 'The files that a work item changed last, up to five, in one line; of a session of another program those of its newest 500 journal entries. Null: none.';

create or replace function _children_by_state(p_work_item_id uuid)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return (
    select string_agg(format('%s %s', c.n, c.state), ', ' order by c.n desc, c.state)
      from (select w.state, count(*) as n from work_items w where w.parent_id = p_work_item_id group by w.state) c);
end
$$;

comment on function _children_by_state(uuid) is 'How many children of an item are in which state: "2 running, 1 completed". Null: it has none.';
