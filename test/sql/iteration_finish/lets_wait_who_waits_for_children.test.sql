begin;
select plan(6);

select tool('look');
select faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"enabled": false}, "engage": {"tools": ["look"], "ledger_nudge_interval": 0, "stall_limit": 5}}');
create temporary table item as select name, (work_submit(name, 'Do it')).id from unnest(array['analyze']) name;
create temporary table said (name text, n serial, turn_id uuid, body text, told text, kind text);
-- One iteration: look at children, or wait for them.
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

-- Waiting for children is no stall; looking at them is told, and stops nothing while one of them runs.
create temporary table child as select (work_submit('part', 'A part', p_parent_id => (select id from item where name = 'analyze'))).id;
select is(array_agg(pg_temp.play('analyze', jsonb_build_array(jsonb_build_array('check_child_work', jsonb_build_object('work_item_ids', jsonb_build_array(child.id))))) order by n), array_fill('continued'::text, array[7]), 'who looks at children that run goes on') from child, generate_series(1, 7) n;
select is(pg_temp.told(), array['-', '-', '-', '3', '4', '5', '6'], 'and is told, though each look has other markers');
select ok((select bool_and(content -> 0 ->> 'text' like '%To wait for children call await_child_work%') from messages m join said s on s.turn_id = m.turn_id where m.metadata ->> 'kind' = 'stall'), 'what to do instead');
select is(array_agg(pg_temp.play('analyze', jsonb_build_array(jsonb_build_array('await_child_work', jsonb_build_object('timeout_seconds', 0, 'work_item_ids', jsonb_build_array(child.id))))) order by n), array_fill('continued'::text, array[6]), 'who waits again and again goes on') from child, generate_series(1, 6) n;
select is((pg_temp.told())[9:], array_fill('-'::text, array[5]), 'without a word');
select work_cancel(id) from child;
select is(array_agg(pg_temp.play('analyze', jsonb_build_array(jsonb_build_array('check_child_work', jsonb_build_object('work_item_ids', jsonb_build_array(child.id))))) order by n), array['continued', 'continued', 'continued', 'continued', 'paused'], 'who looks at one that is over does not') from child, generate_series(1, 5) n;

select * from finish();
rollback;
