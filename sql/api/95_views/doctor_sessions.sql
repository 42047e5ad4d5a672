-- Findings of work_ledger_doctor() about session defaults of the server, database and role. The runtime sets its own isolation, strings and limits; psql
-- and other programs do not.

create or replace function _doctor_sessions()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select f.severity, f.code, null::uuid, format('%s is %s%s: %s', d.name, d.value, d.whose, f.says), d.remedy
    from _session_defaults() d
    cross join lateral (
      select 'error' as severity, 'durability' as code, 'committed data may be lost in a crash' as says
       where d.name = 'synchronous_commit' and d.value in ('off', 'local', 'false', 'no', '0')
      union all
      select 'warning', 'isolation', 'programs that do not set their own (the runtime does) fail after waiting for a lock (40001)'
       where d.name = 'default_transaction_isolation' and d.value not in ('read committed', 'read uncommitted')
      union all
      select 'error', 'sessions', 'in programs that do not set their own (the runtime does) the ledger''s functions behave differently'
       where d.name = 'standard_conforming_strings' and d.value in ('off', 'false', 'no', '0')
      union all
      select 'error', 'sessions', 'most triggers do not fire, so what they guard is unprotected'
       where d.name = 'session_replication_role' and d.value <> 'origin'
      union all
      select 'error', 'sessions', 'programs that do not set their own (the runtime does) cannot use graphile-worker''s tables'
       where d.name = 'row_security' and d.value in ('off', 'false', 'no', '0')
      union all
      select 'warning', 'sessions', 'it cuts off programs that do not set their own (the runtime does)'
       where case when d.name not in ('statement_timeout', 'transaction_timeout', 'lock_timeout') then null
                  when d.value ~ '^\d+$' then d.value::bigint * interval '1 ms'
                  else d.value::interval end between interval '1 ms' and interval '9.999 s') f;
$$;

comment on function _doctor_sessions() is 'Findings of work_ledger_doctor() on durability, isolation, strings, triggers, row-level security and limits of sessions.';

create or replace function _session_defaults()
  returns table (name text, value text, whose text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with stated as (
    select split_part(c.setting, '=', 1) as name, substr(c.setting, strpos(c.setting, '=') + 1) as value,
           case when r.rolname is null then '' else format(' for role %s', r.rolname::text collate "default") end as whose,
           concat('alter ', case when r.rolname is null then format('database %I', b.datname) else format('role %I', r.rolname) end,
                  case when r.rolname is not null and b.datname is not null then format(' in database %I', b.datname) end,
                  format(' reset %I;', split_part(c.setting, '=', 1))) as remedy
      from pg_db_role_setting d
      left join pg_roles r on r.oid = d.setrole
      left join pg_database b on b.oid = d.setdatabase
      cross join lateral (select s collate "default" from unnest(d.setconfig) s) c(setting)
     where d.setdatabase = 0 and exists (select from workers k where k.role = r.rolname)
        or b.datname = current_database() and (d.setrole = 0 or exists (select from workers k where k.role = r.rolname)))
  select * from stated
  union all
  select s.name, s.reset_val, '', format('Set another value for the role, database or server: alter database %I set %I = …', current_database(), s.name)
    from pg_settings s
   where not exists (select from stated t where t.name = s.name);
$$;

comment on function _session_defaults() is
  'The settings that sessions start with: settings of this database, of the roles of workers, and for all others what this session started with. whose: the role they apply to; empty: all. remedy: what undoes it.';
