// The path guard against everything that tries to get out of a workspace. Each test looks outside too.

import { execFileSync, spawn } from 'node:child_process';
import { link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { HostWorkspace } from '../../sandbox/hostWorkspace.ts';
import { hashOf, WorkspaceError } from '../../sandbox/workspace.ts';

let base: string;
let root: string;
let workspace: HostWorkspace;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'workspace-test-'));
  root = join(base, 'root');
  await mkdir(join(root, 'src'), { recursive: true });
  await mkdir(join(base, 'root-x'));
  await writeFile(join(base, 'secret'), 'outside');
  await writeFile(join(base, 'root-x', 'secret'), 'outside');
  await writeFile(join(root, 'src', 'a.txt'), 'inside');
  workspace = new HostWorkspace(root);
});
afterEach(() => rm(base, { recursive: true, force: true }));

const read = async (path: string) => (await workspace.readFile(path, 1000)).toString();

test('a file is read by its relative path, by its absolute path and through a harmless ..', async () => {
  expect(await read('src/a.txt')).toBe('inside');
  expect(await read(join(root, 'src/a.txt'))).toBe('inside');
  expect(await read('src/../src/./a.txt')).toBe('inside');
});

describe('reading is refused', () => {
  test.each([
    ['a path above the root', () => '../secret'],
    ['a path that climbs out later', () => 'src/../../secret'],
    ['an absolute path outside', () => join(base, 'secret')],
    ['a sibling whose name begins like the root', () => join(base, 'root-x', 'secret')],
    ['the way through /proc', () => '/proc/self/root/etc/passwd'],
    ['a path with NUL', () => 'src/a.txt\0.png'],
    ['a name of 300 bytes', () => 'x'.repeat(300)],
    ['a directory', () => 'src'],
    ['the root itself', () => '.'],
    ['a file that is not there', () => 'src/b.txt'],
    ['a file used as a directory', () => 'src/a.txt/b'],
  ])('%s', async (_name, path) => {
    await expect(read(path())).rejects.toBeInstanceOf(WorkspaceError);
  });

  test('a symbolic link, at the end of a path or in the middle of it', async () => {
    await symlink(join(base, 'secret'), join(root, 'link'));
    await symlink(base, join(root, 'up'));
    await expect(read('link')).rejects.toThrow('symbolic link');
    await expect(read('up/secret')).rejects.toThrow('symbolic link');
  });

  test('a FIFO, without waiting for a writer', async () => {
    execFileSync('mkfifo', [join(root, 'fifo')]);
    await expect(read('fifo')).rejects.toThrow('not a regular file');
  });

  test('more bytes than asked for', async () => {
    await writeFile(join(root, 'big'), 'x'.repeat(1001));
    await expect(read('big')).rejects.toThrow('too large');
  });

  test('a workspace that is not there', async () => {
    await expect(new HostWorkspace(join(base, 'nowhere')).readFile('a', 10)).rejects.toThrow('does not exist');
  });
});

describe('writing', () => {
  test('makes the directories on the way', async () => {
    await workspace.writeFile('a/b/c.txt', 'new');
    expect(await readFile(join(root, 'a/b/c.txt'), 'utf8')).toBe('new');
  });

  test('replaces a file and keeps its mode', async () => {
    await writeFile(join(root, 'run.sh'), '', { mode: 0o755 });
    await workspace.writeFile('run.sh', 'echo');
    expect((await stat(join(root, 'run.sh'))).mode & 0o777).toBe(0o755);
    expect(await readFile(join(root, 'run.sh'), 'utf8')).toBe('echo');
  });

  test('does not write through a symbolic link', async () => {
    await symlink(join(base, 'secret'), join(root, 'link'));
    await symlink(base, join(root, 'up'));
    await expect(workspace.writeFile('link', 'x')).rejects.toThrow('symbolic link');
    await expect(workspace.writeFile('up/secret', 'x')).rejects.toThrow('symbolic link');
    await expect(workspace.writeFile('../secret', 'x')).rejects.toThrow('outside');
    expect(await readFile(join(base, 'secret'), 'utf8')).toBe('outside');
  });

  test('breaks a hard link instead of writing to what it shares', async () => {
    await link(join(base, 'secret'), join(root, 'hard'));
    await workspace.writeFile('hard', 'x');
    expect(await readFile(join(base, 'secret'), 'utf8')).toBe('outside');
  });
});

