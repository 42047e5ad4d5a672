-- With stall_limit = 0 nobody is told of going in circles, and nobody is stopped.
begin;
select plan(2);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "stall_limit": 0}', '{"awareness": {"enabled": false}}');
select submit('Do it');

select is(array_agg(play('[[["look", {"at": 1}, "b"]]]')), array_fill('continued'::text, array[12]), 'twelve iterations of the same call go on') from generate_series(1, 12) n;
select is((select count(*) from messages where metadata ->> 'kind' = 'stall'), 0::bigint, 'nobody is told of making the same call again');

select * from finish();
rollback;
