-- Erasing a session erases its transcripts, its item and those of its subagents; what others use is not erased with it.
begin;
select plan(18);

create function pg_temp.read_in(p_key text, p_session text, p_agent text default null) returns uuid language sql as $$
  select (session_import(json_build_object('format', 'claude-code', 'sessionId', concat_ws('#', p_session, p_agent), 'parentSessionId', case when p_agent is not null then p_session end,
    'prompt', 'Go', 'exchanges', json_build_array(json_build_object('id', p_session || p_agent, 'text', 'Gone', 'calls', '[]'::json)),
    'transcript', json_build_object('projectKey', p_key, 'sessionId', p_session, 'subpath', 'subagents/' || p_agent))) ->> 'work_item_id')::uuid
$$;
select appended from transcript_append('-home', 's', null, '[{}]', '{u1}', p_summary => '{"x": 1}');
select appended from transcript_append('-home', 's', 'subagents/a', '[{}]', '{u1}');
create temporary table item as select pg_temp.read_in('-home', 's') as id, pg_temp.read_in('-home', 's', 'a') as agent;

select is((select state from work_items, item where work_items.id = item.id), 'created', 'its item is open');
select is(transcript_delete('-home', 's', 'subagents/a'), 1, 'a subagent alone is erased');
select results_eq($$ select w.erased_at is not null from item, work_items w where w.id in (item.id, item.agent) order by w.id = item.agent $$, '{false,true}'::boolean[], 'with its own item');
select is((select count(*)::int from transcript_load('-home', 's')), 1, 'the session stays');
select is(transcript_delete('-home', 's'), 1, 'then the session is');
select is((select concat_ws(' ', w.description, w.state) from work_items w, item where w.id = item.id), '[erased] completed', 'its words are gone, it is over');
select is_empty($$ select from transcript_entries $$, 'and its entries');
select results_eq($$ select summary, deleted_at is not null from transcripts order by subpath $$, $$ values (null, true), (null, true) $$, 'tombstones stay');
select throws_ok($$ select transcript_append('-home', 's', null, '[{}]', '{u2}') $$, 'WL003', null, 'nothing is appended any more');
select throws_ok($$ select transcript_append('-home', 's', 'subagents/b', '[{}]', '{u2}') $$, 'WL003', null, 'not by another subagent');
select throws_ok($$ select pg_temp.read_in('-home', 's') $$, 'WL003', null, 'nor is it read into an item');
select is(transcript_delete('-home', 's'), 0, 'erasing again finds nothing');

-- The same session under two keys is one item.
select appended from transcript_append('-one', 't', null, '[{}]', '{u1}');
select appended from transcript_append('-two', 't', null, '[{}]', '{u1}');
create temporary table shared as select pg_temp.read_in('-one', 't') as id, pg_temp.read_in('-two', 't') as again;
select is(transcript_delete('-one', 't'), 1, 'one of them is erased');
select is((select erased_at from work_items where id = (select id from shared)), null, 'the item stays for the other');
select throws_ok($$ select pg_temp.read_in('-one', 't') $$, 'WL003', null, 'into which the erased one is not read');
select transcript_delete('-two', 't');
select isnt((select erased_at from work_items where id = (select id from shared)), null, 'and goes with it');

-- One of which no item was made yet.
select appended from transcript_append('-home', 'n', null, '[{}]', '{u1}');
select transcript_delete('-home', 'n');
select throws_ok($$ select transcript_append('-home', 'n', 'subagents/a', '[{}]', '{u1}') $$, 'WL003', null, 'a subagent does not begin it again');
select throws_ok($$ select pg_temp.read_in('-home', 'n') $$, 'WL003', null, 'nor whoever was reading it');

select * from finish();
rollback;
