-- work_waterfall() has a row for whatever took time, roots of what is under way as well, and what the end waited for.
begin;
select plan(21);

create function pg_temp.falls(p_item uuid default item()) returns setof text language sql as $$
  select repeat(' ', f.depth) || f.name || ' ' || f.kind || coalesce(' ' || round(f.seconds), '') || case when f.ended_at is null then ' open' else '' end
         || coalesce(' *' || round(extract(epoch from f.critical_until - f.critical_from)), '')
    from work_waterfall(p_item) f order by n $$;

select model_price_save('claude-sonnet-5-5', 3, 15);
select tool('deploy', 'unsafe', 'dangerous');
select agent('{"model": "claude-sonnet-5-5", "tools": ["look", "deploy"], "require_approval": "dangerous"}', '{"awareness": {"enabled": false}}');
select faculty_save('{"name": "analyst", "accepts": ["look_into"], "engage": {"model": "claude-sonnet-5-5", "tools": ["look"]}, "awareness": {"enabled": false}}');
select throws_ok('select * from work_waterfall(gen_random_uuid())', 'WL001', null, 'of what is not there it is refused');
select submit();
select later('3 seconds');
select results_eq('select * from pg_temp.falls()', $$ values ('work.item analyze item 3 open'), (' queue queue 3 open *3') $$, 'what nobody has begun has its root');
create temporary table parent as select item() as id;
select drive(), later('2 seconds');
select results_eq('select * from pg_temp.falls()', $$ values ('work.item analyze item 5 open'), (' queue queue 3 *3'), (' invoke_agent worker agent 2 open'),
  ('  chat claude-sonnet-5-5 model 2 open *2') $$, 'what is under way is open, with its roots');
select is_empty($$ select * from work_waterfall(item()) f where depth > 0 and not exists (select from work_waterfall(item()) p where p.span_id = f.parent_span_id) $$,
  'and each row has its parent');

-- A failed request and another; two calls side by side, the longer of which the next request waits for; an approval; a child.
select iteration_fail(item(), lease(), '{"class": "overloaded", "status": 529, "message": "too much"}'), later('30 seconds');
select drive(), later('4 seconds'), answer('[["look"], ["deploy"]]');
create temporary table calls as select id, tool_name from tool_calls where work_item_id = item();
select tool_call_begin(item(), lease(), id) from calls where tool_name = 'look';
select later('1 second'), tool_call_settle(item(), lease(), id, 'seen') from calls where tool_name = 'look';
select iteration_finish(item(), lease()), later('10 seconds');
select tool_call_approve(id), later('1 second') from calls where tool_name = 'deploy';
select drive();
select tool_call_begin(item(), lease(), id) from calls where tool_name = 'deploy';
select later('2 seconds'), tool_call_settle(item(), lease(), id, 'deployed') from calls where tool_name = 'deploy';
select iteration_finish(item(), lease());
select results_eq($$ select name, round(seconds)::int, is_error, says, critical_from is not null from work_waterfall(item()) where kind in ('model', 'person', 'tool') order by n $$,
  $$ values ('chat claude-sonnet-5-5', 2, true, 'overloaded 529', true), ('chat claude-sonnet-5-5', 4, false, null, true), ('execute_tool look', 1, false, 'completed', false), ('execute_tool deploy', 14, false, 'completed', true),
            ('approval of deploy', 11, false, ('approved by ' || session_user) collate "default", true) $$,
  'a retry, calls side by side, and how long a person was waited for');
select is((select f.parent_span_id from work_waterfall(item()) f where f.kind = 'person'), (select f.span_id from work_waterfall(item()) f where f.name = 'execute_tool deploy'),
  'which is below the call');
select is((select round(own_seconds) from work_waterfall(item()) where name = 'execute_tool deploy'), 3::double precision, 'whose own seconds are without those of the person');
select is_empty($$ select kind from work_waterfall(item()) where kind <> 'tool' and own_seconds <> seconds $$, 'which all others have of their own');

