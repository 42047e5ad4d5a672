-- The first prompt of a session says what it is about; each is in its journal.
begin;
select plan(15);

create temporary table session as select * from journal_session_open('s1', p_directory => '/shop');
select results_eq('select description, params from session', $$ values ('An interactive session in /shop', '{"conversationId": "s1", "directory": "/shop", "isUnnamed": true}'::jsonb) $$, 'a session that nobody has asked anything has the name of its directory');
select is((journal_session_prompt((select id from session), 'Rework the invoices', '00000000-0000-0000-0000-000000000001')).description, 'Rework the invoices', 'its first prompt becomes its description');
select is((journal_session_prompt((select id from session), 'Rework the invoices', '00000000-0000-0000-0000-000000000001')).params, '{"conversationId": "s1", "directory": "/shop", "namedBy": "00000000-0000-0000-0000-000000000001"}'::jsonb, 'and it says by which');
select is((journal_session_prompt((select id from session), 'And their tests')).description, 'Rework the invoices', 'a later prompt changes nothing about that');
select results_eq($$ select content ->> 'message' from journal_entries where work_item_id = (select id from session) order by created_at, id $$, $$ values ('Rework the invoices'), ('And their tests') $$, 'each is in the journal, once');
select is((select array_agg(distinct source::text order by source::text) from ledger_search('invoices')), '{journal,work}', 'it is found by its words');
select is_empty($$ select from ledger_search('interactive') $$, 'and no more by those that it had before');
select is(octet_length((journal_session_prompt((journal_session_open('s2')).id, repeat('long ', 20000))).description) <= 65536, true, 'a long prompt is shortened to what a description may hold');
select throws_ok($$ select journal_session_prompt((select id from session), E' \n') $$, 'WL002', 'a prompt needs a text', 'a prompt without a text is refused');
-- Before anybody asked anything a session is nothing to hear of.
select from journal_session_open('s3', p_directory => '/elsewhere');
select unalike(awareness_digest(), '%/elsewhere%', 'a session without a prompt is not told of');
select from journal_entry_delete((select id from journal_entries where content ->> 'message' = 'And their tests'));
select is((select description from work_items where id = (select id from session)), 'Rework the invoices', 'a prompt that is deleted takes no name along that another one gave');
select from journal_entry_delete('00000000-0000-0000-0000-000000000001');
select is((select description from work_items where id = (select id from session)), 'An interactive session in /shop', 'the first one does');
select is_empty($$ select from ledger_search('invoices') $$, 'and nothing finds its words');
select from journal_session_status((select id from session), 'completed');
select throws_ok($$ select journal_session_prompt((select id from session), 'More') $$, 'WL003', null, 'a session that is over is asked nothing');
select is((journal_session_open('named', 'As its client says')).params, '{"conversationId": "named"}'::jsonb, 'a session that was opened with a prompt has a name from the start');

select * from finish();
rollback;
