// Upgrades: a ledger of each released version, with a row in every table, becomes what a new installation makes and keeps its rows; on
// the oldest and the newest PostgreSQL, in both forms. Whatever stops an upgrade stops all of it, and it can be repeated.

import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { installLedger, readyLedger } from '../../runtime/install/installLedger.ts';
import { checkLedger } from '../../runtime/ledger/checkLedger.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { controlFile, plainScript, version } from '../../sql/extensionSource.ts';
import { catalogLines, difference } from '../catalog.ts';
import { isWaitedFor } from '../database.ts';
import { fillTables, rowsOf } from '../everyTable.ts';
import { earlierVersions, releasedExtension, releasedScript } from '../released.ts';
import { newest, noOldest, oldest, servers } from '../servers.ts';
import type { Database } from '../servers.ts';
import { until } from '../workerProcess.ts';

type Form = 'script' | 'extension';

const catalogOf = async (database: Database): Promise<string[]> => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return await catalogLines(client, 'ledger');
  } finally {
    await client.end();
  }
};

async function installReleased(database: Database, earlier: string, form: Form): Promise<void> {
  await database.query(
    form === 'script'
      ? releasedScript(earlier, 'ledger')
      : `create schema ledger; create extension work_ledger schema ledger version '${earlier}'`,
  );
}

/** What puts rows into tables that only a version has. */
const ownRows: Record<string, string[]> = { '0.1.0': [`select _salt(id) from work_items where work_type = 'analyze' limit 1`] };

async function fill(database: Database, earlier: string): Promise<void> {
  await fillTables(database, 'ledger');
  for (const statement of ownRows[earlier] ?? []) await database.query(`set search_path to ledger, public; ${statement}`);
}

/** Tables that upgrades drop, with their rows. */
const droppedTables = ['content_salts'];
/** What upgrades change in rows, by table: a column, and what it holds then of what the row held before. */
const changedRows: Record<string, Record<string, (row: Record<string, unknown>) => unknown>> = {};

function carriedOver(before: Map<string, Record<string, unknown>[]>, after: Map<string, Record<string, unknown>[]>): void {
  for (const [table, rows] of before) {
    if (droppedTables.includes(table)) continue;
    const kept = (after.get(table) ?? []).map((row) =>
      Object.fromEntries(Object.keys(rows[0] ?? {}).map((column) => [column, row[column]])),
    );
    const expected = rows.map((row) => ({
      ...row,
      ...Object.fromEntries(Object.entries(changedRows[table] ?? {}).map(([column, of]) => [column, of(row)])),
    }));
    const sorted = (list: object[]): string[] => list.map((row) => JSON.stringify(row)).toSorted();
    expect(sorted(kept), table).toEqual(sorted(expected));
  }
}

