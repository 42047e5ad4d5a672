-- With ledger_nudge_interval = 0 nobody is reminded.
begin;
select plan(1);

select agent('{"tools": ["look"], "elide_budget": 15000, "ledger_nudge_interval": 0}');
select submit('Fix it');

select play('[[["look", "x"]]]') from generate_series(1, 8);

select is((select count(*) from v_nudges), 0::bigint, 'eight iterations without an entry bring no reminder');

select * from finish();
rollback;
