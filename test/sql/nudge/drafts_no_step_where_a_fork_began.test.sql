-- A step is not drafted for a turn from which another conversation continues: the block would close there, too. It waits for the next turn.
begin;
select plan(4);

select agent('{"tools": ["look"], "ledger_nudge_interval": 1, "elide_budget": 0, "keep_budget": 0}', '{"awareness": {"enabled": false}}');
create temporary table source as select submit() as id;
select play('[[["look", "saw a"]], [["look", "saw b"]]]');
select play('[[["look", "saw c"]]]');
create temporary table branch as select (work_fork((select turn_id from request where n = 3))).id;
select play('[[["look", "saw d"]]]', (select id from source));

select is((select count(*) from work_ledger where is_auto), 0::bigint, 'no step is drafted for the turn from which a fork was made');
select play('[[["look", "saw e"]]]', (select id from source));
select is((select turn_id from work_ledger where is_auto), (select turn_id from request where n = 4), 'it is drafted for the turn behind it');
select take((select id from branch));
select play('[[["look", "saw f"], ["step", "Looked"]], [["look", "saw g"]]]');
select ok(recall_block(item(), 1) like '%saw c%', 'the turn at the fork stays in the block that was open there');
select ok(recall_block(item(), 2) like '%saw f%' and recall_block(item(), 2) not like '%saw c%', 'the next block is the fork''s own');

select * from finish();
rollback;
