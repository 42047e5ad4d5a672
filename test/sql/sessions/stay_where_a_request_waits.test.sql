-- A session is not moved back under a request that is to be sent again: its answer would be that to another conversation.
begin;
select plan(3);

select agent('{"tools": ["look"]}');
select submit('Fix it');
select play('[[["look"]], [["look"]]]');
create temporary table first as select turn_id as id from request where n = 1;
select drive();
select iteration_fail(item(), lease(), '{"class": "server_error", "message": "x"}');
select is((select lease_hash from item), null, 'nobody drives the work until the request is sent again');
select throws_ok($$ select session_rollback(item()::text, (select id from first)) $$, 'WL008', null, 'it is not moved back meanwhile');
update work_items set run_at = now() where id = item();
select play('[[["look"]]]');
select lives_ok($$ select session_rollback(item()::text, (select id from first)) $$, 'it is, once the request was answered');

select * from finish();
rollback;
