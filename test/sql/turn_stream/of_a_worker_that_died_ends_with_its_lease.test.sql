-- What a worker heard before it died is not shown as if it still came, also where nobody asks again.
begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit('Fix it');
select from ledger_watch(item());
select drive();
select turn_stream(item(), lease(), turn(), '[{"type": "text", "text": "I shall fi"}]');
select work_pause(item());
select results_eq('select said from v_streaming', $$ values ('I shall fi') $$, 'a response is seen while it arrives');
select later('1 hour');
select from work_sweep();
select is((select state from item), 'paused', 'its worker died, and the item is paused');
select is_empty('select from v_streaming', 'nothing arrives any more');
select is((select status from turns where id = turn()), 'pending', 'the request waits to be sent again');

select * from finish();
rollback;
