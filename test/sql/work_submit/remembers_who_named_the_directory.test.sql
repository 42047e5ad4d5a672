-- The worker is told by whose authority a directory was named: whoever named it first, for children and forks, too.
begin;
select plan(11);

create role named_client login; create role named_other login; create role named_boss login; create role named_worker login; create role named_gone login;
select from work_roles_create('named_t_');
grant named_t_client to named_client, named_other; grant named_t_admin to named_boss, named_gone; grant named_t_worker to named_worker;
grant usage on schema work_test to public; grant execute on all functions in schema work_test to public; grant all on all tables in schema work_test to public;
create function pg_temp.named(p_item uuid) returns text language sql as $$
  select concat_ws(' ', d ->> 'path', d ->> 'named_by', d ->> 'is_administered') from (select focus_claim(p_item, 'w') -> 'directory') as c(d)
$$;
create function pg_temp.save(p_dir text) returns void language sql as $$
  select from faculty_save(jsonb_build_object('name', 'builder', 'accepts', '["build"]'::jsonb, 'engage', jsonb_build_object('workspace', 'host', 'workspace_dir', p_dir)))
$$;
create temporary table item (name text, id uuid);
grant all on item to public;

set session authorization named_boss;
select pg_temp.save('/faculty');
insert into item select 'boss', id from work_submit('build', 'x', p_workspace_dir => '/boss');
insert into item select 'none', id from work_submit('build', 'x');
set session authorization named_client;
insert into item select 'client', id from work_submit('build', 'x', p_workspace_dir => '/client');
insert into item select 'child', c.id from item i, work_submit('build', 'x', p_parent_id => i.id) c where i.name = 'client';
reset session authorization;
insert into item select 'owner', id from work_submit('build', 'x', p_workspace_dir => '/owner');

select is(pg_temp.named((select id from item where name = 'client')), '/client named_client false', 'a client names it as itself');
select is(pg_temp.named((select id from item where name = 'child')), '/client named_client false', 'a child works by the word of whoever named it');
select is(pg_temp.named((select id from item where name = 'boss')), '/boss named_boss true', 'an administrator is told apart');
select is(pg_temp.named((select id from item where name = 'owner')), format('/owner %s true', session_user), 'so is whoever owns the ledger');
select is(pg_temp.named((select id from item where name = 'none')), '/faculty named_boss true', 'the directory of a faculty was named by whoever saved it');
select is(focus_claim((select id from work_submit('other', 'x', p_faculty => (select name from faculty_save('{"name": "plain"}')))), 'w') ->> 'directory', null, 'where none is named, nobody named it');

set session authorization named_worker;
select pg_temp.save('/faculty');
select is((select saved_by from faculties where config #>> '{engage,workspace_dir}' = '/faculty'), 'named_boss', 'what an administrator saved stays an administrator''s');
select pg_temp.save('/worker');
select is(pg_temp.named((select id from work_submit('build', 'x'))), '/worker named_worker false', 'a worker''s role is none');

set session authorization named_gone;
select pg_temp.save('/gone');
reset session authorization;
create temporary table gone as select id from work_submit('build', 'x');
drop role named_gone;
select is(pg_temp.named((select id from gone)), '/gone named_gone false', 'nor is a role that is not there any more');

set session authorization named_boss;
select pg_temp.save('/gone');
reset session authorization;
select is((select saved_by from faculties where config #>> '{engage,workspace_dir}' = '/gone'), 'named_boss', 'and an administrator who saves the same takes it over');
select ok(not _administers(null), 'nobody is no administrator');

select * from finish();
rollback;
