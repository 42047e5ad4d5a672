-- An entry of the journal is never changed; deleting one takes its content away and leaves word of why.
begin;
select plan(4);

select take(journal_session_create('chat-1', 'Build the thing'));
select from journal_log(item(), 'error', '{"errorType": "a", "message": "b", "recoverable": true}');
create temporary table logged as select * from journal_log(item(), 'thinking', '{"reasoning": "The password is x"}');

select from journal_entry_delete((select id from logged), 'a secret');
select is((select content from journal_entries where id = (select id from logged)), null, 'the content of a deleted entry is gone');
select is((select count(*) from work_journal where source_id = (select id from logged)), 0::bigint, 'a deleted entry is not in the journal');
select throws_ok($$ update journal_entries set importance = 'low' where entry_type = 'error' $$, 'WL007', null, 'an entry is not changed');
select throws_ok($$ delete from journal_entries $$, 'WL007', null, 'no row of an entry is deleted');

select * from finish();
rollback;
