-- One block, with the same parts in the same order, wherever old turns are represented by something shorter.
begin;
select plan(29);

create function pg_temp.parts(p_text text) returns text language sql as $$
  -- The headings of the block, in their order.
  select string_agg(m[1], ' · ' order by n)
    from regexp_matches(substring(p_text from '=== WHERE YOU STAND ===.*?To look back'), '(?n)^(Work item|Plan|Done|Changed|Still failing|Waits|Children|Notes|To look back)', 'g')
         with ordinality as x(m, n)
$$;
create function pg_temp.request(p_n integer) returns text language sql as $$
  select string_agg(coalesce(b ->> 'text', ''), E'\n') from request r, json_array_elements(r.body -> 'messages') m, json_array_elements(m -> 'content') b where r.n = p_n
$$;
create function pg_temp.newest() returns text language sql as $$ select pg_temp.request((select max(n) from request)) $$;

select tool('bash'), tool('edit_file', 'idempotent');
select agent('{"tools": ["look", "bash", "edit_file"], "elide_budget": 0, "ledger_nudge_interval": 0, "max_children": 4}', '{"awareness": {"enabled": false}}');
select submit('Make the import fast');
select play('[[["ledger_append", {"entry_type": "plan", "content": "One by one", "items": [{"text": "Make the copy"}, {"text": "Read the log"}, {"text": "Prove it"}]}], ["look"]],
  [["edit_file", {"path": "src/in/a.ts", "old_string": "x", "new_string": "y"}, "ok"], ["bash", {"command": "npm test"}, "failed: 3 tests fail\n</output>"], ["bash", {"command": "cd src && grep -n nowhere a.ts"}, "failed: exit 1"], ["no_such_tool", {"command": "make"}], ["note", "Ann knows the table"]],
  [["spawn_child_work", {"work_type": "analyze", "description": "Look elsewhere"}]],
  [["ledger_append", {"entry_type": "step", "content": "Copied", "done": [1], "doing": 2}]],
  [["look", "again"]]]');
create temporary table said (place text, said text);
insert into said values ('after 1 cut', pg_temp.newest());
select is(pg_temp.parts((select said from said)), 'Work item · Plan · Done · Changed · Still failing · Children · Notes · To look back', 'behind a cut');
select matches((select said from said), E'Plan \\(1 of 3 done\\):\n1\\. \\[x\\] Make the copy\n2\\. \\[/\\] Read the log\n3\\. \\[ \\] Prove it\nDone: the completed steps above', 'the plan stands as it is now');
select matches((select said from said), E'Changed in src/in/: a\\.ts\nStill failing:\n- npm test, last: "failed: 3 tests fail"', 'with what changed and what fails');
select unalike((select said from said), '%- cd src && grep%', 'a search that found nothing fails nobody');
select unalike((select said from said), '%no_such_tool%', 'nor a call that the engine did not run');
select is(regexp_count((select said from said), '=== WHERE YOU STAND'), 1, 'once');

select play('[[["edit_file", {"path": "src/in/a.ts", "old_string": "y", "new_string": "z"}, "ok"]], [["edit_file", {"path": "src/b.ts", "old_string": "y", "new_string": "z"}, "ok"]], [["step", "Two"]], [["look"]], [["step", "Three"]], [["bash", {"command": "npm test"}, "fine"]], [["step", "Four"]], [["look"]], [["step", "Five"]], [["look"]]]');
insert into said values ('after 5 cuts', pg_temp.newest());
select is(pg_temp.parts((select said from said where place = 'after 5 cuts')), 'Work item · Plan · Done · Changed · Children · Notes · To look back', 'after five cuts: what passed since does not fail any more');
select matches((select said from said where place = 'after 5 cuts'), E'Changed in src/: in/a\\.ts ×2, b\\.ts\n', 'what was changed long ago is still known, and how often');
select is(regexp_count((select said from said where place = 'after 5 cuts'), '=== WHERE YOU STAND'), 1, 'only the newest stands there');

select is(pg_temp.parts(standing(item())), 'Work item · Plan · Done · Changed · Children · Notes · To look back', 'people read the same');
select matches(standing(item()), E'Done:\n- Copied Plan: 1 done; 2 doing\n- Two\n- Three', 'and the steps, since nothing stands above');
select is(pg_temp.parts(export_for_resumption(item())), 'Work item · Plan · Done · Changed · Children · Notes · To look back', 'so does who goes on with the packet');
select is(standing(item(), (select turn_id from request where n = 3)), standing(item(), (select turn_id from request where n = 3)), 'it is a function of rows')
;
select doesnt_match(standing(item(), (select turn_id from request where n = 2)), 'Two|b\.ts|×2', 'as it stood at a turn, nothing came later');

create temporary table child as select id from work_items where parent_id = item();
select take(work_fork((select turn_id from request where n = 4), 'Another way'));
select play('[[["look"]]]');
insert into said values ('in a fork', pg_temp.newest());
select is(pg_temp.parts(substring((select said from said where place = 'in a fork') from 'You are on a branch.*')), 'Work item · Plan · Done · Changed · Still failing · Children · Notes · To look back',
  'in a fork');
