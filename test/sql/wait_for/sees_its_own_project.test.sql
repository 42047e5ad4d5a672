-- An item waits for work of its own project, of none, and of its own tree; other work is not found, whatever it is called today.
begin;
select plan(6);

select agent();
create temporary table work (name text, id uuid);
insert into work select name, (work_submit('analyze', name, p_project => project)).id
  from (values ('shop', 'shop'), ('old shop', 'old-shop'), ('bank', 'bank'), ('nowhere', null)) as v(name, project);
select submit('Of no project');
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
create function pg_temp.error(p_who uuid, p_name text) returns text language plpgsql as $$
begin
  perform wait_for(p_who, array[pg_temp.id(p_name)]);
  return 'waits';
exception when others then
  return format('%s %s', sqlstate, sqlerrm);
end
$$;
select is(pg_temp.error(pg_temp.id('shop'), 'bank'), format('WL001 there is no work item %s', pg_temp.id('bank')), 'work of another project is not there');
select matches(pg_temp.error(pg_temp.id('shop'), 'old shop'), '^WL001 ', 'nor is that of a project of another name');
select project_rename('old-shop', 'shop');
select is(pg_temp.error(pg_temp.id('shop'), 'old shop'), 'waits', 'unless it is the same today');
select is(pg_temp.error(pg_temp.id('shop'), 'nowhere'), 'waits', 'work of no project is everybody''s');
select matches(pg_temp.error(pg_temp.id('nowhere'), 'shop'), '^WL001 ', 'and sees that of no project only');
insert into work select 'part', (work_submit('analyze', 'part', p_parent_id => pg_temp.id('bank'))).id;
update work_items set project = 'shop' where id = pg_temp.id('part');
select is(pg_temp.error(pg_temp.id('bank'), 'part'), 'waits', 'and everybody its own tree');

select * from finish();
rollback;
