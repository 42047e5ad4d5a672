// Failpoints: what each act does to a worker, where they come from, and that there are none without being asked for.

import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const module = fileURLToPath(new URL('../../runtime/failpoint.ts', import.meta.url));

/** A process that comes twice to the points of "step" and says how far it is. */
function run(failpoints: string | null): Promise<{ signal: string | null; said: string; error: string }> {
  const script = `
    const { atFailpoints } = await import('${module}');
    for (const n of [1, 2]) console.log(await atFailpoints('step', async () => { console.log('in ' + n); return 'out ' + n; }).catch((error) => error.message));`;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--input-type=module', '-e', script],
      { env: { PATH: process.env['PATH'], ...(failpoints !== null && { WORK_LEDGER_FAILPOINTS: failpoints }) } },
      (error, stdout, stderr) => resolve({ signal: error?.signal ?? null, said: stdout.trim().replaceAll('\n', ', '), error: stderr }),
    );
  });
}

test.each([
  ['nothing is set', null, null, 'in 1, out 1, in 2, out 2'],
  ['killed before', 'before_step=kill', 'SIGKILL', ''],
  ['killed after, the second time', 'after_step:2=kill', 'SIGKILL', 'in 1, out 1, in 2'],
  ['an error before', 'before_step:2=throw', null, 'in 1, out 1, failpoint before_step:2'],
  ['an error after', 'after_step=throw', null, 'in 1, failpoint after_step:1, in 2, out 2'],
  ['two of them', 'before_step:1=throw after_step:1=kill', 'SIGKILL', 'failpoint before_step:1, in 2'],
  ['a delay', 'before_step=delay:1', null, 'in 1, out 1, in 2, out 2'],
  ['another point', 'before_other=kill', null, 'in 1, out 1, in 2, out 2'],
])('%s', async (_, failpoints, signal, said) => {
  expect(await run(failpoints)).toMatchObject({ signal, said });
});

test('a barrier waits until it is answered', async () => {
  const { promise: came, resolve } = Promise.withResolvers<string>();
  const latch = createServer((request, response) => {
    let body = '';
    request
      .on('data', (chunk) => (body += chunk))
      .on('end', () => {
        resolve(body);
        release.promise.then(
          () => response.end(),
          () => {},
        );
      });
  });
  const release = Promise.withResolvers<void>();
  await new Promise<void>((listening) => latch.listen(0, '127.0.0.1', listening));
  let isOver = false;
  const running = run(`before_step:2=barrier:http://127.0.0.1:${(latch.address() as AddressInfo).port}/`).finally(() => (isOver = true));
  expect(await came).toBe('before_step:2');
  expect(isOver).toBe(false);
  release.resolve();
  expect(await running).toMatchObject({ signal: null, said: 'in 1, out 1, in 2, out 2' });
  latch.close();
});

test.each(['step=kill', 'before_step=explode', 'before_step=delay', 'before_step=barrier:file:///etc/passwd', 'before_step:x=kill'])(
  '%s is refused',
  async (failpoints) => {
    expect(await run(failpoints)).toMatchObject({ said: '', error: expect.stringContaining('is not such as after_iteration_step:3=kill') });
  },
);
