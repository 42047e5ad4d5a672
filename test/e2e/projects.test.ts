// Work of two projects in one ledger, as it is typed in their directories.

import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { cliOrFail } from '../cli.ts';
import type { Ended } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

let database: TestDatabase;
let [shop, clone, other] = ['', '', ''];
beforeAll(async () => {
  database = await createDatabase();
  [shop, clone, other] = (await Promise.all(
    ['shop', 'clone', 'other'].map(async (name) => realpath(await mkdtemp(join(tmpdir(), `project-${name}-`)))),
  )) as [string, string, string];
  for (const at of [shop, clone]) {
    execFileSync('git', ['-C', at, 'init', '-q']);
    execFileSync('git', ['-C', at, 'remote', 'add', 'origin', 'https://me:secret@github.com/acme/shop.git']);
  }
});
afterAll(async () => {
  await database?.drop();
  for (const at of [shop, clone, other]) await rm(at, { recursive: true, force: true });
});

const cli = (cwd: string, ...args: string[]): Promise<Ended> =>
  cliOrFail(args, { env: { PATH: process.env['PATH'], HOME: shop, DATABASE_URL: database.url }, cwd });

test('a list is of the project of its directory, says what there is elsewhere, and shows all on demand', async () => {
  await cli(shop, 'submit', 'Sell it', '--type', 'a');
  await cli(other, 'submit', 'Something else', '--type', 'a');
  await cli(other, 'submit', 'Of the shop', '--type', 'a', '--project', 'github.com/acme/shop');
  const here = await cli(clone, 'list');
  expect(here.stdout).toContain('Sell it');
  expect(here.stdout).toContain('Of the shop');
  expect(here.stdout).not.toContain('Something else');
  expect(here.stderr).toBe('1 more in other projects: work-ledger list --all\n');
  const all = await cli(clone, 'list', '--all');
  expect(all.stdout).toContain('Something else');
  expect(all.stderr).toBe('');
  expect((await cli(shop, 'list', '--project', other)).stdout).toContain('Something else');
});

test('a digest and a cost are of the project of the item and of the directory', async () => {
  const { stdout: mine } = await cli(shop, 'submit', 'Look around', '--type', 'a');
  const { stdout: theirs } = await cli(other, 'submit', 'Elsewhere', '--type', 'a');
  const { stdout: ours } = await cli(clone, 'submit', 'In the clone', '--type', 'a');
  await cli(shop, 'ledger', 'append', theirs.trim(), 'finding', 'Found elsewhere');
  await cli(shop, 'ledger', 'append', ours.trim(), 'finding', 'Found in the clone');
  const { stdout: digest } = await cli(other, 'digest', mine.trim());
  expect(digest).toContain('Found in the clone');
  expect(digest).not.toContain('Found elsewhere');
  expect((await cli(shop, 'cost')).stdout).toBe('no model was asked in github.com/acme/shop yet\n');
  expect((await cli(shop, 'cost', '--all')).stdout).toBe('no model was asked yet\n');
});

test('work is done in the clone in which it is asked for, if that is said', async () => {
  const ids: string[] = [];
  for (const more of [[], ['--workspace', '.']])
    ids.push((await cli(clone, 'submit', 'In the clone', '--type', 'a', ...more)).stdout.trim());
  const rows = await database.query(
    `select workspace_dir, project from work_items where id = any ('{${ids.join()}}') order by workspace_dir nulls first`,
  );
  expect(rows).toEqual([
    { workspace_dir: null, project: 'github.com/acme/shop' },
    { workspace_dir: clone, project: 'github.com/acme/shop' },
  ]);
});
