// Hides what other processes of the same user could read from this one. On Linux the environment and arguments that a process was started
// with stay readable in /proc as long as it lives, whatever happens to process.env. They are in the process's own memory, so it can
// overwrite them there.

import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Variables that every command may see because they hold no secrets. */
export const isPublic = (name: string): boolean => publicNames.has(name) || name.startsWith('LC_');

const publicNames = new Set(['PATH', 'HOME', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'PWD']);

let isHidden: boolean | undefined;

/**
 * Overwrites what /proc/PID/environ shows of this process, except for public variables, and keeps its memory out of core dumps.
 * process.env is not changed. Must be called before an agent's first command, and by every long-running process. False: not
 * possible (no Linux, a /proc that cannot be written, or a process.env that is a copy, as in a thread).
 */
export function hideEnvironment(): boolean {
  return (isHidden ??= hide());
}

function hide(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
    if (isCopy(process.env)) return false;
    const [start, environment] = [startOfEnvironment(), readFileSync('/proc/self/environ')];
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      for (const { at, length, name } of entriesOf(environment)) {
        if (isPublic(name)) continue;
        // Setting the variable makes the C library keep the value elsewhere before its old place is overwritten.
        const value = process.env[name];
        if (value !== undefined) process.env[name] = value;
        writeSync(memory, Buffer.alloc(length), 0, length, start + at);
      }
    } finally {
      closeSync(memory);
    }
    return entriesOf(readFileSync('/proc/self/environ')).every(({ name }) => isPublic(name));
  } catch {
    return false;
  }
}

/**
 * Whether setting a variable leaves the environment of the process as it is: a thread has a copy, and so has a test file in Jest. What is
 * overwritten would then be lost to the whole program.
 */
function isCopy(env: NodeJS.ProcessEnv): boolean {
  const probe = Symbol('probe');
  try {
    return !isMainThread || Reflect.set(env, probe, ''); // the environment itself refuses what is no text
  } catch {
    return false;
  } finally {
    if (Object.hasOwn(env, probe)) Reflect.deleteProperty(env, probe);
  }
}

/** The address of the environment: field 50 of /proc/self/stat, counted after the program's name, which may contain anything. */
function startOfEnvironment(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[47]);
  if (!Number.isSafeInteger(start) || start <= 0) throw new Error('the kernel does not report where the environment is');
  return start;
}

/** The non-empty entries "NAME=value", with their positions. */
function entriesOf(environment: Buffer): { at: number; length: number; name: string }[] {
  const entries = [];
  for (let at = 0; at < environment.length;) {
    const end = environment.indexOf(0, at);
    const length = (end === -1 ? environment.length : end) - at;
    const entry = environment.toString('utf8', at, at + length);
    if (length > 0) entries.push({ at, length, name: entry.slice(0, Math.max(0, entry.indexOf('='))) });
    at += length + 1;
  }
  return entries;
}
