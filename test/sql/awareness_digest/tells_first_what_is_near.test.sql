-- Of findings those of the reader's tree come first, then those of work that had to do with its files, then the newest.
begin;
select plan(6);

create temporary table work (name text, id uuid);
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
create function pg_temp.told(p_id uuid default item()) returns text language sql as $$
  select string_agg(m[1], ', ' order by n)
    from regexp_matches(substring(awareness_digest(p_id) from 'Recent findings:\n(.*?)(\n\n|$)'), '(?n)^- (\w+)', 'g') with ordinality as x(m, n)
$$;

select tool('edit_file', 'idempotent'), tool('read_file');
select agent('{"tools": ["edit_file", "read_file"], "max_children": 4}', '{"awareness": {"max_recent_findings": 2, "include_child_work": true}}');
select submit('Change the same file');
insert into work values ('file', item());
select play('[[["edit_file", {"path": "src/a.ts", "old_string": "x", "new_string": "y"}, "ok"], ["ledger_append", {"entry_type": "finding", "content": "File found it"}]]]');
insert into work select n, (work_submit('by hand', n)).id from unnest(array['far', 'furthest']) n;
insert into work select 'lead', (work_submit('by hand', 'Lead')).id;
insert into work select n, (work_submit('analyze', n, p_parent_id => pg_temp.id('lead'))).id from unnest(array['uncle', 'sibling']) n;
insert into work select 'cousin', (work_submit('analyze', 'cousin', p_parent_id => pg_temp.id('uncle'))).id;
select from unnest(array['cousin', 'far', 'furthest']) n, ledger_append(pg_temp.id(n), 'finding', initcap(n) || ' found it');

select submit('Nothing is near it');
select is(pg_temp.told(), 'Furthest, Far', 'what is near nobody comes by its time');
select play('[[["read_file", {"path": "src/a.ts"}, "x"]]]');
select is(pg_temp.told(), 'File, Furthest', 'then that of work at the same file');
select is(pg_temp.told(pg_temp.id('sibling')), 'Cousin, Furthest', 'a tree is nearer than those who came later');
select is(_nearness(pg_temp.id('cousin'), pg_temp.id('lead'), '{}'), 2, 'a tree counts two');
select is(_nearness(pg_temp.id('file'), pg_temp.id('lead'), '{src/a.ts}'), 1, 'a file counts one');
select is(_nearness(pg_temp.id('far'), pg_temp.id('lead'), '{src/a.ts}'), 0, 'and others nothing');

select * from finish();
rollback;
