-- Whoever keeps the request of an iteration is sent only the messages that the next one adds to it, unless the next one is not the same with
-- more at its end. What is kept and what is new are, byte for byte, the request that the rows give.
begin;
select plan(16);

select agent('{"tools": ["look"], "elide_budget": 0}');
select take(submit('Look'));
select drive();
create temporary table asked as select turn() as turn, lease() as lease, 0 as n;
-- Answers the request under way with p_content, keeps it or p_kept, and says how the next one came.
create function pg_temp.answer(p_content text, p_results integer default 1, p_kept uuid default null, p_failed integer default null, p_stopped text default 'tool_use')
  returns text language plpgsql as $$
declare
  v asked := (select a from asked a);
  v_kept uuid := coalesce(p_kept, v.turn);
  v_says json;
  v_next json;
begin
  v_says := iteration_step(item(), v.lease, v.n + 1, 0, v.turn, format('{"stop_reason": "%s", "content": [%s]}', p_stopped, p_content)::json,
    (select json_agg(json_build_object('ordinal', i, 'id', gen_random_uuid(), 'content', 'SEEN' || i, 'is_error', i = p_failed,
                                       'images', case i when p_failed then '[{"media_type": "image/png", "data": "aGk="}]'::json end))
       from generate_series(0, p_results - 1) i), v_kept);
  while v_says ->> 'kind' = 'run_tools' loop
    perform tool_call_execute(item(), v.lease, id) from tool_calls where completed_at is null;
    v_says := iteration_step(item(), v.lease, v.n + 1, 0, p_kept_turn_id => v_kept);
  end loop;
  v_next := v_says -> 'next';
  update asked set turn = (v_next ->> 'turn_id')::uuid, n = v.n + 1;
  if v_next ->> 'since' is null then
    return case when v_next ->> 'request' = context_at((v_next ->> 'turn_id')::uuid)::text then 'whole' else 'wrong' end;
  end if;
  return case when (v_next -> 'request')::text = 'null'
                and left(context_at(v_kept)::text, -2) || ',' || substr(v_next ->> 'since', 2) || '}' = context_at((v_next ->> 'turn_id')::uuid)::text
              then 'what is new' else 'wrong' end;
end
$$;
create function pg_temp.looks(p_n integer, p_of integer default 1) returns text language sql as $$
  select string_agg(format('{"type": "tool_use", "id": "t%s_%s", "name": "look", "input": {"at": %s}}', p_n, i, p_n), ', ') from generate_series(1, p_of) i;
$$;

select is(pg_temp.answer(pg_temp.looks(1)), 'what is new', 'after the first request');
select is(pg_temp.answer('{"type": "text", "text": "I \"cache_control\": look."}, ' || pg_temp.looks(2, 2), 2), 'what is new', 'and any other');
select is(pg_temp.answer(pg_temp.looks(3), 1, (select id from turns where iteration = 1)), 'whole', 'who keeps an older one is sent all of it');
select is(pg_temp.answer(pg_temp.looks(4), 1, gen_random_uuid()), 'whole', 'or something else');
select is(pg_temp.answer(pg_temp.looks(5, 10), 10), 'whole', 'a long exchange puts a breakpoint where the kept one ends');
select is(pg_temp.answer(pg_temp.looks(6)), 'whole', 'which the next one does not have');
select is(pg_temp.answer(pg_temp.looks(7)), 'what is new', 'nor the one after it');
select is(pg_temp.answer('', 0), 'whole', 'after an empty response the last message grows');
select is(pg_temp.answer(pg_temp.looks(9) || ', {"type": "tool_use", "id": "s", "name": "ledger_append", "input": {"entry_type": "step", "content": "Looked"}}'), 'whole', 'a cut changes the beginning');
select is(pg_temp.answer(pg_temp.looks(10)), 'what is new', 'and after it, only the end is new');
select from work_message(item(), 'Look twice');
select is(pg_temp.answer(pg_temp.looks(11)), 'what is new', 'what people say in it belongs to what is new');
select is(pg_temp.answer('{"type": "text", "text": "On my way"}', 0, p_stopped => 'pause_turn'), 'what is new', 'a response that is only paused is answered, too');
select is(pg_temp.answer(pg_temp.looks(13)), 'what is new', 'and the next one follows that');
select is(pg_temp.answer(pg_temp.looks(14)), 'what is new', 'as any other');
select is(pg_temp.answer(pg_temp.looks(15, 9), 9, p_failed => 3), 'whole', 'what a failed call shows makes an exchange longer');
select is(pg_temp.answer(pg_temp.looks(16)), 'whole', 'also for the request after it');

select * from finish();
rollback;
