begin;
select plan(6);

select from ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"tools": ["look"], "elide_budget": 15000, "ledger_nudge_interval": 3, "stall_limit": 0}}');
create temporary table item as select * from work_submit('analyze', 'Mend it');
create temporary table request (n integer, turn_id uuid, body json);

-- Plays responses, each a list of calls: an entry type with its content, or look with its result.
create function pg_temp.play(p_responses jsonb) returns void language plpgsql as $$
declare
  v_lease uuid;
  v_stage json;
  v_response jsonb;
  v_call record;
  v_n integer;
begin
  for v_response, v_n in select value, n from jsonb_array_elements(p_responses) with ordinality as r(value, n) order by n loop
    v_lease := (focus_claim((select id from item), 'w') ->> 'lease')::uuid;
    v_stage := iteration_begin((select id from item), v_lease);
    insert into request values (v_n, (v_stage ->> 'turn_id')::uuid, v_stage -> 'request');
    perform turn_record((select id from item), v_lease, (v_stage ->> 'turn_id')::uuid, json_build_object(
      'stop_reason', 'tool_use', 'usage', json_build_object('input_tokens', 100 * v_n),
      'content', (select json_agg(case when c.value ->> 0 = 'look'
          then json_build_object('type', 'tool_use', 'id', format('t%s_%s', v_n, c.n), 'name', 'look', 'input', json_build_object())
          else json_build_object('type', 'tool_use', 'id', format('t%s_%s', v_n, c.n), 'name', 'ledger_append',
                 'input', json_build_object('entry_type', c.value ->> 0, 'content', c.value ->> 1)) end order by c.n)
        from jsonb_array_elements(v_response) with ordinality as c(value, n))));
    for v_call in
      select k.id, k.tool_name, v_response -> k.ordinal ->> 1 as text from tool_calls k where k.turn_id = (v_stage ->> 'turn_id')::uuid order by k.ordinal
    loop
      if v_call.tool_name = 'look' then
        perform tool_call_settle((select id from item), v_lease, v_call.id, v_call.text);
      else
        perform tool_call_execute((select id from item), v_lease, v_call.id);
      end if;
    end loop;
    perform iteration_finish((select id from item), v_lease);
  end loop;
end
$$;
create function pg_temp.text_of(p_n integer, p_message integer, p_block integer) returns text language sql as
  $$ select body -> 'messages' -> p_message -> 'content' -> p_block ->> 'text' from request where n = p_n $$;
create function pg_temp.shape(p_n integer) returns text language sql as
  $$ select string_agg(m.value ->> 'role' || ':' || (select string_agg(b ->> 'type', ',' order by i) from json_array_elements(m.value -> 'content') with ordinality as x(b, i)), ' ' order by m.n)
       from request, json_array_elements(body -> 'messages') with ordinality as m(value, n) where request.n = p_n $$;

select pg_temp.play((select jsonb_agg('[["look", "x"]]'::jsonb) from generate_series(1, 7)));

select is((select array_agg(n order by n) from request where body::text like '%several iterations without updating%'), array[4, 5, 6, 7], 'in the fourth request, and it stays where it was put');
select is((select array_agg(iteration order by iteration) from v_nudges), array[4, 7], 'again after three more');
select is((select content ->  0 ->> 'text' from messages where metadata ->> 'kind' = 'nudge' limit 1),
  '[engine] You have completed several iterations without updating your ledger. Consider recording your progress — findings, completed steps, or plan updates. Your ledger persists across context compactions; conversation history does not. Add ledger_append(entry_type: "step", content: what you did and the outcome) beside your next call.',
  'in the words of the design');
select is((select array_agg(is_heeded order by iteration) from v_nudges), array[false, false], 'it was not heeded, and that is known');
select is((select count(*) from request where body::text = context_at(turn_id)::text), 7::bigint, 'every request is rebuilt to the byte');
select is(pg_temp.shape(4), 'user:text assistant:tool_use user:tool_result assistant:tool_use user:tool_result assistant:tool_use user:tool_result,text', 'it stands behind the results');

select * from finish();
rollback;
