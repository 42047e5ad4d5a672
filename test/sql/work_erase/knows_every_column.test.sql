-- Erasing knows every table and column: what can hold words is erased, and what stays is named here.
begin;
select plan(4);

create temporary table word as
  select c.relname::text as relation, a.attname::text as name
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   where c.relnamespace = _ledger_schema()::regnamespace and c.relkind = 'r'
     and (a.atttypid::regtype::text in ('text', 'text[]', 'json', 'jsonb', 'bytea', 'tsvector', 'jsonpath')
       or a.atttypid::regtype::text ~ 'ledger_entry_type|budget_resource|work_source|message_source');

-- What stays of each table: ids and keys of callers, kinds, states, models, names of tools, hashes with a salt that is gone.
create temporary table stays (relation text, names text[]);
insert into stays values
  ('work_items', '{work_type,faculty,project,source,idempotency_key,external_id,state,slot_faculty,continued_by,workspace_daemon,workspace_host,erased_hash}'),
  ('work_ledger', '{entry_type,project,trust,idempotency_key,erased_hash,link}'),
  ('sessions', '{label,persona_id,parent_session_label,origin,origin_session_id,status}'),
  ('session_history', '{session_label}'),
  ('foci', '{faculty,faculty_hash,session_label,lease_owner,compaction_trigger,outcome,offered}'),
  ('turns', '{turn_type,status,config_hash,provider,model,role,stop_reason,response_id,request_id,external_id,erased_hash}'),
  ('messages', '{role,source,external_id,erased_hash}'),
  ('tool_calls', '{warning,provider_id,given_id,tool_name,effect,status,code_run,external_id,erased_hash}'),
  ('elisions', '{max_result_effect}'),
  ('compactions', '{compaction_type,trigger,model,provider,metadata}'),
  ('inbox', '{kind,person}'),
  ('approvals', '{risk,decision,decided_by,person}'),
  ('hook_runs', '{hook,status}'),
  ('journal_entries', '{entry_type,importance}'),
  ('model_calls', '{model,error_class,request_id}'),
  ('awareness_digests', '{news_mark}'),
  ('budgets', '{resource}'),
  ('fences', '{lease_hash,project,submitted_by}'),
  ('work_usage', '{model}'),
  ('seals', '{link,words}'),
  ('erasures', '{keep,reason,erased_by}'),
  ('memory_versions', '{command,path,written_by,person,link,idempotency_key}'),
  ('transcripts', '{project_key,session_id,subpath,project,submitted_by}'); -- by which the tombstone knows what must not come back
-- Of the ledger, not of any work; and artifacts, which go with the last work that uses them.
create temporary table elsewhere as
  select unnest('{models,faculties,turn_configs,workers,abilities,touch_rules,ledger_data_schemas,retention_policies,retention_runs,ledger_roles,sweep_walks,locks,redactions,artifacts,artifact_uses,installed_code,people,linked_digests,projects,memory_files,work_hours,daily_budgets,daily_spending}'::text[]) as relation;

select is_empty(
  $$ select relation, name from word
      where relation not in (select relation from elsewhere)
        and not exists (select from _erasable() e where e.relation = word.relation and e.becomes is null)
        and not exists (select from _erasable() e where e.relation = word.relation and e.becomes ? word.name)
        and not exists (select from stays s where s.relation = word.relation and word.name = any (s.names)) $$,
  'a column that can hold words is in _erasable(), or in the list `stays` of this file');
select is_empty(
  $$ select e.relation, k from _erasable() e, jsonb_object_keys(e.becomes) k
      where not exists (select from pg_attribute a where a.attrelid = to_regclass(e.relation) and a.attname = k) $$,
  'what is erased is there');
select is_empty(
  $$ select s.relation, n from stays s, unnest(s.names) n where not exists (select from word w where (w.relation, w.name) = (s.relation, n))
      and not exists (select from pg_attribute a where a.attrelid = to_regclass(s.relation) and a.attname = n) $$,
  'what stays is there');
select is_empty(
  $$ select e.relation, h from _erasable() e, unnest(e.hashed) h where not e.becomes ? h $$,
  'what is hashed is what goes');

select * from finish();
rollback;
