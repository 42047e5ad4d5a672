// What a login may set, and nobody should.

/** Settings by which a statement ends, a connection, or the right to write: what they do is what they are for. */
const ending = `'{${[
  'statement_timeout',
  'lock_timeout',
  'transaction_timeout',
  'idle_in_transaction_session_timeout',
  'idle_session_timeout',
  'client_connection_check_interval',
  'default_transaction_read_only',
  'exit_on_error',
  'session_replication_role',
  'tcp_user_timeout',
].join()}}'`;

/** Every setting of PostgreSQL that a login may change, but those that only choose plans; numbers at one end of what they may be. */
const ofPostgres = (end: 'min_val' | 'max_val', place: string): string => `
  select name, case vartype
           when 'bool' then case setting when 'on' then 'off' else 'on' end
           when 'enum' then (select v from unnest(enumvals) with ordinality as e(v, n) order by n ${place} limit 1)
           else ${end} end as value
    from pg_settings
   where context = 'user' and vartype <> 'string' and name <> all (${ending}) and name <> 'client_min_messages'
     and name !~ '^(transaction_|jit|debug_|enable_|geqo)|parallel|_cost$'
   union all values ('datestyle', 'German, DMY'), ('timezone', 'Pacific/Kiritimati'), ('default_transaction_isolation', 'serializable')`;

/** Every setting of the ledger's own, as its functions name them. */
const ofLedger = (value: string): string => `
  select distinct m[1] as name, ${value} as value
    from pg_proc p, regexp_matches(p.prosrc, '''(work_ledger[.][a-z_]+)''', 'g') m
   where p.pronamespace = (select oid from pg_namespace where nspname = 'ledger')`;

/** What is set, as a statement that says name and value. */
export const hostileSettings: [string, string][] = [
  ['every switch of PostgreSQL turned, numbers at their least', ofPostgres('min_val', '')],
  ['every switch of PostgreSQL turned, numbers at their most', ofPostgres('max_val', 'desc')],
  ['triggers off for a replica, where that is allowed', `select 'session_replication_role' as name, 'replica' as value`],
  [
    `settings of the ledger that name another's work`,
    ofLedger(`case m[1]
      when 'work_ledger.work_item_id' then (select item from matrix.told where kind = 'driven')
      when 'work_ledger.turn_id' then (select turn from matrix.told where kind = 'driven')
      when 'work_ledger.tool_call_id' then (select call from matrix.told where kind = 'driven')
      when 'work_ledger.now' then '1999-01-01'
      when 'work_ledger.lease' then gen_random_uuid()::text
      else 'on' end`),
  ],
  ['settings of the ledger that are nonsense', ofLedger(`'x'`)],
];
