-- A faculty with problems is refused with all of them at once.
begin;
select plan(6);

create function pg_temp.refusal(p_config jsonb, out message text, out detail text, out hint text) language plpgsql as $$
begin
  perform faculty_save(p_config);
exception when sqlstate 'WL002' then
  get stacked diagnostics message = message_text, detail = pg_exception_detail, hint = pg_exception_hint;
end
$$;

select throws_ok($$ select faculty_save('{"accepts": []}') $$, 'WL002', 'a faculty needs a name', 'a faculty without a name is refused');
select throws_ok($$ select faculty_save('{"name": "a", "engage": {"max_trns": 9}}') $$, 'WL002', 'unknown key engage.max_trns; did you mean engage.max_turns?', 'an unknown key is refused');
select throws_ok($$ select faculty_save(null) $$, 'WL002', 'a faculty must be a table of keys, not null', 'null is no faculty');
select is(
  (select detail from pg_temp.refusal('{"name": "a", "engage": {"workspace": "hots", "max_turns": 0}}')),
  E'engage.max_turns must be a whole number from 1, not 0\nengage.workspace must be host, container or none, not "hots"; did you mean "host"?',
  'of several problems the detail has each on a line');
select is((select message || detail from pg_temp.refusal('{"name": 3}')), 'name must be a string, not 3', 'one problem is the message, and there is no detail');
select ok((select bool_and(hint ~ 'v_faculty_keys') from (values ('{"name": 3}'::jsonb), ('{"engage": 3}')) v(config), pg_temp.refusal(config)), 'the hint says where the keys are');

select * from finish();
rollback;
