-- What was erased has no words that could be taken back, and its ledger gets no entry any more.
begin;
select plan(3);

select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["finding", "The index is missing"]], ["Done."]]');
select from work_erase(item());
create temporary table before as select ledger_count from fences where work_item_id = item();
select throws_ok($$ select ledger_retract(item(), 1, 'It is there') $$, 'WL003', null, 'erased work is refused');
select throws_ok($$ select ledger_retract(item(), 7, 'It is there') $$, 'WL003', null, 'whichever entry is named');
select is((select ledger_count from fences where work_item_id = item()), (select ledger_count from before), 'its ledger stays as it is');

select * from finish();
rollback;
