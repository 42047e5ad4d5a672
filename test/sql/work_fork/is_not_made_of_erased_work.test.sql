-- Work whose words are erased has nothing to continue from.
begin;
select plan(3);

select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look", "saw a"], ["finding", "The index is missing"]], ["Done."]]');
select isnt((select id from work_fork((select turn_id from request where n = 1), p_idempotency_key => 'before')), null, 'work that is over can be forked');
select from work_cancel((select id from work_items where idempotency_key = 'before'));
select from work_erase(item(), p_with_forks => true);
select throws_ok($$ select work_fork((select turn_id from request where n = 1)) $$, 'WL003', null, 'erased work cannot');
select is((select count(*) from work_items where fork_turn_id is not null), 1::bigint, 'and no item is left behind');

select * from finish();
rollback;
