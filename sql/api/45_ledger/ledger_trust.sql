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

create or replace function _stale_file(p_work_item_id uuid, p_content text, p_created_at timestamptz, p_tool_call_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select x.target
    from (select distinct regexp_replace(m[1], '^\./', '') as path
            from regexp_matches(left(p_content, 4000), '((?:[\w@.-]*/)*[\w@-][\w@.-]*\.[A-Za-z]\w{0,9})(?![\w/])', 'g') m
           limit 20) p
    join work_items own on own.id = p_work_item_id
    join touches x on x.target = p.path and x.kind = 'path' and x.action in ('create', 'modify', 'delete')
    join tool_calls k on k.id = x.tool_call_id and k.status in ('completed', 'uncertain')
     and k.id is distinct from p_tool_call_id
     -- Calls of one response run concurrently: calls after the entry in the response came after it, whichever ended first.
     and (k.completed_at > p_created_at
          or exists (select from tool_calls e where e.id = p_tool_call_id and e.turn_id = k.turn_id and e.ordinal < k.ordinal))
    join work_items w on w.id = k.work_item_id and (w.root_id = own.root_id or w.workspace_dir = own.workspace_dir)
   order by k.completed_at desc
   limit 1;
$$;

comment on function _stale_file(uuid, text, timestamptz, uuid) is
  'A file that an entry names and that a call changed after it, of the same tree of work or in the same directory; null: none.';
