begin;
select plan(11);

select agent('{"tools": ["look"]}', '{"hooks": {"before_tool": "guard", "after_tool": "wash"}}');
select submit('Mend it');
select drive();
create temporary table answer as select turn_record(item(), lease(), turn(), '{"stop_reason": "tool_use", "content": [
  {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}}, {"type": "tool_use", "id": "b", "name": "look", "input": {"at": 2}}]}') as said;
create function pg_temp.hooked(p_ordinal integer, p_hook text, p_stdout text, p_content text default null) returns jsonb language sql as $$
  select tool_hook_record(item(), lease(), (select id from tool_calls where turn_id = turn() and ordinal = p_ordinal),
    p_hook, jsonb_build_object('exit_code', 0, 'stdout', p_stdout), p_content);
$$;
select ok(not (said #>> '{calls,0,is_cleared}')::boolean, 'a call waits for its hook') from answer;
select throws_ok($$ select pg_temp.hooked(0, 'orient', '') $$, 'WL002', null, 'a hook of tools');
select is(pg_temp.hooked(0, 'before_tool', ''), '{"kind": "go", "input": {"at": 1}}', 'nothing said: it runs as it is');
select is(pg_temp.hooked(0, 'before_tool', '{"input": {"at": 3}}'), '{"kind": "go", "input": {"at": 3}}', 'rewritten');
select is(_open_calls(turn())::jsonb #> '{0,input}', '{"at": 3}', 'after a crash it runs with what the hook made of it');
select ok((_open_calls(turn())::jsonb #>> '{0,is_cleared}')::boolean, 'and the hook is not asked again');
select is(pg_temp.hooked(1, 'before_tool', '{"refuse": "no"}'), '{"kind": "settled"}', 'refused');
select is(pg_temp.hooked(0, 'after_tool', '{"content": "clean", "is_error": true}', 'dirty'), '{"kind": "settled"}', 'the result is what the hook made of it');
select results_eq($$ select regexp_replace(result #>> '{}', 'data-[0-9a-f]{12}', 'DATA', 'g'), is_error from tool_calls where turn_id = turn() order by ordinal $$,
  $$ values ('clean', true), (E'[engine] Not executed: a hook refused it. What the before_tool command of your faculty says, as data between the markers:\n\n<DATA>\nno\n</DATA>', true) $$, 'as the model is shown it');
select is(pg_temp.hooked(0, 'after_tool', '', 'again'), '{"kind": "settled"}', 'settled is settled');
select is((select input::jsonb from tool_calls where turn_id = turn() and ordinal = 0), '{"at": 1}', 'what the model said stays said');

select * from finish();
rollback;