describe.each(servers)('on $server', ({ start, missing }) => {
  describe.skipIf(missing !== null)('a ledger of an earlier version', () => {
    let at: Awaited<ReturnType<typeof start>>;
    const fresh = new Map<Form, string[]>();
    beforeAll(async () => {
      at = await start();
      for (const form of ['script', 'extension'] as const) {
        const database = await at.create();
        if (form === 'script') await installLedger(database.url, 'ledger');
        else await database.query('create schema ledger; create extension work_ledger schema ledger');
        fresh.set(form, await catalogOf(database));
        await database.drop();
      }
    });
    afterAll(() => at?.stop());

    const cases = earlierVersions().flatMap((earlier) => (['script', 'extension'] as const).map((form) => ({ earlier, form })));
    test.each(cases)('$earlier, as $form: is what a new one is, and keeps its rows', async ({ earlier, form }) => {
      const database = await at.create();
      await runMigrations({ connectionString: database.url });
      await installReleased(database, earlier, form);
      await fill(database, earlier);
      const before = await rowsOf(database, 'ledger');
      expect([...before].filter(([, rows]) => rows.length === 0).map(([table]) => table)).toEqual([
        'erasing',
        'ledger_roles',
        'turn_streams',
      ]);
      // Whoever works says what is missing, and changes nothing.
      for (const begin of [checkLedger, readyLedger, openDb]) {
        await expect(begin(database.url, 'ledger')).rejects.toThrow(
          `the ledger in schema "ledger" is version ${earlier}, this program is version ${version()}: bring it up with work-ledger install --schema ledger`,
        );
      }
      expect(await rowsOf(database, 'ledger')).toEqual(before);

      expect(await installLedger(database.url, 'ledger')).toEqual({
        schema: 'ledger',
        form,
        version: version(),
        changed: true,
        upgradedFrom: earlier,
        renamedFrom: null,
      });
      expect(difference(fresh.get(form) ?? [], await catalogOf(database))).toEqual([]);
      carriedOver(before, await rowsOf(database, 'ledger'));
      expect(await installLedger(database.url, 'ledger')).toMatchObject({ changed: false, upgradedFrom: null });
      const db = await openDb(database.url, 'ledger');
      try {
        expect(
          (await db.ledgerAppend((await db.workSubmit({ workType: 'other', description: 'After the upgrade' })).id, 'note', 'goes on')).seq,
        ).toBe(1);
      } finally {
        await db.close();
      }
      await database.drop();
    });

    test('is upgraded by psql alone, where it is an extension', async () => {
      const [earlier = ''] = earlierVersions();
      const database = await at.create();
      await installReleased(database, earlier, 'extension');
      await database.query('alter extension work_ledger update');
      expect(difference(fresh.get('extension') ?? [], await catalogOf(database))).toEqual([]);
      await database.drop();
    });

    test('is upgraded while at every moment somebody waits to write', async () => {
      const [earlier = ''] = earlierVersions();
      const database = await at.create();
      await installReleased(database, earlier, 'script');
      const done = new AbortController();
      const writer = async (): Promise<void> => {
        const client = new pg.Client({ connectionString: database.url });
        await client.connect();
        while (!done.signal.aborted) await client.query('begin; lock table ledger.fences in row share mode; select pg_sleep(0.02); commit');
        await client.end();
      };
      const writers = Promise.all(Array.from({ length: 4 }, writer));
      expect(await installLedger(database.url, 'ledger').finally(() => done.abort())).toMatchObject({ upgradedFrom: earlier });
      await writers;
      await database.drop();
    });

    test('is upgraded by who owns its schema and nothing else', async () => {
      const [earlier = ''] = earlierVersions();
      const database = await at.create();
      const owner = `owner_${randomBytes(6).toString('hex')}`;
      await installLedger(database.url, 'other'); // graphile-worker's schema, which such a role is given
      await database.query(
        `create role ${owner} login; create schema ledger authorization ${owner}; grant usage on schema graphile_worker to ${owner}; grant select on graphile_worker.migrations to ${owner}`,
      );
      const url = database.url.replace('postgres@', `${owner}@`);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(releasedScript(earlier, 'ledger').replace(/create schema if not exists \w+;/, ''));
      await client.end();
      expect(await installLedger(url, 'ledger')).toMatchObject({ changed: true, upgradedFrom: earlier, renamedFrom: null });
      expect(
        difference(
          fresh.get('script') ?? [],
          (await catalogOf(database)).map((line) => line.replaceAll(owner, 'postgres')),
        ),
      ).toEqual([]);
      await database.query(`drop owned by ${owner}; drop role ${owner}`);
      await database.drop();
    });
  });
});

const noDump = noOldest ?? spawnSync('pg_dump', ['--version']).error?.message ?? null;
if (noDump !== null) console.warn(`a dump is not restored: ${noDump}`);
test.skipIf(noDump !== null)(
  'a dump of an earlier version is restored where a new one was, as docs/backup.md says, and upgraded',
  async () => {
    const [earlier = ''] = earlierVersions();
    const at = await oldest();
    const folder = await mkdtemp(join(tmpdir(), 'wl-dump-'));
    try {
      const [old, fresh] = [await at.create(), await at.create()];
      await runMigrations({ connectionString: old.url });
      await installReleased(old, earlier, 'script');
      await fill(old, earlier);
      await installLedger(fresh.url, 'ledger');
      const expected = await catalogOf(fresh);
      await promisify(execFile)('pg_dump', ['-Fc', '-f', join(folder, 'ledger.dump'), old.url]);
      await fresh.query('drop schema ledger, graphile_worker cascade');
      await promisify(execFile)('pg_restore', ['-d', fresh.url, join(folder, 'ledger.dump')]);
      expect(await installLedger(fresh.url, 'ledger')).toMatchObject({ upgradedFrom: earlier });
      expect(difference(expected, await catalogOf(fresh))).toEqual([]);
      carriedOver(await rowsOf(old, 'ledger'), await rowsOf(fresh, 'ledger'));
    } finally {
      await rm(folder, { recursive: true });
      await at.stop();
    }
  },
);

