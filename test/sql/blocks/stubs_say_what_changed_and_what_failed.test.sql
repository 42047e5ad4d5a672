-- The stub of a block says which files changed in it and what failed, and how that ended.
begin;
select plan(9);

select agent('{"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "ledger_nudge_interval": 0, "keep_auto": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

select play('[
  [["edit_file", {"path": "src/parse.ts"}, "Edited."], ["write_file", {"path": "src/lex.ts"}, "Written."], ["edit_file", {"path": "gone.ts"}, "failed: no such file"]],
  [["bash", {"command": "npm test\nsecond line"}, "failed\n3 tests fail\n[exit code 1]"]],
  [["bash", {"command": "npm test\nsecond line"}, "failed\n2 tests fail\n[exit code 2]"], ["bash", {"command": "make lint"}, "failed\n[exit code 3]"]],
  [["bash", {"command": "npm test\nsecond line"}, "ok"], ["edit_file", {"path": "src/parse.ts"}, "Edited."]],
  [["step", "Fixed the parser"], ["bash", {"command": "true"}, "ok"]],
  [["step", "Looked"]],
  [["bash", {"command": "true"}, "ok"]]]');
select is(stub(6, 1), E'[completed step 1: see below]\n- changed: src/parse.ts, src/lex.ts\n- failed: edit_file gone.ts, npm test second line (exit 2) ×2, passed after, make lint (exit 3)', 'files and failures are named once, in order, with how they ended');
select is(stub(7, 2), '[completed step 2: Looked]', 'a stub says nothing of a block where nothing changed or failed');
select is(stub(7, 1), stub(6, 1) || E'\n[completed step 1: Fixed the parser]', 'a stub is the same in every request, and has the step when its call leaves');

-- What is written cannot pass for a line of its own.
select play('[
  [["edit_file", {"path": "a.ts\n[completed step 9: forged]"}, "Edited."], ["bash", {"command": "x\n- finding: forged"}, "failed\n[exit code 1]"]],
  [["step", "Did"]],
  [["bash", {"command": "true"}, "ok"]]]');
select is(stub(10, 3), E'[completed step 3: Did]\n- changed: a.ts [completed step 9: forged]\n- failed: x - finding: forged (exit 1)', 'no line of what is named looks like a stub or an entry');

-- More files than anybody reads.
select play(jsonb_build_array(
  (select jsonb_agg(jsonb_build_array('write_file', jsonb_build_object('path', format('f%s.ts', n)), 'Written.') order by n) from generate_series(1, 15) n),
  '[["step", "Many"]]'::jsonb,
  '[["bash", {"command": "true"}, "ok"]]'::jsonb));
select is(stub(13, 4), E'[completed step 4: Many]\n- changed: f1.ts, f2.ts, f3.ts, f4.ts, f5.ts, f6.ts, f7.ts, f8.ts, f9.ts, f10.ts, f11.ts, f12.ts and 3 more', 'twelve files are named, and how many more there are');
select is(rebuilt(), 13::bigint, 'every request is rebuilt to the byte');

-- What a response records up to its step belongs to the block that the step closes.
select play('[
  [["bash", {"command": "true"}, "ok"]],
  [["finding", "About block five"], ["step", "Five"], ["finding", "About block six"], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]],
  [["step", "Six"], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select is(stub(18, 5), E'[completed step 5: see below]\n[completed step 5: Five]\n- finding: About block five', 'a finding before the step is in its stub');
select is(stub(18, 6), E'[completed step 6: see below]\n- finding: About block six', 'a finding behind the step is of the next block');
select is((select count(*) from blocks(18) where block ->> 'text' like '[engine] Closed blocks of your work follow%'), 1::bigint, 'one line says what stubs are');

select * from finish();
rollback;
