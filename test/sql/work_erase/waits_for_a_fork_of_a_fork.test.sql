-- A digest that quotes erased work stays as long as any conversation goes on from it, also a fork of a fork.
begin;
select plan(5);

select agent('{"tools": ["look"]}', '{"awareness": {"refresh_every": 0}}');
create temporary table first as select submit('Task of the first') as id;
select play('[[["finding", "canary finding"]], ["done"]]');

create temporary table told as select submit('Task of the second') as id;
select play('[[["look"]]]');
create temporary table branch as select (work_fork(turn())).id;
select play('[["done"]]');
select take((select id from branch));
select play('[[["look"]]]');
create temporary table twig as select (work_fork(turn())).id;
select play('[["done"]]');
select take((select id from twig));
select play('[[["look"]]]');
create temporary table newest as select turn() as id, context_at(turn())::text as request;
select alike((select request from newest), '%canary finding%', 'a fork of a fork has the digest of the first');

select from work_erase((select id from first));
select from work_retention_run();
select is(context_at((select id from newest))::text, (select request from newest), 'its requests are rebuilt to the byte while it goes on');
select is((select is_quoted from erasures), true, 'the quote is still to go');
select play('[["done"]]');
select from work_retention_run();
select unalike(context_at((select id from newest))::text, '%canary%', 'when it is over the quote goes');
select later('1 hour');
select from work_retention_run();
select is((select is_quoted from erasures), false, 'nothing is left to do');

select * from finish();
rollback;
