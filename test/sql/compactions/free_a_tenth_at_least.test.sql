-- A compaction costs the whole cache: for a hundredth nobody makes one, or it would be made again and again.
begin;
select plan(7);

select tool('look');
select tool('act', 'unsafe');
-- Six turns behind a long task, each with a result of so many characters; p_first: of the tool that the first one calls.
create function pg_temp.six_turns(p_engage jsonb, p_result_chars integer, p_first text default 'act') returns uuid language plpgsql as $$
begin
  perform agent('{"tools": ["look", "act"], "compact_keep_recent": 2, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}' || p_engage, '{"awareness": {"enabled": false}}');
  perform submit(repeat('Read all of this. ', 3500));
  perform play(format('[[["%s", "%s"], ["finding", "Row %s"]]]', case v_n when 1 then p_first else 'act' end, repeat('r', p_result_chars), v_n)::jsonb, p_more => '{"usage": {}}') from generate_series(1, 6) v_n;
  return item();
end
$$;
create function pg_temp.compactions(p_item uuid) returns bigint language sql as $$ select count(*) from v_compactions where work_item_id = p_item and is_applied $$;

create temporary table work as select 'little' as name, pg_temp.six_turns('{"compact_every": 3}', 1000) as id;
select is((select pg_temp.compactions(id) from work where name = 'little'), 0::bigint, 'where there is hardly anything to gain none is made, though it is time');
select from work, context_compact(id) where name = 'little';
select from work, drive(id);
select is((select pg_temp.compactions(id) from work where name = 'little'), 0::bigint, 'where there is hardly anything to gain none is made for a person');
insert into work select 'much', pg_temp.six_turns('{"compact_every": 3}', 8000);
select cmp_ok((select pg_temp.compactions(id) from work where name = 'much'), '>', 0::bigint, 'where there is much to gain one is made');
select ok((select bool_and(tokens_after <= 0.9 * tokens_before) from v_compactions), 'every compaction frees a tenth');
insert into work select 'mixed', pg_temp.six_turns('{"compact_every": 3, "compact_strategy": "selective"}', 5000, 'look');
select is((select string_agg(compaction_type, ' ') from v_compactions where work_item_id = (select id from work where name = 'mixed')), 'ledger', 'where the strategy of the faculty does not, the next rung does');

-- Above the threshold for the task alone: what little leaves does not bring it below.
insert into work select 'full', pg_temp.six_turns('{"context_window": 45000, "compact_threshold": 0.5}', 1000);
select is((select pg_temp.compactions(id) from work where name = 'full'), 0::bigint, 'a context that is nearly full of what has to stay is left alone while it fits');
select is((select state from work_items where id = (select id from work where name = 'full')), 'running', 'work that is left as it is goes on');

select * from finish();
rollback;
