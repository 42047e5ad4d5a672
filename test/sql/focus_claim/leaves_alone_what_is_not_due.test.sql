begin;
select plan(5);

select agent();

select is((focus_claim((select id from work_submit('analyze', 'later', p_run_at => now() + interval '1 hour')), 'w')) ->> 'kind', 'not_due', 'an item of later');
create temporary table lost as select * from work_submit('unknown', 'x');
select is((focus_claim((select id from lost), 'w')) ->> 'kind', 'unroutable', 'one that no faculty accepts');
select is((select state_reason from work_items where id = (select id from lost)), 'no faculty accepts work type "unknown"', 'the item says why');
select is((select id from v_unroutable), (select id from lost), 'and the view shows it');
select from work_cancel((select id from lost));
select is((focus_claim((select id from lost), 'w')) ->> 'kind', 'finished', 'one that is finished');

select * from finish();
rollback;
