begin;
select plan(5);

select agent('{"tools": ["look"]}');
select submit('Fix it');
create function pg_temp.turn() returns uuid language plpgsql as $$
declare
  v_item uuid := item();
  v_lease uuid := (focus_claim(v_item, 'w') ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(v_item, v_lease) ->> 'turn_id')::uuid;
  v_calls json := turn_record(v_item, v_lease, v_turn, '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]}');
begin
  perform tool_call_settle(v_item, v_lease, (v_calls #>> '{calls,0,id}')::uuid, 'seen');
  perform iteration_finish(v_item, v_lease);
  return v_turn;
end
$$;
select from pg_temp.turn();
select from work_message(item(), 'NEVER TOUCH PRODUCTION');
select from work_message(item(), 'Only April, please');
create temporary table early as select pg_temp.turn() as id;
select from work_message(item(), repeat('and so on ', 300) || 'end of it');
select from work_message(item(), 'Only March, please');
create temporary table last as select pg_temp.turn() as id;

select is((select count(*)::integer from generate_series(40, 6000) n where coalesce(_told_text((select id from last), true, n), '') = ''), 0, 'however little room there is, something says what was told');
select alike(_told_text((select id from last), true, 6000), '%NEVER TOUCH PRODUCTION%Only April%end of it%Only March%', 'with room all of it, whole');
select alike(_told_text((select id from last), true, 1500), '%NEVER TOUCH PRODUCTION%Only April%artifact_read(%end of it%Only March%', 'with less the long one by head, tail and handle');
create temporary table small as select _told_text((select id from early), true, 60) as said;
select matches(said, '^- \(1 older: artifact_read\("[0-9a-f]{16}"\) has all of it\)\n- .*\n  Only April', 'with hardly any the newest, and a handle') from small;
select from _told_store((select id from early), true, (select said from small));
select alike((select content from artifacts where left(content_hash, 16) = substring(said from '"([0-9a-f]{16})"')), '%NEVER TOUCH PRODUCTION%Only April%', 'which gives all of it') from small;

select * from finish();
rollback;