-- A span is exported when it has ended: until then those below it name it, by the id that it will have.
create temporary table missing as
  select distinct t.parent_span_id as span_id from work_trace(item()) t
   where t.parent_span_id is not null and not exists (select from work_trace(item()) p where p.span_id = t.parent_span_id);
select is((select count(*) from missing where span_id in (select f.span_id from work_waterfall(item()) f where f.kind = 'agent')), 1::bigint,
  'of running work the trace lacks the attempt, whose id the waterfall has');
select drive(), later('1 second'), answer('[["spawn_child_work", {"work_type": "look_into", "description": "Look into it"}]]'), run(), iteration_finish(item(), lease());
create temporary table child as select id from work_items where parent_id = item();
select drive(), later('1 second'), answer(jsonb_build_array(jsonb_build_array('await_child_work', jsonb_build_object('work_item_ids', jsonb_build_array((select id from child))))));
select tool_call_execute(item(), lease(), id) from tool_calls where work_item_id = item() and tool_name = 'await_child_work';
select iteration_finish(item(), lease()), later('2 seconds');
select take(id), drive(id), later('5 seconds') from child;
select is((select count(*) from work_waterfall((select id from parent)) f where f.ended_at is null and f.kind in ('item', 'agent')), 4::bigint, 'parent and child are open');
select answer('[["look"]]'), later('3 seconds'), run(), iteration_finish(item(), lease()) from child;
select drive(), later('1 second'), answer('["Found it."]'), iteration_finish(item(), lease());
select take(id) from parent;
select work_sweep();
select is((select f.kind || ' ' || round(f.seconds) || coalesce(' critical', '') from work_waterfall(item()) f where f.name = 'execute_tool await_child_work' and f.critical_from is null), 'child 11 critical',
  'a wait for a child is not on the path itself');
select is((select count(*) from work_waterfall(item()) f where f.work_item_id = (select id from child) and f.critical_from is not null), 4::bigint, 'its queue, requests and calls are');
select is((select f.parent_span_id from work_waterfall(item()) f where f.kind = 'item' and f.work_item_id = (select id from child)),
  (select f.span_id from work_waterfall(item()) f where f.name = 'execute_tool spawn_child_work'), 'the child stands below the call that spawned it');
select drive(), later('1 second'), answer('["Done."]'), iteration_finish(item(), lease());

-- What the trace has it has, too, by the same names and times; and costs are what the rows say.
select is_empty($$ select span_id, name, started_at, ended_at from work_trace(item()) where name ~ '^(chat|execute_tool|invoke_agent) '
  except select span_id, name, started_at, ended_at from work_waterfall(item()) $$, 'it has the requests, calls and attempts of the trace');
select is((select cost from work_waterfall(item()) where n = 1), (select sum(cost) from cost_by('model')), 'the root costs what all below it did');
select is((select sum(cost) from work_waterfall(item()) where kind = 'model'), (select cost from work_waterfall(item()) where n = 1), 'which is what its requests did');
select is((select cost from work_waterfall(item()) where kind = 'agent' and work_item_id = (select id from child)),
  (select sum(cost) from work_waterfall((select id from child)) where kind = 'model'), 'an attempt costs what its requests did');
select is((select count(*) from work_waterfall(item()) a join work_waterfall(item()) b on a.span_id <> b.span_id
            where a.critical_from < b.critical_until and b.critical_from < a.critical_until), 0::bigint, 'at no time is more than one thing on the path');
select ok((select sum(extract(epoch from critical_until - critical_from)) <= max(seconds) filter (where n = 1) from work_waterfall(item())), 'which is no longer than all of it');
select is((select array_agg(n order by n) from work_waterfall(item())), (select array_agg(n::bigint) from generate_series(1, (select count(*) from work_waterfall(item()))) n),
  'rows are numbered through');
select work_cancel(item());
select is((select array_agg(t.name order by t.name) from work_trace(item()) t join missing m on m.span_id = t.span_id), '{invoke_agent worker,work.engage}',
  'and all that it lacked are there when they have ended');
select * from finish();
rollback;
