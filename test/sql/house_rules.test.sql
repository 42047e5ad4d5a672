-- The catalog checked by queries: what every function, table and column of the ledger has to keep to, in one list.
begin;
select plan(22);

create temporary table ledger_functions as
  select p.*, p.oid::regprocedure::text as signature
    from pg_proc p
   where p.pronamespace = (select relnamespace from pg_class where oid = 'work_items'::regclass);
create temporary table ledger_relations as
  select c.*
    from pg_class c
   where c.relnamespace = (select relnamespace from pg_class where oid = 'work_items'::regclass) and c.relkind in ('r', 'v');

select is_empty(
  $$ select signature from ledger_functions
      where prosqlbody is null and coalesce(array_to_string(proconfig, ','), '') !~ '^search_path=pg_catalog, [^=]+, pg_temp(,(enable_[a-z]+=off|jit=off|plan_cache_mode=force_(custom|generic)_plan|client_min_messages=warning|lock_timeout=(1s|100ms)|standard_conforming_strings=on|quote_all_identifiers=off|IntervalStyle=postgres|bytea_output=hex|TimeZone=UTC|extra_float_digits=1))*$' $$,
  'every string-bodied function pins its search_path, pg_catalog first and pg_temp last');
select is_empty(
  $$ select signature from ledger_functions
      where (array_to_string(proconfig, ',') ~ 'enable_'
             or proname = any ('{iteration_step,iteration_begin,iteration_finish,turn_record}'))
        and 'jit=off' <> all (proconfig) $$,
  'nothing of an iteration and no function that switches scans off is compiled by LLVM: they look dear then, and it would be done at each call');
-- But for what undoes what a tool of a user's did to the session.
select is_empty(
  $$ select signature from ledger_functions
      where replace(prosrc, 'set_config(''work_ledger.redact'', '''', false)', '') ~* '\mpg_(try_)?advisory_lock|\mset_config\([^;]*, *false\)|\m(create|into) +(local +)?temp|\mset +session\M|\mdeclare +\w+ +cursor +with +hold' $$,
  'nothing that a function does outlives its transaction: behind a pooler the next one is in another session');
select is_empty(
  $$ select signature from ledger_functions where prosrc ~* 'advisory' $$,
  'no function waits for an advisory lock, which any login can take and keep');
select is_empty(
  $$ select signature from ledger_functions where obj_description(oid, 'pg_proc') is null and proname not in ('_uuidv7', '_now') $$,
  'every function has a comment');
select is_empty(
  $$ select relname from ledger_relations where obj_description(oid, 'pg_class') is null $$,
  'every table and view has a comment');
select is_empty(
  $$ select r.relname, a.attname from ledger_relations r join pg_attribute a on a.attrelid = r.oid
      where a.attnum > 0 and not a.attisdropped and col_description(r.oid, a.attnum) is null
        and a.attname <> all ('{id,name,model,faculty,tool_name,is_error,file_path,session_label,message_id,tool_call_id,turn_id,focus_id,work_item_id}')
        and a.attname !~ '^(created|updated|started|completed|ended|decided|deleted|requested|shown)_at$' $$,
  'every column whose name does not say it all has a comment');
select is(
  (select array_agg(proname::text order by proname) from ledger_functions where prosecdef),
  array['_claim_ended', '_dead_jobs', '_enqueue', '_enqueue_forgotten', '_job_waiting', '_jobs_tidy', '_unlock_jobs'],
  'only what has to reach graphile-worker''s schema runs with its owner''s rights, and what runs at a commit');
select is_empty(
  $$ select signature from ledger_functions
      where prosrc ~* '\m(reset_val|boot_val|current_schemas?)\M|\m(current_setting|set_config)\s*\(\s*''search_path|\mset\s+(local\s+|session\s+)?search_path\s*(to|=)\s*%s'
        and proname not in ('_tool_run', '_session_defaults') $$,
  'no function reads the search path of a session or sets one, but the one that runs a user''s function under its own; the doctor reads settings');
select is_empty(
  $$ select proname from ledger_functions where has_function_privilege('public', oid, 'execute') $$,
  'without roles nobody but the owner executes anything');
select is_empty(
  $$ select conrelid::regclass, conname from pg_constraint
      where contype = 'f' and confdeltype <> 'a' and conrelid in (select oid from ledger_relations) $$,
  'nothing is deleted by cascade');
select is_empty(
  $$ select relname from ledger_relations r
      where relkind = 'r' and not exists (select from pg_index i where i.indrelid = r.oid and i.indisprimary) $$,
  'every table has a primary key');
select is_empty(
  $$ select a.attrelid::regclass, a.attname from pg_attribute a
       join ledger_relations r on r.oid = a.attrelid
      where a.attnum > 0 and a.atttypid = 'timestamptz'::regtype and a.attname !~ '_at$' $$,
  'times are called something_at');
select is_empty(
  $$ select a.attrelid::regclass, a.attname from pg_attribute a
       join ledger_relations r on r.oid = a.attrelid
      where a.attnum > 0 and a.atttypid = 'boolean'::regtype and a.attname !~ '^is_' $$,
  'truths are called is_something');
select is_empty(
  $$ select a.attrelid::regclass, a.attname from pg_attribute a
       join ledger_relations r on r.oid = a.attrelid
      where a.attnum > 0 and not a.attisdropped and r.relkind = 'r' and a.atttypid = 'timestamp'::regtype $$,
  'no time without a zone');
select is_empty(
  $$ select conrelid::regclass, conname from pg_constraint
      where contype = 'c' and conrelid in (select oid from ledger_relations) and conname ~ '_check\d*$' $$,
  'every check has a name that says what must hold');
select is_empty(
  $$ select i1.indexrelid::regclass from pg_index i1 join pg_index i2
         on i1.indrelid = i2.indrelid and i1.indexrelid <> i2.indexrelid and i1.indkey = i2.indkey
        and i1.indpred is null and i2.indpred is null
      where i1.indrelid in (select oid from ledger_relations) $$,
  'no index repeats another');
select is_empty(
  $$ select relname from ledger_relations
      where relkind = 'v' and not coalesce(reloptions @> array['security_invoker=true'], false) $$,
  'views read with the rights of who asks');
select is_empty(
  $$ select r.relname from ledger_relations r cross join pg_extension e
      where e.extname = 'work_ledger' and r.relkind = 'r' and r.relpersistence = 'p' and not r.oid = any (e.extconfig) $$,
  'pg_dump takes the rows of every table along');

select is_empty(
  $$ select signature from ledger_functions
      where (prosrc ~* '\mfor\s+update\M' and proname <> '_artifacts_collect') or (prosrc ~* '\mfor\s+(key\s+)?share\M' and proname <> all ('{_submit_parent,_lock_shared}')) $$,
  'rows are locked for no key update: no key is ever changed, one artifact is removed, and who refers to a row waits for nobody');

select is_empty(
  $$ select signature from ledger_functions
      where prosrc ~* '\mwork_items\M[^;]*\mfor\s+no\s+key\s+update\M(?!\s+of\s+(e|k)\M)' and proname <> '_budgets_above' $$,
  'nobody locks work items: a writer has locked the fence, and whoever refers to an item waits for nobody');

select is_empty(
  $$ select signature from ledger_functions where prorettype = 'jsonb'::regtype and proname ~ '^(focus|iteration|turn|tool_call|hook|compaction)_' $$,
  'what a stage answers is json: the runtime reads it as it was built');

select * from finish();
rollback;
