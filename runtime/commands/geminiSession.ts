// Finds the session that Gemini CLI is in. Gemini CLI says this to its hooks, but not to the servers that it starts. So a hook leaves the id for
// the server, in a file named after the process of Gemini CLI, as Claude Code itself does.

import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

import type { HookName } from '../harness/hooks.ts';
import { startOf } from '../install/processMark.ts';
import { CLIENT, sessionIn } from './claudeSession.ts';

const fileOf = (pid: number): string => join(homedir(), '.gemini', 'work-ledger', `${pid}.json`);

/** The id that Gemini CLI's hooks get too. Empty: Gemini CLI did not start this program, or no hook told it. */
export const geminiSession = (): string => (process.env['GEMINI_CLI'] === undefined ? '' : (sessionIn(fileOf(process.ppid)) ?? ''));

/** Leaves the id of the session that a hook is about, or removes it where that session ends. */
export async function keepGeminiSession(hook: HookName, sessionId: string | undefined): Promise<void> {
  const pid = Number(process.env[CLIENT]);
  if (!(pid > 0) || !sessionId) return;
  const file = fileOf(pid);
  if (hook === 'session-end') {
    // Gemini CLI does not wait for this hook: it may be in another session by now.
    const left = await readFile(file, 'utf8').catch(() => '');
    if (left.includes(JSON.stringify(sessionId))) await rm(file, { force: true });
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`; // the server may be reading
  await writeFile(fresh, JSON.stringify({ sessionId, procStart: String(startOf(pid) ?? '') }));
  await rename(fresh, file);
}
