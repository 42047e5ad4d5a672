-- Where the files of a turn are is said once, and a fork at the turn is told.
begin;
select plan(3);

select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow'), play('[[["look"]]]');

select from turn_workspace_set(turn(), 'commit 3f2a');
select throws_ok($$ select turn_workspace_set(turn(), 'other') $$, 'WL007', null, 'where the files are is said once');
select throws_ok($$ select turn_workspace_set(gen_random_uuid(), 'other') $$, 'WL001', null, 'a turn that is not there has no files');
select take(work_fork(turn(), p_faculty => 'worker'));
select drive();
select alike((select body::text from request where n = 2), '%The files as they were at this point: commit 3f2a%', 'a fork is told where the files are');

select * from finish();
rollback;
