-- A lease that nobody renewed is taken over when it has expired; its holder can do nothing any more.
begin;
select plan(7);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit();
select claim(p_worker => 'worker-1');

set local work_ledger.now = '2026-11-20 12:00:29+00';
select is(focus_claim(item(), 'worker-2') ->> 'kind', 'busy', 'a lease of 30 s holds for 29 s');
set local work_ledger.now = '2026-11-20 12:00:30+00';
create temporary table second as select focus_claim(item(), 'worker-2') as claim;
select is((select claim ->> 'kind' from second), 'claimed', 'a lease of 30 s is taken over after 30 s');
select is((select claim ->> 'lease_generation' from second), '2', 'the new lease is of the next generation');
select is((select claim ->> 'focus_id' from second), focus()::text, 'the focus stays the same');
select is((select crash_count from foci), 1, 'the crash is counted');
select throws_ok($$ select iteration_begin(item(), lease()) $$, 'WL004', null, 'the first worker cannot go on');
select throws_ok($$ select ledger_append(item(), 'note', 'zombie', p_lease => lease()) $$, 'WL004', null, 'the first worker cannot write');

select * from finish();
rollback;
