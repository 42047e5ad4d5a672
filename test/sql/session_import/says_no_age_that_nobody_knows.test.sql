-- A recorded session without times is not told of as if it had just ended.
begin;
select plan(3);

select agent();
create function pg_temp.imported(p_session text, p_at text) returns jsonb language sql as $$
  select session_import(json_build_object('format', 'mini-swe-agent', 'sessionId', p_session, 'prompt', 'Mend ' || p_session, 'model', 'm', 'exchanges', json_build_array(
    json_build_object('id', p_session, 'at', p_at, 'text', 'Done', 'calls', '[]'::json)))) $$;
select pg_temp.imported('timed', (_now() - interval '30 seconds')::text), pg_temp.imported('untimed', null);

select is((select array_agg(params -> 'isUntimed' order by created_at) from work_items), array[null, 'true']::jsonb[], 'an item says that nothing says when it was');
select alike(awareness_digest(), '%Mend timed%just now%', 'what ended just now did so');
select unalike(awareness_digest(), '%Mend untimed%', 'of what has no time nobody is told as recent');

select * from finish();
rollback;
