-- Whatever the owner of the tables changes by hand in turns, messages, calls, tasks and outcomes of work that is over is found.
begin;
select plan(15);

select agent('{"tools": ["look"]}');
select submit();
select play('[[["look", {"at": "a"}, "seen"], ["finding", "No index"]], [["look"]], ["done"]]');
select is_empty($$ select * from ledger_verify(item()) $$, 'as it was written, nothing is found');
select is((select array_agg(turn_id is null order by n) from seals where work_item_id = item()), '{f,f,f,t}', 'each turn is sealed, and then the item');
create temporary table turn as select t.id, row_number() over (order by t.id) as n from turns t where t.work_item_id = item();
create function pg_temp.turn(p_n integer) returns uuid language sql as $$ select id from pg_temp.turn where n = p_n $$;
create function pg_temp.changed(p_n integer) returns text language sql as $$
  select format('turn %s is not as it was sealed, or the ledger is not as it was then', pg_temp.turn(p_n))
$$;

select is(found('messages', $$ update messages set content = '[{"type":"text","text":"Forged"}]' where turn_id = pg_temp.turn(2) and role = 'assistant' $$),
  pg_temp.changed(2), 'a changed message');
select is(found('messages', $$ update messages set created_at = created_at + interval '1 second' where turn_id = pg_temp.turn(1) $$), pg_temp.changed(1), 'its time');
select is(found('messages', $$ update messages set metadata = '{"kind": "message"}' where turn_id = pg_temp.turn(1) and role = 'user' $$), pg_temp.changed(1), 'its kind');
select is(found('messages', $$ insert into messages (turn_id, sequence, role, content) values (pg_temp.turn(2), 5000, 'user', '[]') $$),
  format('turn %s was never sealed, or has messages or calls that were not', pg_temp.turn(2)), 'a message put in');
select is(found('tool_calls', $$ update tool_calls set result = '"nothing"' where turn_id = pg_temp.turn(1) and tool_name = 'look' $$), pg_temp.changed(1), 'the result of a call');
select is(found('tool_calls', $$ update tool_calls set input = '{"at": "b"}' where turn_id = pg_temp.turn(1) and tool_name = 'look' $$), pg_temp.changed(1), 'its arguments');
select is(found('tool_calls', $$ delete from tool_calls where turn_id = pg_temp.turn(2) $$) ~ pg_temp.changed(2), true, 'a call taken out');
select is(found('turns', $$ update turns set model = 'another', output_tokens = 1 where id = pg_temp.turn(3) $$), pg_temp.changed(3), 'what is known of a turn');
select is(found('turns', $$ insert into turns (work_item_id, status, completed_at) values (item(), 'completed', now()) $$) ~ '^turn .* was never sealed', true, 'a turn put in');
select is(found('seals', $$ delete from seals where n = 2 and work_item_id = item() $$) ~ '^seal 2 missing', true, 'a seal taken out');
select is(found('work_items', $$ update work_items set outcome_data = '{"summary": "All is well"}' where id = item() $$),
  'item is not as it was sealed, or the ledger is not as it was then', 'another outcome');
select is(found('work_ledger', $$ delete from work_ledger where work_item_id = item(); update fences set ledger_count = 0 where work_item_id = item() $$) ~ 'was sealed when the ledger had 1 entries',
  true, 'a ledger cut with its counter, by the seals');
select is(found('fences', $$ update fences set salt = null where work_item_id = item() $$) ~ 'entry 1 cannot be checked: the item''s salt is gone', true, 'a salt taken away');

select * from finish();
rollback;
