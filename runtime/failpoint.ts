// Failpoints: places where a process can be made to die, fail, wait or meet another process, to test what a crash leaves behind.
// They are set only by WORK_LEDGER_FAILPOINTS in the environment in which the process was started; no row, request or file can set one.
// Without it, atFailpoints() just makes the call.
//
// WORK_LEDGER_FAILPOINTS='after_iteration_step:3=kill before_model=throw after_tool=delay:500
// before_lease_renew=barrier:http://127.0.0.1:4711/'
//
// Points: before_ and after_ the name of each SQL function that the process calls; before_ and after_model, _tool, _hook, _code. `:n`: only
// the n-th time the process gets there (default: the first). kill: sends SIGKILL to itself. barrier: waits until that address has answered.

import { setTimeout as sleep } from 'node:timers/promises';

type Failpoint = { name: string; nth: number; act: 'kill' | 'throw' | 'delay' | 'barrier'; by: string };

/** The failpoints that are set, for a line in the log. */
export const failpoints: readonly Failpoint[] = parse(process.env['WORK_LEDGER_FAILPOINTS'] ?? '');

/** Runs `use` between the failpoints before_NAME and after_NAME. */
export const atFailpoints: <T>(name: string, use: () => Promise<T>) => Promise<T> = failpoints.length === 0 ? (_, use) => use() : passing;

const counts = new Map<string, number>();

async function passing<T>(name: string, use: () => Promise<T>): Promise<T> {
  await come(`before_${name}`);
  const value = await use();
  await come(`after_${name}`);
  return value;
}

async function come(name: string): Promise<void> {
  const nth = (counts.get(name) ?? 0) + 1;
  counts.set(name, nth);
  for (const point of failpoints) if (point.name === name && point.nth === nth) await happen(point);
}

async function happen({ name, nth, act, by }: Failpoint): Promise<void> {
  switch (act) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      return sleep(60_000); // SIGKILL is not delivered immediately
    case 'throw':
      throw new Error(`failpoint ${name}:${nth}`);
    case 'delay':
      return sleep(Number(by));
    case 'barrier':
      await fetch(by, { method: 'POST', body: `${name}:${nth}` });
  }
}

/** Throws if a failpoint cannot be parsed: a test whose failpoint is never hit would prove nothing. */
function parse(text: string): Failpoint[] {
  return text
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const [, name, nth = '1', act, by = ''] =
        /^((?:before|after)_\w+?)(?::(\d+))?=(kill|throw|delay|barrier)(?::(.+))?$/.exec(word) ?? [];
      if (name === undefined || (act === 'delay') !== /^\d+$/.test(by) || (act === 'barrier') !== by.startsWith('http:')) {
        throw new Error(
          `WORK_LEDGER_FAILPOINTS: "${word}" is not such as after_iteration_step:3=kill, before_model=throw, after_tool=delay:500 or before_model=barrier:http://…`,
        );
      }
      return { name, nth: Number(nth), act: act as Failpoint['act'], by };
    });
}
