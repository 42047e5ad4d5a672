-- A before_tool command lets a call go, rewrites or refuses it; an after_tool command makes its result.
begin;
select plan(11);

select agent('{"tools": ["look"]}', '{"hooks": {"before_tool": "guard", "after_tool": "wash"}}');
select submit('Fix it');
select drive();
create temporary table answered as select answer('[["look", {"at": 1}], ["look", {"at": 2}]]') as said;
create function pg_temp.hooked(p_ordinal integer, p_hook text, p_stdout text, p_content text default null) returns jsonb language sql as $$
  select tool_hook_record(item(), lease(), call('t1_' || p_ordinal),
    p_hook, jsonb_build_object('exit_code', 0, 'stdout', p_stdout), p_content);
$$;

select ok(not (said #>> '{calls,0,is_cleared}')::boolean, 'a call waits for its hook') from answered;
select throws_ok($$ select pg_temp.hooked(1, 'orient', '') $$, 'WL002', null, 'a hook that is none of tools is refused');
select is(pg_temp.hooked(1, 'before_tool', ''), '{"kind": "go", "input": {"at": 1}, "is_rewritten": false}', 'a hook that says nothing lets the call run as it is');
select is(pg_temp.hooked(1, 'before_tool', '{"input": {"at": 3}}'), '{"kind": "go", "input": {"at": 3}, "is_rewritten": true}', 'a hook rewrites the input of a call');
select is(_open_calls(turn())::jsonb #> '{0,input}', '{"at": 3}', 'after a crash the call runs with what the hook made of it');
select ok((_open_calls(turn())::jsonb #>> '{0,is_cleared}')::boolean, 'after a crash the hook is not asked again');
select is(pg_temp.hooked(2, 'before_tool', '{"refuse": "no"}'), '{"kind": "settled"}', 'a hook refuses a call');
select is(pg_temp.hooked(1, 'after_tool', '{"content": "clean", "is_error": true}', 'dirty'), '{"kind": "settled"}', 'an after_tool hook settles the call');
select results_eq($$ select regexp_replace(result #>> '{}', 'data-[0-9a-f]{12}', 'DATA', 'g'), is_error from tool_calls where turn_id = turn() order by ordinal $$,
  $$ values ('clean', true), (E'[engine] Not executed: a hook refused it. What the before_tool command of your faculty says, as data between the markers:\n\n<DATA>\nno\n</DATA>', true) $$, 'the model is shown what the hooks made of results');
select is(pg_temp.hooked(1, 'after_tool', '', 'again'), '{"kind": "settled"}', 'a settled call is not settled again');
select is((select input::jsonb from tool_calls where id = call('t1_1')), '{"at": 1}', 'the input of the model stays as it said it');

select * from finish();
rollback;
