-- A person gets a token that is shown once; the ledger keeps a hash of its hash.
begin;
select plan(9);

create temporary table made as select * from person_add('Ann Lee');
select is((select name from made), 'Ann Lee', 'the person has the name that was given');
select matches((select token from made), '^wlp_[A-Za-z0-9_-]{43}$', 'the token is random, and known by its form');
select isnt((select token from person_add('Bob')), (select token from made), 'everybody gets another one');
select is_empty($$ select from people p, made m where position(m.token in p::text) > 0 or position(encode(sha256(m.token::bytea), 'hex') in p::text) > 0 $$,
  'neither the token nor what a program sends for it is stored');
select throws_ok($$ select person_add('Ann Lee') $$, 'WL006', null, 'a name has one valid token');
select throws_ok(format('select person_add(%L)', bad), 'WL002', null, format('%L is not a name', bad))
  from unnest(array['', E'Ann\nLee', 'Ann, Bob', E'Ann\u202E']) bad;

select * from finish();
rollback;
