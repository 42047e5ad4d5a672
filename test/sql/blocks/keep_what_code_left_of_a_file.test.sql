-- What code did counts where its call stands in the response: a read behind it is the newest, one before it is older than its changes.
begin;
select plan(3);

select tool('read_file'), tool('edit_file', 'unsafe'), tool('execute_code', 'idempotent');
select agent('{"code_execution": true, "tools": ["look", "read_file", "edit_file"], "elide_budget": 0, "keep_budget": 2000, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
-- One response: code that looks twice and then edits the file, and a read of it; in that order, or the other way round.
create function pg_temp.played(p_says jsonb, p_code integer) returns text language plpgsql as $$
declare
  v_n integer;
begin
  perform submit('Fix it'), drive(), answer(p_says);
  v_n := (select max(n) from request where item = item());
  perform tool_call_begin(item(), lease(), call(format('t%s_%s', v_n, p_code)));
  for v_i in 0 .. 2 loop
    perform tool_call_nested(item(), lease(), call(format('t%s_%s', v_n, p_code)), v_i, case v_i when 2 then 'edit_file' else 'look' end, case v_i when 2 then '{"path": "a.ts", "old_string": "x"}' else '{}' end::json);
    perform tool_call_settle(item(), lease(), call(format('t%s_%s.%s', v_n, p_code, v_i + 1)), 'done');
  end loop;
  perform tool_call_settle(item(), lease(), call(format('t%s_%s', v_n, p_code)), 'done');
  perform run('[["read_file", "what a.ts holds"], ["read_file", "what a.ts holds"]]'), iteration_finish(item(), lease());
  perform play('[[["ledger_append", {"entry_type": "step", "content": "Read it", "keep": ["a.ts"]}], ["look"]], [["look"]]]');
  return kept((select max(n)::integer from request where item = item()));
end
$$;
create temporary table behind as select pg_temp.played('[["execute_code", {"code": "x"}], ["read_file", {"path": "a.ts"}]]', 1) as said;
select matches((select said from behind), 'read_file.*what a.ts holds', 'what was read is kept');
select unalike((select said from behind), '%edit_file%', 'a read behind the code has seen what it changed');
select matches(pg_temp.played('[["read_file", {"path": "a.ts"}], ["execute_code", {"code": "x"}]]', 2), 'what a.ts holds.*edit_file', 'a read before it has not: the change is kept, too');

select * from finish();
rollback;
