-- v_now, v_queue, v_slots, v_workers and v_cooldowns say what goes on, who drives it, and what everything else waits for.
begin;
select plan(38);
set local work_ledger.now = '2026-01-01 12:00Z';

select agent('{"tools": ["look"], "require_approval": "dangerous", "model": "claude-opus-4-5"}', '{"max_concurrent": 2}');
select tool('erase', 'unsafe', 'dangerous');
select agent('{"tools": ["look", "erase"], "require_approval": "dangerous", "model": "claude-opus-4-5"}', '{"max_concurrent": 2}');
select model_price_save('claude-opus-4-5', 5, 25);

select is_empty($$ select * from v_now $$, 'nothing is under way');
select submit('Fix the parser');
select is((select (waits_for, why)::text from v_queue), '(worker,"ready for the next free worker")', 'what is ready waits for a worker');
select lease_renew('w', '{}', '{}', 'here', 7, null, 4);
select drive();
select is((select (doing, waits_for, attempt, iteration, worker_id)::text from v_now), '(model,,1,1,w)', 'a model is asked');
select is_empty($$ select * from v_queue $$, 'what is driven is not queued');
set local timezone = 'Asia/Tokyo';
select work_submit('analyze', 'Later', p_run_at => '2026-01-02 12:00Z');
select is((select why from v_queue), 'not before 2026-01-02 12:00:00 UTC', 'what is not due yet says so in UTC in every session');
select work_cancel(work_item_id) from v_queue;
reset timezone;
select answer('["I look first.", ["look"]]', p_more => '{"usage": {"input_tokens": 1000, "cached_input_tokens": 500, "output_tokens": 100}}');
select is((select (doing, last_words, open_calls -> 0 ->> 'tool')::text from v_now), '(tools,"I look first.",look)', 'a tool runs');
select is((select (tokens, cost, model_calls)::text from v_now), (select (total_tokens, cost, turns)::text from v_usage), 'the sums are those of the turns');
select ok((select tokens > 0 and cost > 0 from v_now), 'and there are some');
select run('[["look"]]');
select iteration_finish(item(), lease());
select play('[[["step", "Looked at it"], ["look"]]]');
select is((select last_step from v_now), 'Looked at it', 'the step it is at');

select work_submit('analyze', 'A part', p_parent_id => item());
select drive(), answer('[["erase"]]');
select iteration_finish(item(), lease());
select is((select (doing, waits_for, why)::text from v_now where work_item_id = item()), '(waits,approval,"waits for approval of erase")', 'it waits for a person');
select is((select tree_items from v_now where work_item_id = item()), 2, 'its tree is counted');
select is((select tree_tokens from v_now where work_item_id = item()), (select sum(total_tokens) from v_usage)::bigint, 'and added up');
select tool_call_approve(tool_call_id) from v_approvals;
select is((select (doing, waits_for, why)::text from v_now where work_item_id = item()), '(waits,worker,"ready for the next free worker")', 'once it is approved it waits for a worker');
select is((select why from v_work_list where work_item_id = item()), 'ready for the next free worker', 'so does a list of work');
select work_pause(item(), 'until Monday');
select is((select (doing, waits_for, why)::text from v_now where work_item_id = item()), '(paused,person,"until Monday")', 'it is paused, and why');

-- Slots: two are taken, the third waits.
select is((select (slots, used, free, queued)::text from v_slots), '(2,0,2,1)', 'what waits or is paused has no slot');
select from work_submit('analyze', 'One');
select from work_submit('analyze', 'Two');
select is((select queued from v_slots), 3, 'three are queued');
select claim(work_item_id, 'w') from (select work_item_id from v_queue order by work_item_id limit 2) q;
select is((select (slots, used, free, queued)::text from v_slots), '(2,2,0,1)', 'two slots are taken');
select is((select (waits_for, why)::text from v_queue), '(slot,"2 of 2 slots of faculty ""worker"" are taken")', 'the third waits for one');
select from work_submit('translate', 'Into German');
select is((select (waits_for, why)::text from v_queue where work_type = 'translate'), '(faculty,"no faculty accepts work type ""translate""")', 'nobody takes it');
select from work_submit('analyze', 'Later', p_run_at => '2026-01-02 12:00Z');
select is((select waits_for from v_queue where description = 'Later'), 'time', 'it waits for its time');

