-- The files of work that is over may go when its faculty keeps them no longer.
begin;
select plan(5);

select from faculty_save('{"name": "keeps", "accepts": ["a"], "engage": {"workspace_keep_hours": 2}}');
select from faculty_save('{"name": "other", "accepts": ["b"]}');
create temporary table work as select n, (work_submit('a', 'work ' || n)).id from generate_series(1, 3) n;
create temporary table never as select id from work_submit('b', 'never begun');
create temporary table held as select id, (focus_claim(id, 'w') ->> 'lease')::uuid as lease from work where n <= 2;
select from held, lateral work_complete(id, 'done', p_lease => lease);
select from work_cancel((select id from never));
alter table work_items disable trigger user; -- time passes
update work_items set resolved_at = resolved_at - interval '3 hours' where id = (select id from work where n = 1);
select results_eq(
  'select workspaces_over((select array_agg(id) from work) || gen_random_uuid())', 'select id from work where n = 1',
  'files of work that is over for longer than its faculty keeps them may go, and no others');
update work_items set resolved_at = resolved_at - interval '23 hours' where id = (select id from never);
select is_empty('select workspaces_over((select array_agg(id) from never))', 'where no faculty ever said, files are kept for a day');
update work_items set resolved_at = resolved_at - interval '2 hours' where id = (select id from never);
select isnt_empty('select workspaces_over((select array_agg(id) from never))', 'where no faculty ever said, files may go after a day');
alter table work_items enable always trigger refuse_rewrite;
create temporary table erased as select id from work_submit('a', 'erased');
select from work_complete((select id from erased), 'done');
select from work_erase((select id from erased));
select isnt_empty('select workspaces_over((select array_agg(id) from erased))', 'of what was erased they may go at once');
select is_empty('select workspaces_over(null)', 'of no items no files may go');

select * from finish();
rollback;
