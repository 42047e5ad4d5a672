-- A work item is in a project, and all that comes of it is in the same one.
begin;
select plan(10);

select is((select project from work_submit('a', 'root')), null, 'without one an item is of no project');
create temporary table root as select * from work_submit('a', 'root', p_project => 'github.com/acme/shop');
create temporary table child as select w.* from root r, work_submit('a', 'child', p_parent_id => r.id) w;
select is((select project from child), 'github.com/acme/shop', 'a child is of its parent''s');
select lives_ok($$ select w.* from root r, work_submit('a', 'again', p_parent_id => r.id, p_project => 'github.com/acme/shop') w $$, 'which may be said again');
select throws_ok($$ select work_submit('a', 'elsewhere', p_parent_id => (select id from root), p_project => 'github.com/acme/other') $$,
                 'WL002', 'a child belongs to the project of its parent, "github.com/acme/shop", not to "github.com/acme/other"', 'it cannot leave it');
select is((select project from ledger_append((select id from child), 'finding', 'It is slow')), 'github.com/acme/shop', 'its entries know it');
select is((select array_agg(distinct project) from ledger_append_batch((select id from child), '[{"entry_type": "note", "content": "a"}, {"entry_type": "note", "content": "b"}]')),
          '{github.com/acme/shop}', 'those of a batch, too');
select is((select project from ledger_retract((select id from child), 1, 'It is not')), 'github.com/acme/shop', 'and what takes one back');
select is((select project from journal_session_open('session', 'Look', '/home/me/shop', 'github.com/acme/shop')), 'github.com/acme/shop', 'a session of another program has one');
select throws_ok(format('select work_submit(%L, %L, p_project => %L)', 'a', 'b', p.name), 'WL002', null, format('"%s" is no name of a project', p.name))
  from (values ('https://me:secret@github.com/acme/shop'), (E'two\nlines')) p(name);

select * from finish();
rollback;
