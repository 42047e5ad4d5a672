-- Also the second request has a breakpoint where the first one ended, if the exchange between them is long.
begin;
select plan(2);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "elide_budget": 0}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
select play(jsonb_build_array(to_jsonb(array_fill('["look"]'::jsonb, array[10]))));
select play('[[["look"]]]');
select is((select array_agg(i) from blocks(2) where block -> 'cache_control' is not null), (select array[count(*)] from blocks(1)), 'twenty blocks behind the first request, a breakpoint stands at its end');
select is(rebuilt(), 2::bigint, 'every request is rebuilt to the byte');

select * from finish();
rollback;
