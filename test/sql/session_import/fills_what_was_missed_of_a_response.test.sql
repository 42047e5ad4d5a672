-- Of a response whose records were not all kept, its file brings the others later: into the same turn, each in its place, once. What an
-- agent was shown of it in a fork stays as it was.
begin;
select plan(17);

select agent('{"elide_budget": 0}', '{"awareness": {"enabled": false}}');
-- Response m has the records t (thinking), w (text), x, y and z (a call each); after it comes response n. p_kept: those that were kept.
create function pg_temp.run(p_kept text, p_session text default 's') returns json language sql as $$
  with record as (
    select r.id, r.n, lag(r.id) over (order by r.n) as before from unnest('{t,w,x,y,z}'::text[]) with ordinality as r(id, n)
  ), kept as (
    select *, lag(id) over (order by n) as kept_before from record where position(id in p_kept) > 0
  )
  select json_build_object('format', 'claude-code', 'sessionId', p_session, 'prompt', 'Fix it', 'model', 'claude-opus-4-6', 'exchanges', json_build_array(
    json_build_object('id', p_session || min(id order by n), 'responseId', 'm', 'text', case when bool_or(id = 'w') then 'I look.' else '' end,
      'thinking', json_agg(json_build_object('thinking', 'What now?', 'signature', 'x')) filter (where id = 't'),
      'calls', coalesce(json_agg(json_build_object('id', id, 'name', 'Read', 'input', json_build_object('path', id), 'result', 'seen ' || id) order by n)
                          filter (where id in ('x', 'y', 'z')), '[]'),
      'records', json_agg(json_strip_nulls(json_build_object(
        'id', p_session || id, 'text', case id when 'w' then 'I look.' end, 'thoughts', case id when 't' then 1 end,
        'calls', case when id in ('x', 'y', 'z') then 1 end, 'after', case when before is distinct from kept_before then p_session || before end)) order by n)),
    json_build_object('id', p_session || 'n', 'responseId', 'n', 'text', 'Done.', 'calls', '[]'::json)))
    from kept $$;
create function pg_temp.import(p_kept text, p_session text default 's') returns text language sql as $$
  select concat_ws(' ', r ->> 'turns', r ->> 'calls') from session_import(pg_temp.run(p_kept, p_session)) r $$;
create function pg_temp.blocks(p_session text default 's') returns text language sql as $$
  select string_agg(left(coalesce(b.value ->> 'thinking', b.value ->> 'text', b.value ->> 'id'), 1), '' order by m.sequence, b.n)
    from turns t join foci f on f.id = t.focus_id and f.session_label = 'claude-code:' || p_session
    join messages m on m.turn_id = t.id and m.role = 'assistant' cross join json_array_elements(m.content) with ordinality as b(value, n)
   where t.response_id = 'm' $$;

select is(pg_temp.import('y'), '2 1', 'one record of five was kept');
select is(pg_temp.import('twxyz'), '0 2', 'the file has two calls more, of the same turn');
select is(pg_temp.blocks(), 'WIxyz', 'each block is where the file has it');
select is(pg_temp.import('twxyz'), '0 0', 'again it adds nothing');
select is(pg_temp.import('wz'), '0 0', 'nor does what was kept, read again');
select is(pg_temp.import('wz', 'a') || ', ' || pg_temp.import('twxyz', 'a'), '2 1, 0 2', 'the first one and those in the middle were missed');
select is(pg_temp.blocks('a'), 'WIxyz', 'they go between the others');
select is(pg_temp.import('twx', 'b') || ', ' || pg_temp.import('twxyz', 'b'), '2 1, 0 2', 'the last ones were missed');
select is(pg_temp.blocks('b'), 'WIxyz', 'they go behind');
select is((select string_agg(k.provider_id || ' ' || (k.result #>> '{}'), ', ' order by k.provider_id) from tool_calls k join foci f on f.work_item_id = k.work_item_id where f.session_label = 'claude-code:a'),
          'x seen x, y seen y, z seen z', 'every call has its own result');
select is_empty($$ select * from ledger_verify() $$, 'the chain holds');
select is((select words from turn_sizes z join turns t on t.id = z.turn_id join foci f on f.id = t.focus_id and f.session_label = 'claude-code:s' where t.response_id = 'n'),
          (select e.word_chars from turns t join foci f on f.id = t.focus_id and f.session_label = 'claude-code:s' cross join _exchange(t.id) e where t.response_id = 'm'),
          'the request after it is as much larger');

select pg_temp.import('wy', 'c');
select take((work_fork((select head_turn_id from sessions where label = 'claude-code:c'), 'Go on', 'worker')).id);
select drive();
select answer('["Gone on."]');
select is(pg_temp.import('twxyz', 'c'), '0 0', 'nothing is added to what the agent of a fork was shown');
select is(pg_temp.blocks('c'), 'Iy', 'the turn stays');
select is(rebuilt(), 1::bigint, 'its request can be rebuilt to the byte');
select is((select count(*) from session_records where session_label = 'claude-code:c' and reason ~ 'more than an agent was shown' and content ~ 'seen z'), 1::bigint,
          'what came too late is kept beside it');
select is_empty($$ select * from work_ledger_check() $$, 'the ledger is sound');

select * from finish();
rollback;
