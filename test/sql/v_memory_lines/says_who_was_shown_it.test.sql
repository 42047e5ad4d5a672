-- A line of a note has the version since which it stands there without a break, who wrote that, and how many were shown it since.
begin;
select plan(9);

create function pg_temp.view(p_reader text) returns text language sql as $$
  select memory_command('{"command": "view", "path": "/memories/a.md"}', 'shop', p_reader => p_reader)
$$;
create function pg_temp.lines() returns text language sql as $$
  select string_agg(format('%s:%s v%s %s', line, content, since_version, readers), ', ' order by line) from v_memory_lines where project = 'shop'
$$;

select memory_write('/memories/a.md', E'one\ntwo', 'shop'), memory_write('/memories/b.md', 'of another', 'bank');
select pg_temp.view('first');
select is(pg_temp.lines(), '1:one v1 1, 2:two v1 1', 'who viewed it was shown its lines');
select memory_write('/memories/a.md', E'one\ntwo\nthree\none', 'shop', 1, 'more');
select pg_temp.view('second');
select is(pg_temp.lines(), '1:one v1 2, 2:two v1 2, 3:three v2 1, 4:one v1 2', 'who viewed an earlier version was not shown what came later');
select memory_write('/memories/a.md', E'one\nthree', 'shop', 2), memory_write('/memories/a.md', E'one\nthree\ntwo', 'shop', 3);
select is(pg_temp.lines(), '1:one v1 2, 2:three v2 1, 3:two v4 0', 'a line that was gone meanwhile is a new one');
select is((select count(*) from v_memory_lines where written_by = session_user and created_at is not null), 4::bigint, 'each with who wrote it');
select results_eq($$ select version, changes from v_memory_versions where path_now = '/memories/a.md' order by version $$,
  $$ values (1, E'+ one\n+ two'), (2, E'+ three\n+ one'), (3, E'- two\n- three\n- one\n+ three'), (4, '+ two') $$, 'a version says how it differs from the one before');
select results_eq($$ select reader, version, newest_version from v_memory_views where project = 'shop' order by reader $$,
  $$ values ('first', 1, 4), ('second', 2, 4) $$, 'and who was shown which last');
select agent('{"tools": ["look"], "workspace": "host", "workspace_dir": "/srv/shop"}', '{"memory": true}');
select take((work_submit('analyze', 'Note', p_project => 'shop')).id), drive(), answer('[["memory", {"command": "view", "path": "/memories/a.md"}]]'), run();
select results_eq($$ select reader, work_item_id, version from v_memory_views where work_item_id is not null $$,
  $$ select _agent_name(w), w.id, 4 from work_items w where w.id = item() $$, 'an agent is one by its item');
select memory_erase('/memories/a.md', 'asked for', 'shop', true);
select is(pg_temp.lines(), '1:one v4 1, 2:three v4 1, 3:two v4 1', 'what is erased was in no version any more');
select memory_command('{"command": "delete", "path": "/memories/a.md"}', 'shop');
select is(pg_temp.lines(), null, 'a note that is deleted has no lines');

select * from finish();
rollback;
