begin;
select plan(6);

select agent();
select submit();

create temporary table first as select focus_claim(item(), 'worker-1') as claim;
select is((select claim ->> 'kind' from first), 'claimed', 'the first worker gets it');
select is((focus_claim(item(), 'worker-2')) ->> 'kind', 'busy', 'the second does not');
select is((select state from work_items), 'claimed', 'the item is claimed');
select is((select faculty_hash from foci), (select content_hash from faculties), 'the focus pins its faculty');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"max_turns": 7}}');
select is((select config -> 'engage' ->> 'max_turns' from foci join faculties on content_hash = faculty_hash), '50', 'a new configuration does not reach it');
select is((select count(*) from faculties where is_current), 1::bigint, 'though it is the current one now');

select * from finish();
rollback;
