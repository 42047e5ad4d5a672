-- Three overflows in a row are one too many; those before an answer do not count among them.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play(format('[[["look", "%s"], ["finding", "one"]], [["look", "b"], ["step", "two"]], [["look", "c"]]]', repeat('a ', 20000))::jsonb);
create function pg_temp.overflows() returns void language sql as $$
  select drive(), iteration_fail(item(), lease(), '{"class": "context_overflow", "message": "too long"}') $$;
select pg_temp.overflows(), pg_temp.overflows();
select is((select overflow_count from foci), 2, 'two requests were too long');
select play('[[["look", "d"]]]');
select is((select overflow_count from foci), 0, 'an answer ends the row');
select pg_temp.overflows(), pg_temp.overflows();
select is((select resolved_at from item), null, 'two more do not end the work');

select * from finish();
rollback;
