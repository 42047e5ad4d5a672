begin;
select plan(4);

select agent('{"elide_budget": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
create temporary table request (n integer, turn_id uuid, body text);
-- A response of ledger entries, each a type and its content.
create function pg_temp.append(p_n integer, p_entries jsonb) returns void language plpgsql as $$
declare
  v_lease uuid := (focus_claim(item(), 'w') ->> 'lease')::uuid;
  v_stage json := iteration_begin(item(), v_lease);
begin
  insert into request values (p_n, (v_stage ->> 'turn_id')::uuid, v_stage ->> 'request');
  perform turn_record(item(), v_lease, (v_stage ->> 'turn_id')::uuid, (
    select json_build_object('stop_reason', 'tool_use', 'content', json_agg(json_build_object('type', 'tool_use', 'id', format('t%s_%s', p_n, e.n), 'name', 'ledger_append',
             'input', json_build_object('entry_type', e.value ->> 0, 'content', e.value ->> 1)) order by e.n))
      from jsonb_array_elements(p_entries) with ordinality as e(value, n)));
  perform tool_call_execute(item(), v_lease, k.id) from tool_calls k where k.turn_id = (v_stage ->> 'turn_id')::uuid;
  perform iteration_finish(item(), v_lease);
end
$$;

select pg_temp.append(1, jsonb_build_array(jsonb_build_array('note', repeat('It is slow. ', 300))));
select pg_temp.append(2, '[["step", "Looked at it"], ["finding", "  "]]');
select pg_temp.append(3, '[["note", "x"]]');
select is((select array_agg(status order by ordinal) from tool_calls where turn_id = (select turn_id from request where n = 2)), array['completed', 'failed'], 'the step is taken, the finding beside it is not');
select alike((select body from request where n = 3), '%[completed step 1: Looked at it]%', 'the block before is closed');
select alike((select body from request where n = 3), '%t2\_2%', 'what was refused is shown');
select alike((select body from request where n = 3), '%' || (select replace(left(result #>> '{}', 40), '"', '_') from tool_calls where provider_id = 't2_2') || '%', 'with the reason');

select * from finish();
rollback;
