-- Attempts that end without a worker, by a person or because their workers died, are due as well; those that ended long ago are not.
begin;
select plan(4);

select agent();
select submit('To be cancelled'), drive();
select from work_cancel(item());
select is((select count(*) from trace_due()), 1::bigint, 'a cancelled attempt is due');
select is((select count(*) from trace_due('0')), 0::bigint, 'p_within: how long ago at most it ended');
select later('61 minutes');
select is((select count(*) from trace_due()), 0::bigint, 'after an hour it is left to who asks for it');
select throws_ok($$ select trace_due('-1 hour') $$, 'WL002');

select * from finish();
rollback;
