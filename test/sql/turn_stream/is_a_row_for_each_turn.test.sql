-- work_activity() has one row for a turn, also where its recorded response came in several messages.
begin;
select plan(2);

create temporary table run as select (session_import(format(
  '{"format": "x", "sessionId": "s", "prompt": "Go", "exchanges": [{"id": "a", "text": "%s", "calls": [{"id": "c", "name": "look", "input": {}}]}]}', t)::json) ->> 'work_item_id')::uuid as id
  from unnest(array['One', 'One\nTwo']) t;
select is((select count(*) from messages where role = 'assistant'), 2::bigint, 'the response grew');
select results_eq($$ select iteration, said, jsonb_array_length(calls) from work_activity((select id from run limit 1)) $$, $$ values (1, E'One\n\nTwo', 1) $$, 'it is shown whole, once');

select * from finish();
rollback;
