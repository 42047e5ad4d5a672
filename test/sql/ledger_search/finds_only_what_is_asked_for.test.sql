-- ledger_search() leaves out what another faculty did, and what is older than asked for.
begin;
select plan(6);

select agent('{}');
select submit('Find the lock');
select drive();
select from ledger_append(item(), 'finding', 'The lock is taken for each row', p_lease => lease());
select from work_submit('untaken', 'Remove the lock');
create function pg_temp.found(p_faculty text default null, p_since timestamptz default null) returns text[] language sql as $$
  select array_agg(source order by source) from ledger_search('lock', p_faculty => p_faculty, p_since => p_since) $$;

select is(pg_temp.found(), array['ledger', 'work', 'work'], 'without a filter everything is found');
select is(pg_temp.found((select faculty from foci where work_item_id = item())), array['ledger', 'work'], 'what a faculty drives');
select is(pg_temp.found('nobody'), null, 'and what nobody drives is of none');
select is(pg_temp.found(p_since => _now() - interval '1 hour'), array['ledger', 'work', 'work'], 'what is new');
set local work_ledger.now = '2126-01-01';
select is(pg_temp.found(p_since => _now() - interval '1 hour'), null, 'which is old some day');
select is(pg_temp.found(), array['ledger', 'work', 'work'], 'and still found');

select * from finish();
rollback;
