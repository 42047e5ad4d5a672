-- A person takes a claim away: it is free, its agent is told, and its journal has who did it and why.
begin;
select plan(8);

select tool('edit_file', 'unsafe', 'moderate');
select agent('{"workspace": "host", "workspace_dir": "/shop", "tools": ["edit_file"], "ledger_nudge_interval": 0}');
select submit();
select play('[[["edit_file", {"path": "a.js"}, "done"]]]');
select set_config('work_ledger.person', 'Ada', true);
select is((select claim_break(work_item_id, key, 'It is urgent') from v_claims), true, 'it is taken away');
select is((select count(*) from claims), 0::bigint, 'and free');
select is((select claim_break(item(), 'file:a.js')), false, 'once');
select results_eq($$ select content, person from inbox $$, $$ values ('Your claim on "file:a.js" was broken by a person: It is urgent. Others may change it now: check it again before you do.', 'Ada') $$, 'its agent will be told, and who did it is stored');
select isnt_empty($$ select from work_journal where work_item_id = item() and content::text ~ 'broken by a person' $$, 'its journal has it');
select journal_session_open('s', 'A session', '/shop');
select claim_check(id, array['b.js']) from work_items where work_type = 'journal';
select is((select claim_break(work_item_id, key) from v_claims), true, 'of a session, too');
select throws_ok($$ select claim_break('00000000-0000-0000-0000-000000000000', 'a') $$, 'WL001', null, 'an item has to be there');
select from work_cancel(item());
select throws_ok($$ select claim_break(item(), 'a') $$, 'WL003', null, 'and not over');

select * from finish();
rollback;
