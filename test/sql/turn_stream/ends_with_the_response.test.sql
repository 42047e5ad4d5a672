-- What arrived is gone when the response is stored, asked for again by another worker, or given back.
begin;
select plan(8);

select agent('{"tools": ["look"]}');
select submit('Fix it');
create function pg_temp.stream(p_content json) returns boolean language sql as $$ select turn_stream(item(), lease(), turn(), p_content) $$;
create function pg_temp.status() returns text language sql as $$ select status from turns order by id desc limit 1 $$;
select from ledger_watch(item());
select drive(), pg_temp.stream('[{"type": "text", "text": "I"}]');

set local work_ledger.now = '2099-01-01';
select from ledger_watch(item());
select is((drive() ->> 'is_watched')::boolean, true, 'the worker that takes over hears that somebody watches');
select is(pg_temp.status(), 'pending', 'the turn is asked again');
select is((select count(*) from turn_streams), 0::bigint, 'what had arrived is gone');

select pg_temp.stream('[{"type": "text", "text": "I"}]');
select answer('["I see.", ["look", {"what": "it"}]]');
select is((select count(*) from turn_streams), 0::bigint, 'a response that is stored streams no more');
select is(pg_temp.stream('[{"type": "text", "text": "I"}]'), true, 'a late word is no error');
select is(pg_temp.status(), 'completed', 'a late word changes nothing');
select from tool_call_begin(item(), lease(), (select id from tool_calls));
select results_eq($$ select iteration, status, said, calls #>> '{0,name}', calls #>> '{0,input}', calls #>> '{0,status}' from work_activity(item()) $$,
  $$ values (1, 'completed', 'I see.', 'look', '{"what": "it"}', 'running') $$, 'work_activity shows calls from their beginning');

select tool_call_settle(item(), lease(), (select id from tool_calls), 'seen'), iteration_finish(item(), lease());
select drive(), pg_temp.stream('[{"type": "text", "text": "So"}]');
select iteration_release(item(), lease());
select is(pg_temp.status() || (select count(*) from turn_streams), 'pending0', 'a request that is given back streams no more');

select * from finish();
rollback;
