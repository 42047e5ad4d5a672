// The session that Claude Code is in. It tells the servers that it starts, in a variable, but then goes on to another one without starting
// them again: with --continue, /resume and /clear. The present one is in a file of its own, which is named after its process.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const VARIABLE = 'CLAUDE_CODE_SESSION_ID';

/** Null: Claude Code did not start this program. Its hooks get the same id. */
export function claudeSession(): string | null {
  const told = process.env[VARIABLE];
  if (told === undefined) return null;
  try {
    const file = join(process.env['CLAUDE_CONFIG_DIR'] || join(homedir(), '.claude'), 'sessions', `${process.ppid}.json`);
    const { sessionId } = JSON.parse(readFileSync(file, 'utf8')) as { sessionId?: unknown };
    return typeof sessionId === 'string' && /^[\w-]{1,200}$/.test(sessionId) ? sessionId : told;
  } catch {
    return told; // it is of another version, or not the parent of this process
  }
}
