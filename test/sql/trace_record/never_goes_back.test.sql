-- How far an attempt was exported never goes back, and what was never taken is not recorded.
begin;
select plan(3);

select agent('{"tools": ["look"]}');
select submit('A task'), play('[[["look"]], [["look"]]]');
select trace_record(focus(), 2);
select is((select count(*) from trace_exports), 0::bigint, 'nothing was taken');
select trace_take(focus()), trace_record(focus(), 2), trace_record(focus(), 1);
select is((select iteration from trace_exports), 2, 'an older report does not take it back');
select trace_record(focus(), 2, true), trace_record(focus());
select is((select is_done from trace_exports), true, 'nor does one without success');

select * from finish();
rollback;
