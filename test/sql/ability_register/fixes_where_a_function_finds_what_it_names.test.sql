-- What a user's function names without a schema is found in the schemas of whoever registered it, not in those of whoever calls.
begin;
select plan(6);

create schema mine;
create schema other;
create table mine.colours as select 'blue' as name;
create table other.colours as select 'red' as name;
create function mine.colour(input jsonb) returns text language plpgsql as $$ begin return (select name from colours); end $$;
do $$ begin perform pg_catalog.set_config('search_path', format('mine, nowhere, pg_temp, %I, work_test, public', _ledger_schema()), true); end $$;
create temporary table colours as select 'grey' as name;
select is((ability_register('colour', 'Colour.', '{"type": "object"}', 'pure', 'safe', 'mine.colour(jsonb)')).search_path,
  array['mine', _ledger_schema(), 'work_test', 'public']::name[], 'the path has the schemas that exist, without the temporary one');
do $$ begin perform pg_catalog.set_config('search_path', format('other, %I, work_test, public', _ledger_schema()), true); end $$;
select is(ability_invoke('colour'), '"blue"', 'another session has another path, and a table of its own');
select agent('{"tools": ["colour"]}');
select submit();
select play('[[["colour"]]]');
select is((select result #>> '{}' from tool_calls), 'blue', 'an agent''s call likewise');
select is((ability_register('colour', 'Colour.', '{"type": "object"}', 'pure', 'safe', 'mine.colour(jsonb)', p_search_path => '{other}')).search_path,
  '{other}'::name[], 'the path can be said');
select is(ability_invoke('colour'), '"red"', 'and counts');
select is((ability_register('plain', 'Plain.', '{"type": "object"}')).search_path, null, 'what a worker brings has none');

select * from finish();
rollback;
