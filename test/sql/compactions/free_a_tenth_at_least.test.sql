-- A compaction costs the whole cache: for a hundredth nobody makes one, or it would be made again and again.
begin;
select plan(7);

select from ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe');
select from ability_register('act', 'Acts.', '{"type": "object"}', 'unsafe', 'safe');
-- Six turns behind a long task, each with a result of so many characters; p_first: of the tool that the first one calls.
create function pg_temp.play(p_engage jsonb, p_result_chars integer, p_first text default 'act') returns uuid language plpgsql as $$
declare
  v_item uuid;
  v_lease uuid;
  v_turn uuid;
begin
  perform faculty_save(jsonb_build_object('name', 'worker', 'accepts', '["analyze"]'::jsonb, 'awareness', '{"enabled": false}'::jsonb, 'engage',
    '{"tools": ["look", "act"], "compact_keep_recent": 2, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}' || p_engage));
  v_item := (work_submit('analyze', repeat('Read all of this. ', 3500))).id;
  for v_n in 1..6 loop
    v_lease := focus_claim(v_item, 'w') ->> 'lease';
    v_turn := iteration_begin(v_item, v_lease) ->> 'turn_id';
    perform turn_record(v_item, v_lease, v_turn, json_build_object('stop_reason', 'tool_use', 'content', json_build_array(
      json_build_object('type', 'tool_use', 'id', v_item || '_' || v_n, 'name', case v_n when 1 then p_first else 'act' end, 'input', json_build_object()),
      json_build_object('type', 'tool_use', 'id', v_item || '-' || v_n, 'name', 'ledger_append', 'input', json_build_object('entry_type', 'finding', 'content', 'Row ' || v_n)))));
    perform tool_call_settle(v_item, v_lease, k.id, repeat('r', p_result_chars)) from tool_calls k where k.turn_id = v_turn and tool_name in ('look', 'act');
    perform tool_call_execute(v_item, v_lease, k.id) from tool_calls k where k.turn_id = v_turn and tool_name = 'ledger_append';
    perform iteration_finish(v_item, v_lease);
  end loop;
  return v_item;
end
$$;
create function pg_temp.compactions(p_item uuid) returns bigint language sql as $$ select count(*) from v_compactions where work_item_id = p_item and is_applied $$;

create temporary table item as select 'little' as name, pg_temp.play('{"compact_every": 3}', 1000) as id;
select is((select pg_temp.compactions(id) from item where name = 'little'), 0::bigint, 'every three turns, but there is hardly anything to gain');
select from item, context_compact(id) where name = 'little';
select from item, lateral (select (focus_claim(id, 'w') ->> 'lease')::uuid as lease offset 0) c, iteration_begin(id, c.lease);
select is((select pg_temp.compactions(id) from item where name = 'little'), 0::bigint, 'nor when a person asks for it');
insert into item select 'much', pg_temp.play('{"compact_every": 3}', 8000);
select cmp_ok((select pg_temp.compactions(id) from item where name = 'much'), '>', 0::bigint, 'where there is, it is done');
select ok((select bool_and(tokens_after <= 0.9 * tokens_before) from v_compactions), 'and frees a tenth');
insert into item select 'mixed', pg_temp.play('{"compact_every": 3, "compact_strategy": "selective"}', 5000, 'look');
select is((select string_agg(compaction_type, ' ') from v_compactions where work_item_id = (select id from item where name = 'mixed')), 'ledger', 'where the strategy of the faculty does not, the next rung does');

-- Above the threshold for the task alone: what little leaves does not bring it below.
insert into item select 'full', pg_temp.play('{"context_window": 45000, "compact_threshold": 0.5}', 1000);
select is((select pg_temp.compactions(id) from item where name = 'full'), 0::bigint, 'a context that is nearly full of what has to stay is left alone while it fits');
select is((select state from work_items where id = (select id from item where name = 'full')), 'running', 'and the work goes on');

select * from finish();
rollback;
