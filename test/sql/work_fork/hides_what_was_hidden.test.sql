-- Where an attempt began afresh, without the ledger of those before, a branch of it does, too.
begin;
select plan(7);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}, "recover": {"mode": "fresh"}}');
select submit('Fix it');
select play('[[["finding", "The disk is full"]]]');
select give_up();
set local work_ledger.now = '2026-11-20 13:00:00+00';
select play('[[["finding", "The index is missing"]]]');
select is((select ledger_epoch from item), 1, 'the second attempt begins without the ledger of the first');

create temporary table branch as select * from work_fork((select turn_id from request where n = 2));
select is((select ledger_epoch from branch), 1, 'a branch of the second attempt begins without it, too');
select is((select count(*)::integer from work_ledger where work_item_id = (select id from branch)), 2, 'a branch''s ledger has all entries');
select unalike(ledger_read_formatted((select id from branch)), '%The disk is full%', 'a branch shows no entry that was hidden');
select alike(ledger_read_formatted((select id from branch)), '%The index is missing%', 'a branch shows what was not hidden');
create temporary table early as select * from work_fork((select turn_id from request where n = 1));
select is((select ledger_epoch from early), 0, 'a branch of the first attempt hides nothing');
select alike(ledger_read_formatted((select id from early)), '%The disk is full%', 'a branch of the first attempt goes on with what that one knew');

select * from finish();
rollback;
