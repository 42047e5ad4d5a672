// The hooks of a client that starts a process for each (harness/hooks.ts): JSON on stdin, words for the model on stdout.

import { parseArgs } from 'node:util';

import type { Settings } from '../config.ts';
import { checkLedgerOn } from '../ledger/checkLedger.ts';
import { projectOf } from '../project.ts';
import { answerOf, hookInput, hooks, isHook } from '../harness/hooks.ts';
import type { HookName } from '../harness/hooks.ts';
import { findDatabase, schemaOn } from '../install/findLedger.ts';
import { withConnection } from '../ledger/connection.ts';
import { messageOf, noWritesWords, UsageError } from '../ledger/errors.ts';
import { oneConnection } from '../ledger/oneConnection.ts';
import { clientSession } from './clientSession.ts';
import { fileSettings } from './configFile.ts';

export type ClientOptions = Settings & { conversation?: string; project?: string };

const HOOK_SECONDS = 15;

/** A change to a file waits for its check: so long for a connection, then so long for an answer. */
const CONNECTED_MS = 300;
const ANSWERED_MS = 2000;

/** What these say is JSON, as the client reads it; of the others the words alone. */
const events: Partial<Record<HookName, string>> = {
  'pre-tool-use': 'PreToolUse',
  'post-tool-use': 'PostToolUse',
  'subagent-start': 'SubagentStart',
};

/** The client goes on meanwhile: it may be gone before it could hear. */
const unheard = new Set<HookName>(['post-tool-use']);

function complain(error: unknown): '' {
  process.stderr.write(`work-ledger: ${noWritesWords(error) ?? messageOf(error)}\n`);
  return '';
}

/** Reads the client's JSON from stdin; its output is for the model. A ledger that cannot be reached never stops the client. */
export async function hook(name: string, options: ClientOptions): Promise<number> {
  if (!isHook(name)) throw new UsageError(`there is no hook "${name}": one of ${Object.keys(hooks).join(', ')}`);
  setTimeout(() => process.exit(0), HOOK_SECONDS * 1000).unref(); // the client may have stopped waiting for it
  let unchecked = name === 'pre-tool-use' ? uncheckedIn(CONNECTED_MS) : undefined;
  try {
    process.stdin.setEncoding('utf8');
    const given = (await process.stdin.toArray()).join('');
    const input = hookInput(given.trim() === '' ? {} : JSON.parse(given));
    const project = Promise.resolve(options.project ?? projectOf(input.cwd ?? process.cwd())); // while the database is connected to
    project.catch(() => {}); // said where it is awaited
    const { url } = await findDatabase(options);
    await withConnection({ connectionString: url }, async (client) => {
      clearTimeout(unchecked);
      if (unchecked) unchecked = uncheckedIn(ANSWERED_MS);
      const schema = await schemaOn(client, options);
      await checkLedgerOn(client, schema);
      const ledger = oneConnection(client, schema);
      const { conversation, directory = null } = clientSession(options.conversation, {
        id: input.session_id,
        directory: input.cwd ?? process.cwd(),
      });
      const sessionId = await ledger.text('journal_session_open', 'id', conversation, null, directory, await project);
      const said = await hooks[name](ledger, sessionId, input, { complain, isHeard: !unheard.has(name) });
      const event = events[name];
      const answer = event === undefined ? said.context : answerOf(event, said);
      if (answer) process.stdout.write(`${typeof answer === 'string' ? answer : JSON.stringify(answer)}\n`);
    });
  } catch (error) {
    complain(error);
  } finally {
    clearTimeout(unchecked);
  }
  return 0;
}

/** Lets a change go on that could not be checked by then. */
function uncheckedIn(milliseconds: number): NodeJS.Timeout {
  return setTimeout(() => {
    process.stderr.write('work-ledger: the database does not answer: this change was not checked against those of others\n');
    process.exit(0);
  }, milliseconds);
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
      options: { conversation: text, project: text, 'database-url': text, schema: text, json: { type: 'boolean' } },
    });
    if (name === undefined || more.length > 0 || !isHook(name)) return null;
    const file = await fileSettings({ isTyped: false });
    const databaseUrl = values['database-url'] || process.env['DATABASE_URL'] || file.databaseUrl;
    const schema = values.schema || process.env['WORK_LEDGER_SCHEMA'] || file.schema;
    const project = values.project || process.env['WORK_LEDGER_PROJECT'];
    return () =>
      hook(name, {
        ...(databaseUrl && { databaseUrl }),
        ...(schema && { schema }),
        ...(values.conversation !== undefined && { conversation: values.conversation }),
        ...(project && { project }),
      });
  } catch {
    return null;
  }
}
