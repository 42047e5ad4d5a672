-- A faculty is saved whole, with the defaults of what it does not say.
begin;
select plan(7);

select is((select config -> 'engage' ->> 'max_turns' from faculty_save('{"name": "a"}')), '50', 'a default is filled in');
select is((select config -> 'engage' ->> 'max_turns' from faculty_save('{"name": "a", "engage": {"max_turns": 9}}')), '9', 'a value that is given stays');
select is((select count(*) from faculties where name = 'a' and is_current), 1::bigint, 'one configuration is current');
select is((select config from faculty_save('{"name": "a", "accepts": null, "engage": {"max_turns": null}, "hooks": null}')), _faculty_defaults() || '{"name": "a"}', 'a key that is null has its default');
select is(
  (select array_agg(k.path order by k.path) from _faculty_keys() k, faculty_save('{"name": "a"}') f where k.type <> 'table' and f.config #> string_to_array(k.path, '.') is not null),
  (select array_agg(path order by path) from _faculty_keys() where type <> 'table'), 'a saved faculty has every key');
select is((select (config #>> '{engage,max_turns}')::integer from faculty_save('{"name": "a", "engage": {"max_turns": 50.0}}')), 50, 'a whole number may be written with a point');
select is((select config -> 'engage' ->> 'compact_strategy' from faculty_save('{"name": "a", "engage": {"compact_strategy": "selective", "compact_every": 20}}')), 'selective', 'choices are saved');

select * from finish();
rollback;
