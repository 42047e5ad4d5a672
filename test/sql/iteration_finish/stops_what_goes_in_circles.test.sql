begin;
select plan(13);

select tool('look');
select faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"enabled": false}, "engage": {"tools": ["look"], "ledger_nudge_interval": 0, "stall_limit": 5}}'),
       faculty_save('{"name": "free", "accepts": ["free"], "awareness": {"enabled": false}, "engage": {"tools": ["look"], "ledger_nudge_interval": 0, "stall_limit": 0}}');
create temporary table item as select name, (work_submit(name, 'Do it')).id from unnest(array['analyze', 'free']) name;
create temporary table said (name text, n serial, turn_id uuid, body text, told text, kind text);
-- One iteration: look at something, several times at once, or record; what is seen there.
create function pg_temp.play(p_name text, p_calls jsonb) returns text language plpgsql as $$
declare
  v_id uuid := (select id from item where name = p_name);
  v_lease uuid := (focus_claim(v_id, 'w') ->> 'lease')::uuid;
  v_stage json := iteration_begin(v_id, v_lease);
  v_call record;
  v_kind text;
begin
  perform turn_record(v_id, v_lease, (v_stage ->> 'turn_id')::uuid, json_build_object('stop_reason', 'tool_use', 'content',
    (select json_agg(json_build_object('type', 'tool_use', 'id', format('%s_%s', v_stage ->> 'turn_id', c.n), 'name', c.value ->> 0, 'input', c.value -> 1) order by c.n) from jsonb_array_elements(p_calls) with ordinality as c(value, n))));
  for v_call in select k.id, k.tool_name, p_calls -> k.ordinal ->> 2 as result from tool_calls k where k.turn_id = (v_stage ->> 'turn_id')::uuid and k.completed_at is null loop
    if v_call.tool_name = 'look' then
      perform tool_call_settle(v_id, v_lease, v_call.id, v_call.result);
    else
      perform tool_call_execute(v_id, v_lease, v_call.id);
    end if;
  end loop;
  v_kind := iteration_finish(v_id, v_lease) ->> 'kind';
  insert into said (name, turn_id, body, told, kind)
  values (p_name, (v_stage ->> 'turn_id')::uuid, v_stage ->> 'request',
          (select substring(m.content -> 0 ->> 'text' from '\d+ times in a row') from messages m where m.turn_id = (v_stage ->> 'turn_id')::uuid and m.metadata ->> 'kind' = 'stall'), v_kind);
  return v_kind;
end
$$;
create function pg_temp.told(p_name text default 'analyze') returns text[] language sql as $$ select array_agg(coalesce(left(told, 1), '-') order by n) from said where name = p_name $$;

select pg_temp.play('analyze', '[["look", {"at": 1}, "a"]]') from generate_series(1, 3);
select pg_temp.play('analyze', '[["look", {"at": 1}, "b"]]') from generate_series(1, 2);
select is(pg_temp.told(), array['-', '-', '-', '3', '-'], 'after the third time it is told; another result is something new');
select is((select content -> 0 ->> 'text' from messages where metadata ->> 'kind' = 'stall'),
  '[engine] You made the same call with the same result 3 times in a row: look {"at": 1}. Made again, it will bring the same. Do something else, or record with ledger_append what stands in the way; after 5 times without an entry the work pauses for a person.', 'in so many words');
select ok((select body like '%3 times in a row%' from said where n = 5), 'which stay where they were put');
select pg_temp.play('analyze', '[["look", {"at": 1}, "b"], ["look", {"at": 2}, "c"]]');
select pg_temp.play('analyze', '[["look", {"at": 2}, "c"], ["look", {"at": 1}, "b"]]');
select pg_temp.play('analyze', '[["look", {"at": 2}, "c"], ["look", {"at": 1}, "b"], ["look", {"at": 2}, "c"]]');
select pg_temp.play('analyze', '[["ledger_append", {"entry_type": "note", "content": "noted"}], ["look", {"at": 1}, "b"]]');
select is((pg_temp.told())[6:], array['-', '-', '-', '3'], 'calls of a batch are a set, whatever their order');
select is((select round_count from foci where work_item_id = (select id from item where name = 'analyze')), 0, 'an entry begins anew');

select is(array_agg(pg_temp.play('analyze', '[["look", {"at": 1}, "b"]]') order by n), array['continued', 'continued', 'continued', 'continued', 'paused'], 'after the fifth time the item pauses') from generate_series(1, 5) n;
select is((pg_temp.told())[10:], array['-', '-', '-', '3', '4'], 'having been told each time from the third on');
select is((select state_reason from work_items where id = (select id from item where name = 'analyze')), 'stalled: 5 iterations in a row had the same calls with the same results (look {"at": 1}), and nothing was recorded', 'and says why');
select is((select focus_claim(id, 'w') ->> 'kind' from item where name = 'analyze'), 'not_due', 'nobody goes on with it');
select work_resume(id) from item where name = 'analyze';
select is(array_agg(pg_temp.play('analyze', '[["look", {"at": 1}, "b"]]') order by n), array['continued', 'continued', 'continued', 'continued', 'paused'], 'until somebody lets it, and the count begins again') from generate_series(1, 5) n;
select is((select count(*) from said join turns t on t.id = said.turn_id where context_at(t.id)::text = said.body), (select count(*) from said), 'every request is rebuilt to the byte');

select is(array_agg(pg_temp.play('free', '[["look", {"at": 1}, "b"]]')), array_fill('continued'::text, array[12]), '0 is off') from generate_series(1, 12) n;
select is(pg_temp.told('free'), array_fill('-'::text, array[12]), 'for both');

select * from finish();
rollback;
