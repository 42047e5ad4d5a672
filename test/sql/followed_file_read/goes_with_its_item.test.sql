-- What was read of a file of erased work goes with it; nothing else of the file is kept than a hash of its path.
begin;
select plan(6);

create temporary table known as select (journal_session_open('s')).id;
select followed_file_read(repeat('0a', 32), '1', id) from known;
select journal_session_status(id, 'completed') from known;
select count(*) from known, work_erase(id);
select is_empty($$ select followed_files_list() $$, 'it went');
select followed_file_read(repeat('0a', 32), '1', id) from known;
select results_eq($$ select state, work_item_id from followed_files_list() $$, $$ values ('1', null::uuid) $$, 'it is not tied to what is erased again');
select throws_ok($$ select followed_file_read('/home/me/session.jsonl', '1') $$, 'WL002', null, 'a path is no key');
select throws_ok($$ select followed_file_read(repeat('0a', 32), repeat('x', 201)) $$, 'WL002', null, 'a state is short');
select throws_ok($$ select followed_file_read(repeat('0a', 32), '1', p_alive_seconds => 0) $$, 'WL002', null, 'nobody is alive for no time');
select throws_ok($$ select followed_file_read(repeat('0a', 32), '1', gen_random_uuid()) $$, 'WL001', null, 'of an item that there is');

select * from finish();
rollback;
