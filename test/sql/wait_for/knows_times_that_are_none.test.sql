-- What is no time is refused as such, also where only its zone is none.
begin;
select plan(3);

select throws_ok(format($$ select _time_given('until', '%s') $$, t), 'WL002', null, t) from unnest(array['2030-02-30', '2030-01-31T09:00:00+99', '2030-01-31T09:00:00-16:30']) t;

select * from finish();
rollback;
