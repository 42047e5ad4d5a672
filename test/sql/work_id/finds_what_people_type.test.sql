-- A work item is found by its id, the end of it, any part that no other has, or as one of the newest.
begin;
select plan(17);

create temporary table is_now (id uuid, name text);
create function pg_temp.item(p_id text, p_says text, p_project text default null, p_parent uuid default null) returns void language sql as $$
  select set_config('work_ledger.now', (timestamptz '2026-11-20 12:00:00+00' + right(p_id, 2)::integer * interval '1 minute')::text, true);
  with made as (select (work_submit('analyze', p_says, p_parent_id => p_parent, p_project => p_project)).id)
  insert into pg_temp.is_now select m.id, p_id from made m;
$$;
select pg_temp.item('01', 'First'), pg_temp.item('02', 'Of the shop', 'shop'), pg_temp.item('03', 'Of the bar', 'bar');
select pg_temp.item('04', 'Its child', 'bar', (select id from is_now where name = '03'));
create function pg_temp.named(p_name text) returns uuid language sql as $$ select id from is_now where name = p_name $$;
create function pg_temp.end_of(p_name text, p_chars integer) returns text language sql as $$ select right(id::text, p_chars) from is_now where name = p_name $$;

select is(work_id(pg_temp.named('02')::text), pg_temp.named('02'), 'by its id');
select is(work_id(' ' || upper(pg_temp.named('02')::text) || E'\n'), pg_temp.named('02'), 'in any case, with blanks around it');
select is(work_id(pg_temp.end_of('02', 6)), pg_temp.named('02'), 'by the end of its id');
select is(work_id(substr(pg_temp.named('02')::text, 20, 12)), pg_temp.named('02'), 'by another part that no other id has');
select is(work_id('last'), pg_temp.named('03'), 'the newest that is no child');
select is(work_id('LAST:2'), pg_temp.named('02'), 'the one before it');
select is(work_id('last', 'shop'), pg_temp.named('02'), 'the newest of a project');
select is(work_id('last:2', 'shop'), pg_temp.named('01'), 'work of no project is everybody''s');
select is(work_id('last', ''), pg_temp.named('01'), 'of no project');
select project_rename('shop', 'store');
select is(work_id('last', 'store'), pg_temp.named('02'), 'by the new name of its project');
select is(work_id('last', 'shop'), pg_temp.named('02'), 'and by the old one');
select throws_ok($$select work_id('last:4')$$, 'WL001', 'there is no work item last:4');
select throws_ok($$select work_id('0f0f0f0f0f0f')$$, 'WL001', 'there is no work item 0f0f0f0f0f0f');
select throws_ok($$select work_id('00000000-0000-0000-0000-000000000000')$$, 'WL001', 'there is no work item 00000000-0000-0000-0000-000000000000');
select throws_ok(format('select work_id(%L)', left(pg_temp.named('01')::text, 6)), 'WL002', format('"%s" occurs in the id of more than one work item', left(pg_temp.named('01')::text, 6)));
select throws_ok(format('select work_id(%L)', w), 'WL002', format('"%s" is not the id of a work item', w)) from unnest('{12,last:0}'::text[]) w;

select * from finish();
rollback;
