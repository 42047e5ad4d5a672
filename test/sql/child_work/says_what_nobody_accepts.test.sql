-- An agent that delegates work of a type that it made up is told that nobody accepts it, and which types are.
begin;
select plan(3);

select agent('{"tools": ["look", "spawn_child_work"], "ledger_nudge_interval": 0}');
select submit('Lead');
select play('[[["spawn_child_work", {"work_type": "research", "description": "Find it out"}], ["spawn_child_work", {"work_type": "analyze", "description": "Look"}]]]');
create function pg_temp.said(p_type text) returns text language sql as $$
  select k.result #>> '{}' from tool_calls k join work_items w on w.spawn_tool_call_id = k.id where w.work_type = p_type $$;
select alike(pg_temp.said('research'), 'Child work item % is queued. It waits, since no faculty accepts work type "research". Work types that are accepted: analyze.', 'a made-up type');
select matches(pg_temp.said('analyze'), '^Child work item [0-9a-f-]+ is queued\.$', 'one that is accepted');

update faculties set is_current = false;
select is(_unroutable_said(w), ' It waits, since no faculty accepts work type "research".', 'where nothing is accepted, there is no list') from work_items w where work_type = 'research';

select * from finish();
rollback;
