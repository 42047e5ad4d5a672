-- A dry run of a few iterations, so that the functions of an iteration are compiled and their statements planned in this connection. On a cold
-- connection, that is most of what the first request waits for.

create or replace function worker_warm_up()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_name text := 'warm-up ' || gen_random_uuid();
  v_item uuid;
  v_lease uuid;
  v_stage json;
  v_turn_id uuid;
  v_call json;
begin
  perform faculty_save(jsonb_build_object('name', v_name, 'engage', jsonb_build_object(
    'tools', (select coalesce(jsonb_agg(a.name order by a.name), '[]') from abilities a where a.implementation = 'runtime' and a.risk = 'safe'))));
  v_item := (work_submit('warm-up', 'Nobody sees this', p_faculty => v_name)).id;
  v_lease := focus_claim(v_item, v_name) ->> 'lease';
  v_stage := iteration_begin(v_item, v_lease);
  -- Two, to include what only later iterations do. With six, PostgreSQL would settle on generic plans; that takes twice as long and saves a third.
  for v_iteration in 1 .. 2 loop
    v_turn_id := v_stage ->> 'turn_id';
    v_stage := iteration_step(v_item, v_lease, v_iteration, 0, v_turn_id, json_build_object(
      'stop_reason', 'tool_use', 'usage', json_build_object('input_tokens', 1, 'output_tokens', 1),
      'content', (select json_agg(json_build_object('type', 'tool_use', 'id', format('%s_%s', v_iteration, c.name), 'name', c.name, 'input', c.input))
                    from (select 'ledger_append' as name,
                                 json_build_object('entry_type', case v_iteration when 1 then 'plan' else 'step' end, 'content', 'Done') as input
                          union all
                          (select a.name, '{"path": "a"}' from abilities a
                            where a.implementation = 'runtime' and a.risk = 'safe' order by a.name limit 1)) c)),
      json_build_array(json_build_object('ordinal', 1, 'id', _uuidv7(), 'content', 'seen', 'is_error', false)));
    for v_call in select value from json_array_elements(v_stage -> 'calls') loop
      if v_call ->> 'implementation' = 'runtime' then
        perform tool_call_begin(v_item, v_lease, (v_call ->> 'id')::uuid),
                tool_call_settle(v_item, v_lease, (v_call ->> 'id')::uuid, 'seen');
      else
        perform tool_call_execute(v_item, v_lease, (v_call ->> 'id')::uuid);
      end if;
    end loop;
    v_stage := iteration_step(v_item, v_lease, v_iteration, 0, p_kept_turn_id => v_turn_id) -> 'next';
  end loop;
  raise exception using errcode = 'WLDRY';
exception when sqlstate 'WLDRY' then
  null; -- everything is rolled back; compiled functions and plans stay
end
$$;

comment on function worker_warm_up() is 'For a new connection of a worker: plays iterations of an item and rolls them back. It writes nothing and notifies nobody, and it leaves the connection with everything that an iteration needs compiled and planned.';
