-- Entries that a fork took along were counted with its source.
begin;
select plan(2);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["finding", "The index is missing"], ["look"]], [["step", "Looked"]]]');
create function pg_temp.entries() returns double precision language sql as $$
  select sum(value * times) from work_metrics('2026-11-20', '2026-11-21') where metric = 'work.ledger.entries' $$;
select is(pg_temp.entries(), 2::double precision, 'two entries were recorded');
select take(work_fork((select turn_id from request where n = 2)));
select play('[[["finding", "It was dropped in March"]]]');
select is(pg_temp.entries(), 3::double precision, 'with the fork''s own it is three');

select * from finish();
rollback;
