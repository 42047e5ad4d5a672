-- Looks for anything that would lose, stall or slow work: in the server, the workers, the work, the settings. Reads what is running or waiting, never
-- what has ended.

create or replace function work_ledger_doctor()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language sql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with found as materialized (
    select f.*, row_number() over (partition by f.code order by f.severity, f.work_item_id) as nth, count(*) over (partition by f.code) as n
      from (
        select * from _doctor_server()
        union all
        select * from _doctor_workers()
        union all
        select * from _doctor_roles()
        union all
        select * from _doctor_work()
        union all
        select * from _doctor_invariants()
        union all
        select * from _doctor_settings()
        union all
        select * from _doctor_tools()
        union all
        select * from _doctor_sessions()
        union all
        select * from _doctor_locks()
        union all
        select * from _doctor_retention()
        union all
        select * from _doctor_speed()) f(severity, code, work_item_id, says, remedy)
  ),
  checked(place, code, is_fine) as (values
    (1, 'postgres', 'PostgreSQL ' || current_setting('server_version')),
    (2, 'writable', 'this node accepts writes'),
    (3, 'durability', 'committed data survives a crash of the server'),
    (4, 'connections', 'there are free connections'),
    (5, 'privileges', format('role %s may read every table of schema %s', current_user, _ledger_schema())),
    (6, 'roles', 'no worker has more privileges than the ledger needs'),
    (7, 'versions', format('every worker has version %s', work_ledger_version())),
    (8, 'workers', 'there is a worker for the work that is due'),
    (9, 'leases', 'no lease has expired'),
    (10, 'jobs', 'no job is dead'),
    (11, 'routing', 'every queued item has a faculty'),
    (12, 'hosts', 'no work waits for a host or a project without a worker'),
    (13, 'waiting', 'nothing has waited for a person or a budget for an hour'),
    (14, 'cooldowns', 'no model is cooling down'),
    (15, 'invariants', 'slots, counters and leases of the newest 1,000 open items are consistent'),
    (16, 'tools', 'every tool that a faculty names is registered, and every SQL function that is a tool can run'),
    (17, 'settings', 'every setting has an effect'),
    (18, 'isolation', 'a statement that waited for a lock sees what was committed in the meantime'),
    (19, 'sessions', 'sessions start with settings that the ledger''s functions can work with'),
    (20, 'vacuum', 'deleted and updated rows are cleaned up'),
    (21, 'transactions', 'no transaction has been open for long'),
    (22, 'indexes', 'every index exists and is usable'),
    (23, 'listener', 'workers are notified at once'),
    (24, 'move', 'this ledger is not moving to another server'),
    (25, 'locks', 'nothing blocks the ledger'),
    (26, 'retention', 'what policies should have erased is erased'))
  select coalesce(f.severity, 'fine'), c.code, f.work_item_id,
         case when f.code is null then c.is_fine when f.nth = 20 and f.n > 20 then format('%s, and %s more like it', f.says, f.n - 20) else f.says end, f.remedy
    from checked c
    left join found f on f.code = c.code and f.nth <= 20
   order by array_position(array['error', 'warning', 'fine'], coalesce(f.severity, 'fine')), c.place, f.nth;
$$;

comment on function work_ledger_doctor() is
  'Finds what would lose, stall or slow work: select * from work_ledger_doctor() where severity <> ''fine''. severity: error (work is lost or stuck), warning (worth a look), fine (one row for each check that found nothing). code: postgres, writable, durability, connections, privileges, versions, workers, leases, jobs, routing, hosts, waiting, cooldowns, invariants, tools, settings; the defaults of sessions: isolation, sessions; and what slows work down: vacuum, transactions, indexes, listener; move; locks (who holds locks that the ledger''s sessions wait for); and retention. work_item_id: the item concerned; null: none. says: the finding as a sentence; at most 20 per code, the last of which says how many more there are. remedy: what to do; null where all is fine. "work-ledger doctor" also checks the machine that it runs on.';

