begin;
select plan(8);
set local client_min_messages = error;

select agent();
select submit('Find why');
select is((ledger_append(item(), 'note', repeat('x', 4097))).seq, 1, 'a long entry is taken');
select from ledger_append(item(), 'step', repeat('x', 4096));
select results_eq($$ select steps, entries, long_entries from v_step_counts where work_item_id = item() $$, $$ values (1::bigint, 2::bigint, 1::bigint) $$, 'and counted');
set local work_ledger.work_item_id = '';
select set_config('work_ledger.work_item_id', (select id::text from item), true);
select is(_ability_ledger_append(jsonb_build_object('entry_type', 'note', 'content', repeat('x', 5000))), 'Recorded as [3]. It has 5000 bytes, over the 4096 that an entry should have: say what matters in a few sentences.', 'an agent is told');
select is(_ability_ledger_append('{"entry_type": "note", "content": "short"}'), 'Recorded as [4].', 'of a short one nothing');

update work_items set ledger_count = 9999 where id = item();
select is((ledger_append(item(), 'note', 'the last')).seq, 10000, 'ten thousand entries');
select throws_ok($$ select ledger_append(item(), 'note', 'one more') $$, 'WL009', format('the ledger of work item %s is full: 10000 entries', item()), 'and no more');
select is((select ledger_count from work_items where id = item()), 10000, 'nothing is left of the attempt');
set local work_ledger.is_auto = 'true';
select is((ledger_append(item(), 'step', 'What the engine drafts')).seq, 10001, 'what the engine itself notes still goes in');

select * from finish();
rollback;
