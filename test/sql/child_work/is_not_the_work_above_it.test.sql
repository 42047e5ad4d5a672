-- What an ancestor is doing is refused: the same task, and that is its description with its params.
begin;
select plan(6);

select from faculty_save('{"name": "worker", "accepts": ["analyze", "review"]}');
select from faculty_save('{"name": "other", "accepts": ["test"]}');
create temporary table root as select * from work_submit('analyze', 'Read the file', '{"file": "a"}');
create temporary table child as select c.* from root, spawn_child_work(root.id, 'analyze', 'Read the file', '{"file": "b"}') c;
select is((select params from child), '{"file": "b"}', 'the same words with other params are other work');
select throws_ok($$ select spawn_child_work((select id from root), 'analyze', 'Read the file', '{"file": "a"}') $$, 'WL002', 'an ancestor is already doing this very work', 'the same words with the same params are the same work');
select throws_ok($$ select spawn_child_work((select id from child), 'analyze', 'Read the file', '{"file": "a"}') $$, 'WL002', null, 'the same work two levels below is refused');
select throws_ok($$ select spawn_child_work((select id from child), 'review', 'Read the file', '{"file": "a"}') $$, 'WL002', null, 'the same work under another work type of the same faculty is refused');
select lives_ok($$ select spawn_child_work((select id from child), 'test', 'Read the file', '{"file": "a"}') $$, 'another faculty may do it again');
select lives_ok($$ select spawn_child_work((select id from child), 'analyze', 'Read the file') $$, 'the same words without params are other work');

select * from finish();
rollback;
