-- What agents tell each other is short, ten an iteration, and ten to one agent that are unread or of the last ten minutes; what waits is not said twice.
begin;
select plan(14);

select set_config('work_ledger.now', '2030-01-01T12:00:00Z', true);
select agent('{"tools": ["look"]}');
create temporary table work as select n, (work_submit('analyze', 'Part ' || n)).id from generate_series(1, 13) n;
create function pg_temp.id(p_n integer) returns uuid language sql as $$ select id from work where n = p_n $$;
create function pg_temp.tell(p_to integer, p_text text) returns uuid language sql as $$ select message_id from tell_agent(pg_temp.id(1), pg_temp.id(p_to)::text, p_text, lease(pg_temp.id(1))) $$;
select throws_ok($$ select tell_agent(pg_temp.id(2), pg_temp.id(1)::text, ' ') $$, 'WL002', null, 'a message says something');
select throws_ok($$ select tell_agent(pg_temp.id(2), pg_temp.id(1)::text, repeat('ä', 2001)) $$, 'WL002', null, 'in at most 2,000 characters');
select lives_ok($$ select tell_agent(pg_temp.id(2), pg_temp.id(1)::text, repeat('ä', 2000)) $$, 'whatever their bytes');

select drive(pg_temp.id(1)), answer('[["look"]]', pg_temp.id(1));
select is(pg_temp.tell(2, 'A'), pg_temp.tell(2, 'A'), 'the same words that wait are the message that waits');
select is((select count(*) from inbox where content = 'A'), 1::bigint, 'and are there once');
select pg_temp.tell(n, 'B') from generate_series(3, 11) n;
select is((select count(distinct (created_at, content)) from inbox where source_work_item_id = pg_temp.id(1)), 2::bigint, 'what is said at once to many counts once');
select pg_temp.tell(2, 'C' || n) from generate_series(1, 8) n;
select throws_ok($$ select pg_temp.tell(12, 'D') $$, 'WL009', 'an iteration can send at most ten messages', 'an iteration has ten messages');
select later('1 second');
select run('[["look"]]', pg_temp.id(1)), iteration_finish(pg_temp.id(1), lease(pg_temp.id(1))), drive(pg_temp.id(1)), answer('[["look"]]', pg_temp.id(1));
select isnt(pg_temp.tell(2, 'E'), null, 'the next one has ten more');
select throws_ok($$ select pg_temp.tell(2, 'F') $$, 'WL009', null, 'but not to the same agent, which has ten');
select later('11 minutes');
select throws_ok($$ select pg_temp.tell(2, 'F') $$, 'WL009', null, 'as long as it has not read them');
update inbox set consumed_at = _now() where work_item_id = pg_temp.id(2);
select isnt(pg_temp.tell(2, 'A'), null, 'what was read may be said again');
select is((select count(*) from inbox where content = 'A'), 2::bigint, 'which is another message');

-- Who has no iterations.
select count(*) from generate_series(1, 10) n, tell_agent(pg_temp.id(13), pg_temp.id(2 + n)::text, 'To ' || n);
select throws_ok($$ select tell_agent(pg_temp.id(13), pg_temp.id(2)::text, 'x') $$, 'WL009', null, 'who has no iterations has ten a minute');
select later('61 seconds');
select lives_ok($$ select tell_agent(pg_temp.id(13), pg_temp.id(2)::text, 'x') $$, 'and then ten more');

select * from finish();
rollback;
