begin;
select plan(5);

select agent();
select submit('Find why the import is slow');
create temporary table held as select (focus_claim(item(), 'w') ->> 'focus_id')::uuid as focus_id;
insert into turn_configs (content_hash, config) select n::text, '{}' from generate_series(1, 200) n;
-- The engine's prompt stands in every configuration once.
create temporary sequence prompts;
create or replace function _engine_prompt(p_tools text[], p_awareness boolean default true) returns text language plpgsql as $$ begin return 'prompt ' || nextval('pg_temp.prompts'); end $$;
select is((select provolatile::text from pg_proc where oid = 'context_window(uuid)'::regprocedure), 's', 'it is stable');
set transaction read only;

select is((select request #>> '{system,0,text}' from context_window((select focus_id from held))), 'prompt 1', 'in a transaction that may not write there is a request');
select is((select nextval('pg_temp.prompts')), 2::bigint, 'whose configuration was made once, however many are stored');
select is((select count(*) from turn_configs), 200::bigint, 'and was not stored');
select is((select count(*) from turns), 0::bigint, 'nor was a turn');

select * from finish();
rollback;
