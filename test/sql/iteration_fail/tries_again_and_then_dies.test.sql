-- A response that nobody can read is asked for again, four times an attempt; when the attempts are used up the item is dead.
begin;
select plan(4);

select agent('{}', '{"recover": {"max_attempts": 2}}');
select submit();

create temporary table outcome (n integer, kind text);
do $$ begin
  for n in 1..8 loop
    perform later('1 hour'), drive();
    insert into outcome values (n, iteration_fail(item(), lease(), '{"class": "malformed_response", "message": "no"}') ->> 'kind');
  end loop;
end $$;
select is((select array_agg(kind order by n) from outcome), array['retry', 'retry', 'retry', 'queued', 'retry', 'retry', 'retry', 'dead'], 'four failures end an attempt, two attempts the item');
select is((select attempts from item), 2, 'both attempts of the item are counted');
select is((select array_agg(outcome order by attempt) from foci), array['failed', 'failed'], 'both attempts of the item are kept as failed');
select is((select count(*) from sessions), 2::bigint, 'each attempt has a session of its own');

select * from finish();
rollback;
