// The hooks of a client that starts a process for each hook (harness/hooks.ts): JSON on stdin, text for the model on stdout.

import { Socket } from 'node:net';
import { parseArgs } from 'node:util';

import type { Settings } from '../config.ts';
import { checkLedgerOn } from '../ledger/checkLedger.ts';
import { projectOf } from '../project.ts';
import { harnesses, isHarness } from '../harness/harnesses.ts';
import type { Harness } from '../harness/harnesses.ts';
import { hookInput, hooks, isHook, isWanted } from '../harness/hooks.ts';
import type { Functions, HookInput, HookName, Said } from '../harness/hooks.ts';
import { findDatabase, schemaOn } from '../install/findLedger.ts';
import { connect } from '../ledger/connection.ts';
import { messageOf, noWritesWords, UsageError } from '../ledger/errors.ts';
import { oneConnection } from '../ledger/oneConnection.ts';
import { withoutSecrets } from '../secrets/known.ts';
import { keepGiven } from '../secrets/ofEnvironment.ts';
import { clientSession } from './clientSession.ts';
import { fileSettings } from './configFile.ts';

export type ClientOptions = Settings & { conversation?: string; project?: string };
export type HookOptions = ClientOptions & { harness?: string };

const HOOK_SECONDS = 15;

/**
 * Time limits of hooks that hold up a call: for a database that says nothing while it is connected to (one far away takes several round
 * trips), and then, when checking a change, for the answer.
 */
const SILENT_MS = 300;
const ANSWERED_MS = 2000;

function complain(error: unknown): '' {
  process.stderr.write(`work-ledger: ${withoutSecrets(noWritesWords(error) ?? messageOf(error), 'log')}\n`);
  return '';
}

/** Reads the client's JSON from stdin and writes output for the model. A ledger that cannot be reached never stops the client. */
export async function hook(name: string, options: HookOptions): Promise<number> {
  if (!isHook(name)) throw new UsageError(`there is no hook "${name}": one of ${Object.keys(hooks).join(', ')}`);
  const { harness: by = 'claude-code' } = options;
  if (!isHarness(by)) throw new UsageError(`no hooks are known for "${by}": it is one of ${Object.keys(harnesses).join(', ')}`);
  const harness: Harness = harnesses[by];
  setTimeout(() => process.exit(0), HOOK_SECONDS * 1000).unref(); // the client may have stopped waiting for it
  const holdsUp = name === 'pre-tool-use' || (name === 'post-tool-use' && !harness.unheard.has(name));
  const socket = new Socket();
  let answered = holdsUp ? unansweredIn(name, SILENT_MS, socket) : undefined;
  try {
    process.stdin.setEncoding('utf8');
    const given = (await process.stdin.toArray()).join('');
    const input = harness.read(hookInput(given.trim() === '' ? {} : JSON.parse(given)));
    if (harness.events[name]?.tellsServer) await leaveForServer(name, input).catch(complain);
    const project = Promise.resolve(options.project ?? projectOf(input.cwd ?? process.cwd())); // while the database is connected to
    project.catch(() => {}); // reported where it is awaited
    const { url } = await findDatabase(options);
    keepGiven(url);
    const client = await connect({ connectionString: url, stream: () => socket });
    try {
      answered?.();
      // Reading messages marks them as told, so hooks that read them wait for the answer.
      if (name === 'pre-tool-use') answered = unansweredIn(name, ANSWERED_MS);
      const schema = await schemaOn(client, options);
      await checkLedgerOn(client, schema);
      const ledger = oneConnection(client, schema);
      const { conversation, directory = null } = clientSession(options.conversation, {
        id: input.session_id,
        directory: input.cwd ?? process.cwd(),
      });
      if (!(await isWanted(name, ledger, conversation))) return 0;
      const teller = { complain, isHeard: !harness.unheard.has(name) };
      const isFork = name === 'session-start' && input.source === 'resume' && (await isForked());
      const said = isFork
        ? await toldFork(ledger, conversation, input)
        : await hooks[name](ledger, await opened(ledger, conversation, directory, await project), input, teller);
      const answer = harness.answer(name, harness.events[name]?.event ?? name, said);
      if (answer !== '') process.stdout.write(`${answer}\n`);
    } finally {
      void client.end().catch(() => {}); // the client waits for this process, and the server already knows that it is done
    }
  } catch (error) {
    complain(error);
  } finally {
    answered?.();
  }
  return 0;
}

/** Loaded where they are asked for: no other hook needs to find a process. */
const leaveForServer = async (name: HookName, { session_id: id }: HookInput): Promise<void> =>
  (await import('./geminiSession.ts')).keepGeminiSession(name, id);
const isForked = async (): Promise<boolean> => (await import('./claudeSession.ts')).isStartedToFork();

const opened = (ledger: Functions, conversation: string, directory: string | null, project: string): Promise<string> =>
  ledger.text('journal_session_open', 'id', conversation, null, directory, project);

/**
 * What the model of a fork is told when the session that was forked is said to begin. That one is left as it is, with its messages. The first
 * prompt has the id of the fork, and tells it the rest.
 */
async function toldFork(ledger: Functions, conversation: string, input: HookInput): Promise<Said> {
  const id = (await ledger.rows('journal_session_active', conversation))[0]?.['id'];
  return typeof id === 'string' ? hooks['subagent-start'](ledger, id, input) : { context: '' };
}

const unansweredWords = {
  'pre-tool-use': 'this change was not checked against those of others',
  'post-tool-use': 'this call is not in the journal, and what is new elsewhere is told later',
};

/** Lets a call proceed when the socket has received nothing for that long; without one: after that long. Returns what ends the wait. */
function unansweredIn(name: keyof typeof unansweredWords, milliseconds: number, socket?: Socket): () => void {
  let timer: NodeJS.Timeout;
  const wait = (heard: number): void => {
    timer = setTimeout(() => {
      const bytes = socket?.bytesRead ?? 0;
      if (bytes > heard) return wait(bytes);
      process.stderr.write(`work-ledger: the database does not answer: ${unansweredWords[name]}\n`);
      process.exit(0);
    }, milliseconds);
  };
  wait(0);
  return () => clearTimeout(timer);
}

/**
 * The hook in a command line, parsed without the parser of all commands; null: the command line needs that parser, which reports errors.
 */
export async function plainHook(words: readonly string[]): Promise<(() => Promise<number>) | null> {
  const text = { type: 'string' } as const;
  try {
    const {
      values,
      positionals: [name, ...more],
    } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { conversation: text, project: text, harness: text, 'database-url': text, schema: text, json: { type: 'boolean' } },
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
        ...(values.harness !== undefined && { harness: values.harness }),
      });
  } catch {
    return null;
  }
}
