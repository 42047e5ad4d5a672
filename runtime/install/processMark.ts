// Marks which process made something that outlives it, so that another one can tell later whether it still runs. A process id alone does
// not suffice: ids are reused, and every host and container has its own.

import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

import { z } from 'zod';

import { isAlive } from '../../sandbox/isAlive.ts';

/** `machine`: null if machines cannot be told apart; `started`: when the process started, in clock ticks of its machine; 0: unknown. */
export const processMark = z.object({ machine: z.string().nullable(), pid: z.number(), started: z.number() });
export type ProcessMark = z.infer<typeof processMark>;

/** The host since it was booted, and its PID namespace. */
function thisMachine(): string | null {
  try {
    const seen = `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')} ${readlinkSync('/proc/self/ns/pid')}`;
    return createHash('sha256').update(seen).digest('hex').slice(0, 16);
  } catch {
    return null;
  }
}

/** When a process started, in clock ticks of its machine. Null: it does not run, is a zombie, or cannot be seen. */
export function startOf(pid: number): number | null {
  try {
    const [state, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return state === 'Z' || state === 'X' ? null : Number(fields[18]);
  } catch {
    return null;
  }
}

export const ownMark = (): ProcessMark => ({ machine: thisMachine(), pid: process.pid, started: startOf(process.pid) ?? 0 });

/** Whether that process runs; null: it cannot be seen from here. */
export function runs({ machine, pid, started }: ProcessMark): boolean | null {
  if (machine === null || machine !== thisMachine()) return null;
  if (started === 0) return isAlive(pid);
  return startOf(pid) === started;
}
