-- session_compare() finds where two conversations part, and says what each has done since.
begin;
select plan(16);

select tool('edit_file', 'idempotent');
select agent('{"tools": ["look", "edit_file"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
create temporary table original as select item();
select play('[[["look"]], [["finding", "It is TOML"], ["look"]], [["step", "Looked"], ["look"]]]');
select take(work_fork((select id from turns where work_item_id = item() and iteration = 2), 'Try without the cache'));
create temporary table fork as select item();
select play('[[["edit_file", {"path": "b.ts"}, "failed to edit"], ["decision", "Without the cache"]], [["edit_file", {"path": "b.ts"}]], [["edit_file", {"path": "a.ts"}]]]', p_more => '{"model": "claude-opus-4-5", "usage": {"input_tokens": 1000, "output_tokens": 10}}');
create temporary table pair as select * from session_compare((select item::text from original), (select item::text from fork));

select is((select array_agg(branch order by branch) from pair), array['a', 'b'], 'a row each');
select is((select array_agg(distinct common_turn_id) from pair), array[(select id from turns where work_item_id = (select item from original) and iteration = 2)], 'they part at the turn that was forked');
select is((select array_agg(turns order by branch) from pair), array[1, 3], 'turns since');
select is((select array_agg(model_calls order by branch) from pair), array[1, 3], 'model calls since');
select is((select array_agg(tokens order by branch) from pair), array[300, 3030]::bigint[], 'tokens since');
select is((select entries -> 0 ->> 'content' from pair where branch = 'a'), 'Looked', 'entries since');
select is((select array_agg(entry_count order by branch) from pair), array[1, 1], 'and not those before');
select is((select files from pair where branch = 'b'), '[{"path": "a.ts", "calls": 1, "actions": ["modify"]}, {"path": "b.ts", "calls": 2, "actions": ["modify"]}]'::jsonb, 'files that it touched');
select is((select (calls, failed_calls)::text from pair where branch = 'b'), '(4,1)', 'calls, and those that failed');
select is((select (work_item_id = (select item from fork))::text || status from pair where branch = 'b'), 'truerunning', 'whose work it is');
select is((select array_agg(turns order by branch) from session_compare((select item::text from original), (select item::text from original))), array[0, 0], 'a session beside itself has nothing of its own');

-- Leaps find what a walk would find, in conversations of any depth.
select is_empty($$
  with recursive deep as (
    select t.id as of_id, t.id, t.parent_turn_id, t.depth from turns t join turn_sizes s on s.turn_id = t.id
    union all
    select d.of_id, p.id, p.parent_turn_id, p.depth from deep d join turns p on p.id = d.parent_turn_id)
  select * from deep d where (_ancestor_at(d.of_id, d.depth)).id <> d.id $$, 'every ancestor is found by its depth');
select is_empty($$
  select a.id, b.id
    from turns a cross join turns b
   where (_common_turn(a.id, b.id)).id is distinct from (select x.id from turn_ancestry(a.id) x join turn_ancestry(b.id) y on y.id = x.id order by x.depth desc limit 1) $$,
  'and every common one');
select submit('Not begun'), drive();
select is((select array_agg((common_turn_id, turns)::text order by branch) from session_compare((select item::text from original), item()::text)), array['(,3)', '(,0)'],
  'a session without a turn has nothing in common with another');
select throws_ok($$ select * from session_compare('nobody', 'nothing') $$, 'WL001', null, 'no such session');
select throws_ok($$ select * from session_compare(null, null) $$, 'WL001', null, 'nor is null one');

select * from finish();
rollback;
