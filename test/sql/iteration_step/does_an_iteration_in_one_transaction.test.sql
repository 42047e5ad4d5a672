-- A response and the results that are there with it are stored, the iteration ends, and the next request comes back, all in one call.
begin;
select plan(11);

select agent('{"tools": ["look"]}');
select take(submit('Look'));
select drive();
create temporary table asked as select turn() as turn, lease() as lease, 'a0000000-0000-4000-8000-000000000001'::uuid as id;
create function pg_temp.step() returns json language sql as $$
  select iteration_step(item(), lease, 1, 0, turn,
           '{"stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 2},
             "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": 1}}]}',
           json_build_array(json_build_object('ordinal', 0, 'id', id, 'content', 'SEEN', 'is_error', false)))
    from asked;
$$;
create temporary table told as select pg_temp.step() as says;

select is((select format('%s %s %s', says ->> 'kind', says ->> 'iteration', says #>> '{next,kind}') from told), 'continued 2 call_model', 'the next request comes back');
select is((select says::jsonb #>> '{next,request,messages,-1,content,0,content}' from told), 'SEEN', 'with the result');
select is((select format('%s %s %s', status, stop_reason, output_tokens) from turns where id = (select turn from asked)), 'completed tool_use 2', 'the response is stored');
select is((select format('%s %s %s %s', status, attempts, id, result #>> '{}') from tool_calls), 'completed 1 a0000000-0000-4000-8000-000000000001 SEEN', 'and its call, with the id that it ran under');
select is((select iteration from foci where id = focus()), 1, 'the iteration is counted');
select is((select head_turn_id from sessions where label = (select session_label from foci where id = focus())), (select turn from asked), 'the session goes on from it');
select ok(lease_hash = (select sha256(uuid_send(lease)) from asked), 'under the same lease') from item;
select is(pg_temp.step() #>> '{next,turn_id}', (select says #>> '{next,turn_id}' from told), 'asked again, it says the same');
select is((select count(*) from tool_calls), 1::bigint, 'and has stored nothing again');

select is(iteration_step(item(), lease, 2, null, (says #>> '{next,turn_id}')::uuid, '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "t2", "name": "look", "input": {}}]}',
            '[{"ordinal": 0, "id": "a0000000-0000-4000-8000-000000000002", "content": "SEEN TOO", "is_error": false}]') ->> 'kind', 'continued', 'a worker that has to end')
  from told, asked;
select is((select lease_hash from item), null, 'gives the item back');

select * from finish();
rollback;
