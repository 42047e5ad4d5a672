-- Whoever also changes the counters, or writes the chain anew, is found by a head that was kept elsewhere; where nothing was changed, it fits.
begin;
select plan(8);

select agent('{"tools": ["look"]}');
select submit();
select play('[[["look"], ["finding", "No index"], ["finding", "No table"]], [["look"]], ["done"]]');
select from ledger_retract(item(), 1, 'There is one');
create temporary table head as select jsonb_agg(h) as heads from ledger_head(item()) h;
select is((select heads #>> '{0,ledger_count}' from head), '3', 'a head tells how many entries there are');
select is_empty($$ select * from ledger_verify(item(), (select heads from head)) $$, 'it fits what was not changed');
select from ledger_retract(item(), 2, 'Nor that');
select is_empty($$ select * from ledger_verify(item(), (select heads -> 0 from head)) $$, 'and what has grown since');

-- Of what was written after the newest seal, nothing else tells that it was there.
create function pg_temp.cut() returns text language sql as $$
  select $q$ delete from work_ledger where work_item_id = item() and seq >= 3; update fences set ledger_count = 2 where work_item_id = item() $q$
$$;
select is(found('work_ledger', pg_temp.cut()), 'nothing', 'a tail cut with its counter does not show by itself');
select is(found('work_ledger', pg_temp.cut(), (select heads from head)), 'entry 3 is gone: it was the head', 'but by the head');
select is(found('work_ledger', $$ update work_ledger set content = 'The index is there' where work_item_id = item() and seq = 3;
    delete from work_ledger where work_item_id = item() and seq = 4; update fences set ledger_count = 3 where work_item_id = item();
    update work_ledger l set link = _entry_link((select p.link from work_ledger p where p.work_item_id = item() and p.seq = 2), _salt(item()), l)
     where work_item_id = item() and seq = 3 $$, (select heads from head)),
  'entry 3 is not the one that was the head', 'so does an entry whose link was written anew');
select is(found('seals', $$ delete from seals where work_item_id = item() $$, (select heads from head)) ~ 'seal 4 is gone: it was the head', true, 'and seals that were taken away');
select throws_ok($$ select * from ledger_verify(null, '[1]') $$, 'WL002', null, 'a head is a row of ledger_head()');

select * from finish();
rollback;
