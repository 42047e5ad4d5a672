-- A revoked token says nothing more; what was signed stays, and the name can get another token.
begin;
select plan(7);

create temporary table ann as select encode(sha256(token::bytea), 'hex') as proof from person_add('Ann');
select set_config('work_ledger.person_token', (select proof from ann), true);
select is(person_current(), 'Ann', 'the token is valid');
select isnt(person_revoke('Ann'), null, 'it is revoked');
select throws_ok('select person_current()', '42501', null, 'it is not valid any more');
select lives_ok($$ select person_revoke('Ann') $$, 'revoking again changes nothing');
select throws_ok($$ select person_revoke('Bob') $$, 'WL001', null, 'who was never added is not known');
select is((select name from person_add('Ann')), 'Ann', 'the name can be added again');
select results_eq($$ select name, revoked_at is null from person_list() $$, $$ values ('Ann', true), ('Ann', false) $$, 'the list has both');

select * from finish();
rollback;
