-- Calls that a worker runs at once and that may run again after a crash begin with their response.
begin;
select plan(12);

set local work_ledger.now = '2026-11-22 12:00Z';
select tool('look'), tool('put', 'idempotent'), tool('send', 'unsafe');
create function said(p_says jsonb) returns json language sql as $$
  select drive();
  select turn_record(item(), lease(), turn(), response(p_says, (select max(n)::integer from work_test.request where item = item())), true)
$$;
create function begun(p_said json) returns text language sql as $$
  select string_agg((c.value ->> 'name') || case when (c.value ->> 'is_begun')::boolean then '!' else '' end, ' ' order by c.n)
    from json_array_elements(p_said -> 'calls') with ordinality c(value, n)
$$;

select agent('{"tools": ["look", "put", "send"], "max_parallel_tools": 3}');
select submit();
create temporary table first as select said('[["look"], ["send"], ["put"], ["note", "so"], ["look"], ["look"]]') as says;
select is((select begun(says) from first), 'look! send put! ledger_append look! look', 'as many as may run at once, no unsafe one, none that the database runs');
select is(
  (select string_agg(concat_ws(' ', tool_name, status, attempts, started_at is not null), ', ' order by ordinal) from tool_calls where turn_id = turn()),
  'look running 1 t, send pending 0 f, put running 1 t, ledger_append pending 0 f, look running 1 t, look pending 0 f', 'as if they had begun one by one');
select is(
  (select turn_record(item(), lease(), turn(), '{}', true))::text, (select says::text from first), 'asked again, it says the same');

-- Its worker dies.
select later('31 seconds');
select is(drive() ->> 'kind', 'run_tools', 'after a crash the calls are open');
select is(begun(stage()), 'look send put ledger_append look look', 'and begin again');
select is((select max(attempts) from tool_calls where turn_id = turn()), 1, 'which is another attempt');
select run('[]');
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'nothing is left open');

select agent('{"tools": ["look", "put", "send"], "parallel_tool_execution": false}');
select submit('Do one thing after the other');
select is(begun(said('[["look"], ["look"]]')), 'look! look', 'what has to follow another call waits for it');
select agent('{"tools": ["look", "put", "send"]}');
select submit('Do one thing');
select is(begun(said('["I look", ["look"]]')), 'look!', 'a call that is alone begins as it is stored');
select submit('Send one thing');
select is(begun(said('[["send"]]')), 'send', 'an unsafe one does not');
select agent('{"tools": ["look", "put", "send"]}', '{"hooks": {"before_tool": "true"}}');
select submit('Ask before it');
select is(begun(said('[["look"]]')), 'look', 'nor one that a hook is asked about');
select agent('{"tools": ["look", "put", "send"]}', '{"hooks": {"before_tool": "true"}}');
select submit('Ask before each');
select is(begun(said('[["look"], ["look"]]')), 'look look', 'where a hook is asked first, nothing begins');

select * from finish();
rollback;