create or replace function _doctor_server()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'error', 'postgres', null::uuid, format('PostgreSQL %s is not supported', current_setting('server_version')), 'Use PostgreSQL 15 to 18.'
   where current_setting('server_version_num')::integer < 150000
  union all
  select 'error', 'postgres', null,
         format('schema "%s" is distributed by Citus, which rejects queries of an iteration and leaves shards without the triggers of an append-only ledger',
                _ledger_schema()),
         'undistribute_table() or citus_schema_undistribute(); "work-ledger move" takes a ledger to another server.'
   where _is_distributed()
  union all
  select 'error', 'writable', null,
         'this node accepts no writes: '
           || case when pg_is_in_recovery() then 'it is a standby (in recovery)' else 'it is set to read only (default_transaction_read_only)' end,
         'Connect to the primary; a standby can only be read.'
   where pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on'
  union all
  select 'error', 'durability', null, format('%s is off: committed data may be lost in a crash', s.name), format('Set %s = on.', s.name)
    from pg_settings s
   where s.name in ('fsync', 'full_page_writes') and s.setting = 'off'
  union all
  select 'warning', 'connections', null,
         format('%s left of %s%s; a worker opens --concurrency + 4', _counted(c.free, 'connection is', 'connections are'), c.most,
           case c.whose when 'database' then ' of this database' when 'role' then format(' of role %s', c.name) end),
         case c.whose when 'server' then 'Raise max_connections' else format('alter %s %I connection limit -1', c.whose, c.name) end
           || ', or run fewer workers.'
    from v_connections c
   where c.free < 8
  union all
  select 'error', 'privileges', null, format('role %s may not read %s', current_user, string_agg(c.relname, ', ' order by c.relname)),
         format('grant select on all tables in schema %I to %I;', _ledger_schema(), current_user)
    from pg_class c
   where c.relnamespace = quote_ident(_ledger_schema())::regnamespace and c.relkind = 'r' and not has_table_privilege(c.oid, 'select')
     and c.relname <> 'people' -- only its owner may read it, see _roles_apply()
  having count(*) > 0
  union all
  select 'error', 'move', null,
         format(case m.direction when 'to' then 'this ledger has moved to %s: nothing more can be written here'
                                 else 'this ledger is being moved here from %s' end, m.address),
         case m.direction when 'to' then 'Use that address.' else 'Use that address until "work-ledger move" reports that the move is complete.' end
    from _moved() m
  union all
  select 'warning', 'move', null, 'a move to another server was interrupted, and this server has kept all of its WAL since then',
         'Repeat "work-ledger move", or add --undo.'
    from pg_publication_rel r
    join pg_publication p on p.oid = r.prpubid
    join pg_replication_slots s on s.slot_name = p.pubname and s.database = current_database()
   where r.prrelid = 'work_items'::regclass and p.pubname ~ '^work_ledger_move_' and not s.active;
$$;

comment on function _doctor_server() is 'Findings of work_ledger_doctor() on the server.';

create or replace function _is_distributed()
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_schema regnamespace := quote_ident(_ledger_schema())::regnamespace;
  v_found boolean := false;
begin
  -- These catalogs exist only with Citus; the second since Citus 12.
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    execute 'select exists (select from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid where c.relnamespace = $1)' into v_found using v_schema;
  end if;
  if not v_found and to_regclass('pg_catalog.pg_dist_schema') is not null then
    execute 'select exists (select from pg_dist_schema where schemaid = $1)' into v_found using v_schema;
  end if;
  return v_found;
end
$$;

comment on function _is_distributed() is 'Whether Citus distributes the schema of this ledger, or a table in it.';

