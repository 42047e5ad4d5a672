begin;
select plan(6);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}, "recover": {"max_attempts": 3}}');
create function pg_temp.turn(p_item uuid) returns uuid language plpgsql as $$
declare
  v_lease uuid := (focus_claim(p_item, 'w') ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(p_item, v_lease) ->> 'turn_id')::uuid;
begin
  perform turn_record(p_item, v_lease, v_turn, '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "call_1", "name": "look", "input": {}}, {"type": "tool_use", "id": "call_2", "name": "look", "input": {}}]}');
  perform tool_call_settle(p_item, v_lease, id, 'seen') from tool_calls where turn_id = v_turn;
  perform iteration_finish(p_item, v_lease);
  return v_turn;
end
$$;
create function pg_temp.uses(p_item uuid, out used bigint, out ids bigint) language sql as $$
  select count(*), count(distinct b ->> 'id')
    from work_items i, context_window(i.focus_id) w, json_array_elements(w.messages) m, json_array_elements(m -> 'content') b
   where i.id = p_item and b ->> 'type' = 'tool_use' $$;

select submit('Find why the import is slow');
create temporary table made (n integer, turn uuid);
insert into made select 1, pg_temp.turn(id) from item;
insert into made select 2, pg_temp.turn(id) from item;
create temporary table fork as select * from work_fork((select turn from made where n = 1));
insert into made select 3, pg_temp.turn(id) from fork;
insert into made select 4, pg_temp.turn(id) from fork;
select results_eq('select * from pg_temp.uses((select id from fork))', $$ values (6::bigint, 6::bigint) $$, 'where a provider numbers anew, a branch has each id once');
create temporary table second as select * from work_fork((select turn from made where n = 4));
insert into made select 5, pg_temp.turn(id) from second;
insert into made select 6, pg_temp.turn(id) from second;
select results_eq('select * from pg_temp.uses((select id from second))', $$ values (10::bigint, 10::bigint) $$, 'a branch of a branch too');
select is((select fork_turn_id from turns where id = (select turn from made where n = 6)), (select turn from made where n = 4), 'each turn knows where its conversation left another work item');
select is((select fork_turn_id from turns where id = (select turn from made where n = 2)), null, 'if it did');
select is((select array_agg(provider_id order by ordinal) from tool_calls where turn_id = (select turn from made where n = 1)), array['call_1', 'call_2'], 'the source keeps what it sent');

create temporary table unrelated as select * from work_submit('analyze', 'Another task');
insert into made select 7, pg_temp.turn(id) from unrelated;
select is((select array_agg(provider_id order by ordinal) from tool_calls where turn_id = (select turn from made where n = 7)), array['call_1', 'call_2'], 'another conversation has ids of its own');

select * from finish();
rollback;
