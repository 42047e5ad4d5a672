-- What a request is reserved follows from the sizes that are stored: it is about what the request holds, after results, a message, a cut.
begin;
select plan(2);

select agent('{"tools": ["look"], "elide_budget": 0, "keep_budget": 0, "ledger_nudge_interval": 0, "context_window": 1000000}',
  '{"awareness": {"enabled": false}, "budget": {"tokens": 100000000}}');
select submit('Look');
create function pg_temp.is_about_right() returns boolean language sql as $$
  select t.reserved_input_tokens::numeric / _tokens(char_length(context_at(t.id)::text), c.model) between 0.97 and 1.01
    from turns t join turn_configs c on c.content_hash = t.config_hash where t.id = turn();
$$;
create temporary table seen as select pg_temp.is_about_right() as is_right from drive();
do $$
begin
  for v_n in 1 .. 8 loop
    perform work_test.answer(jsonb_build_array(jsonb_build_array('look', repeat('seen ', 400 * v_n)))
      || case when v_n % 3 = 0 then '[["step", "Looked"]]'::jsonb else '[]' end);
    perform work_test.run(jsonb_build_array(jsonb_build_array('look', repeat('seen ', 400 * v_n))));
    if v_n = 5 then
      perform work_message(work_test.item(), repeat('Look there. ', 1000));
    end if;
    perform iteration_finish(work_test.item(), work_test.lease());
    perform work_test.drive();
    insert into seen select pg_temp.is_about_right();
  end loop;
end
$$;
select is((select count(*) from seen where is_right), 9::bigint, 'each request is reserved about what it holds');
select ok((select count(distinct elision_id) > 1 from turns), 'some of them after a cut');

select * from finish();
rollback;
