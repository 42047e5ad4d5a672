-- A fork works where its source did, by the word of whoever named that directory; a stranger who forks has only its own word.
begin;
select plan(4);

create role forks_client login; create role forks_other login; create role forks_boss login;
select from work_roles_create('forks_t_');
grant forks_t_client to forks_client, forks_other; grant forks_t_admin to forks_boss;
select agent('{"workspace": "host", "tools": ["look"]}');
select take(work_submit('analyze', 'Look', p_workspace_dir => '/owner'));
select play('[[["look", "seen"]]]');
create temporary table source as select turn_id from request;
create temporary table fork (name text, by name, dir text);
grant all on fork, source to public;

insert into fork select 'owner', f.workspace_dir_by, f.workspace_dir from source s, work_fork(s.turn_id) f;
set session authorization forks_boss;
insert into fork select 'boss', f.workspace_dir_by, f.workspace_dir from source s, work_fork(s.turn_id) f;
set session authorization forks_other;
insert into fork select 'other', f.workspace_dir_by, f.workspace_dir from source s, work_fork(s.turn_id) f;
reset session authorization;

select is((select by from fork where name = 'owner'), session_user, 'the word of whoever named it holds in a fork');
select is((select by from fork where name = 'boss'), session_user, 'also where an administrator forks');
select is((select by from fork where name = 'other'), 'forks_other', 'a client who forks the work of another has only its own word');
select is((select count(*)::integer from fork where dir = '/owner'), 3, 'each is in the same directory');

select * from finish();
rollback;
