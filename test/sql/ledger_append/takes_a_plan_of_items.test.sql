-- Items of a plan are refused where they cannot be meant, and nothing is written; an agent is told what its new plan forgot.
begin;
select plan(28);

create function pg_temp.append(p_entry_type text, p_items jsonb default null, p_done integer[] default null, p_doing integer default null)
  returns text language sql as $$
  select format('select from ledger_append(%L, %L, ''x'', p_items => %L, p_done => %L, p_doing => %L)', item(), p_entry_type, p_items, p_done, p_doing)
$$;
create function pg_temp.tell(p_input jsonb) returns text language sql as $$
  select set_config('work_ledger.work_item_id', item()::text, true);
  select _ability_ledger_append(p_input);
$$;

select submit();
select throws_ok(pg_temp.append('note', '[{"text": "a"}]'), 'WL002', 'only a plan can have items, not a note', 'items of a note');
select throws_ok(pg_temp.append('error', '[{"text": "a"}]'), 'WL002', 'only a plan can have items, not an error', 'items of an error');
select throws_ok(pg_temp.append('plan', null, '{1}'), 'WL002', 'only a step can have done and doing, not a plan', 'done of a plan');
select throws_ok(pg_temp.append('finding', null, null, 1), 'WL002', 'only a step can have done and doing, not a finding', 'doing of a finding');
select throws_ok(pg_temp.append('plan', '[]'), 'WL002', 'items must be a list of 1 to 100 {"text": ..., "state": ...}', 'no item');
select throws_ok(pg_temp.append('plan', '{"text": "a"}'), 'WL002', null, 'not a list');
select throws_ok(pg_temp.append('plan', '["a"]'), 'WL002', null, 'an item that is a text');
select throws_ok(pg_temp.append('plan', '[{"text": " "}]'), 'WL002', null, 'an item without words');
select throws_ok(pg_temp.append('plan', '[{"text": 1}]'), 'WL002', null, 'an item that is a number');
select throws_ok(pg_temp.append('plan', '[{"text": "a", "state": "late"}]'), 'WL002', null, 'a state that there is not');
select throws_ok(pg_temp.append('plan', (select jsonb_agg('{"text": "a"}'::jsonb) from generate_series(1, 101))), 'WL002', null, 'a hundred and one');
select throws_ok(pg_temp.append('step', null, '{1}'), 'WL002', 'there is no item 1 in the plan', 'done without a plan');
select from ledger_append(item(), 'plan', null, p_items => '[{"text": "Make the copy"}, {"text": "Read the log"}, {"text": "Prove it on the copy"}]');
select throws_ok(pg_temp.append('step', null, '{1}', 4), 'WL002', 'there is no item 4 in the plan', 'an item that there is not');
select throws_ok(pg_temp.append('step', null, '{0}'), 'WL002', 'there is no item 0 in the plan', 'nor one before the first');
select throws_ok(pg_temp.append('step', null, '{null,4}'), 'WL002', 'done must be a list of numbers of the plan''s items', 'a number that is none');
select throws_ok(pg_temp.append('step', null, '[5:6]={1,4}'), 'WL002', 'there is no item 4 in the plan', 'wherever the list begins to count');
select throws_ok(pg_temp.append('step', null, '{{1,2}}'), 'WL002', 'done must be a list of numbers of the plan''s items', 'a list of lists');
select throws_ok(pg_temp.append('step', null, '{1}', 1), 'WL002', 'item 1 cannot be both done and being done', 'both at once');
select throws_ok(format($$ select pg_temp.tell(%L) $$, '{"entry_type": "step", "content": "x", "done": ["1"]}'), 'WL002',
  'done must be a list of numbers of the plan''s items', 'a number that is a text');
select throws_ok(format($$ select pg_temp.tell(%L) $$, '{"entry_type": "step", "content": "x", "doing": 1.5}'), 'WL002',
  'doing must be the number of an item of the plan', 'half an item');
select is((select count(*) from work_ledger where work_item_id = item()), 1::bigint, 'nothing of these was written');

select is(pg_temp.tell('{"entry_type": "step", "content": "Read", "done": [2], "doing": null}'), 'Recorded as [2].', 'a step says what is done');
select is(pg_temp.tell('{"entry_type": "plan", "content": "Shorter", "items": [{"text": "make the copy"}]}'),
  'Recorded as [3]. No longer in this plan, and not done: 3 "Prove it on the copy". List it as dropped, or add it.', 'a plan that forgets');
select is(pg_temp.tell('{"entry_type": "plan", "content": "x", "items": [{"text": "Make the copy", "state": "dropped"}, {"text": "Begin again"}, {"text": "End"}]}'),
  'Recorded as [4].', 'a plan that names what it drops');
select is(pg_temp.tell('{"entry_type": "plan", "content": "1. Something else"}'),
  'Recorded as [5]. No longer in this plan, and not done: 2 "Begin again", 3 "End". List them as dropped, or add them.', 'in its own words');
select is((select array_agg(split_part(content, E'\n', 2)) from ledger_append_batch(item(),
    '[{"entry_type": "plan", "items": [{"text": "Something else"}]}, {"entry_type": "step", "content": "Did", "done": [1]}]')), '{"",Plan: 1 done}',
  'a batch takes both, one after the other');

select throws_ok(format($$ select ledger_append_batch(%L, '[{"entry_type": "step", "content": "x", "done": [2]}]') $$, item()), 'WL002',
  'there is no item 2 in the plan', 'nor does a batch name what there is not');
select throws_ok(format($$ select ledger_append_batch(%L, '[{"entry_type": "note", "content": "x", "items": [{"text": "a"}]}]') $$, item()), 'WL002',
  'only a plan can have items, not a note', 'or give items to a note');

select * from finish();
rollback;
