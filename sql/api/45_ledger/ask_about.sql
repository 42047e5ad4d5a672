-- Everything known about a file: who touched it, and what was found, decided and retracted about it.

create or replace function ask_about(p_path text, p_work_item_id uuid default null)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_path text := regexp_replace(btrim(p_path), '^(\./+)+', '');
  v_projects text[];
  v_ids uuid[];
  v_touched text;
  v_said record;
begin
  if coalesce(v_path, '') !~ '[^\s./]' or char_length(v_path) > 600 then
    perform _raise_invalid('p_path is the path of a file, of at most 600 characters');
  elsif p_work_item_id is not null and not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  v_projects := _awareness_projects((select w.project from work_items w where w.id = p_work_item_id),
                                    case when p_work_item_id is null then 'ledger' else 'project' end);
  select string_agg(t.line, E'\n' order by t.at desc, t.id) filter (where t.n <= 6)
           || case when count(*) > 6 then format(E'\n- … and %s more', count(*) - 6) else '' end, array_agg(t.id)
    into v_touched, v_ids
    from (select t.*, row_number() over (order by t.at desc, t.id) as n from _touched_by(v_path, v_projects) t) t;
  select * into v_said from _said_about(v_path, v_projects, v_ids);
  return concat_ws(E'\n\n',
    coalesce(format(E'%s was touched by:\n', _one_line(v_path, 200)) || v_touched, format('No one nearby touched %s.', _one_line(v_path, 200))),
    E'Recorded about it:\n' || v_said.entries, E'Taken back:\n' || v_said.retracted,
    case when v_said.entries is null and v_said.retracted is null then 'Nothing was recorded about it.' end);
end
$$;

comment on function ask_about(text, uuid) is
  'What is known about a file, as text: who touched it (the newest six, among the newest 500 work items of each project), findings, decisions and errors that mention it (the newest eight), and those that were retracted, with the reason (three). select ask_about(''src/money.js''). p_path: as calls name it. An absolute path also matches calls that name its end; a relative one matches those of sessions and work below their directory. p_work_item_id: who asks; only what is in its project, or in none, is shown. Null: the whole ledger. Raises WL001, WL002.';

create or replace function _touched_by(p_path text, p_projects text[])
  returns table (id uuid, at timestamptz, line text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with step as (
    select string_to_array(p_path, '/') as parts
  ),
  -- An absolute path and its suffixes, the shortest being one folder and the name.
  ends as (
    select array_agg(array_to_string(s.parts[n:], '/')) || p_path as paths
      from step s cross join lateral generate_series(2, cardinality(s.parts) - 1) n
     where p_path ~ '^/'
  )
  select w.id, t.at,
         format('- %s: %s, %s (%s): %s', _agent_name(w),
           concat_ws(' and ', case when t.changes > 0 then 'changed it' || case when t.changes > 1 then format(' %s times', t.changes) else '' end end,
                     case when t.reads > 0 then 'read it' end),
           _ago(t.at, _now()), _state_words(w), _one_line(w.description, 120))
    from unnest(p_projects) as p(name)
   cross join lateral (
     select i.id from work_items i where coalesce(i.project, '') = p.name
      order by coalesce(i.resolved_at, i.started_at, i.created_at) desc limit 500) newest
    join work_items w on w.id = newest.id
   cross join ends e
   cross join lateral (select e.paths || (coalesce(w.workspace_dir, _session_directory(w)) || '/' || p_path) as paths) v
   cross join lateral (
     select count(*) filter (where c.action in ('create', 'modify', 'delete')) as changes,
            count(*) filter (where c.action in ('read', 'search')) as reads, max(c.at) as at
       from (select x.action, k.completed_at as at
               from touches x
               join tool_calls k on k.id = x.tool_call_id and k.status = 'completed' and k.is_error is not true
              where x.work_item_id = w.id and x.kind = 'path' and x.target = any (v.paths)
             union all
             select case j.entry_type when 'file_read' then 'read' else 'modify' end, j.created_at
               from (select * from journal_entries n where n.work_item_id = w.id order by n.created_at desc, n.id desc limit 500) j
              where w.work_type = 'journal' and j.entry_type in ('file_read', 'file_written') and j.deleted_at is null
                and j.content ->> 'filePath' = any (v.paths)) c) t
   where t.at is not null;
$$;

comment on function _touched_by(text, text[]) is 'The work items of some projects that touched a file, each as a line for another agent.';

create or replace function _said_about(p_path text, p_projects text[], p_ids uuid[], out entries text, out retracted text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with named as (
    select regexp_replace(p_path, '^.*/', '') as name, substring(p_path from '[^/]*/?[^/]*$') as tail
  ),
  item as (
    select unnest(p_ids[:20]) as id
    union
    (select e.work_item_id
       from search_entries e
       join work_items w on w.id = e.work_item_id and coalesce(w.project, '') = any (p_projects)
      where e.source = 'ledger' and e.words @@ _search_query('"' || (select n.tail from named n) || '"')
      order by e.created_at desc
      limit 20)
  ),
  entry as (
    select l.*, r.content as why, r.created_at as taken_at,
           row_number() over (partition by r.id is not null order by coalesce(r.created_at, l.created_at) desc, l.work_item_id, l.seq desc) as n
      from item i
     cross join named n
     cross join lateral (select * from work_ledger l where l.work_item_id = i.id order by l.seq desc limit 200) l
      left join work_ledger r on r.work_item_id = l.work_item_id and r.retracts = l.seq
     where l.entry_type in ('finding', 'decision', 'error') and l.retracts is null and not l.is_inherited
       and strpos(l.content, n.name) > 0 and _names_file(l.content, p_path)
  )
  select string_agg(format('- %s: %s (%s)', initcap(e.entry_type::text), t.line, concat_ws(', ', t.source, t.age)),
                    E'\n' order by e.n) filter (where e.why is null),
         string_agg(format('- %s: %s (taken back %s: %s)', initcap(e.entry_type::text), _one_line(e.content, 160),
                           _ago(e.taken_at, _now()), _one_line(e.why, 160)),
                    E'\n' order by e.n) filter (where e.why is not null)
    from entry e
   cross join lateral _told_entry(e.work_item_id, e.content, e.created_at, e.trust, e.tool_call_id) t
   where e.n <= case when e.why is null then 8 else 3 end;
$$;

comment on function _said_about(text, text[], uuid[]) is
  'What the ledgers of some projects record about a file, and what of that was retracted, each as lines for another agent, newest first: of the items p_ids, and of the twenty that mentioned it last. Null: nothing.';

create or replace function _names_file(p_text text, p_path text)
  returns boolean
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- A bare name matches any file of that name; a name with folders matches if one of the two paths is a suffix of the other.
  select exists (
    select
      from regexp_matches(
        p_text, '(?:^|[^\w@./-])((?:[\w@.-]*/)*' || regexp_replace(regexp_replace(p_path, '^.*/', ''), '(\W)', '\\\1', 'g') || ')(?![\w-])', 'g') m
     cross join lateral (select '/' || regexp_replace(m[1], '^(\./|/)+', '') as named, '/' || ltrim(p_path, '/') as path) v
     where right(v.path, char_length(v.named)) = v.named or right(v.named, char_length(v.path)) = v.path);
$$;

comment on function _names_file(text, text) is 'Whether a text mentions a file: its whole path, the end of it, or a longer path that ends in it.';
