-- A step is answered where a name of its keep matches nothing, and where what its block edited leaves unnamed.
begin;
select plan(13);

select tool('edit_file', 'idempotent'), tool('read_file');
select agent('{"tools": ["edit_file", "read_file"], "elide_budget": 0, "ledger_nudge_interval": 0, "keep_auto": 0}', '{"awareness": {"enabled": false}}');
create function pg_temp.answer() returns text language sql as $$
  select _result_text(result) from tool_calls where tool_name = 'ledger_append' and work_item_id = item() order by created_at desc, ordinal desc limit 1
$$;
create function pg_temp.edit(p_path text) returns jsonb language sql as $$
  select jsonb_build_array(jsonb_build_array('edit_file', jsonb_build_object('path', p_path, 'old_string', 'x', 'new_string', 'y'), 'ok'))
$$;
create function pg_temp.step(p_more jsonb default '{}') returns jsonb language sql as $$
  select jsonb_build_array(jsonb_build_array('ledger_append', '{"entry_type": "step", "content": "Done"}' || p_more))
$$;
create function pg_temp.kept() returns boolean language sql as $$
  select body::text like '%Kept from closed blocks because you listed it in keep%' from request order by n desc limit 1
$$;

select submit('Fix it');
select play(jsonb_build_array(pg_temp.edit('src/parse.ts'), pg_temp.edit('src/parse.ts'), pg_temp.step()));
select is(pg_temp.answer(), 'Recorded as [1]. When this block closes, src/parse.ts (edited twice) leaves your context; list it in keep to retain it.', 'what leaves is said');
select play(jsonb_build_array(pg_temp.edit('src/a.ts'), pg_temp.edit('src/b.ts'), pg_temp.step()));
select is(pg_temp.answer(), 'Recorded as [2]. When this block closes, src/a.ts (edited), src/b.ts (edited) leave your context; list them in keep to retain them.', 'only of its own block');
select play(jsonb_build_array(pg_temp.step()));
select is(pg_temp.answer(), 'Recorded as [3].', 'a block without edits loses none');
select play(jsonb_build_array(pg_temp.edit('src/a.ts'), pg_temp.step('{"keep": ["a.ts", "./src/b.ts", "src/nowhere.ts"]}')));
select is(pg_temp.answer(), 'Recorded as [4]. keep: src/nowhere.ts was never read.', 'a name that matches nothing is said');
select play(jsonb_build_array(pg_temp.edit('src/a.ts'), pg_temp.step(), pg_temp.edit('src/c.ts')));
select is(pg_temp.answer(), 'Recorded as [5].', 'the list before holds for one more step');
select ok(pg_temp.kept(), 'which keeps what it names');
select play(jsonb_build_array(pg_temp.step(), pg_temp.edit('src/c.ts')));
select is(pg_temp.answer(), 'Recorded as [6]. When this block closes, src/c.ts (edited) leaves your context; list it in keep to retain it.', 'and not for two');
select ok(not pg_temp.kept(), 'which keeps nothing any more');
select play(jsonb_build_array(pg_temp.step('{"keep": ["src/x.ts", "https://example.com/y", "0123456789abcdef"]}')));
select is(pg_temp.answer(), 'Recorded as [7]. keep: src/x.ts, https://example.com/y, 0123456789abcdef were never read.', 'nor is there such a handle');

-- A fork has read what was read before it.
select take(work_fork((select max(turn_id::text)::uuid from request), 'Another way'));
select play(jsonb_build_array(pg_temp.step('{"keep": ["src/parse.ts", "src/no.ts"]}')));
select matches(pg_temp.answer(), '^Recorded as \[\d+\]\. keep: src/no\.ts was never read\.$', 'a fork has read what was read before it');

select is(_unwrapped(E'<system-reminder>a\nb</system-reminder>\nthe file\n<system-reminder>c</system-reminder>', 'import'), 'the file', 'what a harness put around a result is not kept');
select is(_unwrapped('<system-reminder>a</system-reminder>', 'analyze'), '<system-reminder>a</system-reminder>', 'what our own tools return is');
select agent('{"tools": ["edit_file"], "truncate_closed_blocks": false, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play(jsonb_build_array(pg_temp.edit('src/parse.ts'), pg_temp.step()));
select is(pg_temp.answer(), 'Recorded as [1].', 'where blocks stay, nothing leaves');

select * from finish();
rollback;
