// What each test file costs: CPU of its process with the children that it waited for, and how long its databases were executing on the
// server of the run, which is another process. Each file adds a line as it ends; the run prints the dearest.

import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, expect, inject } from 'vitest';

import { executed } from './database.ts';

/** CPU seconds of this process and of the children that it waited for; 0 where there is no /proc. */
function cpuSeconds(): number {
  try {
    // After the name, which may hold anything: utime, stime, cutime, cstime are the 14th to 17th fields, in hundredths.
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
  } catch {
    return 0;
  }
}

afterAll(() => {
  const file = relative(fileURLToPath(new URL('.', import.meta.url)), expect.getState().testPath ?? '?');
  appendFileSync(inject('costs'), `${JSON.stringify({ file, cpu: cpuSeconds(), server: executed.seconds })}\n`);
});