create or replace function _doctor_workers()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_dead integer;
begin
  return query
    select 'warning', 'versions', null::uuid, format('worker %s on %s has version %s, the ledger has %s', k.id, k.host, k.version, work_ledger_version()),
           'Restart it with the version of the ledger.'
      from v_workers k
     where k.version <> work_ledger_version()
    union all
    select 'error', 'workers', null, format('no worker is alive, but %s due', _counted(d.n, 'item is', 'items are')), 'Run "work-ledger work".'
      from (select count(*) as n
              from (
                select from work_items w
                 where w.state in ('queued', 'claimed', 'running') and w.run_at <= _now()
                   and _faculty_of(w) is not null
                   and not exists (select from v_workers k where k.is_alive) -- evaluated once, and first
                 limit 1000) w) d
     where d.n > 0
    union all
    select 'error', 'leases', l.work_item_id,
           format('the lease of %s expired %s ago', l.lease_owner, _counted(extract(epoch from _now() - l.lease_expires_at)::integer, 'second', 'seconds')),
           'Any live worker recovers it within seconds: run "work-ledger work".'
      from v_leases l
     where l.is_expired;
  begin
    v_dead := cardinality(_dead_jobs());
  exception when insufficient_privilege then
    severity := 'fine';
    code := 'jobs';
    says := 'not checked: only the owner may see graphile-worker''s jobs';
    return next;
  end;
  if v_dead > 0 then
    severity := 'warning';
    code := 'jobs';
    says := _counted(v_dead, 'job has', 'jobs have') || ' no attempts left';
    remedy := 'Any live worker deletes them and enqueues their work again: run "work-ledger work".';
    return next;
  end if;
end
$$;

comment on function _doctor_workers() is 'Findings of work_ledger_doctor() on workers, leases and jobs.';

create or replace function _doctor_roles()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'warning', 'roles', null::uuid,
         format('roles of this ledger are not on this server: %s', string_agg(role::text collate "default", ', ' order by kind)),
         'Call work_roles_create() as a role that may create roles, or work_roles_drop() to do without them.'
    from ledger_roles
   where _role(kind) is null
  having count(*) > 0
  union all
  select 'warning', 'roles', null::uuid, format('worker %s is logged in as %s, %s', k.id, k.role::text collate "default", w.which),
         'Create roles with work_roles_create(), and run workers as a member of the worker role.'
    from workers k
    join pg_roles r on r.rolname = k.role
    cross join lateral (
      select format('a superuser of %s', _counted(count(*), 'more database', 'more databases')) as which
        from pg_database d where r.rolsuper and not d.datistemplate and d.datname not in (current_database(), 'postgres')
      having count(*) > 0
      union all
      select format('which also owns %s', string_agg(n.nspname::text collate "default", ', ' order by n.nspname))
        from pg_namespace n
       where n.nspowner = r.oid and not r.rolsuper and n.nspname !~ '^pg_' and n.nspname not in (_ledger_schema()::name, 'graphile_worker', 'public')
      having count(*) > 0) w;
$$;

comment on function _doctor_roles() is 'Findings of work_ledger_doctor() on roles that are not on this server, and on workers that may do more to it than the ledger needs.';

create or replace function _doctor_work()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select * from (
    select 'error', 'routing', u.id,
           _why_unroutable(u.faculty, u.work_type), 'Save a faculty that accepts it, or cancel it.'
      from v_unroutable u
     limit 1000) u
  union all
  select 'warning', 'waiting', a.work_item_id, format('%s has waited for approval since %s', a.tool_name, _time_said(a.requested_at)),
         'Run "work-ledger approve" or "work-ledger reject"; it expires at ' || _time_said(a.expires_at) || '.'
    from v_approvals a
   where a.requested_at < _now() - interval '1 hour'
  union all
  select 'warning', 'waiting', w.id, w.state_reason, 'Raise the budget with budget_set(), or cancel the item.'
    from work_items w
   where w.state = 'waiting' and w.run_at = 'infinity' and w.state_reason is not null and not w.is_stranded
  union all
  select 'warning', 'waiting', w.id, w.state_reason, 'Nothing, it continues by itself; or raise the budget with daily_budget_set().'
    from work_items w
   where w.state = 'waiting' and w.run_at < 'infinity' and exists (select from daily_budgets) and _is_parked(w)
  union all
  select 'error', 'hosts', w.id, w.state_reason,
         case when w.state_reason ~ '^waits for a worker for project' then 'Run "work-ledger work" in its directory, or "work-ledger work --all-projects".'
              when w.workspace_daemon is null then 'Start a worker there, or list other hosts in the faculty.'
              else 'Start a worker there; if that host does not come back, give up the files with workspace_abandon().' end
    from work_items w
   where w.state = 'waiting' and w.is_stranded
  union all
  select 'warning', 'cooldowns', null, format('model %s is cooling down until %s: %s', c.model, _time_said(c.ends_at), c.reason),
         'Wait, or set a fallback_model in the faculty.'
    from v_cooldowns c;
