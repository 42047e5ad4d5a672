-- An entry whose input fits is recorded in the transaction of its response: in the order of the calls, once, and not under a budget.
begin;
select plan(18);

select tool('change', 'unsafe');
select agent('{"tools": ["look", "change"]}');
select take(submit('Look'));
select drive();
create temporary table asked as select turn() as turn, lease() as lease, 1 as n;
create function pg_temp.entry(p_id text, p_type text, p_content text) returns text language sql as $$
  select format('{"type": "tool_use", "id": "%s", "name": "ledger_append", "input": {"entry_type": "%s", "content": "%s"}}', p_id, p_type, p_content);
$$;
create function pg_temp.look(p_id text) returns text language sql as $$
  select format('{"type": "tool_use", "id": "%s", "name": "look", "input": {}}', p_id);
$$;
create function pg_temp.change(p_id text) returns text language sql as $$
  select format('{"type": "tool_use", "id": "%s", "name": "change", "input": {}}', p_id);
$$;
create function pg_temp.result(p_ordinal integer, p_is_entry text default null) returns text language sql as $$
  select format('{"ordinal": %s, "id": "%s", %s}', p_ordinal, gen_random_uuid(), coalesce('"is_entry": ' || p_is_entry, '"content": "SEEN", "is_error": false'));
$$;
-- Answers the request under way; what follows is the next one, if it is there.
create function pg_temp.answer(p_content text, p_results text) returns json language plpgsql as $$
declare
  v asked := (select a from asked a);
  v_says json := iteration_step(item(), v.lease, v.n, 0, v.turn, format('{"stop_reason": "tool_use", "content": [%s]}', p_content)::json, format('[%s]', p_results)::json);
begin
  update asked set turn = (v_says #>> '{next,turn_id}')::uuid, n = v.n + 1 where v_says #>> '{next,turn_id}' is not null;
  return v_says;
end
$$;

create temporary table told as select pg_temp.answer(
  pg_temp.entry('a', 'finding', 'It is slow') || ', ' || pg_temp.look('b') || ', ' || pg_temp.entry('c', 'step', 'Looked'),
  pg_temp.result(0, 'true') || ', ' || pg_temp.result(1) || ', ' || pg_temp.result(2, 'true')) as says;
select is((select says #>> '{next,kind}' from told), 'call_model', 'nothing is left to be run');
select is((select string_agg(seq || ' ' || entry_type || ' ' || content, ', ' order by seq) from work_ledger), '1 finding It is slow, 2 step Looked', 'the entries are there, in order');
select is((select count(*) from work_ledger l join tool_calls k on k.id = l.tool_call_id and k.turn_id = l.turn_id where k.attempts = 1 and k.started_at is not null), 2::bigint,
  'as those of their calls');
select is((select string_agg(k.result #>> '{}', ' ' order by k.ordinal) from tool_calls k), 'Recorded as [1]. SEEN Recorded as [2].', 'which say so');
select is((select block from turns where id = (select turn from asked)), 2, 'the step closes its block');
select is((select count(*) from work_checkpoints where trigger = 'block'), 1::bigint, 'with a checkpoint');
select is_empty($$ select * from ledger_verify() $$, 'the chain holds');

-- An entry that is refused has its reason for a result; the iteration goes on.
select is(pg_temp.answer(pg_temp.entry('d', 'step', '   ') || ', ' || pg_temp.entry('e', 'note', 'Kept'), pg_temp.result(0, 'true') || ', ' || pg_temp.result(1, 'true')) #>> '{next,kind}',
  'call_model', 'one that is refused');
select is((select string_agg(format('%s %s', k.status, left(k.result #>> '{}', 15)), ', ' order by k.ordinal) from tool_calls k where k.provider_id in ('d', 'e')),
  'failed a ledger entry , completed Recorded as [3]', 'has failed, the one after it has not');

-- Only entries, and only those that their worker names.
select is((select string_agg(c ->> 'name', ' ') from json_array_elements(pg_temp.answer('{"type": "tool_use", "id": "f", "name": "ledger_read", "input": {}}, ' || pg_temp.entry('g', 'note', 'Behind it'), pg_temp.result(0, 'true') || ', ' || pg_temp.result(1, 'true')) -> 'calls') c),
  'ledger_read ledger_append', 'any other call is returned, and what stands behind it');
select tool_call_execute(item(), (select lease from asked), id) from tool_calls where provider_id in ('f', 'g');
create temporary table next as select iteration_step(item(), lease, n, 0) -> 'next' as says from asked;
select is((select says ->> 'kind' from next), 'call_model', 'and run as ever');
update asked set turn = (select (says ->> 'turn_id')::uuid from next), n = n + 1;
select is((select string_agg(c ->> 'name', ' ') from json_array_elements(pg_temp.answer(pg_temp.change('k') || ', ' || pg_temp.entry('l', 'note', 'Next to it') || ', ' || pg_temp.entry('m', 'note', 'Not named'),
    pg_temp.result(1, 'true') || ', ' || pg_temp.result(2, 'false')) -> 'calls') c), 'change ledger_append', 'next to a call that leaves something behind, the entry alone is recorded');
select is((select string_agg(content, ', ' order by seq) from work_ledger where seq > 4), 'Next to it', 'before that call runs');
select tool_call_settle(item(), (select lease from asked), id, 'CHANGED') from tool_calls where provider_id = 'k';
select tool_call_execute(item(), (select lease from asked), id) from tool_calls where provider_id = 'm';
update asked set turn = (select (iteration_step(item(), lease, n, 0) #>> '{next,turn_id}')::uuid), n = n + 1;
select throws_ok($$ select pg_temp.answer(pg_temp.entry('h', 'note', 'x'), pg_temp.result(0, '"yes"')) $$, 'WL002', null, 'is_entry is true or false');

select from budget_set(item(), 'calls', 100);
create temporary table limited as select pg_temp.answer(pg_temp.entry('i', 'note', 'Under a budget'), pg_temp.result(0, 'true')) as says;
select is((select says ->> 'kind' from limited), 'run_tools', 'under a budget the response is stored by itself');
select is((select says #>> '{calls,0,name}' from limited), 'ledger_append', 'and the entry comes back');
select is((select count(*) from work_ledger where content = 'Under a budget'), 0::bigint, 'not recorded yet');
select is((select count(*) from work_ledger), 6::bigint, 'nothing was recorded twice');

select * from finish();
rollback;
