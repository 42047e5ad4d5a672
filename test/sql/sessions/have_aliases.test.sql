-- A session may have other names, which can move on to another session.
begin;
select plan(7);

select session_create('main'), session_create('other');

select is((session_alias('person:anna', 'main', 'identity_promotion')).session_label, 'main', 'a session gets another name');
select is((session_open('person:anna')).label, 'main', 'opening finds an alias');
select throws_ok($$ select session_alias('other', 'main') $$, 'WL006', null, 'an alias never hides a session');
select throws_ok($$ select session_create('person:anna') $$, 'WL006', null, 'a session never hides an alias');
select throws_ok($$ select session_alias('a', 'none') $$, 'WL001', null, 'an alias of a session that is not there is refused');
select throws_ok($$ select session_alias('a', 'main', 'because') $$, 'WL002', null, 'an unknown reason for an alias is refused');
select is((session_alias('person:anna', 'other')).session_label, 'other', 'an alias can move on');

select * from finish();
rollback;
