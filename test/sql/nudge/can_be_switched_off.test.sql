begin;
select plan(1);

select agent('{"tools": ["look"], "elide_budget": 15000, "ledger_nudge_interval": 0}');
select submit('Mend it');


select play((select jsonb_agg('[["look", "x"]]'::jsonb) from generate_series(1, 8)));

select is((select count(*) from v_nudges), 0::bigint, '0 is off');

select * from finish();
rollback;
