-- Where a provider numbers its calls anew in each conversation, every branch has each id once.
begin;
select plan(6);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}, "recover": {"max_attempts": 3}}');
-- A turn with two calls, numbered anew.
create function pg_temp.turn() returns void language sql as $$
  select play('[[{"type": "tool_use", "id": "call_1", "name": "look", "input": {}}, {"type": "tool_use", "id": "call_2", "name": "look", "input": {}}]]') $$;
create function pg_temp.uses(p_item uuid, out used bigint, out ids bigint) language sql as $$
  select count(*), count(distinct b ->> 'id')
    from work_items i, context_window(i.focus_id) w, json_array_elements(w.messages) m, json_array_elements(m -> 'content') b
   where i.id = p_item and b ->> 'type' = 'tool_use' $$;

select submit('Find why the import is slow');
select pg_temp.turn(), pg_temp.turn();
select take(work_fork((select turn_id from request where n = 1)));
select pg_temp.turn(), pg_temp.turn();
select results_eq('select * from pg_temp.uses(item())', $$ values (6::bigint, 6::bigint) $$, 'a branch has each id once');
select take(work_fork((select turn_id from request where n = 4)));
select pg_temp.turn(), pg_temp.turn();
select results_eq('select * from pg_temp.uses(item())', $$ values (10::bigint, 10::bigint) $$, 'a branch of a branch has each id once');
select is((select fork_turn_id from turns where id = (select turn_id from request where n = 6)), (select turn_id from request where n = 4), 'each turn knows where its conversation left another work item');
select is((select fork_turn_id from turns where id = (select turn_id from request where n = 2)), null, 'a turn whose conversation left no work item knows none');
select is((select array_agg(provider_id order by ordinal) from tool_calls where turn_id = (select turn_id from request where n = 1)), array['call_1', 'call_2'], 'the source keeps what it sent');

select submit('Another task'), pg_temp.turn();
select is((select array_agg(provider_id order by ordinal) from tool_calls where turn_id = (select turn_id from request where n = 7)), array['call_1', 'call_2'], 'another conversation has ids of its own');

select * from finish();
rollback;
