-- A branch begins at a turn that another focus made: its session has been there, but its agent has not.
begin;
select plan(5);

select agent('{"tools": ["look"]}');
create function pg_temp.turn(p_item uuid) returns uuid language plpgsql as $$
declare
  v_lease uuid := (focus_claim(p_item, 'w') ->> 'lease')::uuid;
  v_turn uuid := iteration_begin(p_item, v_lease) ->> 'turn_id';
begin
  perform turn_record(p_item, v_lease, v_turn, json_build_object('stop_reason', 'tool_use', 'content',
    json_build_array(json_build_object('type', 'tool_use', 'id', v_turn, 'name', 'look', 'input', json_build_object()))));
  perform tool_call_settle(p_item, v_lease, k.id, v_turn::text) from tool_calls k where k.turn_id = v_turn;
  perform iteration_finish(p_item, v_lease);
  return v_turn;
end
$$;
create temporary table source as select s.id, pg_temp.turn(s.id) as turn from work_submit('analyze', 'Fix it') s;
create temporary table branch as select id, id::text as session from work_fork((select turn from source));
create temporary table made as select n, pg_temp.turn((select id from branch)) as turn from generate_series(1, 2) n;

select is((select head_turn_id from sessions where label = (select session from branch)), (select turn from made where n = 2), 'the branch has turns of its own');
select is((session_rollback((select session from branch), (select turn from made where n = 1))).head_turn_id, (select turn from made where n = 1), 'it goes back to one of them');
select throws_ok($$ select session_rollback((select session from branch), (select turn from source)) $$, 'WL002', 'that turn belongs to another attempt', 'not to the turn that it began at');
select is((select head_turn_id from sessions where label = (select session from branch)), (select turn from made where n = 1), 'and stays where it was');
select from work_cancel((select id from branch));
select is((session_rollback((select session from branch), (select turn from source))).head_turn_id, (select turn from source), 'when nobody works there any more it may');

select * from finish();
rollback;
