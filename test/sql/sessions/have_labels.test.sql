-- A session is known by its label, which is taken once.
begin;
select plan(7);

select bare_turn();

select results_eq($$ select label, head_turn_id, status, origin from session_create('main') $$, $$ values ('main', null::uuid, 'active', 'work-ledger') $$, 'a session begins with no turn');
select throws_ok($$ select session_create('main') $$, 'WL006', null, 'a label is taken once');
select throws_ok($$ select session_create(' ') $$, 'WL002', null, 'a blank label is refused');
select throws_ok($$ select session_create('x', gen_random_uuid()) $$, 'WL001', null, 'a head that is no turn is refused');
select is((session_open('main')).label, 'main', 'opening finds a label');
select is((session_find('nobody')).label, null, 'finding makes no session');
select is((session_open('nobody')).label, 'nobody', 'opening makes a session where there is none');

select * from finish();
rollback;
