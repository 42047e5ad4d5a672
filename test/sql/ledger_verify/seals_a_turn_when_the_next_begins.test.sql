-- Of work under way everything is sealed but the newest turn, which is not finished.
begin;
select plan(5);

select agent('{"tools": ["look"]}');
select submit();
select play('[[["look", {"at": "a"}, "seen"]], [["look"], ["finding", "No index"]]]');
select drive();
create temporary table turn as select t.id, row_number() over (order by t.id) as n from turns t where t.work_item_id = item();
select is((select count(*) from seals where work_item_id = item()), 2::bigint, 'the two that are over are sealed, the third is being asked');
select is((select array_agg(ledger_count order by n) from seals where work_item_id = item()), '{0,1}', 'with the ledger as it was');
select is_empty($$ select * from ledger_verify(item()) $$, 'nothing is found');
select is(found('messages', $$ update messages set content = '[]' where role = 'assistant' and turn_id = (select id from turn where n = 1) $$),
  format('turn %s is not as it was sealed, or the ledger is not as it was then', (select id from turn where n = 1)), 'a change of what is over is');
select is(found('turns', $$ insert into turns (id, work_item_id, status, completed_at) values ('00000000-0000-7000-8000-000000000000', item(), 'completed', now()) $$),
  'turn 00000000-0000-7000-8000-000000000000 was never sealed, or has messages or calls that were not', 'and a turn put in before');

select * from finish();
rollback;
