// A copy of a workspace's files that breaks off.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import type Docker from 'dockerode';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { pullFiles } from '../../sandbox/containerWorkspace.ts';
import { until } from '../workerProcess.ts';

const limits = { maxBytes: 1024 * 1024, maxFiles: 10 };
let directory: string;
let half: Buffer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'archive-'));
  const archive = pack();
  archive.entry({ name: 'agent/new.txt' }, 'new\n');
  archive.entry({ name: 'agent/old.txt' }, Buffer.alloc(100_000, 'x'));
  archive.finalize();
  half = (await buffer(archive)).subarray(0, 50_000);
});
afterAll(async () => rm(directory, { recursive: true, force: true }));

test.each([
  ['because the daemon is gone', 'socket hang up'],
  ['because the command is stopped', 'aborted'],
])('%s: files that are whole stay, and the one that was begun leaves nothing', async (_, why) => {
  const into = await mkdtemp(join(directory, 'into-'));
  await writeFile(join(into, 'old.txt'), 'old\n');
  const stopped = new AbortController();
  const archive = new Readable({ read: () => {} });
  archive.push(half);
  const removed: string[] = [];
  const container = { getArchive: async () => archive, remove: async () => void removed.push('container') };
  const docker = { getVolume: () => ({ inspect: async () => ({}) }), createContainer: async () => container } as unknown as Docker;
  const pulled = pullFiles(docker, '01a20140-ceab-71ce-90f1-6e3f51471e2f', 'image', into, limits, stopped.signal);
  await until(async () => (await readdir(into)).length === 3); // the second is being written, under a name of its own
  if (why === 'aborted') stopped.abort();
  else archive.destroy(new Error(why));
  await expect(pulled).rejects.toThrow(why);
  expect((await readdir(into)).toSorted()).toEqual(['new.txt', 'old.txt']);
  expect(await readFile(join(into, 'old.txt'), 'utf8')).toBe('old\n');
  expect(removed).toEqual(['container']);
});
