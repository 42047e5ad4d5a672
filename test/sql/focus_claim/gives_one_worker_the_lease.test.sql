-- One worker at a time holds the lease of an item; its focus keeps the faculty that it began with.
begin;
select plan(6);

select agent();
select submit();

select is(claim(p_worker => 'worker-1') ->> 'kind', 'claimed', 'the first worker gets the lease');
select is(focus_claim(item(), 'worker-2') ->> 'kind', 'busy', 'a second worker does not get the lease');
select is((select state from item), 'claimed', 'the item is claimed');
select is((select faculty_hash from foci), (select content_hash from faculties), 'the focus pins the configuration of its faculty');
select agent('{"max_turns": 7}');
select is((select config -> 'engage' ->> 'max_turns' from foci join faculties on content_hash = faculty_hash), '50', 'a new configuration does not reach the focus');
select is((select count(*) from faculties where is_current), 1::bigint, 'the new configuration is the current one');

select * from finish();
rollback;
