// A throwaway server of an older PostgreSQL, from Debian's packages, with an extension folder of its own: PostgreSQL finds its
// folders from where it lies, so it runs from a copy.

import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export type DebianServer = { serverUrl: string; extensionDir: string; stop(): Promise<void> };

const installed = (major: number): string => `/usr/lib/postgresql/${major}`;

/** Null: it can be started here; else why not. */
export const noDebian = (major: number): string | null =>
  existsSync(join(installed(major), 'bin', 'initdb')) ? null : `there is no ${installed(major)} (apt-get install postgresql-${major})`;

/** `settings`: of the server, each such as wal_level=logical. */
export async function startDebian(major: number, settings: readonly string[] = []): Promise<DebianServer> {
  const root = await mkdtemp(join(tmpdir(), `wl-pg${major}-`));
  await chmod(root, 0o755);
  const [home, share] = [join(root, installed(major)), join(root, 'usr/share/postgresql', String(major))];
  await mkdir(join(home, 'bin'), { recursive: true });
  for (const program of ['postgres', 'initdb', 'pg_ctl']) await cp(join(installed(major), 'bin', program), join(home, 'bin', program));
  await symlink(join(installed(major), 'lib'), join(home, 'lib'));
  const shared = `/usr/share/postgresql/${major}`;
  // Somebody may install an extension there meanwhile, whose files come and go.
  await cp(shared, share, { recursive: true, filter: (path) => path !== join(shared, 'extension') });
  await mkdir(join(share, 'extension'));
  for (const name of ['plpgsql.control', 'plpgsql--1.0.sql', 'postgres_fdw.control', 'postgres_fdw--1.0.sql', 'postgres_fdw--1.0--1.1.sql'])
    await cp(`/usr/share/postgresql/${major}/extension/${name}`, join(share, 'extension', name));

  const isRoot = process.getuid?.() === 0; // which PostgreSQL refuses
  const run = (program: string, ...args: string[]) => {
    const command = [join(home, 'bin', program), ...args];
    return isRoot
      ? execute('runuser', ['-u', 'postgres', '--', ...command], { cwd: '/' })
      : execute(command[0] ?? '', command.slice(1), { cwd: '/' });
  };
  const data = join(root, 'data');
  await mkdir(data);
  if (isRoot) await execute('chown', ['postgres', root, data]);
  await run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync');
  await run(
    'pg_ctl',
    '-D',
    data,
    '-w',
    '-l',
    join(root, 'log'),
    '-o',
    `-c listen_addresses='' -c unix_socket_directories='${root}' -c fsync=off${settings.map((one) => ` -c ${one}`).join('')}`,
    'start',
  );
  return {
    serverUrl: `postgresql://postgres@${encodeURIComponent(root)}/`,
    extensionDir: join(share, 'extension'),
    async stop() {
      await run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
      await rm(root, { recursive: true, force: true });
    },
  };
}
