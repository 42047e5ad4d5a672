-- Tools are offered in the order in which a faculty lists them, behind the engine's own, whenever they were registered or changed.
begin;
select plan(2);

select tool('first'), tool('second'), tool('third');
update abilities set updated_at = updated_at - interval '1 day' where name = 'third';
update abilities set updated_at = updated_at + interval '1 day' where name = 'first';
select agent('{"tools": ["second", "first", "third"]}');
select submit(), drive();
create temporary table offered as select t.n, t.value ->> 'name' as name from json_array_elements(stage() #> '{request,tools}') with ordinality as t(value, n);
select results_eq($$ select name from offered where name in ('first', 'second', 'third') order by n $$, $$ values ('second'), ('first'), ('third') $$, 'the list decides');
select results_eq($$ select name from offered where name not in ('first', 'second', 'third') order by n $$,
  $$ select tool_name from abilities where implementation = 'engine' order by position, name $$, 'the engine''s own come first, by their position');

select * from finish();
rollback;