$$;

comment on function _doctor_work() is 'Findings of work_ledger_doctor() on work that nobody takes, or that waits.';

create or replace function _doctor_invariants()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'error', 'invariants', c.work_item_id, c.says,
         case when c.invariant = 'attempt' then 'Cancel it with work_cancel(), and submit it again.'
              when c.invariant in ('slot', 'lease') then 'Pause it with work_pause(), and resume it with work_resume().'
              else 'Something bypassed the functions of the ledger: restore a backup, or ask for help with this line.' end
    from (select array(select w.id from work_items w where w.resolved_at is null order by w.created_at desc, w.id desc limit 1000)) o(ids)
   cross join lateral (
     select * from _check_items(o.ids)
     union all
     select * from _check_attempts(o.ids)) c(invariant, work_item_id, says);
$$;

comment on function _doctor_invariants() is 'Findings of work_ledger_doctor() in the newest 1,000 open items: those of work_ledger_check() that cost the same however long their history is.';

create or replace function _doctor_settings()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with first_to_accept as ( -- As in _faculty_for(), for all work types of a project at once.
    select coalesce(c.project, '') as project, t.work_type, min(c.name) as name
      from faculties c
      cross join lateral jsonb_array_elements_text(c.config -> 'accepts') t(work_type)
     where c.is_current
     group by 1, 2
  )
  select 'warning', 'tools', null::uuid, format('faculty "%s" names the tool %s, which is not registered', concat_ws('@', m.faculty, m.project), m.tool),
         'Start a worker that provides it, or register it with ability_register(); until then its agents work without it.'
    from v_missing_tools m
  union all
  select 'warning', 'settings', w.id, format('attempt %s runs with an older configuration of faculty "%s"', f.attempt, _faculty_ref(c)),
         'The newer one applies from its next attempt on.'
    from work_items w
    join foci f on f.id = w.focus_id
    join faculties o on o.content_hash = f.faculty_hash
    join faculties c on c.name = o.name and coalesce(c.project, '') = coalesce(o.project, '') and c.is_current
   where w.resolved_at is null and f.faculty_hash <> c.content_hash
  union all
  select 'warning', 'settings', null,
         format('faculty "%s" has a budget of money, but model %s has no price', _faculty_ref(c), c.config #>> '{engage,model}'),
         'Set the price with model_price_save(); until then its items wait.'
    from faculties c
    left join models m on m.name = c.config #>> '{engage,model}'
   where c.is_current and c.config #>> '{budget,money}' is not null and m.input_price is null
  union all
  select 'warning', 'settings', null, format('faculty "%s": %s', _faculty_ref(c), s.says), s.remedy
    from faculties c
    cross join lateral (
      select 'its fallback_model is its model' as says, 'Set another model.' as remedy
       where c.config #>> '{engage,fallback_model}' = c.config #>> '{engage,model}'
      union all
      select 'elide_budget has no effect while truncate_closed_blocks is false', 'Remove one of them.'
       where c.config #>> '{engage,truncate_closed_blocks}' = 'false' and c.config #> '{engage,elide_budget}'
             <> (select default_value from _faculty_keys() where path = 'engage.elide_budget')
      union all
      select format('its work type %s goes to faculty "%s", whose name sorts first', t.value, o.name),
             'Name the faculty when work is submitted, or remove the type from one of them.'
        from jsonb_array_elements_text(c.config -> 'accepts') t
        join first_to_accept o on o.work_type = t.value and o.project = coalesce(c.project, '')
       where o.name <> c.name) s
   where c.is_current;
$$;

comment on function _doctor_settings() is 'Findings of work_ledger_doctor() on tools that are missing and settings that have no effect.';
