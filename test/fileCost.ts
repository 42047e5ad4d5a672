// What each test file costs: CPU of its process with the children that it waited for, and how long its databases were executing on the
// server of the run, which is another process. Each file adds a line as it ends; the run prints the dearest.

import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, expect, inject } from 'vitest';

import { cpuSeconds } from './cpu.ts';
import { executed } from './database.ts';

afterAll(() => {
  const file = relative(fileURLToPath(new URL('.', import.meta.url)), expect.getState().testPath ?? '?');
  appendFileSync(inject('costs'), `${JSON.stringify({ file, cpu: cpuSeconds('self'), server: executed.seconds })}\n`);
});
