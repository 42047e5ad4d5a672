-- The end of an attempt waits for its consolidate command; where the faculty wants it so, the attempt fails with it.
begin;
select plan(2);

select agent('{}', '{"consolidate": {"command": "store", "on_failure": "fail"}, "recover": {"max_attempts": 1}}');
select submit('Fix it');

select drive(), answer('["Done."]');
create temporary table finished as select iteration_finish(item(), lease()) as stage;
select is(stage #>> '{input,outcome,summary}', 'Done.', 'the consolidate command is given the outcome') from finished;
select is(hook_record(item(), lease(), (stage ->> 'hook_run_id')::uuid, '{"exit_code": null, "signal": "SIGKILL"}') ->> 'kind', 'dead', 'a consolidate command that fails fails the attempt') from finished;

select * from finish();
rollback;
