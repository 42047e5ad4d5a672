-- What other calls have reserved comes back: whoever finds no room only because of that waits for it.
begin;
select plan(5);

set local work_ledger.now = '2026-11-20 12:00:00+00';

select agent('{"tools": ["look"], "max_output_tokens": 4000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
create temporary table root as select id from work_submit('analyze', 'Fix it', p_budget => '{"tokens": 6000}');
create temporary table child as select n, (work_submit('analyze', format('Part %s', n), p_parent_id => (select id from root))).id from generate_series(1, 2) n;
create function pg_temp.child(p_n integer) returns uuid language sql as $$ select id from child where n = p_n $$;

select is(drive(pg_temp.child(1)) ->> 'kind', 'call_model', 'the first of two has room');
select drive(pg_temp.child(2));
select is((select state_reason from work_items where id = pg_temp.child(2)), 'the rest of a budget is reserved by running model calls', 'the second has none just now, and is not told that the budget is used up');
select is((select resolved_at is null and run_at <= _now() + interval '2 seconds' from work_items where id = pg_temp.child(2)), true, 'it comes again by itself');
select answer('["Done."]', pg_temp.child(1), '{"usage": {"input_tokens": 500, "output_tokens": 100}}'), iteration_finish(pg_temp.child(1), lease(pg_temp.child(1)));
select later('10 minutes');
select is(drive(pg_temp.child(2)) ->> 'kind', 'call_model', 'with what the first gave back it has room');
select is((select spent from budgets), 600::numeric, 'only what was used is spent');

select * from finish();
rollback;