test('listing shows regular files only and follows no link', async () => {
  await symlink(base, join(root, 'up'));
  await mkdir(join(root, '.git'));
  await writeFile(join(root, '.git', 'config'), '');
  const list = async (isEverything: boolean) => {
    const paths: string[] = [];
    for await (const file of workspace.files('.', { isEverything })) paths.push(file.path);
    return paths;
  };
  expect(await list(false)).toEqual(['src/a.txt']);
  expect(await list(true)).toEqual(['.git/config', 'src/a.txt']);
});

test('listing goes no deeper than 200 directories', async () => {
  const [seen, unseen] = [`${'d/'.repeat(200)}file`, `${'d/'.repeat(1800)}file`];
  await workspace.writeFile(seen, '');
  await workspace.writeFile(unseen, '');
  const paths: string[] = [];
  for await (const file of workspace.files('.')) paths.push(file.path);
  expect(paths.toSorted()).toEqual([seen, 'src/a.txt']);
});

test('a file that is another one than was read is not replaced', async () => {
  const seen = await workspace.hashFile('src/a.txt');
  expect(seen).toBe(hashOf(Buffer.from('inside')));
  expect(await workspace.hashFile('src/none/at/all')).toBeNull();
  await writeFile(join(root, 'src', 'a.txt'), 'theirs');
  await expect(workspace.writeFile('src/a.txt', 'mine', seen)).rejects.toThrow(
    'someone else changed src/a.txt since it was read; read it again',
  );
  await expect(workspace.writeFile('src/a.txt', 'mine', null)).rejects.toThrow('someone else changed');
  await expect(workspace.writeFile('src/gone.txt', 'mine', seen)).rejects.toThrow('someone else changed');
  expect(await readFile(join(root, 'src', 'a.txt'), 'utf8')).toBe('theirs');
  expect(await readdir(join(root, 'src'))).toEqual(['a.txt']);
  await workspace.writeFile('src/a.txt', 'mine', hashOf(Buffer.from('theirs')));
  await workspace.writeFile('src/new.txt', 'new', null);
  expect([await read('src/a.txt'), await read('src/new.txt')]).toEqual(['mine', 'new']);
});

test('of many who replace what they have read, one does', async () => {
  const seen = await workspace.hashFile('src/a.txt');
  const writers = await Promise.allSettled(
    Array.from({ length: 8 }, (_, n) => new HostWorkspace(root).writeFile('src/a.txt', `${n}`.repeat(1_000_000), seen)),
  );
  expect(writers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await readFile(join(root, 'src', 'a.txt'), 'utf8')).toBe(
    `${writers.findIndex(({ status }) => status === 'fulfilled')}`.repeat(1_000_000),
  );
});

test('a swapper that changes a directory for a link all the time never gets a read or a write outside', async () => {
  await mkdir(join(base, 'outside'));
  await writeFile(join(base, 'outside', 'file'), 'outside');
  await mkdir(join(root, 'real'));
  await writeFile(join(root, 'real', 'file'), 'inside');
  const swapper = spawn(process.execPath, [
    '-e',
    `
    const fs = require('fs'); process.chdir(process.argv[1]);
    for (;;) {
      try { fs.renameSync('real', 'kept'); fs.symlinkSync('../outside', 'real'); fs.unlinkSync('real'); fs.renameSync('kept', 'real'); }
      catch { fs.rmSync('kept', { recursive: true, force: true }); } // a write has made the directory anew
    }
  `,
    root,
  ]);
  let [inside, met] = [0, 0];
  try {
    while (inside < 25 || met < 500) {
      const text = await read('real/file').catch(() => null);
      if (text === null) met++; // the link, or nothing
      else inside++;
      expect(text).not.toBe('outside');
      await workspace.writeFile('real/file', 'inside').catch(() => {});
    }
  } finally {
    swapper.kill('SIGKILL');
  }
  expect(await readFile(join(base, 'outside', 'file'), 'utf8')).toBe('outside');
});
