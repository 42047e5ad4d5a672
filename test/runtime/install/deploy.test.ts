// The files for docker compose and systemd: what they call is there, and systemd accepts its unit.

import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(root + path, 'utf8');

const commands = [
  ...[...read('deploy/compose.yaml').matchAll(/^ +command: (\[.*\])$/gm)].map(([, list = '']) => JSON.parse(list) as string[]),
  ...[...read('deploy/work-ledger.service').matchAll(/^ExecStart=\S+ work-ledger (.*)$/gm)].map(([, line = '']) => line.split(' ')),
];

test.each(commands)('work-ledger %s … has the options that are given', async (...command) => {
  const { stdout } = await promisify(execFile)(process.execPath, [`${root}runtime/main.ts`, command[0] ?? '', '--help']);
  for (const option of command.filter((word) => word.startsWith('--'))) expect(stdout).toContain(`${option} `);
});

test('both of compose and the unit of systemd are read', () => expect(commands.map(([name]) => name)).toEqual(['install', 'work', 'work']));

test('the image is made from what the package has', () => {
  const { files } = JSON.parse(read('package.json')) as { files: string[] };
  const always = ['package.json'];
  const copied = [...read('deploy/Dockerfile').matchAll(/^COPY (.*) \S+$/gm)].flatMap(([, list = '']) => list.split(' '));
  expect(copied.filter((name) => ![...files, ...always].includes(name))).toEqual([]);
});

const noSystemd = spawnSync('systemd-analyze', ['--version']).error !== undefined;
if (noSystemd) console.warn('the unit for systemd is not verified: there is no systemd-analyze');
test.skipIf(noSystemd)('systemd accepts the unit', async () => {
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', `${root}deploy/work-ledger.service`]);
  expect(stdout + stderr).toBe('');
});
