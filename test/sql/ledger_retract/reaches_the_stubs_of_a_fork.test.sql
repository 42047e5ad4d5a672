-- A fork that takes back an entry of the turns that it shares does not read it in their stub; the source, whose entry stays, does.
begin;
select plan(3);

select agent('{"tools": ["look"], "elide_budget": 0, "keep_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
create temporary table source as select submit('Fix it') as id;
select play('[[["look"], ["finding", "The moon is cheese"]]]');
select take(work_fork(turn()));
select ledger_retract(item(), 1, 'It is rock');

select play('[[["look"], ["step", "Looked again"]], [["look"]]]');
select alike(stub(3, 1), '%see below%', 'the block that the fork shares is left out');
select unalike(stub(3, 1), '%cheese%', 'its stub tells the fork nothing that the fork took back');
select play('[[["look"], ["step", "Looked on"]], [["look"]]]', (select id from source));
select alike(stub(5, 1), '%The moon is cheese%', 'the source took nothing back');

select * from finish();
rollback;