-- Workers, idle ones too.
select lease_renew('idle', '{}', '{}', 'there', 8, null, 2);
select is((select array_agg((id, concurrency, busy, free, is_alive)::text order by id) from v_workers), array['(idle,2,0,2,t)', '(w,4,2,2,t)'], 'workers, what they drive and what they could');
select throws_ok($$ select lease_renew('w', '{}', '{}', p_concurrency => -1) $$, 'WL002', null, 'a worker drives no fewer than none');
select later('2 minutes');
select is((select array_agg(distinct (doing, waits_for)::text) from v_now where worker_id = 'w'), '{"(waits,worker)"}', 'what lost its worker waits for another one');
select ok((select bool_and(why ~ '^lost its worker \d+ seconds ago: no other worker is alive to recover it$') from v_now where worker_id = 'w'), 'and says since when, and that nobody is there');
select ok((select bool_and(why ~ '^lost its worker') from v_work_list where state = 'running' or state = 'claimed'), 'so does a list of work');
select is((select sum(waits) > 0 and sum(model + tools) = 0 from v_now_trees), true, 'it counts as waiting');
select lease_renew('idle', '{}', '{}', 'there', 8, null, 2);
select ok((select bool_and(why ~ ': another worker''s next sweep recovers it$') from v_now where worker_id = 'w'), 'where another worker lives, its sweep takes it');
update workers set seen_at = seen_at - interval '2 minutes' where id = 'idle';
select is((select bool_or(is_alive) from v_workers), false, 'a worker that was not seen for a minute does not count as alive');
select from work_sweep('1 minute');
select is_empty($$ select * from v_workers $$, 'and the sweep removes it');

select is_empty($$ select * from v_cooldowns $$, 'no model rests');
update models set cooldown_ends_at = _now() + interval '1 hour', cooldown_reason = 'rate_limited' where name = 'claude-opus-4-5';
select is((select reason from v_cooldowns), 'rate_limited', 'now one does');

-- What code calls, and which children are awaited.
create function pg_temp.made(p_tool text) returns uuid language sql as $$ select id from tool_calls where work_item_id = item() and tool_name = p_tool $$;
select tool('execute_code', 'idempotent');
select agent('{"code_execution": true, "tools": ["look", "erase"], "require_approval": "dangerous", "model": "claude-sonnet-5-5"}');
select submit('Compute it');
select drive(), answer('[["execute_code", {"code": "x"}], ["spawn_child_work", {"work_type": "analyze", "description": "A part"}]]');
select tool_call_begin(item(), lease(), pg_temp.made('execute_code'));
select tool_call_nested(item(), lease(), pg_temp.made('execute_code'), 0, 'erase', '{}'), tool_call_suspend(item(), lease(), pg_temp.made('execute_code'));
select tool_call_execute(item(), lease(), pg_temp.made('spawn_child_work')), iteration_finish(item(), lease());
select is((select (waits_for, why)::text from v_now where work_item_id = item()), '(approval,"waits for approval of erase")', 'a call of code waits for a person');
select is((select open_calls #>> '{0,is_approval}' from v_now where work_item_id = item()), 'true', 'and so does the code');
select submit('Delegate it');
select work_submit('analyze', 'One', p_parent_id => item()), work_submit('analyze', 'Another', p_parent_id => item());
select drive();
select answer(format('[["await_child_work", {"work_item_ids": ["%s"]}]]', (select id from work_items where parent_id = item() order by id limit 1))::jsonb);
select tool_call_execute(item(), lease(), pg_temp.made('await_child_work')), iteration_finish(item(), lease());
select is((select (waits_for, why)::text from v_now where work_item_id = item()), '(children,"waits for 1 of its children")', 'it awaits one of its two children');
select is((select count(*) from v_now where waits_for = 'children'), 1::bigint, 'which nobody else does');
select work_cancel(id) from work_items where parent_id = item() and description = 'One';
select is((select (waits_for, why)::text from v_now where work_item_id = item()), '(worker,"ready for the next free worker")', 'when that is over it waits for a worker');
select daily_budget_set('calls', 0, p_faculty => 'worker');
select submit('Ask once'), claim();
select iteration_begin(item(), lease()) ->> 'kind';
select daily_budget_set('calls', null, p_faculty => 'worker');
select is((select (waits_for, why)::text from v_now where work_item_id = item()), '(worker,"ready for the next free worker")', 'and so does what waited for a budget that is gone');

select * from finish();
rollback;
