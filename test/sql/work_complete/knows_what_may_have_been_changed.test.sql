-- A write whose worker died may have happened: what was seen before it shows nothing any more.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select tool('write_file', 'unsafe');
select agent('{"tools": ["look", "write_file"]}');
select submit('Fix it');
create temporary table held (lease uuid);
create function pg_temp.asked(p_id text, p_tool text) returns uuid language plpgsql as $$
begin
  perform set_config('work_ledger.now', (_now() + interval '1 minute')::text, true);
  delete from held;
  insert into held select (focus_claim(item(), 'w') ->> 'lease')::uuid;
  perform turn_record(item(), lease, (iteration_begin(item(), lease) ->> 'turn_id')::uuid, json_build_object('stop_reason', 'tool_use', 'content',
    json_build_array(json_build_object('type', 'tool_use', 'id', p_id, 'name', p_tool, 'input', json_build_object('path', 'a.ts'))))) from held;
  perform tool_call_begin(item(), lease, k.id) from held, tool_calls k where k.provider_id = p_id;
  return (select id from tool_calls where provider_id = p_id);
end
$$;
create function pg_temp.looked(p_id text) returns void language sql as $$
  select pg_temp.asked(p_id, 'look');
  select tool_call_settle(item(), lease, k.id, 'all tests pass') from held, tool_calls k where k.provider_id = p_id;
  select iteration_finish(item(), lease) from held;
$$;

select pg_temp.looked('toolu_01');
select from pg_temp.asked('toolu_02', 'write_file');
set local work_ledger.now = '2026-11-20 13:00:00+00';
update held set lease = (focus_claim(item(), 'w') ->> 'lease')::uuid;
select from held, iteration_begin(item(), lease);
select from held, iteration_finish(item(), lease);
select is((select status from tool_calls where provider_id = 'toolu_02'), 'uncertain', 'a write was cut off');
select throws_ok($$ select _evidence_check(item(), '["toolu_01"]') $$, 'WL002', 'evidence "toolu_01 (look)" is older than the last change of a file', 'what was seen before it shows nothing');
select pg_temp.looked('toolu_03');
select lives_ok($$ select _evidence_check(item(), '["toolu_03"]') $$, 'what was seen after it does');

select * from finish();
rollback;
