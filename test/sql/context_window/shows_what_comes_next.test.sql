-- context_window() shows the request under way, and between two iterations the next one.
begin;
select plan(4);

select agent();
select submit();
select drive();

select is((select request::text from context_window(focus())), (stage() -> 'request')::text, 'while the model is asked that request is shown');
select answer('[["note", "hi"]]'), run(), iteration_finish(item(), lease());
create temporary table shown as select * from context_window(focus());
select is((select messages -> 2 -> 'content' -> 0 ->> 'content' from shown), 'Recorded as [1].', 'between two iterations the request that would come next is shown');
select is((select json_array_length(tools) from shown), 10, 'the next request is shown with its tools');
select is((select request::text from shown), (drive() -> 'request')::text, 'the next request comes as it was shown');

select * from finish();
rollback;
