-- An agent that may have no children is offered no tools for them, and its prompt has no paragraph on them.
begin;
select plan(6);

create function pg_temp.tools() returns text[] language sql as $$ select array_agg(t ->> 'name') from request, json_array_elements(body -> 'tools') t where n = (select max(n) from request) $$;
create function pg_temp.prompt() returns text language sql as $$ select body ->> 'system' from request order by n desc limit 1 $$;
select tool('execute_code');
select agent('{"max_children": 0, "code_execution": true}');
select submit();
select drive();
select is(pg_temp.tools(), array['ledger_append', 'ledger_read', 'recall_block', 'artifact_read', 'work_complete', 'wait_for', 'notify_me', 'execute_code'], 'no tool for children is offered');
select unalike(pg_temp.prompt(), '%hild work%', 'no word of the prompt is about them');
select alike(pg_temp.prompt(), '%**Code execution**%', 'the rest of it stays');
select answer('[["spawn_child_work", {"work_type": "analyze", "description": "A part"}]]');
select alike((select result::text from tool_calls), '%spawn_child_work%', 'a call of one is answered');
select is((select count(*) from work_items), 1::bigint, 'and submits nothing');

select agent('{"max_children": 1}');
select submit();
select drive();
select ok(pg_temp.tools() @> '{spawn_child_work,await_child_work,check_child_work}' and pg_temp.prompt() like '%spawn_child_work%', 'one that may have a child is');

select * from finish();
rollback;
