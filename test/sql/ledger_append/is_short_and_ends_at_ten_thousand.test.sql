-- An entry should have four kilobytes at most, which is told and counted; a ledger has ten thousand.
begin;
select plan(8);
set local client_min_messages = error;

select agent();
select submit('Find why');
select is((ledger_append(item(), 'note', repeat('x', 4097))).seq, 1, 'a long entry is taken');
select from ledger_append(item(), 'step', repeat('x', 4096));
select results_eq($$ select steps, entries, long_entries from v_step_counts where work_item_id = item() $$, $$ values (1::bigint, 2::bigint, 1::bigint) $$, 'long entries are counted');
set local work_ledger.work_item_id = '';
select set_config('work_ledger.work_item_id', item()::text, true);
select is(_ability_ledger_append(jsonb_build_object('entry_type', 'note', 'content', repeat('x', 5000))), 'Recorded as [3]. It has 5000 bytes, over the 4096 that an entry should have: say what matters in a few sentences.', 'an agent is told that its entry is long');
select is(_ability_ledger_append('{"entry_type": "note", "content": "short"}'), 'Recorded as [4].', 'of a short entry nothing is said');

update fences set ledger_count = 9999 where work_item_id = item();
select is((ledger_append(item(), 'note', 'the last')).seq, 10000, 'the ten thousandth entry is taken');
select throws_ok($$ select ledger_append(item(), 'note', 'one more') $$, 'WL009', format('the ledger of work item %s is full: 10000 entries', item()), 'one more entry is refused');
select is((select ledger_count from item), 10000, 'a refused entry takes no number');
set local work_ledger.is_auto = 'true';
select is((ledger_append(item(), 'step', 'What the engine drafts')).seq, 10001, 'what the engine itself drafts is still taken');

select * from finish();
rollback;
