begin;
select plan(3);

select agent();
select submit();

create temporary table request (n integer, turn_id uuid, body text);
do $$ declare v_lease uuid; v_stage json; v_calls json; begin
  for n in 1..4 loop
    v_lease := (focus_claim(item(), 'w') ->> 'lease')::uuid;
    v_stage := iteration_begin(item(), v_lease);
    insert into request values (n, (v_stage ->> 'turn_id')::uuid, (v_stage -> 'request')::text);
    v_calls := turn_record(item(), v_lease, (v_stage ->> 'turn_id')::uuid,
      '{"content":[{"type":"text","text":"ü \"quoted\"\n"},{"type":"tool_use","id":"same","name":"ledger_append","input":{"entry_type":"note","content":"x"}}],"stop_reason":"tool_use"}') -> 'calls';
    perform tool_call_execute(item(), v_lease, (v_calls #>> '{0,id}')::uuid);
    perform iteration_finish(item(), v_lease);
  end loop;
end $$;
select is((select count(*) from request where body = context_at(turn_id)::text), 4::bigint, 'each of four requests, to the byte, after all that came later');
select is((select count(*) from request a join request b on b.n = a.n + 1
  where left(b.body, length(a.body) - 2) = left(a.body, -2)), 3::bigint, 'each request begins with the one before');
select throws_ok($$ select context_at('00000000-0000-7000-8000-000000000000') $$, 'WL001', null, 'there must be a turn');

select * from finish();
rollback;
