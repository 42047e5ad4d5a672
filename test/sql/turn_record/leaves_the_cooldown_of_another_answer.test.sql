-- A response that was on its way when the provider told another worker to wait does not end that wait.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
create temporary table slow as select submit('Ask') as id;
select drive();
create temporary table told as select submit('Ask, too') as id;
select drive();
select iteration_fail(item(), lease(), '{"class": "rate_limited", "message": "slow down", "retry_after_seconds": 60}');
select take((select id from slow)), answer('[["look"]]');
select is((select ends_at from v_cooldowns), '2026-11-20 12:01:00+00'::timestamptz, 'the model rests as long as its provider said');
select run(), iteration_finish(item(), lease());
select isnt(drive() ->> 'kind', 'call_model', 'nobody calls it before');
select later('2 minutes');
select is(drive() ->> 'kind', 'call_model', 'afterwards it is called again');

select * from finish();
rollback;
