-- What another program drives is resumed by that program: no worker is given it.
begin;
select plan(6);

select take(journal_session_create('chat-1', 'Rename the module'));
select from work_pause(item(), 'for the night');
select throws_ok($$ select work_resume(item()) $$, 'WL002', null, 'a session of another program is not resumed by us');
select is((select state from work_items where id = item()), 'paused', 'it stays paused');
select is((journal_session_status(item(), 'active')).state, 'created', 'its program resumes it');

select ability_invoke('ldg:task:save', '{"task": {"id": "t1", "systemPrompt": "x", "createdAt": 1700000000000, "updatedAt": 1700000000000}}');
select from work_pause((select id from work_items where external_id = 't1'));
select throws_ok($$ select work_resume(id) from work_items where external_id = 't1' $$, 'WL002', null, 'nor is a task of Agent OS');
select ability_invoke('ldg:task:save', '{"task": {"id": "t1", "systemPrompt": "x", "createdAt": 1700000000000, "updatedAt": 1700000000000}}');
select is((select state from work_items where external_id = 't1'), 'created', 'it goes on when it is saved');
select is((select count(*) from graphile_worker.jobs), 0::bigint, 'no worker hears of either');

select * from finish();
rollback;
