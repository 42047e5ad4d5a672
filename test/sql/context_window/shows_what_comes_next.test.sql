begin;
select plan(4);

select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);
create temporary table begun as
  select (v.stage ->> 'turn_id')::uuid as turn_id, v.stage
    from iteration_begin((select id from item), (select lease from held)) as v(stage);

select is((select request::text from context_window((select focus_id from held))), (select (stage -> 'request')::text from begun), 'while the model is asked: that request');
create temporary table recorded as
  select turn_record((select id from item), (select lease from held), (select turn_id from begun),
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"t1","name":"ledger_append","input":{"entry_type":"note","content":"hi"}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select from tool_call_execute((select id from item), (select lease from held), (select id from tool_calls));
create temporary table finished as select iteration_finish((select id from item), (select lease from held));
create temporary table shown as select * from context_window((select focus_id from held));
select is((select messages -> 2 -> 'content' -> 0 ->> 'content' from shown), 'Recorded as [1].', 'between: the one that would come next');
select is((select json_array_length(tools) from shown), 8, 'with its tools');
select is((select request::text from shown), (select (iteration_begin(id, (focus_claim(id, 'w') ->> 'lease')::uuid) -> 'request')::text from item), 'and so it comes');

select * from finish();
rollback;
