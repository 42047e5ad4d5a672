-- A note as deep as notes can be, for whose path the other project has a note, gets one by which it can still be named.
begin;
select plan(2);

select memory_write('/memories/a/b/c/d/e/f/g/h/i/j', 'One', 'p/one'), memory_write('/memories/a/b/c/d/e/f/g/h/i/j', 'Two', 'p/two');
select from project_rename('p/two', 'p/one');
create temporary table moved as select path from v_memory_files where project = 'p/one' and content = 'Two';
select alike((select path from moved), '/memories/two/%', 'it goes into the folder of its project');
select lives_ok($$ select memory_command(json_build_object('command', 'view', 'path', path), 'p/one') from moved $$, 'and is read there');

select * from finish();
rollback;
