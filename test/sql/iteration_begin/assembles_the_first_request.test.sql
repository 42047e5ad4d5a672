-- The first request has the task, what else is going on and the tools of the ledger; it is kept as it was sent.
begin;
select plan(8);

select agent();
select submit();
select drive();

select is(stage() ->> 'kind', 'call_model', 'the model is to be asked');
select is((select state from item), 'running', 'the item runs');
select is(stage() #>> '{request,messages,0,role}', 'user', 'the first message is the user''s');
select alike(stage() #>> '{request,messages,0,content,0,text}', '%Find why the nightly import is slow%', 'the first message says what is to be done');
select alike(stage() #>> '{request,messages,0,content,0,text}', '%== AWARENESS ==%', 'the first message says what else is going on');
select is(stage() #>> '{request,tools,0,name}', 'ledger_append', 'the ledger is always offered');
select is((stage() -> 'request')::text, context_at(turn())::text, 'context_at rebuilds the request to the byte');
select is((iteration_begin(item(), lease()) -> 'request')::text, (stage() -> 'request')::text,
  'asking again asks the same');

select * from finish();
rollback;
