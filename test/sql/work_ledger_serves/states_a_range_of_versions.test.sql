-- A ledger serves programs of its own version and of earlier ones back to the oldest that it names; a worker of any other is refused.
begin;
select plan(12);
select agent();
select submit();
select claim(p_worker => 'w');

create or replace function work_ledger_version() returns text language sql immutable return '0.10.0';
create or replace function _oldest_program() returns text language sql immutable return '0.9.0';

select is((select array_agg(work_ledger_serves(v) order by n) from unnest(array['0.8.9', '0.9.0', '0.9.12', '0.10.0', '0.10.1', '1.0.0']) with ordinality as x(v, n)),
  '{f,t,t,t,f,f}', 'versions are compared as numbers, part by part');
select throws_ok(format('select work_ledger_serves(%L)', v), 'WL002', 'a version is three numbers, such as 0.10.0', 'no version: ' || coalesce(v, 'null'))
  from unnest(array[null, '', '1', '0.2.0-rc.1', '0.2.x', '99999999.0.0']) v;

select is((select array_agg(r) from lease_renew('w', array[item()], array[lease()], p_version => '0.9.0') r), array[lease()], 'a worker of an earlier version that is served goes on');
select is((select version from workers where id = 'w'), '0.9.0', 'and its version is known');
select throws_ok($$ select lease_renew('w', array[item()], array[lease()], p_version => '0.8.0') $$, 'WL010',
  'this ledger has version 0.10.0 and serves programs of versions 0.9.0 to 0.10.0; this one is 0.8.0', 'one that is not served is told so');
select throws_ok($$ select lease_renew('w', '{}', '{}', p_version => '0.11.0') $$, 'WL010', null, 'and one that is newer than the ledger');
select lives_ok($$ select iteration_release(item(), lease()) $$, 'it can still give back what it holds');
select * from finish();
rollback;
