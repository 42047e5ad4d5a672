-- context_window() looks and writes nothing.
begin;
select plan(4);

select agent();
select submit('Find why the import is slow');
select claim();
insert into turn_configs (content_hash, config) select n::text, '{}' from generate_series(1, 200) n;
-- The engine's prompt stands in every configuration once.
create temporary sequence prompts;
create or replace function _engine_prompt(p_tools text[], p_awareness boolean default true) returns text language plpgsql as $$ begin return 'prompt ' || nextval('pg_temp.prompts'); end $$;
set transaction read only;

select is((select request #>> '{system,0,text}' from context_window(focus())), 'prompt 1', 'in a transaction that may not write there is a request');
select is((select nextval('pg_temp.prompts')), 2::bigint, 'the configuration is made once, however many are stored');
select is((select count(*) from turn_configs), 200::bigint, 'the configuration is not stored');
select is((select count(*) from turns), 0::bigint, 'no turn is stored');

select * from finish();
rollback;
