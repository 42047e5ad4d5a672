-- A worker is told of calls that wait for a person before it gives the item back: it keeps the secrets in their arguments.
begin;
select plan(3);

select tool('change', 'unsafe', 'dangerous');
select agent('{"tools": ["change"], "require_approval": "dangerous"}');
select take(submit('Change it'));
select drive();
create temporary table told as
select iteration_step(item(), lease(), 1, 0, turn(), '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "t1", "name": "change", "input": {"it": 1}}]}') as says;

select is((select says ->> 'kind' from told), 'run_tools', 'the record ends it');
select is((select says::jsonb #>> '{waiting,0,input,it}' from told), '1', 'and names the call');
select is(iteration_step(item(), lease(), 1, 0) ->> 'kind', 'parked', 'the next call gives the item back');

select * from finish();
rollback;
