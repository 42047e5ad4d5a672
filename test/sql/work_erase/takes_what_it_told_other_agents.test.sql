-- What an erased agent told others goes from their conversations and inboxes; of work under way when that is over.
begin;
select plan(13);

select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
create temporary table work as select n, (work_submit('analyze', 'Part ' || n)).id from generate_series(1, 3) n;
create function pg_temp.id(p_n integer) returns uuid language sql as $$ select id from work where n = p_n $$;
select journal_session_open('s', 'A session');
select take(pg_temp.id(2)), play('[[["look"]]]', pg_temp.id(2));
select count(*) from unnest(array[pg_temp.id(2), pg_temp.id(3)]) i, tell_agent(pg_temp.id(1), i::text, 'A canary');
select from tell_agent(pg_temp.id(1), 'journal', 'A canary');
select inbox_take(id) from work_items where work_type = 'journal';
select from work_complete((select id from work_items where work_type = 'journal'), 'Done');
select play('[[["look"]]]');
select from work_complete(pg_temp.id(1), 'Done');
select is((select count(*) from ledger_search('canary')), 3::bigint, 'it is found');

select set_eq($$ select name, row_count from work_erase(pg_temp.id(1), p_is_dry_run => true) where kind = 'quoted in' $$,
  $$ select id::text, 1::bigint from work_items where id <> pg_temp.id(1) $$, 'a dry run says who was told');
select from work_erase(pg_temp.id(1));
select alike(context_at(turn())::text, '%A canary%', 'a conversation under way stays as it is');
select is((select is_quoted from erasures), true, 'which is noted');
select is((select content from inbox i join work_items w on w.id = i.work_item_id where w.work_type = 'journal'), '[erased]', 'from work that is over it goes at once');
select is((select count(*) from ledger_search('canary')), 1::bigint, 'and is no longer found there, nor where nobody has read it');
select is_empty($$ select from inbox where work_item_id = pg_temp.id(3) and consumed_at is null $$, 'what was not read is not told any more');

select play('[["Done."]]');
select from work_cancel(pg_temp.id(3));
select from work_retention_run();
select unalike(context_at(turn())::text, '%canary%', 'when it is over it goes, too');
select alike(context_at(turn())::text, '%[engine] What another agent said stood here; it is erased.%', 'which is said in its place');
select is((select erased_hash is not null from messages where metadata ->> 'kind' = 'agent_message'), true, 'its hash stays');
select is_empty($$ select content from inbox where content <> '[erased]' $$, 'nor does it wait where it was never read');
select is_empty($$ select from ledger_search('canary') $$, 'and is found nowhere');
select later('1 hour');
select from work_retention_run();
select is((select is_quoted from erasures), false, 'nothing is left to do');

select * from finish();
rollback;
