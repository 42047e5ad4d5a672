-- A gap in a kept session is filled from its file while the newest response is still being written: the rest of that response is stored, too.
begin;
select plan(4);

create function exchanges(p_ids text[], p_calls integer) returns json language sql as $$
  select json_agg(json_build_object('id', i.id, 'text', 'I look at ' || i.id, 'calls', coalesce(
           (select json_agg(json_build_object('id', i.id || c, 'name', 'Read', 'input', '{"path": "a"}'::json)) from generate_series(1, p_calls) c), '[]'::json)) order by i.n)
    from unnest(p_ids) with ordinality as i(id, n);
$$;
create function import(p_ids text[], p_calls integer) returns text language sql as $$
  select concat_ws(' ', r ->> 'turns', r ->> 'calls')
    from session_import(json_build_object('format', 'claude-code', 'sessionId', 's', 'prompt', 'Fix it', 'model', 'claude-opus-4-6', 'exchanges', exchanges(p_ids, p_calls))) r;
$$;

select is(import('{b}', 0), '1 0', 'the first exchange was never appended');
select is(import('{a,b}', 0), '1 0', 'and is added from the file');
select is(import('{b}', 1), '0 1', 'what the newest response says then is stored');
select is(import('{a,b}', 1), '0 1', 'and so is what the one from the gap says');

select * from finish();
rollback;