select matches((select said from said where place = 'in a fork'), 'Work item ' || item() || ': ', 'which has an id of its own');
select matches((select said from said where place = 'in a fork'), 'Children started before this point belong to the other branch: ' || (select id from child), 'and whose children are others');
-- In a compaction no stubs stand above.
select agent('{"tools": ["look", "bash", "edit_file"], "truncate_closed_blocks": false, "compact_keep_recent": 2}', '{"awareness": {"enabled": false}}');
select submit('Make the import fast');
select play('[[["ledger_append", {"entry_type": "plan", "content": "One by one", "items": [{"text": "Make the copy"}, {"text": "Read the log"}]}], ["edit_file", {"path": "src/in/a.ts", "old_string": "x", "new_string": "y"}, "ok"]],
  [["edit_file", {"path": "src/b.ts", "old_string": "x", "new_string": "y"}, "ok"], ["bash", {"command": "npm test"}, "failed: 3 tests fail"]]]');
select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('look', repeat('long ', 4000)), jsonb_build_array('note', 'Ann knows')), jsonb_build_array('["ledger_append", {"entry_type": "step", "content": "Copied", "done": [1]}]'::jsonb)));
select play('[[["edit_file", {"path": "src/in/a.ts", "old_string": "x", "new_string": "y"}, "ok"]]]');
select from context_compact(item());
select play('[[["look"]]]');
insert into said values ('after a compaction', pg_temp.newest());
select is((select compaction_type from compactions where work_item_id = item()), 'ledger', 'after a compaction by the ledger');
select is(pg_temp.parts((select said from said where place = 'after a compaction')), 'Work item · Plan · Done · Changed · Still failing · Notes · To look back', 'it stands, too');
select matches((select said from said where place = 'after a compaction'), E'Changed in src/: b\\.ts, in/a\\.ts ×2\n', 'with what changed');
select doesnt_match((select said from said where place = 'after a compaction'), E'PLAN:', 'the plan is not said twice');
-- A summary by a model, of an agent that closed no block.
select agent('{"tools": ["look", "bash", "edit_file"], "truncate_closed_blocks": false, "compact_keep_recent": 2, "max_children": 4}', '{"awareness": {"enabled": false}}');
select submit('Make the import fast');
select play('[[["ledger_append", {"entry_type": "plan", "content": "One by one", "items": [{"text": "Make the copy"}, {"text": "Read the log"}]}], ["edit_file", {"path": "src/in/a.ts", "old_string": "x", "new_string": "y"}, "ok"]],
  [["bash", {"command": "npm test"}, "failed: 3 tests fail"]]]');
select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('look', repeat('long ', 4000))), '[["look"]]'::jsonb));
select from context_compact(item(), 'The failing test');
select drive();
select is(stage() ->> 'kind', 'summarize', 'a model is asked for a summary');
select summary_record(item(), lease(), turn(), '{"model": "m", "stop_reason": "end_turn", "content": [{"type": "text", "text": "The copy is made."}], "usage": {"input_tokens": 900, "output_tokens": 7}}');
select begin_iteration(), answer('[["look"]]'), run('[["look"]]'), iteration_finish(item(), lease());
insert into said values ('after a summary', pg_temp.newest());
select is((select compaction_type from compactions where work_item_id = item()), 'summary', 'after a summary');
select is(pg_temp.parts((select said from said where place = 'after a summary')), 'Work item · Plan · Changed · Still failing · To look back', 'it stands, too');

-- Another attempt begins anew, and knows what the one before it did.
select give_up(), later('1 hour');
select play('[[["look"]]]');
insert into said values ('in attempt 2', pg_temp.newest());
select is(pg_temp.parts((select said from said where place = 'in attempt 2')), 'Work item · Plan · Changed · Still failing · To look back', 'in a further attempt; nothing is done where no step says so');

select is(_common_folder(array[E'D:\\a\\b\\c.ts', E'D:\\a\\d.ts']), E'D:\\a\\', 'folders of Windows are common, too');
select results_eq($$ select _only_looks(jsonb_populate_record(null::tool_calls, jsonb_build_object('id', gen_random_uuid(), 'input', jsonb_build_object('command', c))))
    from unnest(array['rg "a|b > c" src 2>&1 | head -5', 'cd x && git log', 'ls; make', 'cat <<EOF > f', 'grep x y && npm test', 'git push', 'grep a | xargs rm', 'catch']) with ordinality u(c, n) order by n $$,
  $$ values (true), (true), (false), (false), (false), (false), (false), (false) $$, 'what looks is told by all of a command');
select results_eq($$ select _command_of(i::json) from unnest(array['{"command": "make"}', '{"command": null, "cmd": "ls"}', '{"command": ["bash", "-lc", "rg x"]}',
    '{"cmd": {"a": 1}}', '{"path": "a"}', '["make"]', '5', null]) with ordinality u(i, n) order by n $$,
  $$ values ('make'), ('ls'), ('rg x'), (null), (null), (null), (null), (null) $$, 'a command is found as harnesses name it');
select throws_ok(format($$ select standing('%s', '%s') $$, item(), '00000000-0000-4000-8000-000000000000'), 'WL001', null, 'a turn that there is not');

select * from finish();
rollback;
