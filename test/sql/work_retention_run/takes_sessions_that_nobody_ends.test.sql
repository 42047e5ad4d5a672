-- A session of another program is over for a policy since its client ended or fell silent; one that goes on is not, however old it is.
begin;
select plan(15);

create function pg_temp.run_all() returns text[] language plpgsql as $$
declare
  v_did jsonb;
begin
  loop
    v_did := work_retention_run();
    exit when (v_did ->> 'is_done')::boolean;
  end loop;
  return array(select w.params ->> 'conversationId' from work_items w where w.erased_at is null order by w.id);
end
$$;
create function pg_temp.due() returns text[] language sql as $$
  select array(select w.description from jsonb_array_elements(work_retention_run(true) -> 'due') d join work_items w on w.id = (d ->> 'root_id')::uuid order by 1) $$;

set local work_ledger.now = '2026-01-01 00:00Z';
select from unnest('{ended,silent,noted,beating,parent}'::text[]) name cross join lateral journal_session_open(name, 'Task of ' || name, '/shop');
create temporary table session as select params ->> 'conversationId' as name, id from work_items;
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from session where name = p_name $$;
select from session s cross join lateral journal_session_status(s.id, 'paused') where s.name in ('ended', 'noted', 'parent');
create temporary table child as select id from work_submit('analyze', 'Child', p_parent_id => pg_temp.id('parent'));
select from retention_policy_save('30 days');

select later('29 days');
select from journal_heartbeat(pg_temp.id('beating'));
select from ledger_append(pg_temp.id('noted'), 'note', 'Somebody noted something');
select is(pg_temp.due(), '{}', 'none is due yet');
select later('1 day 1 second');
select is(pg_temp.due(), '{Task of ended}', 'one whose client ended is, 30 days after that');
select later('5 minutes');
select is(pg_temp.due(), '{Task of ended,Task of silent}', 'one that fell silent, after its heartbeat');
select is(array(select state from work_items where id in (pg_temp.id('ended'), pg_temp.id('silent')) order by id), '{paused,created}', 'a dry run ends nothing');

-- One goes on: its transcript is appended to, though nobody has read it yet.
select from transcript_append('-shop', 'silent', null, '[{"type": "user"}]', '{u}');
update transcripts set work_item_id = pg_temp.id('silent');
select is(pg_temp.due(), '{Task of ended}', 'one whose transcript goes on is not');
delete from transcript_entries;
delete from transcripts;

-- One goes on: its client is back.
select from journal_session_prompt(pg_temp.id('ended'), 'I am back');
select is(pg_temp.due(), '{Task of silent}', 'one that goes on is not');
select is(pg_temp.run_all(), '{ended,noted,beating,parent,NULL}', 'a run takes what is due');
select results_eq($$ select state, description, resolved_at from work_items where id = pg_temp.id('silent') $$,
  $$ values ('completed', '[erased]', timestamptz '2026-01-01 00:05Z') $$, 'it was over when its heartbeat stopped');
select isnt((select id from journal_session_open('silent')), pg_temp.id('silent'), 'a client that goes on with it has a new one');

select later('29 days');
select is(pg_temp.due(), '{Task of beating,Task of noted}', 'since their last heartbeat, and since what was noted last');
select from work_cancel((select id from child));
select later('29 days');
select is(pg_temp.due(), array['An interactive session in silent', 'Task of beating', 'Task of ended', 'Task of noted'], 'its children count, too');
select later('2 days');
select ok('Task of parent' = any (pg_temp.due()), 'and are old enough some day');

-- What goes on while its policy's function runs is not taken.
create function pg_temp.wakes(uuid) returns void language sql as $$ select from journal_session_status(pg_temp.id('parent'), 'active') $$;
select from retention_policy_save('30 days', p_export => 'pg_temp.wakes(uuid)');
select count(work_retention_run()) from generate_series(1, 200);
select is((select state from work_items where id = pg_temp.id('parent')), 'created', 'one that goes on meanwhile stays');
select is((select erased_at from work_items where id = pg_temp.id('parent')), null, 'and its words');
select is((select count(*) from work_items where erased_at is not null), 5::bigint, 'the others have gone');

select * from finish();
rollback;
