// The release, rehearsed in a scratch copy of the sources, without a network: what it refuses, what it makes, and that it leaves nothing
// behind but the files that would be published.

import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { frozen, version } from '../../sql/extensionSource.ts';
import { root } from '../pages.ts';
import { run } from '../shell.ts';
import type { Ran } from '../shell.ts';

/** Not the number that the sources have: the release sets it. */
const next = version().replace(/\d+$/, (patch) => String(Number(patch) + 7));
const section = `## ${next} (2026-01-31)\n\n- **What is new**: everything.\n\n`;

let copy: string;
let home: string;
let env: NodeJS.ProcessEnv;
const git = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(copy, env, 'git', ...args);
  expect(code, stderr).toBe(0);
  return stdout.trim();
};
const release = (...args: string[]): Promise<Ran> => run(copy, env, 'make', '-o', 'node_modules', 'release', ...args);
const changelog = (): string => readFileSync(join(copy, 'CHANGELOG.md'), 'utf8');
/** Commits the changelog with other sections in place of the one that is not released yet. */
async function say(sections: string): Promise<void> {
  writeFileSync(
    join(copy, 'CHANGELOG.md'),
    changelog().replace(/(?:^## [^]*?)?(?=^## 0\.1\.0 )/m, () => sections),
  );
  await git('commit', '--quiet', '--all', '--allow-empty', '--message', 'Say what is new');
}

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'release-'));
  home = await mkdtemp(join(tmpdir(), 'release-home-'));
  const left = new Set(['node_modules', '.git', 'build', 'dist']);
  for (const name of readdirSync(root).filter((one) => !left.has(one))) cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const who = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.org', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.org' };
  // No Docker daemon: the image is left out.
  env = { PATH: process.env['PATH'], HOME: home, DOCKER_HOST: `unix://${home}/none.sock`, npm_config_offline: 'true', ...who };
  await git('init', '--quiet', '--initial-branch', 'main');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'The sources');
});
afterAll(() => Promise.all([copy, home].map((folder) => rm(folder, { recursive: true, force: true }))));
beforeEach(() => say(section));

const refused = async (why: string, wanted = next): Promise<void> => {
  const { code, stdout, stderr } = await release(`VERSION=${wanted}`, 'REHEARSE=1');
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) });
  expect(stdout, 'nothing is made').not.toContain('$ ');
};

test('a version that is no version, or is released already, is refused', async () => {
  await refused('which version?', '');
  await refused('which version?', '1.2');
  const [old = ''] = frozen().versions.map((one) => one.version);
  await refused(`version ${old} is released already`, old);
});

test('a version that has a tag is refused', async () => {
  await git('tag', `v${next}`);
  await refused(`there is a tag v${next} already`);
  await git('tag', '--delete', `v${next}`);
});

test('a changelog that says nothing of the version, or names no day, or calls something pending, is refused', async () => {
  await say('');
  await refused(`CHANGELOG.md has no section "## ${next} (YYYY-MM-DD)"`);
  await say(section.replace('2026-01-31', 'not released yet'));
  await refused(`CHANGELOG.md has "## ${next} (not released yet)"`);
  await say(`${section.trimEnd()}\n- Pending: the rest.\n\n`);
  await refused('still calls something');
  await say(`## ${next} (2026-01-31)\n\n`);
  await refused(`says nothing about version ${next}`);
});

test('another branch is refused, and so is a tree with changes', async () => {
  await git('checkout', '--quiet', '-b', 'topic');
  await refused('of the branch main, not of topic');
  await git('checkout', '--quiet', 'main');
  writeFileSync(join(copy, 'left.txt'), '');
  await refused('changes that are not committed');
  await rm(join(copy, 'left.txt'));
});

test('a rehearsal makes everything that would be published, and nothing else stays', async () => {
  const before = await git('rev-parse', 'HEAD');
  const { code, stdout, stderr } = await release(`VERSION=${next}`, 'REHEARSE=1');
  expect(code, stdout + stderr).toBe(0);
  const tarball = `build/release/work-ledger-${next}.tgz`;
  const after = stdout.slice(stdout.indexOf('Rehearsed.'));
  const steps = after
    .split('\n')
    .slice(1, -1)
    .map((line) => line.trim().split(' ').slice(0, 2).join(' '));
  expect(steps).toEqual(['git merge', 'git tag', 'git push', 'npm publish', 'and you']);
  expect(after).toContain(`npm publish ${tarball}`);

  // In the package and in the zip is the version that was asked for, as released: its script is frozen.
  const inTarball = async (name: string): Promise<string> => (await run(copy, env, 'tar', '-xOzf', tarball, `package/${name}`)).stdout;
  expect(JSON.parse(await inTarball('package.json'))).toMatchObject({ name: 'work-ledger', version: next });
  expect(JSON.parse(await inTarball('plugin/.claude-plugin/plugin.json'))).toMatchObject({ version: next });
  expect(await inTarball('dist/sql/upgrades/frozen.txt')).toMatch(new RegExp(`^${next} `, 'm'));
  const { stdout: listed } = await run(copy, env, 'zip', '-sf', `build/release/work_ledger-${next}.zip`);
  expect(listed).toContain(`work_ledger-${next}/META.json`);
  for (const { version: old } of frozen().versions) expect(listed).toContain(`work_ledger--${old}--${next}.sql`);

  expect(await git('rev-parse', 'HEAD')).toBe(before);
  expect(await git('status', '--porcelain')).toBe('');
  expect(await git('tag')).toBe('');
  expect((await git('worktree', 'list')).split('\n')).toHaveLength(1);
});

test('the next version begins after a release, not before', async () => {
  const begin = (of: string): Promise<Ran> => run(copy, env, 'make', '-o', 'node_modules', 'next', `VERSION=${of}`);
  expect(await begin('9.0.0')).toMatchObject({ code: 2, stderr: expect.stringContaining(`version ${version()} is not released yet`) });
  expect((await run(copy, env, 'make', '-o', 'node_modules', 'freeze')).code).toBe(0);
  expect(await begin('9.0.0')).toMatchObject({ code: 0 });
  expect(changelog()).toMatch(/^# Changelog\n\n## 9\.0\.0 \(not released yet\)\n/);
  expect(existsSync(join(copy, `sql/upgrades/${version()}--9.0.0.sql`))).toBe(true);
  const { code, stderr } = await run(copy, env, process.execPath, 'sql/build.ts', '--verify');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
