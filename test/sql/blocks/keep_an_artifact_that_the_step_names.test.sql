-- A step may name an artifact by its handle: it is kept whole while there is room for it.
begin;
select plan(4);

select agent('{"tools": ["bash"], "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
create temporary table long as select string_agg(format('line %s of the log', n), E'\n' order by n) as text from generate_series(1, 400) n;

select drive();
select answer('[["bash", {"command": "make"}]]');
select from tool_call_settle(item(), lease(), call('t1_1'), repeat('what it printed ', 3000), p_whole => (select text from long));
select iteration_finish(item(), lease());
create temporary table handle as select left(content_hash, 16) as name from artifacts where content = (select text from long);
select play(format('[
  [["ledger_append", {"entry_type": "step", "content": "Read the log", "keep": ["%s"]}]],
  [["bash", {"command": "true"}, "ok"]]]', (select name from handle))::jsonb);

select is((select count(*) from handle), 1::bigint, 'a long result is an artifact');
select ok(strpos(kept(3), E'# ' || (select name from handle) || E'\n' || (select text from long) || E'\n</data-') > 0, 'an artifact named by its handle stands in the kept part whole');
select unalike(kept(3), '%no room%', 'it is not named once more');
select is(rebuilt(), 3::bigint, 'every request is rebuilt to the byte');

select * from finish();
rollback;
