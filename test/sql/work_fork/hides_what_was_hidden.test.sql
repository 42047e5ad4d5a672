-- Where an attempt began afresh, without the ledger of those before, a branch of it does, too.
begin;
select plan(7);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}, "recover": {"mode": "fresh"}}');
select submit('Fix it');
create function pg_temp.turn(p_item uuid, p_entry text) returns uuid language plpgsql as $$
declare
  v_lease uuid := (focus_claim(p_item, 'w') ->> 'lease')::uuid;
  v_turn uuid := iteration_begin(p_item, v_lease) ->> 'turn_id';
begin
  perform turn_record(p_item, v_lease, v_turn, json_build_object('stop_reason', 'tool_use', 'content', json_build_array(json_build_object(
    'type', 'tool_use', 'id', v_turn, 'name', 'ledger_append', 'input', json_build_object('entry_type', 'finding', 'content', p_entry)))));
  perform tool_call_execute(p_item, v_lease, k.id) from tool_calls k where k.turn_id = v_turn;
  perform iteration_finish(p_item, v_lease);
  return v_turn;
end
$$;
create temporary table first as select pg_temp.turn(id, 'The disk is full') as turn from item;
select from _focus_end((select w from work_items w), 'failed', 'retry', 'given up', null);
set local work_ledger.now = '2026-11-20 13:00:00+00';
create temporary table made as select pg_temp.turn(id, 'The index is missing') as turn from item;
select is((select ledger_epoch from work_items), 1, 'the second attempt begins without the ledger of the first');

create temporary table branch as select * from work_fork((select turn from made));
select is((select ledger_epoch from branch), 1, 'and so does a branch of it');
select is((select count(*)::integer from work_ledger where work_item_id = (select id from branch)), 2, 'whose ledger has all entries');
select unalike(ledger_read_formatted((select id from branch)), '%The disk is full%', 'but shows none that was hidden');
select alike(ledger_read_formatted((select id from branch)), '%The index is missing%', 'and what was not');
create temporary table early as select * from work_fork((select turn from first));
select is((select ledger_epoch from early), 0, 'a branch of the first attempt');
select alike(ledger_read_formatted((select id from early)), '%The disk is full%', 'goes on with what that one knew');

select * from finish();
rollback;
