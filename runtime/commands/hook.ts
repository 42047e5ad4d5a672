// What an interactive client reports of its session, and what it is told, at fixed points.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { isObject } from '../../plv8/isObject.ts';
import { storableJson } from '../../plv8/storable.ts';
import type { Settings } from '../config.ts';
import { checkLedgerOn } from '../ledger/checkLedger.ts';
import { findDatabase, schemaOn } from '../install/findLedger.ts';
import { withConnection } from '../ledger/connection.ts';
import { messageOf, noWritesWords, UsageError } from '../ledger/errors.ts';
import { oneConnection } from '../ledger/oneConnection.ts';
import type { OneConnection } from '../ledger/oneConnection.ts';
import { fileSettings } from './configFile.ts';

export type ClientOptions = Settings & { conversation?: string };

const HOOK_SECONDS = 15;

/** As Claude Code sends it on stdin; other clients may send less. */
type HookInput = {
  session_id?: string;
  cwd?: string;
  prompt?: string;
  tool_name?: string;
  tool_input?: Record<string, unknown>;
  tool_response?: unknown;
};

function hookInput(given: string): HookInput {
  const input: unknown = given.trim() === '' ? {} : JSON.parse(given);
  if (!isObject(input)) throw new UsageError('a hook reads a JSON object from its input');
  for (const name of ['session_id', 'cwd', 'prompt', 'tool_name'] as const)
    if (!['string', 'undefined'].includes(typeof input[name])) throw new UsageError(`${name} is not a text`);
  if (input['tool_input'] !== undefined && !isObject(input['tool_input'])) throw new UsageError('tool_input is not an object');
  return input;
}

const fileTools = new Map([
  ['Read', 'read'],
  ['Write', 'create'],
  ['Edit', 'modify'],
  ['MultiEdit', 'modify'],
  ['NotebookEdit', 'modify'],
]);

const hooks: Record<string, (ledger: OneConnection, sessionId: string, input: HookInput) => Promise<string>> = {
  /** Context for the beginning of a session: where the work stands, and what others do in this directory and its repository. */
  'session-start': (ledger, sessionId, { cwd }) =>
    ledger.text('journal_session_begin', 'journal_session_begin', sessionId, repositoryOf(cwd ?? process.cwd())),
  'user-prompt': async (ledger, sessionId, { prompt }) => {
    if (prompt === undefined || prompt.trim() === '') await ledger.rows('journal_session_status', sessionId, 'active');
    else await ledger.rows('journal_session_prompt', sessionId, prompt, randomUUID());
    return '';
  },
  'post-tool-use': async (ledger, sessionId, { tool_name: tool, tool_input: input = {}, tool_response: response }) => {
    if (tool === undefined || /^mcp__(?:plugin_work-ledger_)?work-ledger__/.test(tool)) return '';
    const operation = fileTools.get(tool);
    const path = input['file_path'] ?? input['notebook_path'];
    if (operation !== undefined && typeof path === 'string') {
      await log(
        ledger,
        sessionId,
        operation === 'read' ? 'file_read' : 'file_written',
        { filePath: path, operation },
        operation === 'read' ? 'low' : 'normal',
      );
      return '';
    }
    const output = typeof response === 'string' ? response : JSON.stringify(response ?? null);
    await log(
      ledger,
      sessionId,
      'tool_result',
      { toolName: tool, success: true, output: output.slice(0, 2000), truncated: output.length > 2000 },
      'low',
    );
    return '';
  },
  'pre-compact': async (ledger, sessionId) => {
    await ledger.rows('checkpoint_create', sessionId, 'automatic');
    return ledger.text('export_for_resumption', 'export_for_resumption', sessionId, 3000);
  },
  stop: async (ledger, sessionId) => {
    await ledger.rows('checkpoint_create', sessionId, 'automatic');
    return '';
  },
  'session-end': async (ledger, sessionId) => {
    await ledger.rows('checkpoint_create', sessionId, 'automatic');
    await ledger.rows('journal_session_status', sessionId, 'paused');
    return '';
  },
};

const log = (ledger: OneConnection, sessionId: string, entryType: string, content: object, importance: string): Promise<unknown> =>
  ledger.rows('journal_log', sessionId, entryType, storableJson(content), importance, randomUUID());

/** The root of the repository that the directory is in; else the directory. */
function repositoryOf(directory: string): string {
  for (let at = resolve(directory); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return resolve(directory);
  }
}

/**
 * The conversation, no prompt yet, and the directory. Two sessions in one directory are two; a client that does not name its sessions has
 * one for each directory.
 */
function sessionOf({ conversation }: ClientOptions, input: HookInput): [string, null, string | null] {
  const directory = input.cwd ?? process.cwd();
  return conversation === undefined ? [input.session_id || directory, null, directory] : [conversation, null, null];
}

/** Reads the client's JSON from stdin; its output is for the model. A ledger that cannot be reached never stops the client. */
export async function hook(name: string, options: ClientOptions): Promise<number> {
  const run = hooks[name];
  if (!run) throw new UsageError(`there is no hook "${name}": one of ${Object.keys(hooks).join(', ')}`);
  setTimeout(() => process.exit(0), HOOK_SECONDS * 1000).unref(); // the client may have stopped waiting for it
  try {
    process.stdin.setEncoding('utf8');
    const input = hookInput((await process.stdin.toArray()).join(''));
    const { url } = await findDatabase(options);
    await withConnection({ connectionString: url }, async (client) => {
      const schema = await schemaOn(client, options);
      await checkLedgerOn(client, schema);
      const ledger = oneConnection(client, schema);
      const sessionId = await ledger.text('journal_session_open', 'id', ...sessionOf(options, input));
      const said = await run(ledger, sessionId, input);
      if (said !== '') process.stdout.write(`${said}\n`);
    });
  } catch (error) {
    process.stderr.write(`work-ledger: ${noWritesWords(error) ?? messageOf(error)}\n`);
  }
  return 0;
}

/** The hook that a command line asks for, read without the parser of all commands; null: that one has something to say about it. */
export async function plainHook(words: readonly string[]): Promise<(() => Promise<number>) | null> {
  const text = { type: 'string' } as const;
  try {
    const {
      values,
      positionals: [name, ...more],
    } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { conversation: text, 'database-url': text, schema: text, json: { type: 'boolean' } },
    });
    if (name === undefined || more.length > 0 || !(name in hooks)) return null;
    const file = await fileSettings({ isTyped: false });
    const databaseUrl = values['database-url'] || process.env['DATABASE_URL'] || file.databaseUrl;
    const schema = values.schema || process.env['WORK_LEDGER_SCHEMA'] || file.schema;
    return () =>
      hook(name, {
        ...(databaseUrl && { databaseUrl }),
        ...(schema && { schema }),
        ...(values.conversation !== undefined && { conversation: values.conversation }),
      });
  } catch {
    return null;
  }
}
