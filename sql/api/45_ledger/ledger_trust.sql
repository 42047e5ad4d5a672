-- The trust in an entry: what fed the block in which it was written, and whether the files that it names are unchanged.

create or replace function _ledger_trust(p_work_item_id uuid, p_turn_id uuid)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn record;
  v_since integer;
begin
  select t.focus_id, t.iteration into v_turn from turns t where t.id = p_turn_id;
  -- The block begins at the previous step, whose own exchange may belong to either block.
  v_since := coalesce((
    select t.iteration
      from (select l.turn_id from work_ledger l where l.work_item_id = p_work_item_id and l.entry_type = 'step' order by l.seq desc limit 1) s
      join turns t on t.id = s.turn_id and t.focus_id = v_turn.focus_id), 0);
  return coalesce((
    select f.class
      from (select s.id, s.source
              from turns t
             cross join lateral (
               select k.id, coalesce(a.source, 'web') as source
                 from tool_calls k
                 left join abilities a on a.tool_name = k.tool_name
                where k.turn_id = t.id and k.completed_at is not null
               union all
               select null, 'other_agent' from inbox i where i.turn_id = t.id and i.kind <> 'message') s
             where t.focus_id = v_turn.focus_id and t.iteration between v_since and v_turn.iteration and t.status <> 'failed') c
      cross join lateral (
        select c.source as class
        union all
        select case x.kind when 'url' then 'web' else 'file' end
          from touches x
         where x.tool_call_id = c.id and c.source <> 'none' and (x.kind = 'url' or x.kind = 'path' and x.action in ('read', 'search'))) f
     where f.class <> 'none'
     order by array_position(_trust_classes(), f.class) desc
     limit 1), 'user');
end
$$;

comment on function _ledger_trust(uuid, uuid) is
  'work_ledger.trust of an entry that is being written: the least trusted source among the calls of its block, by abilities.source and by the files and URLs that they read, and what other agents said in it (results of children, messages); user: none of them told anything.';

create or replace function _ledger_trust_now(p_work_item_id uuid)
  returns text
  language sql
  stable
  return case
    when current_setting('work_ledger.turn_id', true) <> '' then _ledger_trust(p_work_item_id, current_setting('work_ledger.turn_id', true)::uuid)
    when current_setting('work_ledger.is_agent', true) <> '' or not has_table_privilege(session_user, 'work_items'::regclass, 'select') then 'other_agent' end;

comment on function _ledger_trust_now(uuid) is 'work_ledger.trust of an entry that is being written: _ledger_trust() for a turn of ours; other_agent: an agent with a loop of its own calls, by an ability''s name or as a role that reads nothing; null: a person or a program does.';

create or replace function _trust_label(p_trust text)
  returns text
  language sql
  immutable
  parallel safe
  return case p_trust
    when 'user' then 'from its task' when 'own_test' then 'own test' when 'file' then 'from files' when 'other_agent' then 'from another agent'
    when 'web' then 'from outside' end;

comment on function _trust_label(text) is 'work_ledger.trust as a digest says it; null: nobody knows.';

create or replace function _names_of_file(p_directory text, p_path text)
  returns text[]
  language sql
  immutable
  parallel safe
  return array_remove(
    array[p_path, p_directory || '/' || p_path, case when starts_with(p_path, p_directory || '/') then substr(p_path, length(p_directory) + 2) end], null);

comment on function _names_of_file(text, text) is 'The paths by which others may name a file that work in this directory (null: in none) names so: from the directory, and whole.';

create or replace function _file_changes(p_path text)
  returns table (work_item_id uuid, tool_call_id uuid, turn_id uuid, ordinal integer, began_at timestamptz, ended_at timestamptz)
  language sql
  stable
  rows 10
begin atomic
  select k.work_item_id, k.id, k.turn_id, k.ordinal, k.created_at, k.completed_at
    from touches x
    join tool_calls k on k.id = x.tool_call_id and k.status in ('completed', 'uncertain')
   where x.kind = 'path' and x.action in ('create', 'modify', 'delete') and x.target = p_path
  union all
  select j.work_item_id, null::uuid, null::uuid, null::integer, j.created_at, j.created_at
    from journal_entries j
   where j.entry_type = 'file_written' and md5(j.content ->> 'filePath') = md5(p_path);
end;

comment on function _file_changes(text) is
  'The changes of a file by this name: calls, and what the hooks of a session say (without a call), which its record has as calls if it is read. Inlined.';

create or replace function _stale_file(p_work_item_id uuid, p_content text, p_created_at timestamptz, p_tool_call_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
  select p.path
    from (select distinct regexp_replace(m[1], '^\./', '') as path
            from regexp_matches(left(p_content, 4000), '((?:[\w@.-]*/)*[\w@-][\w@.-]*\.[A-Za-z]\w{0,9})(?![\w/])', 'g') m
           limit 20) p
    join work_items own on own.id = p_work_item_id
   cross join lateral (select coalesce(own.workspace_dir, _session_directory(own)) as path) d
   cross join lateral unnest(_names_of_file(d.path, p.path)) f(path)
   cross join lateral (
     select c.*
       from _file_changes(f.path) c
      where (c.tool_call_id = p_tool_call_id) is not true
        -- Calls of one response run concurrently: calls after the entry in the response came after it, whichever ended first.
        and (c.ended_at > p_created_at
             or exists (select from tool_calls e where e.id = p_tool_call_id and e.turn_id = c.turn_id and e.ordinal < c.ordinal))
     offset 0) c -- few or none; whose they are is looked up for each
    join lateral (select w.* from work_items w where w.id = c.work_item_id offset 0) w on true
   where w.root_id = own.root_id
      or case when starts_with(f.path, '/') then _project_now(w.project) is not distinct from _project_now(own.project)
              else coalesce(w.workspace_dir, _session_directory(w)) = d.path end
   order by c.ended_at desc
   limit 1;
$$;

comment on function _stale_file(uuid, text, timestamptz, uuid) is
  'A file that an entry names and that was changed after it: by work of the same tree, in the same directory or, by its whole path, of the same project; null: none.';
