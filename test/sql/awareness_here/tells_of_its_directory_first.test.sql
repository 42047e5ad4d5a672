-- A session that starts is told of the work in its directory and below it; of work elsewhere, only how much is running.
begin;
select plan(11);

select submit('The session itself');
create temporary table near as select id from work_submit('fix', 'In a package', p_workspace_dir => '/home/anna/project/one');
select ledger_append((select id from near), 'finding', 'The rounding is wrong');
select work_submit('fix', 'In a directory of a similar name', p_workspace_dir => '/home/anna/project-two');

select matches(awareness_here(item(), '/home/anna/project'), E'In this directory or its repository:\n- \\[fix\\] In a package \\(queued\\)\n  finding: The rounding is wrong\n', 'with what was found there');
select doesnt_match(awareness_here(item(), '/home/anna/project/'), 'similar name', 'a directory of a similar name is another');
select matches(awareness_here(item(), '/home/anna/project-two'), 'similar name', 'where the session is there, it is told of that');
select matches(awareness_here(item(), '/elsewhere'), 'There is no other work in this directory', 'where there is nothing it is told so');
select throws_ok($$ select awareness_here(item(), 'relative') $$, 'WL002', null, 'a directory is absolute');
select throws_ok($$ select awareness_here('00000000-0000-0000-0000-000000000000', '/') $$, 'WL001', null, 'the session exists');

-- Sessions that ended are many, and push nothing out that somebody works on.
select count(journal_session_status((journal_session_open('s' || n, 'Session ' || n, '/home/anna/project')).id, 'paused')) from generate_series(1, 9) n;
select matches(awareness_here(item(), '/home/anna/project'), E'repository:\\n- \\[fix\\] In a package', 'work comes before sessions that are over');
select alike(awareness_here(item(), '/home/anna/project'), '%- [session] Session 9 (paused)%', 'which come after it');
select work_submit('fix', 'A directory of its own', '{"directory": "/home/anna/project"}');
select unalike(awareness_here(item(), '/home/anna/project'), '%A directory of its own%', 'parameters of work say nothing about where it is');


select faculty_save('{"name": "mender", "accepts": ["mend"], "engage": {"workspace": "host", "workspace_dir": "/home/anna/mended"}}');
create temporary table mended as select id from work_submit('mend', 'Where its faculty works');
select alike(awareness_here(item(), '/home/anna/mended'), '%] Where its faculty works%', 'work is where its faculty works');
select work_cancel(id) from mended;
select work_erase(id) from mended;
select matches(awareness_here(item(), '/home/anna/mended'), 'There is no other work in this directory', 'once its words are erased it is not told');

select * from finish();
rollback;
