-- What a worker drives is not moved by the functions for sessions and tasks of other programs, even if its type is theirs.
begin;
select plan(4);

select submit('Look', 'journal');
select throws_ok($$ select journal_session_status(item(), 'active') $$, 'WL002', null, 'work that waits for a worker is no session of another program');
select is((select state from item), 'queued', 'the work waits on');
select take(work_submit('ldg:task', 'Look', p_external_id => 'theirs'));
select throws_ok($$ select os_task('theirs') $$, 'WL002', null, 'work that waits for a worker is no task of Agent OS');
select is((select state from item), 'queued', 'the work of that type waits on, too');

select * from finish();
rollback;
