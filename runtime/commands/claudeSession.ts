// Finds the session that Claude Code is in. Claude Code passes a session's id to the servers that it starts, in a variable, but keeps these
// servers when it moves to another session (--continue, /resume, /clear). The current id is in a file named after its process.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { startOf } from '../install/processMark.ts';

const VARIABLE = 'CLAUDE_CODE_SESSION_ID';
/** In which a hook passes the process id of its client; between the two there are shells. */
export const CLIENT = 'WORK_LEDGER_CLIENT_PID';

/** The id that Claude Code's hooks get too. Null: Claude Code did not start this program. */
export function claudeSession(): string | null {
  const told = process.env[VARIABLE];
  if (told === undefined) return null;
  const file = join(process.env['CLAUDE_CONFIG_DIR'] || join(homedir(), '.claude'), 'sessions', `${process.ppid}.json`);
  return sessionIn(file) ?? told; // another version of Claude Code, or it is not the parent of this process
}

/** The id in a file that says in which session our parent is; null: there is none, or it is another's. */
export function sessionIn(file: string): string | null {
  try {
    const { sessionId, procStart } = JSON.parse(readFileSync(file, 'utf8')) as { sessionId?: unknown; procStart?: unknown };
    return typeof sessionId === 'string' && /^[\w-]{1,200}$/.test(sessionId) && isOfParent(procStart) ? sessionId : null;
  } catch {
    return null;
  }
}

/**
 * Whether our parent wrote that file. A killed Claude Code leaves its file, and containers that share a home directory write to one file for
 * the same process id. Where Claude Code does not say when it started as /proc does, the id has to do.
 */
function isOfParent(started: unknown): boolean {
  const start = startOf(process.ppid);
  return start === null || typeof started !== 'string' || !/^\d+$/.test(started) || Number(started) === start;
}

/**
 * Whether Claude Code was started to fork a session. Then it says of a session that is resumed that it begins, and means the fork: nothing
 * but its command line tells the two apart.
 */
export function isStartedToFork(): boolean {
  const pid = Number(process.env[CLIENT]);
  return pid > 0 && argumentsOf(pid).includes('--fork-session');
}

function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    // there is no /proc
  }
  try {
    const words = ['-o', 'args=', '-p', String(pid)];
    return execFileSync('ps', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 1000 }).split(/\s+/);
  } catch {
    return [];
  }
}
