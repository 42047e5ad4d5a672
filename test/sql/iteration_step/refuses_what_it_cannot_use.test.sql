-- What a worker says that cannot be so is refused, and nothing of it is stored.
begin;
select plan(6);

select agent('{"tools": ["look"]}');
select take(submit('Look'));
select play('[[["look", "seen"]]]');
select drive();
create function pg_temp.step(p_iteration integer, p_results json) returns json language sql as $$
  select iteration_step(item(), lease(), p_iteration, 0, turn(), '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "t9", "name": "look", "input": {}}]}', p_results);
$$;

select throws_ok($$ select pg_temp.step(3, null) $$, 'WL002', null, 'an iteration that has not begun');
select throws_ok($$ select pg_temp.step(null, null) $$, 'WL002', null, 'no iteration');
select throws_ok($$ select pg_temp.step(2, '{}') $$, 'WL002', null, 'results that are no list');
select throws_ok($$ select pg_temp.step(2, '[{"ordinal": 0, "id": "t9", "content": "seen"}]') $$, 'WL002', null, 'an id that is none');
select throws_ok($$ select pg_temp.step(2, (select json_build_array(json_build_object('ordinal', 0, 'id', id, 'content', 'seen')) from tool_calls)) $$, 'WL002', null, 'the id of another call');
select is((select count(*) from tool_calls), 1::bigint, 'nothing is stored');

select * from finish();
rollback;
