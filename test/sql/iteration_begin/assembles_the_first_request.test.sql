begin;
select plan(8);

select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);
create temporary table begun as
  select (v.stage ->> 'turn_id')::uuid as turn_id, v.stage
    from iteration_begin((select id from item), (select lease from held)) as v(stage);

select is((select stage ->> 'kind' from begun), 'call_model', 'the model is to be asked');
select is((select state from work_items), 'running', 'the item runs');
select is((select stage #>> '{request,messages,0,role}' from begun), 'user', 'the first message is the user''s');
select alike((select stage #>> '{request,messages,0,content,0,text}' from begun), '%Find why the nightly import is slow%', 'it says what is to be done');
select alike((select stage #>> '{request,messages,0,content,0,text}' from begun), '%== AWARENESS ==%', 'and what else is going on');
select is((select stage #>> '{request,tools,0,name}' from begun), 'ledger_append', 'the ledger is always offered');
select is((select (stage -> 'request')::text from begun), context_at((select turn_id from begun))::text, 'context_at rebuilds it to the byte');
select is((select (iteration_begin((select id from item), (select lease from held)) -> 'request')::text), (select (stage -> 'request')::text from begun),
  'asking again asks the same');

select * from finish();
rollback;
