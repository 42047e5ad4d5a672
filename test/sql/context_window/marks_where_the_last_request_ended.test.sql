begin;
select plan(10);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "elide_budget": 0}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
create temporary table request (n integer, turn_id uuid, body json);
create function pg_temp.turn(p_n integer, p_calls integer, p_entry text default null) returns void language plpgsql as $$
declare
  v_item uuid := item();
  v_lease uuid := (focus_claim(v_item, 'w') ->> 'lease')::uuid;
  v_begun json := iteration_begin(v_item, v_lease);
  v_turn uuid := v_begun ->> 'turn_id';
begin
  insert into request values (p_n, v_turn, v_begun -> 'request');
  perform turn_record(v_item, v_lease, v_turn, json_build_object('stop_reason', 'tool_use', 'content', (
    select coalesce(jsonb_agg(jsonb_build_object('type', 'tool_use', 'id', format('t%s_%s', p_n, c), 'name', 'look', 'input', '{}'::json)), '[]') from generate_series(1, p_calls) c) || case when p_entry is null then '[]' else jsonb_build_array(jsonb_build_object('type', 'tool_use', 'id', format('e%s', p_n), 'name', 'ledger_append', 'input', jsonb_build_object('entry_type', p_entry, 'content', 'Looked'))) end));
  perform tool_call_settle(v_item, v_lease, id, 'seen') from tool_calls where turn_id = v_turn and tool_name = 'look';
  perform tool_call_execute(v_item, v_lease, id) from tool_calls where turn_id = v_turn and tool_name <> 'look';
  perform iteration_finish(v_item, v_lease);
end
$$;
create function pg_temp.blocks(p_n integer) returns table (i bigint, block json) language sql as $$
  select row_number() over (order by m.n, b.n), b.value from request r, json_array_elements(r.body -> 'messages') with ordinality as m(value, n), json_array_elements(m.value -> 'content') with ordinality as b(value, n) where r.n = p_n $$;
create function pg_temp.marked(p_n integer) returns bigint[] language sql as $$ select coalesce(array_agg(i order by i), '{}') from pg_temp.blocks(p_n) where block -> 'cache_control' is not null $$;
create function pg_temp.size(p_n integer) returns bigint language sql as $$ select count(*) from pg_temp.blocks(p_n) $$;

select pg_temp.turn(1, 9);
select pg_temp.turn(2, 10);
select pg_temp.turn(3, 1);
select pg_temp.turn(4, 11, 'step');
select pg_temp.turn(5, 12);
select pg_temp.turn(6, 1);
-- A step alone: all leaves, and the request ends with the stubs.
select pg_temp.turn(7, 0, 'step');
select pg_temp.turn(8, 12);
select pg_temp.turn(9, 1);
select is(pg_temp.marked(2), '{}', 'nothing where the exchange added 18 blocks: the provider looks back as far');
select is(array[pg_temp.size(3) - pg_temp.size(2), pg_temp.size(2)], array[20, 19]::bigint[], 'where it added 20');
select is(pg_temp.marked(3), array[pg_temp.size(2)], 'a breakpoint stands where the request before ended');
select is(pg_temp.marked(4), '{}', 'and not any more in the next one');
-- The step of turn 4 rides: the blocks before it leave, and the request begins anew.
select is((select array_agg(block ->> 'text') from pg_temp.blocks(5) where block -> 'cache_control' is not null), array['[completed step 1: Looked]'], 'behind a cut the stubs have theirs alone');
select is(cardinality(pg_temp.marked(6)), 2, 'and in the next request, after 24 blocks, both stand');
select is((select max(m) from unnest(pg_temp.marked(6)) m), pg_temp.size(5), 'where the request with the stubs ended');
select is((select array_length(regexp_split_to_array(body::text, '"cache_control"'), 1) - 1 from request where n = 6), 4, 'with those of system prompt and request as many as the API takes');
select is((select array_length(regexp_split_to_array((body -> 'messages')::text, '"cache_control"'), 1) - 1 from request where n = 9), 1, 'where the request before ended with the stubs, theirs is the one');
select is((select count(*) from request where context_at(turn_id)::text = body::text), 9::bigint, 'and every request is rebuilt to the byte');

select * from finish();
rollback;
