-- Erased with its forks, a conversation goes with the forks of these, too.
begin;
select plan(3);

select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
create temporary table work as select submit('Fix it') as id;
select play('[[["look"]]]');
create temporary table at as select turn() as id;
select play('[["Done."]]');
select take(work_fork((select id from at)));
select play('[[["look"]]]');
update at set id = turn();
select play('[["Done."]]');
select take(work_fork((select id from at)));
select play('[["Done."]]');
select throws_ok($$ select work_erase((select id from work)) $$, 'WL008', null, 'alone it does not go');
select lives_ok($$ select work_erase((select id from work), p_with_forks => true) $$, 'with its forks it does');
select is((select count(*) from work_items where erased_at is not null), 3::bigint, 'and all of them have gone');

select * from finish();
rollback;
