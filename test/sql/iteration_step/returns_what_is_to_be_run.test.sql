-- Calls that have to be run after their response is stored come back, whatever the worker says of them; when they have ended, the last
-- result, the end of the iteration and the next request are one call.
begin;
select plan(8);

select agent('{"tools": ["look", "change"]}');
select ability_register('change', 'Changes.', '{"type": "object"}', 'idempotent', 'safe');
select take(submit('Change it'));
select drive();
create temporary table told as
select iteration_step(item(), lease(), 1, 0, turn(),
  '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}, {"type": "tool_use", "id": "t2", "name": "change", "input": {}},
                                           {"type": "tool_use", "id": "t3", "name": "look", "input": {"far": true}}]}',
  '[{"ordinal": 0, "id": "a0000000-0000-4000-8000-000000000001", "content": "SEEN", "is_error": false},
    {"ordinal": 1, "id": "a0000000-0000-4000-8000-000000000002", "content": "CHANGED", "is_error": false},
    {"ordinal": 2, "id": "a0000000-0000-4000-8000-000000000003"}]') as says;

select is((select says ->> 'kind' from told), 'run_tools', 'there is something to run');
select is((select string_agg(format('%s %s', c ->> 'ordinal', c ->> 'is_begun'), ', ' order by c ->> 'ordinal') from told, json_array_elements(says -> 'calls') c),
  '1 true, 2 true', 'the calls that have no result, or may not have one yet');
select is((select string_agg(status, ' ' order by ordinal) from tool_calls), 'completed running running', 'what leaves nothing behind may have ended');
select is((select id from tool_calls where ordinal = 2), 'a0000000-0000-4000-8000-000000000003', 'or begun');
select isnt((select id from tool_calls where ordinal = 1), 'a0000000-0000-4000-8000-000000000002', 'nothing else has');
select throws_ok($$ select iteration_step(item(), lease(), 1, 0) $$, 'WL008', null, 'it is not over while calls are open');

select from tool_call_settle(item(), lease(), call('t2'), 'changed');
select is((select iteration_step(item(), lease(), 1, 0, p_results => json_build_array(json_build_object('id', id, 'content', 'FAR', 'is_error', false)))::jsonb
                    #>> '{next,request,messages,-1,content,2,content}' from tool_calls where ordinal = 2), 'FAR', 'the last result ends it');
select throws_ok($$ select iteration_step(item(), lease(), 2, 0, p_results => '[{"id": "a0000000-0000-4000-8000-00000000000f", "content": "x", "is_error": false}]') $$, 'WL001', null,
  'a call of another focus has none');

select * from finish();
rollback;
