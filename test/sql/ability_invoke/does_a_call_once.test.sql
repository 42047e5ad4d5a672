-- A call that is made again with its id, since its answer was lost, does nothing a second time, and says what it said.
begin;
select plan(11);

select agent('{}');
select submit('Fix it');
create function pg_temp.call(p_name text, p_input jsonb, p_id integer default null) returns text language sql as $$
  select coalesce(r #>> '{}', '') from ability_invoke(p_name, p_input, item(), null, ('00000000-0000-0000-0000-' || lpad(p_id::text, 12, '0'))::uuid) r $$;
create function pg_temp.twice(p_name text, p_input jsonb, p_id integer) returns boolean language plpgsql as $$
declare
  v_first text := pg_temp.call(p_name, p_input, p_id);
begin
  return v_first = pg_temp.call(p_name, p_input, p_id);
end $$;
create function pg_temp.note() returns text[] language sql as $$ select array_agg(path || ': ' || content) from v_memory_versions v where version = (select max(o.version) from v_memory_versions o where o.file_id = v.file_id) and content is not null $$;

select ok(pg_temp.twice('ledger_append', '{"entry_type": "note", "content": "once"}', 1), 'an entry');
select is((select count(*) from work_ledger where work_item_id = item()), 1::bigint, 'is there once');
select isnt(pg_temp.call('ledger_append', '{"entry_type": "note", "content": "once"}'), null, 'without an id');
select is((select count(*) from work_ledger where work_item_id = item()), 2::bigint, 'each call is one of its own');
select throws_ok($$ select pg_temp.call('ledger_append', '{"entry_type": "note", "content": "other"}', 1) $$, 'WL006', null, 'an id is of one call');
select ok(pg_temp.twice('memory', '{"command": "create", "path": "/memories/a.md", "file_text": "one"}', 2), 'create says that it created');
select ok(pg_temp.twice('memory', '{"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "two"}', 3)
      and pg_temp.twice('memory', '{"command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "one one"}', 4)
      and pg_temp.twice('memory', '{"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"}', 5), 'so do insert, str_replace and rename');
select is(pg_temp.note(), array[E'/memories/b.md: one one\ntwo'], 'each was done once');
select ok(pg_temp.twice('memory', '{"command": "delete", "path": "/memories/b.md"}', 6), 'delete says that it deleted');
select is(pg_temp.note(), null, 'which it did');
select throws_ok($$ select pg_temp.call('memory', '{"command": "delete", "path": "/memories/b.md"}', 7) $$, 'WL001', null, 'another call is told that it is gone');

select * from finish();
rollback;
