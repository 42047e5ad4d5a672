// Which project a directory is in.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';

import { projectOf, remoteName } from '../runtime/project.ts';

const directory = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'work-ledger-project-')));
const git = (at: string, ...args: string[]): void => {
  execFileSync('git', ['-C', at, '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { stdio: 'ignore' });
};
function repository(at = directory()): string {
  git(at, 'init');
  git(at, 'commit', '--allow-empty', '-m', 'one');
  return at;
}

test.each([
  ['https://github.com/acme/shop.git', 'github.com/acme/shop'],
  ['https://me:ghp_secret@GitHub.com/acme/shop/', 'github.com/acme/shop'],
  ['git@github.com:acme/shop.git', 'github.com/acme/shop'],
  ['github.com:/acme/shop', 'github.com/acme/shop'],
  ['ssh://git@github.com:2222/acme//shop.git', 'github.com/acme/shop'],
  ['git://example.org/~jane/a.git?x=1#y', 'example.org/~jane/a'],
  ['/srv/git/shop.git', '/srv/git/shop'],
  ['/home/me/shop/.git', '/home/me/shop'],
  ['file:///srv/git/a%20b.git', '/srv/git/a b'],
  ['../shop', '/base/shop'],
  ['file:///srv/100%/shop.git', '/srv/100%/shop'],
])('the remote %s is the project %s', (address, project) => {
  expect(remoteName(address, '/base/clone')).toBe(project);
});

test('worktrees and clones of a repository are one project, from any directory below', async () => {
  const own = repository();
  const [clone, worktree] = [join(directory(), 'clone'), join(directory(), 'worktree')];
  git(own, 'clone', own, clone);
  git(own, 'worktree', 'add', worktree);
  mkdirSync(join(worktree, 'src/deep'), { recursive: true });
  for (const at of [own, clone, worktree, join(worktree, 'src/deep')]) expect(await projectOf(at)).toBe(own);
  git(own, 'remote', 'add', 'upstream', 'https://example.org/acme/shop.git');
  for (const at of [own, worktree]) expect(await projectOf(at)).toBe('example.org/acme/shop');
  git(own, 'remote', 'add', 'origin', 'git@github.com:me/shop.git');
  expect(await projectOf(own)).toBe('github.com/me/shop');
});

test('a directory of no repository is a project of its own, and a work-ledger.toml names it', async () => {
  const at = directory();
  expect(await projectOf(at)).toBe(at);
  repository(at);
  mkdirSync(join(at, 'part'));
  writeFileSync(join(at, 'work-ledger.toml'), 'project = "shop"\n');
  expect(await projectOf(join(at, 'part'))).toBe('shop');
  writeFileSync(join(at, 'work-ledger.toml'), 'project = \n');
  expect(await projectOf(join(at, 'part'))).toBe(at);
  expect(await projectOf(join(at, 'gone'))).toBe(join(at, 'gone'));
});

test('the variables that git sets for its hooks name no project', async () => {
  const [own, other] = [repository(), repository()];
  mkdirSync(join(own, 'part'));
  git(own, 'remote', 'add', 'origin', 'https://example.org/acme/own.git');
  git(other, 'remote', 'add', 'origin', 'https://example.org/acme/other.git');
  const config = join(other, '.git/config');
  for (const set of [
    { GIT_DIR: join(other, '.git') },
    { GIT_DIR: '.git' },
    { GIT_COMMON_DIR: join(other, '.git') },
    { GIT_CONFIG: config },
  ]) {
    for (const [name, value] of Object.entries(set)) vi.stubEnv(name, value);
    expect(await projectOf(join(own, 'part'))).toBe('example.org/acme/own');
    vi.unstubAllEnvs();
  }
});

test('whatever a directory or a remote is called, its project has a name that a ledger takes', async () => {
  const at = join(directory(), '🛠️  tools\u00ad');
  mkdirSync(at);
  expect(await projectOf(at)).toMatch(/\/🛠 tools$/u);
  const long = join(at, ...Array.from({ length: 10 }, () => 'd '.repeat(40).trim()));
  mkdirSync(long, { recursive: true });
  const name = await projectOf(long);
  expect(name.trim()).toBe(name);
  expect(Array.from(name).length).toBeLessThanOrEqual(500);
  const own = repository();
  git(own, 'remote', 'add', 'origin', 'file:///');
  expect(await projectOf(own)).toBe(own);
});
