// `make install` says in one sentence why it cannot, and what to do, before anything is copied.

import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let directory: string;
let pgConfig: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'installable-'));
  await chmod(directory, 0o755);
  pgConfig = join(directory, 'pg_config');
  await writeFile(
    pgConfig,
    `#!/bin/sh\ncase $1 in --sharedir) echo ${directory}/share ;; --pgxs) echo ${directory}/pgxs.mk ;; *) echo 'PostgreSQL 17.2' ;; esac\n`,
    { mode: 0o755 },
  );
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** As somebody who is not root. */
const asked = (config: string, destdir = ''): Promise<{ code: number; says: string }> =>
  new Promise((resolve) => {
    const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    execFile('sh', [join(root, 'sql/installable.sh'), config, destdir], { cwd: '/', ...user }, (error, _, stderr) =>
      resolve({ code: Number(error?.code ?? 0), says: stderr }),
    );
  });

test('without pg_config, without PGXS, without the right to write: one sentence each; then it can', async () => {
  expect(await asked('/nowhere/pg_config')).toEqual({
    code: 1,
    says: expect.stringMatching(/^there is no \/nowhere\/pg_config, [^\n]*\n$/),
  });
  expect(await asked(pgConfig)).toEqual({
    code: 1,
    says: `${directory}/pgxs.mk, which installs extensions, is missing: apt-get install postgresql-server-dev-17\n`,
  });
  await writeFile(join(directory, 'pgxs.mk'), '');
  const sudo = 'is not yours to write. It is built; install it: sudo make -C sql install BUILT=../build/share/extension';
  expect(await asked(pgConfig, '/proc')).toEqual({
    code: 1,
    says: `/proc${directory}/share/extension ${sudo} PG_CONFIG=${pgConfig} DESTDIR=/proc\n`,
  });
  await mkdir(join(directory, 'share/extension'), { recursive: true, mode: 0o755 });
  await chmod(join(directory, 'share/extension'), 0o555);
  expect(await asked(pgConfig)).toEqual({ code: 1, says: `${directory}/share/extension ${sudo} PG_CONFIG=${pgConfig}\n` });
  await chmod(join(directory, 'share/extension'), 0o777);
  expect(await asked(pgConfig)).toEqual({ code: 0, says: '' });
});

test('make install asks before it copies anything', async () => {
  const made = await new Promise<string>((resolve) => {
    // It asks this pg_config, which has no PGXS, for the rest, and ends.
    execFile('make', ['-n', '-o', 'extension', 'install', `PG_CONFIG=${pgConfig}`], { cwd: root }, (_, stdout) => resolve(stdout));
  });
  expect(made).toMatch(new RegExp(`sql/installable\\.sh '${pgConfig}' ''\\n[^]*-C sql install`));
});
