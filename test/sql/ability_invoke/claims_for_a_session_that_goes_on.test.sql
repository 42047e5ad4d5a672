-- A session whose hooks said that it ended goes on where a client claims something for it; who only reads wakes nothing.
begin;
select plan(5);

select set_config('work_ledger.now', '2030-01-01T12:00:00Z', true);
create temporary table session as select (journal_session_open('somebody', 'Fix the sums')).id;
create function pg_temp.id() returns uuid language sql as $$ select id from session $$;
select from journal_session_status(pg_temp.id(), 'paused');
select ability_invoke('ledger_read', '{}', pg_temp.id());
select is((select state::text from work_items where id = pg_temp.id()), 'paused', 'it reads and is paused');
select matches(ability_invoke('claim', '{"key": "file:/srv/sums.js"}', pg_temp.id())::text, 'Yours until', 'it claims');
select is((select state::text from work_items where id = pg_temp.id()), 'created', 'and goes on');
select is((select count(*) from v_claims where work_item_id = pg_temp.id()), 1::bigint, 'so the claim holds');
select from journal_session_status(pg_temp.id(), 'completed');
select throws_ok($$ select ability_invoke('claim', '{"key": "file:/srv/sums.js"}', pg_temp.id()) $$, 'WL003', null, 'one that is over does not');

select * from finish();
rollback;
