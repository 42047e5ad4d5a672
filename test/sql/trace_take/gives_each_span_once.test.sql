-- Spans are taken when an iteration or an attempt has ended, each once; together they are what work_trace() returns.
begin;
select plan(17);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"awareness": {"refresh_every": 2}}');
select submit('A task');
create temporary table taken (span trace_span, at integer);
create function pg_temp.take(p_n integer, p_is_recorded boolean default true) returns text language plpgsql as $$
declare
  v_took json := trace_take(focus());
begin
  if v_took ->> 'kind' = 'spans' and p_is_recorded then
    insert into taken select json_populate_record(null::trace_span, s), p_n from json_array_elements(v_took -> 'spans') s;
    perform trace_record(focus(), (v_took ->> 'iteration')::integer, (v_took ->> 'is_done')::boolean);
  end if;
  return concat_ws(' ', v_took ->> 'kind', v_took ->> 'iteration', v_took ->> 'is_done');
end
$$;

select drive();
select is(pg_temp.take(0), 'nothing', 'a request is under way: nothing has ended');
select answer('[["look"]]');
select is(pg_temp.take(0), 'nothing', 'calls are under way: the iteration has not ended');
select run(), iteration_finish(item(), lease());
select is(pg_temp.take(1), 'spans 1 false', 'an iteration has ended');
select is(pg_temp.take(1), 'nothing', 'its spans are taken once');
select set_eq($$ select (span).attributes ->> 'work.span' from taken $$, array['work.item', 'work.orient', 'work.awareness.digest', 'work.engage.iteration', 'gen_ai.chat', 'work.tool.execute'],
  'with the first iteration comes what was before it, the root first of all; what goes on is not there');
select play('[[["look"], ["step", "Looked"]]]');
select is(pg_temp.take(2, false), 'spans 2 false', 'the next iteration');
select is(trace_take(focus()) ->> 'kind', 'held', 'who took spans holds the attempt');
select later('61 seconds');
select is(pg_temp.take(2, false), 'spans 2 false', 'for a minute: a process that died does not keep them');
select trace_record(focus());
select is(pg_temp.take(2), 'spans 2 false', 'what could not be exported is there to be taken again');
select is((select count(*) from trace_due()), 0::bigint, 'a running attempt is not due');
create temporary table the as select focus() as focus, item() as item;
select play('[[["look"]]]');
select drive(), answer('["All done."]'), iteration_finish(item(), lease());
create or replace function work_test.focus(p_item uuid default work_test.item()) returns uuid language sql as $$ select focus from the $$;
select is((select array_agg(d) from trace_due() d), array[focus()], 'an attempt that ended is due until its spans are exported');
select is(pg_temp.take(4), 'spans 3 true', 'the rest, and the attempt itself');
select is(pg_temp.take(4), 'nothing', 'then nothing more comes');
select is((select count(*) from trace_due()), 0::bigint, 'and it is no longer due');
select set_eq($$ select (t).* from (select span from taken) as s(t) $$, $$ select * from work_trace((select item from the)) $$, 'what was taken bit by bit is the trace');
select is((select count(*) from taken), (select count(distinct (span).span_id) from taken), 'and nothing came twice');
select throws_ok($$ select trace_take('00000000-0000-0000-0000-000000000000') $$, 'WL001');

select * from finish();
rollback;
