-- A transcript goes with its item: by hand, and by policy, which keeps the ledger.
begin;
select plan(6);

select a.appended from unnest('{s,t}'::text[]) s, transcript_append('-home', s, null, '[{"secret": "x"}]', '{u1}') a;
create temporary table item as
  select s, (session_import(json_build_object('format', 'claude-code', 'sessionId', s, 'prompt', 'Go', 'exchanges', '[]'::json, 'transcript', json_build_object('projectKey', '-home', 'sessionId', s))) ->> 'work_item_id')::uuid as id
    from unnest('{s,t}'::text[]) s;
select journal_session_status(id, 'completed') from item;

select ok('{transcripts,transcript_entries}' <@ array_agg(relation), 'an export has both') from work_export((select id from item where s = 's'));
select is((select bytes > 0 from work_erase((select id from item where s = 's'), p_is_dry_run => true) where name = 'transcript_entries'), true, 'erasing counts them');
select count(*) from work_erase((select id from item where s = 's'));
select is_empty($$ select from transcript_load('-home', 's') $$, 'and takes them');
select retention_policy_save('0 seconds', p_keep => 'ledger');
set local work_ledger.now = '2100-01-01';
do $$ begin for n in 1..10 loop exit when (work_retention_run() ->> 'is_done')::boolean; end loop; end $$;
select is_empty($$ select from transcript_load('-home', 't') $$, 'so does a policy');
select is((select description from work_items where id = (select id from item where s = 't')), 'Go', 'that keeps the ledger');
select throws_ok($$ select transcript_append('-home', 't', null, '[{}]', '{u2}') $$, 'WL003', null, 'nothing is appended to either');

select * from finish();
rollback;