describe('an upgrade', () => {
  const [earlier = ''] = earlierVersions().slice(-1);
  let at: Awaited<ReturnType<typeof newest>>;
  beforeAll(async () => {
    at = await newest();
  });
  afterAll(() => at?.stop());

  /** Ends the connection at the n-th statement that defines something, as a crash of the installer does. */
  const dieAt = (database: Database, n: number): Promise<unknown> =>
    database.query(`
    drop event trigger if exists dies; drop schema if exists death cascade; create schema death; create sequence death.n;
    create function death.dies() returns event_trigger language plpgsql as $$ begin
      if nextval('death.n') = ${n} then perform pg_terminate_backend(pg_backend_pid()); end if; end $$;
    create event trigger dies on ddl_command_end execute function death.dies()`);

  test.each(['script', 'extension'] as const)(
    'that dies between any two statements has changed nothing, and is repeated (%s)',
    async (form) => {
      const database = await at.create();
      await installReleased(database, earlier, form);
      await installLedger(database.url, 'other'); // graphile-worker's schema
      const before = await catalogOf(database);
      // How many there are: counted by one that dies only at the very end.
      await dieAt(database, 0);
      await database.query(
        form === 'script' ? `begin; ${plainScript('ledger', earlier)}; rollback` : `begin; alter extension work_ledger update; rollback`,
      );
      const [counted] = await database.query<{ n: number }>('select last_value::integer as n from death.n');
      const total = counted?.n ?? 0;
      expect(total).toBeGreaterThan(1000);
      // All that is written by hand is at the beginning.
      const places = [
        ...Array.from({ length: 14 }, (_, i) => i + 1),
        ...Array.from({ length: 8 }, (_, i) => Math.round((total * (i + 1)) / 9)),
        total - 1,
        total,
      ];
      for (const place of places) {
        await dieAt(database, place);
        await expect(installLedger(database.url, 'ledger'), `statement ${place} of ${total}`).rejects.toThrow(/terminat/);
        expect(
          await database.query(
            `select ledger.work_ledger_version() as version, (select extversion from pg_extension where extname = 'work_ledger') as extension`,
          ),
        ).toEqual([{ version: earlier, extension: form === 'script' ? null : earlier }]);
      }
      expect(difference(before, await catalogOf(database))).toEqual([]);
      await database.query('drop event trigger dies; drop schema death cascade');
      expect(await installLedger(database.url, 'ledger')).toMatchObject({ changed: true, upgradedFrom: earlier, renamedFrom: null });
      await database.drop();
    },
  );

  test.each(['script', 'extension'] as const)('by two installers at once is done once (%s)', async (form) => {
    const database = await at.create();
    await installReleased(database, earlier, form);
    const both = await Promise.all([installLedger(database.url, 'ledger'), installLedger(database.url, 'ledger')]);
    expect(both.map(({ version: now }) => now)).toEqual([version(), version()]);
    expect(both.filter(({ upgradedFrom }) => upgradedFrom !== null)).toHaveLength(1);
    await checkLedger(database.url, 'ledger', { isWorker: true });
    await database.drop();
  });

  test.each(['script', 'extension'] as const)('says which view of a user is in its way (%s)', async (form) => {
    const database = await at.create();
    await installReleased(database, earlier, form);
    await database.query('create view public.mine as select * from ledger.v_queue');
    await expect(installLedger(database.url, 'ledger')).rejects.toThrow(
      /^nothing was changed: something of yours is made of what this version replaces \(view (public\.)?mine depends on view (ledger\.)?v_queue\)\. Drop it, install, and make it again$/,
    );
    await database.query('drop view public.mine');
    expect(await installLedger(database.url, 'ledger')).toMatchObject({ changed: true, upgradedFrom: earlier });
    await database.query('create view public.mine as select * from ledger.v_queue');
    await database.drop();
  });

  test('waits for who is at work, and rolls nobody back', async () => {
    const database = await at.create();
    await installReleased(database, earlier, 'script');
    const [item] = await database.query<{ id: string }>(`select id from ledger.work_submit('a', 'x')`);
    const busy = new pg.Client({ connectionString: database.url });
    await busy.connect();
    await busy.query(`begin; lock table ledger.fences in row share mode; select ledger.ledger_append('${item?.id}', 'note', 'under way')`);
    let isDone = false;
    const upgraded = installLedger(database.url, 'ledger').finally(() => (isDone = true));
    await until(() => isWaitedFor(database, 'ledger.fences'));
    await busy.query(`select ledger.ledger_append('${item?.id}', 'note', 'and more')`);
    expect(isDone).toBe(false);
    await busy.query('commit');
    expect(await upgraded).toMatchObject({ upgradedFrom: earlier });
    expect(await database.query(`select seq::integer, content from ledger.work_ledger order by seq`)).toEqual([
      { seq: 1, content: 'under way' },
      { seq: 2, content: 'and more' },
    ]);
    await busy.end();
    await database.drop();
  });

  test('rolls nobody back who has read before it began and writes while it tries', async () => {
    const database = await at.create();
    await installReleased(database, earlier, 'script');
    const [item] = await database.query<{ id: string }>(`select id from ledger.work_submit('a', 'x')`);
    const busy = new pg.Client({ connectionString: database.url });
    await busy.connect();
    await busy.query(`set deadlock_timeout = '10ms'`); // is the one to notice a circle, and loses
    await busy.query('begin; select from ledger.work_ledger');
    const upgraded = installLedger(database.url, 'ledger');
    // A try has given up what it had, or waits for what is read with the fences in its hand, which is where it must not wait.
    let wasHeld = false;
    await until(async () => {
      const locks = await database.query<{ granted: boolean }>(`
        select granted from pg_locks
         where relation = 'ledger.work_ledger'::regclass and not granted
            or relation = 'ledger.fences'::regclass and mode in ('AccessExclusiveLock', 'ShareRowExclusiveLock') and granted`);
      if (locks.some(({ granted }) => !granted)) return true;
      const isOver = wasHeld && locks.length === 0;
      wasHeld ||= locks.length > 0;
      return isOver;
    });
    await busy.query(`select ledger.ledger_append('${item?.id}', 'note', 'goes on')`);
    await busy.query('commit');
    expect(await upgraded).toMatchObject({ upgradedFrom: earlier });
    expect(await database.query(`select content from ledger.work_ledger`)).toEqual([{ content: 'goes on' }]);
    await busy.end();
    await database.drop();
  });

  test.each(['script', 'extension'] as const)('leaves roles what they may do (%s)', async (form) => {
    const prefix = `up${form}${process.pid}_`;
    const [database, other] = [await at.create(), await at.create()];
    await installReleased(database, earlier, form);
    await database.query(`select ledger.work_roles_create('${prefix}')`);
    await installLedger(database.url, 'ledger');
    if (form === 'script') await installLedger(other.url, 'ledger');
    else {
      await other.query('create schema ledger; create extension work_ledger schema ledger');
      await installLedger(other.url, 'ledger');
    }
    await other.query(`select ledger.work_roles_create('${prefix}')`);
    // A kind of role that came with this version is made when roles are made again, and takes nothing from the others until then.
    expect(difference(await catalogOf(other), await catalogOf(database)).filter((line) => !line.includes('_vouches'))).toEqual([]);
    await database.query(`select ledger.work_roles_create('${prefix}')`);
    expect(difference(await catalogOf(other), await catalogOf(database))).toEqual([]);
    for (const one of [database, other]) await one.query('select ledger.work_roles_drop()');
    await database.drop();
    await other.drop();
  });

  test.each(['script', 'extension'] as const)('leaves who was granted views what they may read (%s)', async (form) => {
    const role = `"Grafana ${form}${process.pid}"`;
    const database = await at.create();
    await installReleased(database, earlier, form);
    await database.query(
      `create role ${role}; grant select on ledger.v_queue, ledger.v_now to ${role}; grant select on ledger.v_slots to ${role} with grant option; grant select on ledger.v_unroutable to public`,
    );
    const mayRead = (): Promise<unknown[]> =>
      database.query(
        `select c.relname, a.grantee::int, a.is_grantable from pg_class c, aclexplode(c.relacl) a where c.relnamespace = 'ledger'::regnamespace and a.grantee in (0, to_regrole('${role}')) order by 1`,
      );
    const before = await mayRead();
    expect(before).toHaveLength(4);
    await installLedger(database.url, 'ledger');
    expect(await mayRead()).toEqual(before);
    await database.query(`drop owned by ${role}; drop role ${role}`);
    await database.drop();
  });

  test('fixes where functions that are tools find what they name: as sessions of the database do, and in their own schema', async () => {
    const database = await at.create();
    await installReleased(database, earlier, 'script');
    const base = `do $$ begin execute format('alter database %I set search_path to nowhere, public, ledger', current_database()); end $$`;
    await database.query(
      `${base}; create schema mine; create table mine.colours as select 'blue' as name; create function mine.colour(input jsonb) returns text language plpgsql as $$ begin return (select name from colours); end $$`,
    );
    await database.query(
      `set search_path to ledger; select ability_register('colour', 'Colour.', '{"type": "object"}', p_function => 'mine.colour(jsonb)'), ability_register('look', 'Looks.', '{"type": "object"}')`,
    );
    await installLedger(database.url, 'ledger');
    expect(await database.query(`select name, search_path from ledger.abilities where not is_builtin order by name`)).toEqual([
      { name: 'colour', search_path: '{public,ledger,mine}' },
      { name: 'look', search_path: null },
    ]);
    expect(await database.query(`select ledger.ability_invoke('colour') as colour`)).toEqual([{ colour: 'blue' }]);
    await database.drop();
  });

  test('of an extension whose files are not there says what to add, and changes nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wl-upgrade-'));
    await chmod(folder, 0o755);
    await mkdir(join(folder, 'extension'));
    await writeFile(
      join(folder, 'extension', 'work_ledger.control'),
      controlFile()
        .replace(/^schema = .*\n/m, '')
        .replace(version(), earlier),
    );
    await writeFile(join(folder, 'extension', `work_ledger--${earlier}.sql`), releasedExtension(earlier));
    const database = await at.create();
    await database.query(
      `do $$ begin execute format('alter database %I set extension_control_path = %L', current_database(), '${folder}:$system'); end $$`,
    );
    await installReleased(database, earlier, 'extension');
    await expect(installLedger(database.url, 'ledger')).rejects.toThrow(
      `is version ${earlier}, this program is version ${version()}: add the extension's files of version ${version()} to the server (make install, or pg_tle.sql), then bring it up with work-ledger install --schema ledger`,
    );
    expect(await database.query('select ledger.work_ledger_version() as version')).toEqual([{ version: earlier }]);
    await database.drop();
    await rm(folder, { recursive: true });
  });

  test('of tables that were never released is refused', async () => {
    const database = await at.create();
    await installReleased(database, earlier, 'script');
    await database.query(`create or replace function ledger.work_ledger_build() returns text language sql immutable return '0000/0000'`);
    await expect(installLedger(database.url, 'ledger')).rejects.toThrow(
      /\(build 0000\/0000\), this program wants .* Nothing carries it over\. .*work-ledger install --schema ledger_2/,
    );
    await database.drop();
  });

  test('of a ledger that has lost a table is not done by half', async () => {
    const database = await at.create();
    await installReleased(database, earlier, 'script');
    await database.query('drop table ledger.redactions cascade');
    await expect(installLedger(database.url, 'ledger')).rejects.toThrow(/redactions/);
    expect(await database.query('select ledger.work_ledger_version() as version')).toEqual([{ version: earlier }]);
    await database.drop();
  });
});
