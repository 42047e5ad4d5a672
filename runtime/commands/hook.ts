// What an interactive client reports of its session, and what it is told, at fixed points.

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import { z } from 'zod';

import type { Settings } from '../config.ts';
import type { Db } from '../ledger/db.ts';
import { messageOf, UsageError } from '../ledger/errors.ts';
import { exit } from './output.ts';
import { withLedger } from './withLedger.ts';

export type ClientOptions = Settings & { conversation?: string };

/** Safe to call twice at once: a client starts its server and its first hook at the same moment. */
export const sessionOf = (db: Db, conversation: string): Promise<string> => db.journal.sessionOpen(conversation, `An interactive session in ${conversation}`);

const HOOK_SECONDS = 15;

/** As Claude Code sends it on stdin; other clients may send less. */
const hookInput = z.looseObject({
  cwd: z.string().optional(),
  prompt: z.string().optional(),
  tool_name: z.string().optional(),
  tool_input: z.record(z.string(), z.unknown()).optional(),
  tool_response: z.unknown().optional(),
  trigger: z.string().optional(),
});
type HookInput = z.infer<typeof hookInput>;

const fileTools = new Map([['Read', 'read'], ['Write', 'create'], ['Edit', 'modify'], ['MultiEdit', 'modify'], ['NotebookEdit', 'modify']]);

const hooks: Record<string, (db: Db, sessionId: string, input: HookInput) => Promise<string>> = {
  /** Context for the beginning of a session: where the work stands, and what others do in this directory and its repository. */
  'session-start': async (db, sessionId, { cwd }) => {
    await db.journal.sessionStatus(sessionId, 'active');
    const entries = await db.journal.read(sessionId, 0, 2, null);
    const packet = entries.length > 1 ? await db.journal.exportForResumption(sessionId, 3000) : '';
    return [packet, await db.awarenessHere(sessionId, repositoryOf(cwd ?? process.cwd()))].filter((part) => part !== '').join('\n\n');
  },
  'user-prompt': async (db, sessionId, { prompt }) => {
    await db.journal.sessionStatus(sessionId, 'active'); // another client in this directory may have ended meanwhile
    if (prompt !== undefined && prompt.trim() !== '') await db.journal.log(sessionId, 'user_feedback', { message: prompt }, 'high');
    return '';
  },
  'post-tool-use': async (db, sessionId, { tool_name: tool, tool_input: input = {}, tool_response: response }) => {
    if (tool === undefined || /^mcp__(?:plugin_work-ledger_)?work-ledger__/.test(tool)) return '';
    const operation = fileTools.get(tool);
    const path = input['file_path'] ?? input['notebook_path'];
    if (operation !== undefined && typeof path === 'string') {
      await db.journal.log(sessionId, operation === 'read' ? 'file_read' : 'file_written', { filePath: path, operation }, operation === 'read' ? 'low' : 'normal');
      return '';
    }
    const output = typeof response === 'string' ? response : JSON.stringify(response ?? null);
    await db.journal.log(sessionId, 'tool_result', { toolName: tool, success: true, output: output.slice(0, 2000), truncated: output.length > 2000 }, 'low');
    return '';
  },
  'pre-compact': async (db, sessionId) => {
    await db.journal.checkpointCreate(sessionId, 'automatic');
    return db.journal.exportForResumption(sessionId, 3000);
  },
  stop: async (db, sessionId) => {
    await db.journal.checkpointCreate(sessionId, 'automatic');
    return '';
  },
  'session-end': async (db, sessionId) => {
    await db.journal.checkpointCreate(sessionId, 'automatic');
    await db.journal.sessionStatus(sessionId, 'paused');
    return '';
  },
};

/** The root of the repository that the directory is in; else the directory. */
function repositoryOf(directory: string): string {
  for (let at = resolve(directory); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return resolve(directory);
  }
}

/** Reads the client's JSON from stdin; its output is for the model. A ledger that cannot be reached never stops the client. */
export async function hook(name: string, options: ClientOptions): Promise<number> {
  const run = hooks[name];
  if (!run) throw new UsageError(`there is no hook "${name}": one of ${Object.keys(hooks).join(', ')}`);
  setTimeout(() => process.exit(exit.ok), HOOK_SECONDS * 1000).unref(); // the client may have stopped waiting for it
  try {
    const given = await text(process.stdin);
    const input = hookInput.parse(given.trim() === '' ? {} : JSON.parse(given));
    await withLedger(options, async (db) => {
      const conversation = options.conversation ?? input.cwd ?? process.cwd();
      const sessionId = await sessionOf(db, conversation);
      await db.journal.heartbeat(sessionId);
      const said = await run(db, sessionId, input);
      if (said !== '') process.stdout.write(`${said}\n`);
    });
  } catch (error) {
    process.stderr.write(`work-ledger: ${messageOf(error)}\n`);
  }
  return exit.ok;
}
