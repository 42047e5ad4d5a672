begin;
select plan(8);

select from ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"tools": ["look"], "elide_budget": 0, "model": "some-model", "truncate_closed_blocks": true}}');
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

-- A block of 2,000 tokens is closed by a step that rides with 8,000: they would be written again for it.
select pg_temp.play(jsonb_build_array(
  jsonb_build_array(jsonb_build_array('look', repeat('a', 8000))),
  jsonb_build_array(jsonb_build_array('step', 'One'), jsonb_build_array('look', repeat('b', 32000))),
  jsonb_build_array(jsonb_build_array('step', 'Two'), jsonb_build_array('look', 'small')),
  jsonb_build_array(jsonb_build_array('look', 'last'))));
select is((select count(*) from elisions where iteration = 3), 0::bigint, 'a cut that pays after fifty requests is not made');
select results_eq($$ select iteration, first_block, last_block from elisions $$, $$ values (4, 1, 2) $$, 'the next boundary takes both blocks');
select is((select breaks_even_after from context_cost((select id from item))), 1, 'where it pays at once');
select alike((select why from explain_turn((select turn_id from request where n = 3)) where block = 1), '%did not pay yet%', 'explain_turn says so');

-- The same with another price: 2,000 tokens for 2,300 that are written again pay after 14 requests at 1.25, and after 23 at 2.0.
select pg_temp.play(jsonb_build_array(
  jsonb_build_array(jsonb_build_array('step', 'Three'), jsonb_build_array('look', 'small')),
  jsonb_build_array(jsonb_build_array('look', repeat('c', 8000))),
  jsonb_build_array(jsonb_build_array('step', 'Four'), jsonb_build_array('look', repeat('d', 9200)))));
create temporary table head as select t from turns t join sessions s on s.head_turn_id = t.id;
create function pg_temp.due(p_write numeric) returns elisions language sql as $$
  select from model_save('some-model', p_cache_write => p_write);
  select (_elision_due(w, f, c.config -> 'engage', h.t, _elision_chain((h.t).elision_id)))[2]
    from head h, foci f, faculties c, work_items w
   where c.content_hash = f.faculty_hash and w.id = f.work_item_id;
$$;
select is(_breaks_even_after(pg_temp.due(1.25), 'some-model'), 14, 'what pays at the usual price of writing');
select is((pg_temp.due(2.0)).id, null, 'waits where writing is dear');
select is((select cache_write from model_price_save('some-model', 3, 15, p_cache_write => 6)), 2.0, 'prices of money say how dear');
select is((select cache_write_price from model_save('some-model', p_cache_write => 1.25)), 3.75, 'and follow');

select * from finish();
rollback;
