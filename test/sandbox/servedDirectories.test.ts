// What a worker serves is decided on the directory that it has opened: a link that is changed between the check and the use changes
// nothing.

import { chown, mkdir, mkdtemp, open, readdir, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { packFiles } from '../../sandbox/fileArchive.ts';
import { HostWorkspace } from '../../sandbox/hostWorkspace.ts';
import { entriesOf, openDirectory } from '../../sandbox/openDirectory.ts';
import { DirectoryRefused, ServedDirectories } from '../../sandbox/servedDirectories.ts';

let base: string;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'served-test-'));
  for (const name of ['roots/a', 'secret']) await mkdir(join(base, name), { recursive: true });
  await writeFile(join(base, 'roots/a/file'), 'served');
  await writeFile(join(base, 'secret/file'), 'secret');
  await writeFile(join(base, 'secret/other'), 'secret');
});
afterAll(() => rm(base, { recursive: true, force: true }));

const byClient = (path: string) => ({ path, namedBy: 'client', isAdministered: false });

test('what was opened is what was checked, whatever takes its name afterwards', async () => {
  const served = new ServedDirectories([join(base, 'roots')]);
  const opened = await served.open(byClient(join(base, 'roots/a')));
  await rename(join(base, 'roots/a'), join(base, 'roots/b'));
  await symlink(join(base, 'secret'), join(base, 'roots/a'));
  try {
    expect((await entriesOf(opened)).map(({ name }) => name)).toEqual(['file']);
    await expect(served.open(byClient(join(base, 'roots/a')))).rejects.toThrow(DirectoryRefused);
  } finally {
    await opened.handle.close();
    await unlink(join(base, 'roots/a'));
    await rename(join(base, 'roots/b'), join(base, 'roots/a'));
  }
});

test('a workspace on the host is checked again for each file and each command', async () => {
  const served = new ServedDirectories([join(base, 'roots')]);
  const named = byClient(join(base, 'roots/link'));
  const workspace = new HostWorkspace(named.path, { open: () => served.open(named), isOwn: (directory) => served.isOwn(directory) });
  await symlink(join(base, 'roots/a'), named.path);
  expect(String(await workspace.readFile('file', 100))).toBe('served');
  await unlink(named.path);
  await symlink(join(base, 'secret'), named.path);
  const refused = /lies outside the workspace_roots/;
  await expect(workspace.readFile('file', 100)).rejects.toThrow(refused);
  await expect(workspace.writeFile('file', 'x')).rejects.toThrow(refused);
  await expect(workspace.hashFile('file')).rejects.toThrow(refused);
  await expect(workspace.files('.').next()).rejects.toThrow(refused);
  await expect(workspace.run('cat file', { timeoutSeconds: 300, signal: new AbortController().signal })).rejects.toThrow(refused);
  await unlink(named.path);
});

test('a copy follows no link that takes the place of a file or a directory meanwhile', async () => {
  for (const victim of ['below', 'z-file']) {
    const from = await mkdtemp(join(base, 'roots/copied-'));
    await mkdir(join(from, 'below'));
    // Nobody reads the archive yet: it waits in this file, before it opens the next.
    await writeFile(join(from, 'a-large'), Buffer.alloc(8_000_000));
    await writeFile(join(from, 'below/file'), 'copied');
    await writeFile(join(from, 'z-file'), 'copied');
    const archive = await packFiles(await openDirectory(from), { maxBytes: 1e9, maxFiles: 100 });
    await rm(join(from, victim), { recursive: true });
    await symlink(join(base, victim === 'below' ? 'secret' : 'secret/other'), join(from, victim));
    const copied = await buffer(archive).then(
      (bytes) => bytes.toString('latin1'),
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(copied, victim).toMatch(/^(ELOOP|ENOTDIR)$/);
  }
});

test('a root that is a link is what it leads to; one of a longer name is another', async () => {
  await symlink(join(base, 'roots'), join(base, 'way'));
  const served = new ServedDirectories([join(base, 'way')]);
  expect(await served.refusal(byClient(join(base, 'roots/a')))).toBeNull();
  expect(await served.refusal(byClient(join(base, 'roots')))).toBeNull();
  await mkdir(join(base, 'roots-beside'));
  expect(await served.refusal(byClient(join(base, 'roots-beside')))).toMatch(/lies outside/);
  expect(await served.refusal(byClient(join(base, 'roots/nothing')))).toBeNull();
  await expect(served.open(byClient(join(base, 'roots/nothing')))).rejects.toThrow('does not exist');
});

test('whose a directory is counts if the owner or an administrator named it, and never for root', async () => {
  const mine = join(base, 'mine');
  await mkdir(mine);
  if (process.getuid?.() === 0) await chown(mine, 4242, 4242);
  const { uid } = await stat(mine);
  const by = (isAdministered: boolean): Promise<string | null> =>
    new ServedDirectories([]).refusal({ path: mine, namedBy: 'x', isAdministered });
  const worker = vi.spyOn(process, 'getuid').mockReturnValue(uid);
  try {
    expect(await by(true)).toBeNull();
    expect(await by(false)).toMatch(/which has none, and "x" named it, not the ledger's owner or an administrator$/);
    worker.mockReturnValue(uid + 1);
    expect(await by(true)).toMatch(/does not belong to the user that it runs as$/);
    worker.mockReturnValue(0);
    const handle = await open(mine);
    vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'stat').mockResolvedValue({ uid: 0 } as never);
    await handle.close();
    expect(await by(true)).toMatch(/a worker that runs as root serves nothing else$/);
  } finally {
    vi.restoreAllMocks();
  }
});

test('nothing stays open of what is refused', async () => {
  const served = new ServedDirectories([join(base, 'roots')]);
  const before = (await readdir('/proc/self/fd')).length;
  for (let n = 0; n < 50; n++) await served.refusal(byClient(n % 2 === 0 ? join(base, 'secret') : join(base, 'roots/a')));
  expect((await readdir('/proc/self/fd')).length).toBeLessThan(before + 25);
});
