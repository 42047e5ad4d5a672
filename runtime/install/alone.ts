// One command at a time installs or moves a ledger: by an advisory lock, since a new ledger has no row to lock yet, and a transaction
// that stayed open would hold up what a move begins with, a replication slot. Any login can take an advisory lock and keep it. So one
// that is held only by roles that could not run such a command counts for nothing.

import type pg from 'pg';

import { sqlState } from '../ledger/errors.ts';

/**
 * Waits for its lock as long as the client's lock_timeout allows, for the transaction or for the session; throws 55P03 if a role that may
 * create in this database, or owns the schema, holds it longer.
 */
export async function alone(client: pg.Client, command: 'install' | 'move', schema: string, isForTransaction: boolean): Promise<void> {
  const key = command === 'install' ? 'work_ledger install' : `work_ledger move ${schema}`;
  // Released, whatever comes of it: what is made under a savepoint does not count as made by this transaction, see
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

/** Whether one of those who hold the lock could be running such a command. */
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
