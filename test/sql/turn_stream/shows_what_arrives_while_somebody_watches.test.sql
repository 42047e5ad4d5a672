begin;
select plan(17);

select agent('{"tools": ["look"]}');
select submit('Fix it');
create temporary table held (lease uuid, stage json);
create function pg_temp.next() returns boolean language plpgsql as $$
begin
  delete from held;
  insert into held (lease) select (focus_claim(item(), 'w') ->> 'lease')::uuid;
  update held set stage = iteration_begin(item(), lease);
  return (select (stage ->> 'is_watched')::boolean from held);
end
$$;
create function pg_temp.stream(p_content json) returns boolean language sql as $$
  select turn_stream(item(), (select lease from held), (select (stage ->> 'turn_id')::uuid from held), p_content)
$$;
create function pg_temp.status() returns text language sql as $$ select status from turns order by id desc limit 1 $$;

select is(pg_temp.next(), false, 'nobody watches');
select is(pg_temp.stream('[]'), false, 'and who says something is told so');
select is((select count(*) from turn_streams), 0::bigint, 'it is not kept');
select is(pg_temp.status(), 'pending', 'nor does the turn change');

select from ledger_watch(item());
select is(pg_temp.stream('[{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "I lo"}]'), true, 'to who watches it is shown');
select is(pg_temp.status(), 'streaming', 'while it arrives');
select results_eq('select thinking, said from v_streaming', $$ values ('Hm', 'I lo') $$, 'as words');
select pg_temp.stream('[{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "I look"}, {"type": "tool_use", "id": "a", "name": "look", "input": "{\"wh"}]');
select results_eq('select said from v_streaming', $$ values ('I look') $$, 'that grow');
select throws_ok($$ select pg_temp.stream('{}') $$, 'WL002', null, 'what is no list of blocks is refused');

-- The worker dies; another asks again.
set local work_ledger.now = '2099-01-01';
select from ledger_watch(item());
select is(pg_temp.next(), true, 'the next holder hears that somebody watches');
select is(pg_temp.status(), 'pending', 'the turn is asked again');
select is((select count(*) from turn_streams), 0::bigint, 'and what had arrived is gone');

select pg_temp.stream('[{"type": "text", "text": "I"}]');
select from turn_record(item(), (select lease from held), (select (stage ->> 'turn_id')::uuid from held), '{"stop_reason": "tool_use", "content": [{"type": "text", "text": "I see."}, {"type": "tool_use", "id": "a", "name": "look", "input": {"what": "it"}}]}');
select is((select count(*) from turn_streams), 0::bigint, 'stored, it is there once');
select is(pg_temp.stream('[{"type": "text", "text": "I"}]'), true, 'a late word is no error');
select is(pg_temp.status(), 'completed', 'and changes nothing');
select from tool_call_begin(item(), (select lease from held), (select id from tool_calls));
select results_eq($$ select iteration, status, said, calls #>> '{0,name}', calls #>> '{0,input}', calls #>> '{0,status}' from work_activity(item()) $$,
  $$ values (1, 'completed', 'I see.', 'look', '{"what": "it"}', 'running') $$, 'calls are seen from their beginning');

-- A worker that is asked to stop.
select tool_call_settle(item(), (select lease from held), (select id from tool_calls), 'seen');
select from iteration_finish(item(), (select lease from held));
select pg_temp.next();
select pg_temp.stream('[{"type": "text", "text": "So"}]');
select iteration_release(item(), (select lease from held));
select is(pg_temp.status() || (select count(*) from turn_streams), 'pending0', 'what is given back streams no more');

select * from finish();
rollback;
