-- Findings of work_ledger_doctor() about what slows work, and gets worse over time: vacuum and what holds it back, indexes, workers that do not listen.

create or replace function _doctor_speed()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'warning', 'vacuum', null::uuid, format('%s is off: tables grow, and the planner''s statistics become outdated', s.name),
         format('Set %s = on.', s.name)
    from pg_settings s
   where s.name in ('autovacuum', 'track_counts') and s.setting = 'off'
  union all
  select 'warning', 'vacuum', null, format('autovacuum is disabled for table %s', c.relname),
         format('alter table %s reset (autovacuum_enabled);', c.oid::regclass)
    from pg_class c
   where c.relnamespace = quote_ident(_ledger_schema())::regnamespace and 'autovacuum_enabled=false' = any (c.reloptions)
  union all
  select 'warning', 'vacuum', null, format('table %s has %s dead rows and %s', t.relname, t.n_dead_tup, _counted(t.n_live_tup, 'live one', 'live ones')),
         format('vacuum %s; if they remain, an open transaction is holding vacuum back.', t.relid::regclass)
    from pg_stat_user_tables t
   where (t.schemaname = _ledger_schema() or t.schemaname = 'graphile_worker' and t.relname = '_private_jobs')
     and t.n_dead_tup > greatest(10000, 2 * t.n_live_tup)
  union all
  select 'warning', 'transactions', null,
         format('process %s (%s) has been in a transaction since %s: no row deleted or updated since then can be cleaned up',
                a.pid, concat_ws(', ', a.usename, nullif(a.application_name, ''), a.state), _time_said(a.xact_start)),
         'Have its program commit; idle_in_transaction_session_timeout ends sessions that do not.'
    from pg_stat_activity a
   where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_type = 'client backend' and a.xact_start < _now() - interval '10 minutes'
  union all
  select 'warning', 'transactions', null, format('prepared transaction %s has been open since %s', x.gid, _time_said(x.prepared)),
         'End it with commit prepared or rollback prepared.'
    from pg_prepared_xacts x
   where x.database = current_database() and x.prepared < _now() - interval '10 minutes'
  union all
  select 'error', 'indexes', null, format('index %s is not usable', i.indexrelid::regclass), format('reindex index %s;', i.indexrelid::regclass)
    from pg_index i
    join pg_class c on c.oid = i.indrelid
   where c.relnamespace = quote_ident(_ledger_schema())::regnamespace and not (i.indisvalid and i.indisready)
  union all
  select 'error', 'indexes', null, format('index %s is missing', n.name), 'It was dropped: create it again as in sql/schema/ of this version.'
    from unnest(_index_names()) n(name)
   where to_regclass(format('%I.%I', _ledger_schema(), n.name)) is null
  union all
  select 'warning', 'listener', null,
         _counted(k.n, 'worker is', 'workers are') || ' alive, but none listens: cancellations and messages are noticed only by polling',
         'LISTEN has to reach this server: if workers are behind a pooler, set WORK_LEDGER_LISTEN_URL to the address of the server itself.'
    from (select count(*) as n from v_workers w where w.is_alive) k
   where k.n > 0 and pg_has_role('pg_read_all_stats', 'usage')
     and not exists (select from pg_stat_activity a where a.datname = current_database() and a.application_name = 'work-ledger listener');
$$;

comment on function _doctor_speed() is 'Findings of work_ledger_doctor() on vacuum, transactions, indexes and listeners.';

create or replace function _index_names()
  returns text[]
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array['@indexes@'];
$$;

comment on function _index_names() is 'The indexes that sql/schema/ makes, without those of keys.';
