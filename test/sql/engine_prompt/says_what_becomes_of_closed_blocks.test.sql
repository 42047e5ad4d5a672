-- The engine's prompt and its tools tell the agent how closed blocks are shown, and what it has to record for that.
begin;
select plan(5);

select agent();
select submit();
select drive();
create temporary table prompt as select regexp_replace(body ->> 'system', E'\\\\n|\\s+', ' ', 'g') as text from request;

select alike((select text from prompt), '%Recording a step closes your current context block. Once closed blocks are large, each is replaced by what you recorded in it%', 'closed blocks are replaced by what the agent recorded');
select alike((select text from prompt), '%so write down the paths, names and numbers that you will need%', 'paths, names and numbers belong into the entry');
select alike((select text from prompt), '%`recall_block(n, query)` brings back the calls and results of a closed block%', 'recall_block brings back what left');
select alike((select text from prompt), '%List in the step''s `keep` what you will change next (`src/a.ts:80-140`, `src/a.ts#parse`): it stays%', 'a step names what will be changed next');

create function pg_temp.tool(p_name text) returns json language sql as $$ select t from request, json_array_elements(body -> 'tools') t where t ->> 'name' = p_name $$;
select alike(pg_temp.tool('ledger_append') #>> '{input_schema,properties,keep,description}', '%files, preferably only a part (src/a.ts:80-140, src/a.ts#parse; paths as in your calls), URLs, artifact handles%', 'its parameter says what can be named');

select * from finish();
rollback;
