-- turn_tree() folds straight runs of turns, and keeps forks, steps, errors, attempts and what is next to the turn that is looked at.
begin;
select plan(16);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "stall_limit": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look"]], [["look"]], [["look"]], [["step", "Looked"]], [["look"]], [["look"]], [["error", "No such table"]], [["look"]], [["look"]], [["look"]]]');

select is((select array_agg(format('%s %s %s', kind, turns, array_to_string(marks, ',')) order by depth) from turn_tree(item())),
  array['turn 1 first', 'run 2 ', 'turn 1 step', 'run 2 ', 'turn 1 error', 'run 2 ', 'turn 1 head,leaf,around'], 'runs are folded between what matters');
select is((select array_agg(label order by depth) from turn_tree(item()) where label is not null), array['Looked', 'No such table'], 'steps and errors have their words');
select is((select sum(turns) from turn_tree(item())), 10::bigint, 'every turn is in one row');
select is((select sum(tokens)::bigint from turn_tree(item())), (select sum(total_tokens) from turns where work_item_id = item()), 'with its tokens');
select is((select count(*) from turn_tree(item()) where parent_node_id is null), 1::bigint, 'one row is the root');
select is((select count(*) from turn_tree(item()) a join turn_tree(item()) b on a.parent_node_id = b.node_id where b.last_depth + 1 = a.depth), 6::bigint, 'every other one follows the one above it');
select is((select array_agg(turns order by depth) from turn_tree(item(), (select id from turns where work_item_id = item() and depth = 1))), array[1, 1, 1, 1, 2, 1, 2, 1], 'the turn that is looked at stands alone');
select ok((select count(*) from turn_tree(item(), p_limit => 4)) <= 4, 'there are no more rows than asked for');
select is((select sum(turns) from turn_tree(item(), p_limit => 8)), 10::bigint, 'fewer rows fold more');

-- A branch within the item, a fork into another one, another attempt.
insert into turns (parent_turn_id, depth, work_item_id, focus_id, iteration, status, completed_at, external_id)
select id, depth + 1, work_item_id, focus_id, 99, 'completed', now(), 'branch' from turns where work_item_id = item() and depth = 4;
select is((select array_agg((lane, turns, array_to_string(marks, ','))::text order by lane, depth) from turn_tree(item()) where lane = 1), array['(1,1,leaf)'], 'a branch has a lane of its own');
select is((select array_to_string(marks, ',') from turn_tree(item()) where node_id = (select id from turns where work_item_id = item() and depth = 4)), 'fork', 'it begins at a fork');
select from work_fork((select id from turns where work_item_id = item() and depth = 2), 'Try without the cache');
select is((select (label, depth)::text from turn_tree(item()) where kind = 'item'), '("Try without the cache",3)', 'work that was forked from a turn stands beside it');
select give_up();
update work_items set run_at = _now() where id = item();
select play('[[["look"]]]');
select is((select array_agg(distinct attempt order by attempt) from turn_tree(item()) where 'first' = any (marks)), array[1, 2], 'each attempt has its first turn');

select throws_ok($$ select * from turn_tree(gen_random_uuid()) $$, 'WL001', null, 'no such item');
select throws_ok($$ select * from turn_tree(item(), gen_random_uuid()) $$, 'WL001', null, 'no such turn');
select throws_ok($$ select * from turn_tree(item(), null, 0) $$, 'WL002', null, 'no such number of rows');

select * from finish();
rollback;
