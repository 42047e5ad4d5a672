-- A tree is exported before it goes, all of it; where that fails it stays, and is tried again.
begin;
select plan(11);

set local work_ledger.now = '2026-01-01 00:00Z';
select agent('{"tools": ["look"]}');
select submit('Precious');
select play('[[["look", "what it saw"], ["finding", "A finding"]], ["done"]]');
select later('40 days');

create table work_test.archive (root_id uuid, document jsonb);
create function work_test.keep(p_root uuid) returns void language sql as $$ insert into work_test.archive select p_root, journal_export(p_root) $$;
create function work_test.lose(p_root uuid) returns void language plpgsql as $$ begin raise exception 'the archive is full: %', 'sk-ant-' || repeat('k', 600); end $$;
create function work_test.neither(p_root text) returns void language sql as $$ select $$;
select throws_ok($$ select retention_policy_save('30 days', p_export => 'work_test.neither(text)') $$, 'WL002', null, 'an export function takes a root');
create procedure work_test.proceed(uuid) language sql as '';
select throws_ok($$ select retention_policy_save('30 days', p_export => 'work_test.proceed(uuid)') $$, 'WL002', null, 'and is no procedure, which could not be called');

set local quote_all_identifiers = on;
select lives_ok($$ select retention_policy_save('30 days', p_export => 'work_test.lose(uuid)') $$, 'however the session writes names');
set local quote_all_identifiers = off;
select is(work_retention_run() ->> 'error', 'the archive is full: [redacted]', 'a failed export is told, without secrets');
select is((select description from item), 'Precious', 'and keeps the tree');
select is((work_retention_run() ->> 'is_done')::boolean, true, 'it is not tried again at once');
select is((select error from retention_runs), 'the archive is full: [redacted]', 'why is noted');

select later('59 minutes'); -- the next round of the worker that failed
select from retention_policy_save('30 days', p_export => 'work_test.keep(uuid)');
select is((work_retention_run() ->> 'root_id')::uuid, item(), 'an hour later it is');
select alike((select document::text from work_test.archive), '%Precious%what it saw%A finding%', 'the export holds all of it');
select is_empty($$ select * from retention_runs $$, 'what failed is forgotten');
select is((select erased_at is not null from item), true, 'and the tree goes');

select * from finish();
rollback;
