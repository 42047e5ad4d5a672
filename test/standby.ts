// A hot standby of an embedded server: a copy of its directory, made by the low-level backup functions, that follows it.

import { execFile } from 'node:child_process';
import { appendFile, chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { ensureEmbedded, stopEmbedded } from '../runtime/install/embedded.ts';
import { withConnection } from '../runtime/ledger/connection.ts';
import { until } from './workerProcess.ts';

const execute = promisify(execFile);

export type Standby = {
  /** Of the same database as the primary's. */
  url: string;
  dataDir: string;
  /** Resolves when it shows all that the primary has committed until now. */
  caughtUp(): Promise<void>;
  /** Makes it a primary, which follows no other. */
  promote(): Promise<void>;
  /** Stops it and removes its directory. */
  stop(): Promise<void>;
};

/** `primary`: what ensureEmbedded() answered; it can be in use meanwhile, and keeps what the standby has not got yet. */
export async function startStandby(primary: { url: string; dataDir: string }): Promise<Standby> {
  const dataDir = await mkdtemp(join(tmpdir(), 'wl-standby-'));
  await chmod(dataDir, 0o755);
  await copyCluster(primary, dataDir);
  const { url } = await ensureEmbedded({ dataDir, isDurable: false });
  const own = new URL(url);
  own.pathname = new URL(primary.url).pathname;
  const ask = async <Row>(at: string, sql: string, ...values: unknown[]): Promise<Row> =>
    withConnection({ connectionString: at }, async (client) => (await client.query(sql, values)).rows[0] as Row);
  return {
    url: own.href,
    dataDir,
    async caughtUp() {
      const { end } = await ask<{ end: string }>(primary.url, 'select pg_current_wal_insert_lsn()::text as end');
      await until(
        async () => (await ask<{ is_there: boolean }>(own.href, 'select pg_last_wal_replay_lsn() >= $1 as is_there', end)).is_there,
      );
    },
    async promote() {
      await ask(own.href, 'select pg_promote()');
    },
    async stop() {
      await stopEmbedded(dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Copies a running cluster and makes the copy follow it. Its log comes from the primary, by a slot. */
async function copyCluster(primary: { url: string; dataDir: string }, dataDir: string): Promise<void> {
  const [from, to] = [join(primary.dataDir, 'cluster'), join(dataDir, 'cluster')];
  const slot = `standby_${dataDir
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(-6)
    .toLowerCase()}`;
  await mkdir(to, { mode: 0o700 });
  const { uid, gid } = await stat(from);
  await chown(to, uid, gid);
  await withConnection({ connectionString: primary.url }, async (client) => {
    await client.query('select pg_create_physical_replication_slot($1, true)', [slot]);
    await client.query(`select pg_backup_start('standby', fast => true)`);
    const left = ['postmaster.pid', 'postmaster.opts', 'pg_wal/*', 'pg_replslot/*', 'pg_dynshmem/*', 'pg_notify/*', 'pg_stat_tmp/*'].map(
      (name) => `--exclude=./${name}`,
    );
    // Files that change or go while they are read (1) are put right from the log.
    await execute('sh', ['-c', `{ tar -C "$1" ${left.join(' ')} -cf - . || [ $? = 1 ]; } | tar -C "$2" -xpf -`, 'copy', from, to]);
    const {
      rows: [stopped],
    } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(wait_for_archive => false)');
    await writeFile(join(to, 'backup_label'), stopped?.labelfile ?? '');
  });
  await writeFile(join(to, 'standby.signal'), '');
  const host = decodeURIComponent(new URL(primary.url).hostname);
  await appendFile(
    join(to, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=''${host}'' user=postgres'\nprimary_slot_name = '${slot}'\n`,
  );
  for (const name of ['backup_label', 'standby.signal']) await chown(join(to, name), uid, gid);
}
