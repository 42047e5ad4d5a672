-- All problems of a configuration are named at once, each with its path.
begin;
select plan(6);

select results_eq(
  $$ select path::text, says from faculty_problems('{
       "nam": 1, "max_turns": 3, "max_concurrent": 0, "accepts": ["a", 1, {"x": 2}, null, " "], "orient": 3,
       "engage": {"max_trns": 3, "unheard_of": 1, "max_turns": "50", "mode": "external"}}') $$,
  $$ values ('{accepts,1}', 'accepts[1] must be a string, not 1'),
            ('{accepts,2}', 'accepts[2] must be a string, not a table'),
            ('{accepts,3}', 'accepts[3] must be a string, not null'),
            ('{accepts,4}', 'accepts[4] must be a string that is not blank, not " "'),
            ('{engage,max_trns}', 'unknown key engage.max_trns; did you mean engage.max_turns?'),
            ('{engage,max_turns}', 'engage.max_turns must be a whole number from 1, not "50"'),
            ('{engage,mode}', 'engage.mode = "external" needs engage.command, the program that does the work'),
            ('{engage,unheard_of}', 'unknown key engage.unheard_of'),
            ('{max_concurrent}', 'max_concurrent must be a whole number from 1, not 0'),
            ('{max_turns}', 'unknown key max_turns; did you mean engage.max_turns?'),
            ('{nam}', 'unknown key nam; did you mean name?'),
            ('{name}', 'a faculty needs a name'),
            ('{orient}', 'orient must be a table of keys, not 3') $$,
  'every problem has its path and what is allowed there');
select is_empty($$ select * from faculty_problems('{"name": "a"}') $$, 'a faculty with a name has no problem');
select is_empty($$ select * from faculty_problems('{"name": "a", "accepts": null, "engage": null, "hooks": {"timeout": null}}') $$, 'null is a key that is left out');
select results_eq($$ select path::text, says from faculty_problems('[1]') $$, $$ values ('{}', 'a faculty must be a table of keys, not a list') $$, 'a list is no faculty');
select results_eq($$ select path::text, says from faculty_problems(null) $$, $$ values ('{}', 'a faculty must be a table of keys, not null') $$, 'null is no faculty');
select is((select says from faculty_problems('{"name": "a", "engage.max_turns": 1, "a \" b": {"c": 1}}') limit 1), 'unknown key "a \" b"', 'a key that is no plain word stands in quotes');

select * from finish();
rollback;
