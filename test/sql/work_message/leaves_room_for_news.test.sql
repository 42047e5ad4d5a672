-- However many messages wait, the same request also tells news and what was taken back; what has no room comes with the next request.
begin;
select plan(5);

select agent('{"tools": ["look"]}', '{"awareness": {"refresh_every": 1}}');
create temporary table other as select * from work_submit('write', 'Write it', p_faculty => 'nobody');
select submit('A task');
select drive(), answer('[["look"]]'), run('[["look"]]');
select from ledger_append((select id from other), 'finding', 'The cache is stale');
select from ledger_append(item(), 'finding', 'The cache is fresh', p_lease => lease());
select iteration_finish(item(), lease());
select from ledger_retract(item(), 1, 'It is stale');
select from generate_series(1, 700) n, lateral work_message(item(), format('Message %s.', n));

select lives_ok($$ select drive() $$, 'a request is made while 700 messages wait');
select alike(stage() #>> '{request,messages}', '%Message 1.%', 'it has messages');
select alike(stage() #>> '{request,messages}', '%Taken back%It is stale%', 'and what was taken back');
select alike(stage() #>> '{request,messages}', '%The cache is stale%', 'and what is new elsewhere');
select answer('[["look"]]'), run('[["look"]]'), iteration_finish(item(), lease()), drive();
select alike(stage() #>> '{request,messages}', '%Message 700.%', 'the rest comes with the next request');

select * from finish();
rollback;
