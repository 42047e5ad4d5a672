-- turn_tree() has the turn whose request is under way, the first of an item or a later one.
begin;
select plan(2);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "stall_limit": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select drive();
select is((select array_agg((depth, status, turns)::text) from turn_tree(item(), (select id from turns where work_item_id = item()))), array['(0,pending,1)'], 'the first request of an item');
select submit('Fix that');
select play('[[["look"]]]');
select drive();
select is((select array_agg((depth, status, turns)::text order by depth) from turn_tree(item())), array['(0,completed,1)', '(1,pending,1)'], 'and the next one');

select * from finish();
rollback;
