-- An external id is of one item.
begin;
select plan(2);

select is((select external_id from work_submit('a', 'x', p_external_id => '01JCX5ZNFK7H0V0QJ4X7W2J3GS')), '01JCX5ZNFK7H0V0QJ4X7W2J3GS', 'an external id is kept');
select throws_ok($$ select work_submit('a', 'y', p_external_id => '01JCX5ZNFK7H0V0QJ4X7W2J3GS') $$, 'WL006', null, 'the same external id again is refused');

select * from finish();
rollback;
