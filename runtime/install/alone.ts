// Lets only one command at a time install or move a ledger, by an advisory lock: a new ledger has no row to lock yet, and a transaction
// that stayed open would delay what a move begins with, a replication slot. Any login can take an advisory lock and keep it, so a lock held
// only by roles that could not run such a command is ignored.

import type pg from 'pg';

import { sqlState } from '../ledger/errors.ts';

/**
 * Waits for the command's lock as long as the client's lock_timeout allows; holds it for the transaction or for the session. Throws 55P03
 * if a role that may create in this database, or owns the schema, still holds it.
 */
export async function alone(client: pg.Client, command: 'install' | 'move', schema: string, isForTransaction: boolean): Promise<void> {
  const key = command === 'install' ? 'work_ledger install' : `work_ledger move ${schema}`;
  // The savepoint is always released: what is created under a savepoint does not count as created by this transaction, see
  // 98_roles/roles_privileges.sql.
  if (isForTransaction) await client.query('savepoint alone');
  try {
    await client.query(`select ${isForTransaction ? 'pg_advisory_xact_lock' : 'pg_advisory_lock'}(hashtextextended($1, 0))`, [key]);
    if (isForTransaction) await client.query('release savepoint alone');
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error;
    if (isForTransaction) await client.query('rollback to savepoint alone; release savepoint alone');
    if (await isHeldByOne(client, key, schema)) throw error;
  }
}

/** Whether any holder of the lock could be running such a command. */
async function isHeldByOne(client: pg.Client, key: string, schema: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `
    select from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and l.database = (select oid from pg_database where datname = current_database())
       and l.objsubid = 1 and (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended($1, 0)
       and (has_database_privilege(a.usesysid, current_database(), 'create')
         or exists (select from pg_namespace n where n.nspname = $2 and pg_has_role(a.usesysid, n.nspowner, 'usage')))`,
    [key, schema],
  );
  return rowCount !== 0;
}
