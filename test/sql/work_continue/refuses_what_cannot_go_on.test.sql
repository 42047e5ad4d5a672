-- What is not completed, not there, erased, another program's or somebody else's does not go on; the error says what does.
begin;
select plan(18);

create role goes_on_client login; create role goes_on_other login; create role goes_on_boss login;
select from work_roles_create('goes_on_t_');
grant goes_on_t_client to goes_on_client, goes_on_other; grant goes_on_t_admin to goes_on_boss;
select agent('{"tools": ["look"]}');
select submit();
select throws_ok($$ select work_continue(item(), 'More') $$, 'WL008', null, 'not what is open');
select throws_ok($$ select work_retry(item()) $$, 'WL008', null, 'nor is it tried again');
select from work_cancel(item());
select throws_ok($$ select work_continue(item(), 'More') $$, 'WL008', format('work item %s is cancelled', item()), 'what was cancelled is retried');
select throws_ok($$ select work_message(item(), 'More') $$, 'WL003', null, 'and hears nothing more');
select is(_how_to_go_on('completed'), 'work_continue() continues it with a message, as a new item in the same session.', 'whoever writes to completed work is told how');
select throws_ok($$ select work_continue(_uuidv7(), 'More') $$, 'WL001', null, 'nor what is not there');
select throws_ok($$ select work_retry(null) $$, 'WL001', null, 'nor nothing');
select throws_ok($$ select work_continue(item(), ' ') $$, 'WL002', null, 'not without a word');
select throws_ok(format('select work_retry(item(), %L)', repeat('x', 60001)), 'WL002', null, 'not with a book');
select throws_ok($$ select work_retry(item(), null, '') $$, 'WL002', null, 'an empty key is none');
select throws_ok(format('select work_retry(item(), null, %L)', repeat('k', 1001)), 'WL002', null, 'nor is a page');

create temporary table kept as select work_submit('analyze', 'Another', p_idempotency_key => 'taken') as item;
select throws_ok($$ select work_retry(item(), null, 'taken') $$, 'WL006', null, 'a key stands for one item');
select throws_ok($$ select work_retry(item(), 'x', null, work_external_id) from (select set_config('x.y', '', true), 'e1' as work_external_id, work_submit('analyze', 'Third', p_external_id => 'e1')) x $$,
  'WL006', null, 'and so does an external id');

create temporary table session as select id from journal_session_open('c1', 'Look');
select from journal_session_status((select id from session), 'completed');
select throws_ok($$ select work_continue((select id from session), 'More') $$, 'WL002', null, 'a session of another program is that program''s');

select play('[["done"]]', (select id from work_submit('analyze', 'Over')));
set session authorization goes_on_client;
create temporary table own as select id from work_submit('analyze', 'Mine');
grant select on own to public;
select from work_cancel((select id from own));
set session authorization goes_on_other;
select throws_ok($$ select work_retry((select id from own)) $$, '42501', null, 'nobody goes on with the work of another');
set session authorization goes_on_boss;
select is((select (work_retry((select id from own))).submitted_by), 'goes_on_client'::name, 'an administrator does, and it stays that of who submitted it');
reset session authorization;

select from work_cancel((select next_id from v_work_list where work_item_id = (select id from own)));
select throws_ok($$ select work_erase((select id from own)) $$, 'WL008', null, 'what goes on shares its ledger, and is erased first or with it');
select from work_erase((select id from own), p_with_forks => true);
select throws_ok($$ select work_retry((select id from own)) $$, 'WL003', null, 'what is erased does not go on');

select * from finish();
rollback;
