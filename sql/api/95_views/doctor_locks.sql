-- Findings of work_ledger_doctor() about what holds the ledger up from outside: who has locked what it waits for; and about overdue erasure.

create or replace function _doctor_locks()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive waiting as (
    -- A session that waits for a row has locks on the tables of its statement.
    select l.pid, min(l.waitstart) as since
      from pg_locks l
     where not l.granted and l.waitstart < _now() - interval '5 seconds'
       and exists (select from pg_locks t
                     join pg_class c on c.oid = t.relation
                    where t.pid = l.pid and t.database = (select d.oid from pg_database d where d.datname = current_database())
                      and c.relnamespace = quote_ident(_ledger_schema())::regnamespace)
     group by l.pid
  ),
  -- A session that waits behind another one in a queue is blocked by that one.
  blocked(pid, since, by) as (
    select w.pid, w.since, b.pid from waiting w cross join lateral unnest(pg_blocking_pids(w.pid)) as b(pid)
    union
    select l.pid, l.since, b.pid from blocked l join waiting w on w.pid = l.by cross join lateral unnest(pg_blocking_pids(w.pid)) as b(pid)
  )
  select 'error', 'locks', null::uuid,
         format('%s holds a lock that %s for since %s', case when h.pid = 0 then 'a prepared transaction' else format('process %s (%s)', h.pid, (
           select concat_ws(', ', 'role ' || a.usename, nullif(a.application_name, ''), a.state,
                            'in a transaction since ' || _time_said(a.xact_start))
             from pg_stat_activity a
            where a.pid = h.pid)) end, h.who, h.since),
         case when h.pid = 0 then 'Commit it or roll it back: select * from pg_prepared_xacts.'
              else format('Have its program end its transaction, or: select pg_terminate_backend(%s);', h.pid) end
    from (select b.by as pid, _time_said(min(b.since)) as since,
                 case count(distinct b.pid) when 1 then 'a session of the ledger has waited'
                                            else format('%s sessions of the ledger have waited', count(distinct b.pid)) end as who
            from blocked b
           where b.by not in (select w.pid from waiting w)
           group by b.by) h;
$$;

comment on function _doctor_locks() is 'Findings of work_ledger_doctor() on who holds locks that sessions of this ledger have waited for, for 5 seconds; of sessions that wait for each other, the first.';

create or replace function _doctor_retention()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'warning', 'retention', null::uuid,
         format('%s of work should have been erased by policy, the first at %s, but nothing does so',
           case count(*) when 100 then 'at least 100 trees' when 1 then 'a tree' else format('%s trees', count(*)) end,
           _time_said(min(d.resolved_at + p.age))),
         'Run "work-ledger retention --run" as the owner of the ledger. Workers do so each hour if they are members of its owner, or of its role for workers.'
    from _retention_due(100) d
    join retention_policies p on p.id = d.policy_id
   where d.resolved_at + p.age < _now() - interval '2 hours'
  having count(*) > 0
  union all
  select 'warning', 'retention', e.work_item_id, format('its erasure began at %s and has not finished', _time_said(e.began_at)),
         'Run "work-ledger retention --run", which continues it.'
    from erasures e
   where e.erased_at is null and e.began_at < _now() - interval '2 hours'
  union all
  select 'warning', 'retention', r.root_id, format('it should have been erased, but its export failed: %s', r.error),
         'Fix the function that the policy names; it is retried every hour.'
    from retention_runs r;
$$;

comment on function _doctor_retention() is 'Findings of work_ledger_doctor() on what policies should have erased two hours ago.';
