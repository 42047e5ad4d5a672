-- v_under_way, v_now_trees and v_now_sums say of all work under way what v_now says of each item.
begin;
select plan(9);
set local work_ledger.now = '2026-01-01 12:00Z';

select is((select (trees, under_way, tokens)::text from v_now_sums), '(0,0,0)', 'nothing is under way: one row of nothing');
select is_empty($$ select * from v_now_trees $$, 'and no tree');

select tool('erase', 'unsafe', 'dangerous');
select agent('{"tools": ["look", "erase"], "require_approval": "dangerous", "model": "claude-opus-4-5"}');
select model_price_save('claude-opus-4-5', 5, 25);
select submit('Fix the parser');
select play('[[["step", "Looked at it"], ["look"]]]');
select work_submit('analyze', 'A part that is over', p_parent_id => item());
select work_submit('analyze', 'A part', p_parent_id => item());
select work_complete((select id from work_items where description = 'A part that is over'), 'Done');
select claim(id, 'w') from work_items where description = 'A part';
select drive(), answer('["Now it goes.", ["erase"]]', p_more => '{"usage": {"input_tokens": 1000, "output_tokens": 100}}');
select iteration_finish(item(), lease());
select claim(id, 'w') from work_submit('analyze', 'Another tree') w;
select work_pause(id, 'until Monday') from work_submit('analyze', 'A paused one') w;
select from work_submit('analyze', 'Not begun');

select set_eq($$ select work_item_id, root_id, depth, state, doing, started_at, focus_id, turn_id from v_under_way $$,
              $$ select work_item_id, root_id, depth, state, doing, started_at, focus_id, turn_id from v_now $$, 'the same items, doing the same');
select set_eq($$ select root_id, under_way::bigint, model::bigint, tools::bigint, waits::bigint, paused::bigint, next::bigint, began_at from v_now_trees $$,
              $$ select root_id, count(*) as a, count(*) filter (where doing = 'model') as b, count(*) filter (where doing = 'tools') as c, count(*) filter (where doing = 'waits') as d,
                        count(*) filter (where doing = 'paused') as e, count(*) filter (where doing = 'next') as f, min(started_at)
                   from v_now group by root_id $$, 'a tree is the sum of its items');
select is((select (under_way, approvals)::text from v_now_trees where root_id = item()), '(2,1)', 'what is over is not under way; a call waits for a person');
select is((select (trees, under_way, model, tools, waits, paused, next, approvals)::text from v_now_sums),
          (select (count(*), sum(under_way), sum(model), sum(tools), sum(waits), sum(paused), sum(next), sum(approvals))::text from v_now_trees), 'all of it is the sum of the trees');
select is((select (tokens, cost)::text from v_now_sums),
          (select (sum(tree_tokens), sum(tree_cost))::text from (select distinct on (root_id) tree_tokens, tree_cost from v_now) r), 'what the trees used is what v_now says of each');
select ok((select tokens > 0 and cost > 0 from v_now_sums), 'and that is something');
select is((select root_id from v_now_trees order by approvals > 0 desc, began_at, root_id limit 1), item(), 'the tree that waits for a person comes first');

select * from finish();
rollback;
