-- Subscriptions are few, of work that can be seen, and only where news is told; they go with their item's words.
begin;
select plan(12);

select agent('{"tools": ["look"]}');
select submit('Ask');
select throws_ok($$ select notify_me(item(), 'rain', 'today') $$, 'WL002', null, 'of some things nobody is told');
select throws_ok($$ select notify_me(item(), 'text', ' ') $$, 'WL002', null, 'nothing is no text');
select throws_ok($$ select notify_me(item(), 'path', repeat('x', 1001)) $$, 'WL002', null, 'nor is a book');
select throws_ok($$ select notify_me(item(), 'end', 'x') $$, 'WL002', null, 'an id is an id');
select throws_ok($$ select notify_me(item(), 'end', gen_random_uuid()::text) $$, 'WL001', null, 'of work that there is');
select notify_me(item(), 'text', 'word ' || n) from generate_series(1, 20) n;
select throws_ok($$ select notify_me(item(), 'text', 'one more') $$, 'WL009', null, 'twenty are enough');
select lives_ok($$ select notify_me(item(), 'text', 'word 3', true) $$, 'the same again is the same');
select is((select count(*) from subscriptions), 20::bigint, 'it is there once');
select drive(), answer('[["notify_me", {}], ["notify_me", {"path": "a", "text": "b"}]]'), run();
select is((select array_agg(status || ' ' || substring(result #>> '{}' from '\((WL\d+)\)') order by ordinal) from tool_calls where turn_id = turn()),
  '{failed WL002,failed WL002}', 'an agent asks for one thing a call');
create temporary table done as select (work_submit('analyze', 'Done')).id;
select work_complete(id, 'All is well') from done;
select iteration_finish(item(), lease());
delete from subscriptions;
select drive(), answer(format('[["notify_me", {"work_item_id": "%s"}]]', upper((select id from done)::text))::jsonb), run();
select ok((select result #>> '{}' like 'It has already ended. %All is well%' from tool_calls where turn_id = turn()), 'work that is over is told of at once');
select notify_me(item(), 'text', 'flaky', p_lease => lease()), work_complete(item(), 'Done', p_lease => lease());
select work_erase(item());
select is((select count(*) from subscriptions), 0::bigint, 'they are erased with the item');
select agent('{}', '{"awareness": {"enabled": false}}');
select submit('Deaf');
select throws_ok($$ select notify_me(item(), 'text', 'flaky') $$, 'WL008', null, 'who is told no news cannot ask for any');

select * from finish();
rollback;
