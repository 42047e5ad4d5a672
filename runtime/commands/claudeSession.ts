// Finds the session that Claude Code is in. Claude Code passes a session's id to the servers that it starts, in a variable, but keeps these
// servers when it moves to another session (--continue, /resume, /clear). The current id is in a file named after its process.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const VARIABLE = 'CLAUDE_CODE_SESSION_ID';

/** The id that Claude Code's hooks get too. Null: Claude Code did not start this program. */
export function claudeSession(): string | null {
  const told = process.env[VARIABLE];
  if (told === undefined) return null;
  try {
    const file = join(process.env['CLAUDE_CONFIG_DIR'] || join(homedir(), '.claude'), 'sessions', `${process.ppid}.json`);
    const { sessionId } = JSON.parse(readFileSync(file, 'utf8')) as { sessionId?: unknown };
    return typeof sessionId === 'string' && /^[\w-]{1,200}$/.test(sessionId) ? sessionId : told;
  } catch {
    return told; // another version of Claude Code, or it is not the parent of this process
  }
}
