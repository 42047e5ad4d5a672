-- An entry after a reminder heeds it.
begin;
select plan(2);

select agent('{"tools": ["look"], "elide_budget": 15000, "ledger_nudge_interval": 3}');
select submit('Fix it');

select play('[[["look", "a"]], [["look", "b"]], [["look", "c"]], [["note", "noted"], ["look", "d"]], [["look", "e"]], [["look", "f"]], [["look", "g"]], [["look", "h"]]]');
select results_eq($$ select iteration, is_heeded from v_nudges order by iteration $$, $$ values (4, true), (8, false) $$, 'an entry heeds the reminder and starts the count anew');
select is((select count(*) from work_ledger where is_auto), 0::bigint, 'nothing is drafted for who records');

select * from finish();
rollback;
