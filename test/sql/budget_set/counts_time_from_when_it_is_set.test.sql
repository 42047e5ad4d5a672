-- A budget of seconds counts how long leases were held, from when there is such a budget.
begin;
select plan(3);

select agent('{"ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
create function pg_temp.work(p_seconds integer) returns void language plpgsql as $$
begin
  update foci set leased_at = _now() - make_interval(secs => p_seconds);
  perform answer('[["ledger_read"]]'), run(), iteration_finish(item(), lease());
end
$$;

select drive(), pg_temp.work(90);
select from budget_set(item(), 'seconds', 60);
select is(drive() ->> 'kind', 'call_model', 'time before there is a budget of it is not counted');
select pg_temp.work(90);
select is(drive() ->> 'kind', 'parked', 'a budget of seconds is used up');
select matches((select state_reason from item), 'the budget of 60 seconds .* is used up: 90', 'the reason has the seconds that were measured');

select * from finish();
rollback;
