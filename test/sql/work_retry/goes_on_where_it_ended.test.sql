-- Failed work is tried again in a new item that goes on where it ended, knows how, and keeps the session; without a turn the ledger is its past.
begin;
select plan(17);

set local work_ledger.now = '2026-11-20 12:00:00+00';

select agent('{"tools": ["look"], "max_turns": 2, "ledger_nudge_interval": 0, "elide_budget": 0}', '{"awareness": {"enabled": false}}');
select submit();
create temporary table first as select item() as id;
select play('[[["look", "saw a"], ["finding", "The index is missing"]], [["look", "saw b"]]]');
select drive();
select is((select state from item), 'failed', 'it failed');
select take(work_retry(item(), 'Two more turns'));
select is((select continued_by from item), session_user::text, 'who had it go on is kept');
select play('[["Found it."]]');
create temporary table asked as select body::text as text from request where n = 3;
select alike((select text from asked), '%saw b%was failed. You continue it%Files and the outside world%reached max_turns%WHERE YOU STAND%Two more turns%', 'its agent is told how it ended, where it stands, and why it goes on');
select is((select session_label from foci where work_item_id = item()), (select id::text from first), 'in the same session');
select is((select state from item), 'completed', 'and ends well');
select is((select parent_turn_id from turns where id = (select turn_id from request where n = 3)), (select turn_id from request where n = 2), 'its first turn follows the last one');
select results_eq($$ select how, said from work_chain(item()) where n = 2 $$, $$ values ('retry', 'Two more turns') $$, 'the chain says it was a retry');
select is((select text from v_work_log where work_item_id = (select id from first) and kind = 'next'), item()::text, 'the log of the failed one names the retry');
select is((select is_ok from (select count(*) = 0 as is_ok from ledger_verify()) v), true, 'the ledger holds');

-- Nobody has worked on it: there is no turn, and its ledger is told with the task.
select submit('By hand');
create temporary table hand as select item() as id;
select from ledger_append(item(), 'finding', 'It is Tuesday');
select from work_message(item(), 'In ink');
select from work_cancel(item(), 'for today');
select take(work_retry(item()));
select is((select fork_turn_id from item), null, 'there is no turn to go on from');
select play('[["Done."]]');
create temporary table by_hand as select body::text as text from request where n = 4;
select alike((select text from by_hand), '%By hand%was cancelled. You continue it%for today%Your ledger up to here%It is Tuesday%In ink%', 'its past is told with the task, and what it never heard');
select is((select session_label from foci where work_item_id = item()), item()::text, 'in a session of its own');

-- Its attempts go on from each other, and one that is given up from the item before.
select agent('{"tools": ["look"], "elide_budget": 0}', '{"recover": {"max_attempts": 2}, "awareness": {"enabled": false}}');
select submit('Twice');
select play('[[["look", "saw x"]]]');
select from work_cancel(item());
select take(work_retry(item(), 'Mind the gap'));
select play('[[["look", "saw y"]]]');
select from give_up();
select from later('1 hour');
select is((select state from item), 'queued', 'its first attempt failed');
select play('[["Done twice."]]');
select results_eq($$ select attempt, session_label from foci where work_item_id = item() order by 1 $$,
  $$ select 1, (select continues_id::text from item) union all select 2, item() || '/2' $$, 'its first attempt is in the session of the item before, the next in one of its own');
select alike((select body::text from request order by n desc limit 1), '%Twice%Attempt 2%What you were told in them:%Mind the gap%', 'and knows what was said on the way');

-- It is told which children are not its own, also those of the very last turn, and how to wait for them.
select agent('{"max_children": 4, "elide_budget": 0}', '{"awareness": {"enabled": false}}');
select submit('Delegate it');
select take(item());
select drive(), answer('[["spawn_child_work", {"work_type": "analyze", "description": "A part"}]]');
set local work_ledger.now = '2026-11-21 12:00:00+00'; -- the call runs after its response is stored
select from tool_call_execute(item(), lease(), (select id from tool_calls where turn_id = turn()));
create temporary table part as select id from work_items where parent_id = item();
select from work_cancel(item());
select take(work_retry(item()));
select play(format('[[["check_child_work", {"work_item_ids": ["%s"]}]]]', (select id from part))::jsonb);
select alike((select body::text from request order by n desc limit 1), '%Children started before this point belong to the previous work item: ' || (select id from part) || '%', 'which children are not its own');
select alike((select result::text from tool_calls where tool_name = 'check_child_work'), '%is not a child of this work item%call wait_for%', 'and how to wait for them');

select * from finish();
rollback;
