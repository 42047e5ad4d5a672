begin;
select plan(4);

select agent('{}', '{"recover": {"max_attempts": 2}}');
select submit();

create temporary table outcome (n integer, kind text);
do $$ declare v_lease uuid; begin
  for n in 1..8 loop
    perform set_config('work_ledger.now', (now() + n * interval '1 hour')::text, true);
    v_lease := (focus_claim(item(), 'w') ->> 'lease')::uuid;
    perform iteration_begin(item(), v_lease);
    insert into outcome values (n, iteration_fail(item(), v_lease, '{"class": "malformed_response", "message": "no"}') ->> 'kind');
  end loop;
end $$;
select is((select array_agg(kind order by n) from outcome), array['retry', 'retry', 'retry', 'queued', 'retry', 'retry', 'retry', 'dead'], 'four failures end an attempt, two attempts the item');
select is((select attempts from work_items), 2, 'both attempts are counted');
select is((select array_agg(outcome order by attempt) from foci), array['failed', 'failed'], 'and kept');
select is((select count(*) from sessions), 2::bigint, 'each in a session of its own');

select * from finish();
rollback;
