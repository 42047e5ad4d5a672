-- However the work ends that an item waits for, the item is enqueued; and where that was lost, the sweep finds it.
begin;
select plan(9);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{}', '{"recover": {"max_attempts": 1}}');
create temporary table other (how text, id uuid);
insert into other select how, (work_submit('analyze', how)).id from unnest('{completes,fails,is cancelled,dies,is cancelled with its tree}'::text[]) how;
insert into other select 'journal', (journal_session_create('conversation', 'Build it')).id;
select os_task('t');
create function pg_temp.other(p_how text) returns uuid language sql as $$ select id from other where how = p_how $$;
select submit('Wait');
create function pg_temp.woken() returns boolean language sql as $$ select count(*) = 1 from graphile_worker.jobs where key like '%' || item() || '%' $$;
create function pg_temp.wait(p_id uuid) returns void language plpgsql as $$
begin
  perform drive(), answer(format('[["wait_for", {"work_item_ids": ["%s"]}]]', p_id)::jsonb), run(), iteration_finish(item(), lease());
  delete from graphile_worker._private_jobs;
end
$$;
create function pg_temp.goes_on() returns boolean language plpgsql as $$
begin
  if not pg_temp.woken() or drive() ->> 'kind' <> 'run_tools' then return false; end if;
  perform iteration_finish(item(), lease());
  return true;
end
$$;
select pg_temp.wait(pg_temp.other('completes')), work_complete(pg_temp.other('completes'), 'Done');
select ok(pg_temp.goes_on(), 'it is completed');
select pg_temp.wait(pg_temp.other('fails')), work_fail(pg_temp.other('fails'), 'No');
select ok(pg_temp.goes_on(), 'it fails');
select pg_temp.wait(pg_temp.other('is cancelled'));
select work_cancel(pg_temp.other('is cancelled'));
select ok(pg_temp.goes_on(), 'it is cancelled');
create temporary table part as select (work_submit('analyze', 'A part', p_parent_id => pg_temp.other('is cancelled with its tree'))).id;
select pg_temp.wait((select id from part));
select work_cancel(pg_temp.other('is cancelled with its tree'));
select ok(pg_temp.goes_on(), 'what is above it is cancelled');
select pg_temp.wait(pg_temp.other('dies')), drive(pg_temp.other('dies'), 'w2'), later('1 minute');
select is(focus_claim(pg_temp.other('dies'), 'w3') ->> 'state', 'dead', 'its worker dies, and the next one finds it');
select ok(pg_temp.goes_on(), 'it is dead');
select pg_temp.wait(pg_temp.other('journal')), journal_session_status(pg_temp.other('journal'), 'completed');
select ok(pg_temp.goes_on(), 'its program says that the session is over');
insert into other select 'task', id from work_items where external_id = 't';
select pg_temp.wait(pg_temp.other('task')), os_task('t', '{"completionStatus": "success"}');
select ok(pg_temp.goes_on(), 'the client of a task says so');
insert into other select 'lost', (work_submit('analyze', 'lost')).id;
select pg_temp.wait(pg_temp.other('lost')), work_complete(pg_temp.other('lost'), 'Done');
delete from graphile_worker._private_jobs;
select work_sweep();
select ok(pg_temp.goes_on(), 'a job that was lost is made again by the sweep');

select * from finish();
rollback;
