#!/usr/bin/env node
// The command line: its commands, and how they end. A command loads what it needs when it is called.

import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';

import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';

import { sandboxImage } from '../sandbox/image.ts';
import { version } from '../sql/extensionSource.ts';
import type { ConsoleSettings } from './commands/console.ts';
import type { CostOptions } from './commands/cost.ts';
import type { FileOptions } from './commands/files.ts';
import type { ClientOptions } from './commands/hook.ts';
import type { SubmitOptions } from './commands/items.ts';
import type { McpHttpSettings } from './commands/mcp.ts';
import { exit, note, print } from './commands/output.ts';
import type { RunOptions } from './commands/run.ts';
import type { TraceOptions } from './commands/trace.ts';
import type { WorkOptions } from './commands/work.ts';
import type { Settings } from './config.ts';
import { LedgerError, messageOf, UsageError } from './ledger/errors.ts';

// Half of a short command's time goes into compiling what it loads. The cache is in a directory of the user's own, because what is found there is run.
const caches = process.env['XDG_CACHE_HOME'] || join(process.env['HOME'] ?? '', '.cache');
if (isAbsolute(caches) && existsSync(dirname(caches))) enableCompileCache(join(caches, 'work-ledger'));

function integer(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError('Not a whole number.');
  return Number(text);
}

const program = new Command('work-ledger')
  .description('Durable working memory, bounded context and shared awareness for LLM agents, inside your Postgres.')
  .version(version())
  .exitOverride()
  .showSuggestionAfterError()
  .addHelpText('after', '\nWithout DATABASE_URL an embedded PostgreSQL in a directory of yours is used.\nExit codes: 0 done, 1 error, 2 wrong usage, 3 the work item failed, 130 interrupted.');

let exitCode: number = exit.ok;

const items = () => import('./commands/items.ts');
const scenes = {
  one: async () => (await import('./commands/demo/demo.ts')).demo,
  team: async () => (await import('./commands/demo/demoTeam.ts')).demoTeam,
  code: async () => (await import('./commands/demo/demoCode.ts')).demoCode,
  context: async () => (await import('./commands/demo/demoContext.ts')).demoContext,
};

/** A command with the options that locate the ledger; the number that it returns is the exit code. */
function command(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .addOption(new Option('--database-url <url>', 'the database').env('DATABASE_URL'))
    .addOption(new Option('--schema <name>', 'the schema of the ledger (default: where the extension is, else work_ledger)').env('WORK_LEDGER_SCHEMA'))
    .option('--json', 'print JSON')
    .exitOverride();
}

const workerOptions = (made: Command): Command =>
  made
    .option('--faculty <path...>', 'faculty TOML files, or directories of them, to save first')
    .option('--tools <file...>', 'tools of your own: modules, .toml files of commands, .json files of MCP servers')
    .option('--concurrency <n>', 'work items at once', integer, 4)
    .addOption(new Option('--lease-seconds <n>', 'how long a silent worker is believed to live').env('WORK_LEDGER_LEASE_SECONDS').argParser(integer).default(30))
    .option('--grace-seconds <n>', 'how long iterations may go on after a signal to stop', integer, 5)
    .addOption(new Option('--log-level <level>', 'logs on stderr').choices(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('warn'));

const consoleOptions = (made: Command): Command => made.option('--port <n>', 'the console\'s port on 127.0.0.1; 0: any that is free', integer, 4747).option('--read-only', 'nothing can be changed from the console');

consoleOptions(command('up', 'start the embedded database, install the ledger, print where it is')).option('--console', 'and serve the console until a signal stops it').action(async (options: ConsoleSettings & { console?: boolean }) => {
  const { findLedger, shownUrl } = await import('./install/findLedger.ts');
  const { installLedger } = await import('./install/installLedger.ts');
  const place = await findLedger(options);
  const installed = await installLedger(place.url, place.schema);
  const url = shownUrl(place.url);
  print({ url, ...installed }, url, options.json ?? false);
  note(`ledger ${installed.version} in schema ${installed.schema}. Try: psql '${url}'`);
  if (options.console) exitCode = await (await import('./commands/console.ts')).serveConsole(place, options);
});

consoleOptions(command('console', 'look at the ledger in a browser, live, and act: pages on 127.0.0.1 until a signal stops it')).action(async (options: ConsoleSettings) => {
  exitCode = await (await import('./commands/console.ts')).console(options);
});

command('down', 'stop the embedded database').action(async (options: Settings) => {
  const wasRunning = await (await import('./install/embedded.ts')).stopEmbedded();
  print({ wasRunning }, wasRunning ? 'stopped' : 'it was not running', options.json ?? false);
});

command('install', 'install the ledger as a plain script, and graphile-worker\'s schema').action(async (options: Settings) => {
  const { findLedger } = await import('./install/findLedger.ts');
  const { installLedger } = await import('./install/installLedger.ts');
  const place = await findLedger(options);
  const installed = await installLedger(place.url, place.schema);
  print(installed, `ledger ${installed.version} ${installed.changed ? 'installed' : 'is up to date'} in schema ${installed.schema} (${installed.form})`, options.json ?? false);
});

command('javascript', 'put the functions that need a JavaScript engine into the ledger, where the database has plv8 or PL/JS').action(async (options: Settings) => {
  exitCode = await (await import('./commands/javascript.ts')).javascript(options);
});

workerOptions(command('work', 'work on what is queued until a signal stops it')).action(async (options: WorkOptions) => {
  exitCode = await (await import('./commands/work.ts')).work({ ...options, logLevel: options.logLevel === 'warn' ? 'info' : options.logLevel });
});

workerOptions(command('run <task>', 'submit a task and work on it here'))
  .option('--type <type>', 'work type', 'task')
  .option('--workspace <dir>', 'let the built-in faculty read, write and run commands in this directory of the host')
  .action(async (task: string, options: RunOptions) => {
    exitCode = await (await import('./commands/run.ts')).run(task, options);
  });

command('submit <description>', 'queue a work item and print its id')
  .requiredOption('--type <type>', 'work type: decides which faculty takes it')
  .option('--params <json>', 'parameters, a JSON object')
  .option('--faculty <name>', 'the faculty that shall take it')
  .option('--priority <n>', 'higher is more urgent', integer)
  .option('--parent <id>', 'work item that this is a part of')
  .option('--dedup-key <key>', 'return the unfinished item of this key instead of a second one')
  .option('--external-id <id>', 'your own id for it')
  .option('--max-attempts <n>', 'how often it is tried', integer)
  .option('--run-at <time>', 'not before this time')
  .option('--idempotency-key <key>', 'the same call repeated returns the same item')
  .option('--budget <resource=amount...>', 'what it and everything below it may use: tokens, money, seconds, calls, children')
  .action(async (description: string, options: SubmitOptions) => {
    exitCode = await (await items()).submit(description, options);
  });

command('show [id]', 'a work item, or the newest ones').action(async (id: string | undefined, options: Settings) => {
  exitCode = await (await items()).show(id, options);
});

for (const [name, way] of [['pull', 'from'], ['push', 'into']] as const) {
  program.command(`${name} <id> <dir>`).description(`copy files ${way} the workspace container of a work item${name === 'pull' ? ' into a directory' : ', from a directory'}`)
    .option('--image <image>', 'any image that the daemon has', sandboxImage)
    .option('--max-size <size>', 'the most that is copied', '1g')
    .option('--json', 'print JSON')
    .exitOverride()
    .action(async (id: string, directory: string, options: FileOptions) => {
      exitCode = await (await import('./commands/files.ts'))[name](id, directory, options);
    });
}

command('ledger <id>', 'the ledger of a work item')
  .option('--type <type>', 'entries of this type only')
  .option('--last <n>', 'the newest n only', integer)
  .option('--formatted', 'as the block that a model is given')
  .action(async (id: string, options: Settings & { type?: string; last?: number; formatted?: boolean }) => {
    exitCode = await (await items()).ledger(id, options);
  });

command('tail <id>', 'the ledger of a work item as it grows, until it ends').action(async (id: string, options: Settings) => {
  exitCode = await (await items()).tail(id, options);
});

command('digest [id]', 'what a work item is told about everything else').action(async (id: string | undefined, options: Settings) => {
  exitCode = await (await items()).digest(id, options);
});

command('cancel <id>', 'cancel a work item and everything below it')
  .option('--reason <text>', 'why')
  .action(async (id: string, options: Settings & { reason?: string }) => {
    exitCode = await (await items()).cancel(id, options);
  });

command('budget <id> [resource=amount...]', 'what a work item and everything below it may use: show it, or set it')
  .action(async (id: string, amounts: string[], options: Settings) => {
    exitCode = await (await items()).budget(id, amounts, options);
  });

command('cost [id]', 'what work cost: all of it, or a work item with everything below it')
  .addOption(new Option('--by <grouping>', 'sums by: tree, item, child, faculty, model, day, cache').choices(['tree', 'item', 'child', 'faculty', 'model', 'day', 'cache']))
  .action(async (id: string | undefined, options: CostOptions) => {
    exitCode = await (await import('./commands/cost.ts')).cost(id, options);
  });

command('message <id> <text>', 'say something to the agent of a work item, with its next request')
  .option('--interrupt', 'now: break off what is under way')
  .action(async (id: string, text: string, options: Settings & { interrupt?: boolean }) => {
    exitCode = await (await items()).message(id, text, options);
  });

command('approvals', 'tool calls that wait for a person').action(async (options: Settings) => {
  exitCode = await (await items()).approvals(options);
});

command('approve <call>', 'let a tool call run').action(async (call: string, options: Settings) => {
  exitCode = await (await items()).approve(call, options);
});

command('reject <call>', 'refuse a tool call; the model is told')
  .option('--reason <text>', 'why')
  .action(async (call: string, options: Settings & { reason?: string }) => {
    exitCode = await (await items()).reject(call, options);
  });

command('fork <turn> [text]', 'go on from a turn on a branch of its own, and print the new work item\'s id; the text is said to it first')
  .option('--faculty <name>', 'another faculty')
  .action(async (turn: string, text: string | undefined, options: Settings & { faculty?: string }) => {
    exitCode = await (await items()).fork(turn, text, options);
  });

command('import <paths...>', 'store recorded runs of other agents (Claude Code, Codex, Copilot, Cursor, pi, Gemini CLI, mini-swe-agent, SWE-agent, ATIF): files or directories')
  .action(async (paths: string[], options: Settings) => {
    exitCode = await (await import('./commands/import.ts')).importFiles(paths, options);
  });

command('mcp', 'serve the ledger to an MCP client over stdio, or to clients on other machines over HTTP')
  .option('--conversation <name>', 'what the session is found by (default: this directory); over HTTP each client has its own')
  .option('--work-item <id>', 'be that work item instead')
  .option('--http', 'over HTTP, with a token in WORK_LEDGER_MCP_TOKEN')
  .option('--host <address>', 'the address to listen on', '127.0.0.1')
  .option('--port <n>', 'its port; 0: any', integer, 7717)
  .option('--allow-host <name...>', 'other names under which clients reach it, such as that of a reverse proxy')
  .addOption(new Option('--token-file <file>', 'where the token is read from').env('WORK_LEDGER_MCP_TOKEN_FILE'))
  .action(async (options: McpHttpSettings & { http?: boolean }) => {
    const commands = await import('./commands/mcp.ts');
    exitCode = await (options.http ? commands.mcpHttp(options) : commands.mcp(options));
  });

command('hook <name>', 'called by an interactive client: session-start, user-prompt, post-tool-use, pre-compact, stop')
  .option('--conversation <name>', 'what the session is found by (default: the cwd of the input)')
  .action(async (name: string, options: ClientOptions) => {
    exitCode = await (await import('./commands/hook.ts')).hook(name, options);
  });

command('pause <id>', 'pause a work item when its iteration is over')
  .option('--reason <text>', 'why')
  .action(async (id: string, options: Settings & { reason?: string }) => {
    exitCode = await (await items()).pause(id, options);
  });

command('resume <id>', 'let a paused work item go on').action(async (id: string, options: Settings) => {
  exitCode = await (await items()).resume(id, options);
});

command('faculty <path...>', 'check faculty TOML files and save them').action(async (paths: string[], options: Settings) => {
  exitCode = await (await import('./commands/faculty.ts')).faculty(paths, options);
});

command('replay <file>', 'drive a recorded run (Claude Code, Codex, Copilot, mini-swe-agent, SWE-agent) through the loop')
  .option('--close-every <calls>', 'let a step ride along after so many calls, so that blocks close', integer)
  .action(async (file: string, options: Settings & { closeEvery?: number }) => {
    exitCode = await (await import('./commands/replay.ts')).replay(file, options);
  });

command('demo', 'watch an agent fix a failing test, its ledger in Postgres')
  .addOption(new Option('--scene <name>', 'one: a single agent; team: three faculties that know of each other; code: long output becomes a line; context: what a model is shown, part by part').choices(Object.keys(scenes)).default('one'))
  .action(async (options: Settings & { scene: keyof typeof scenes }) => {
    exitCode = await (await scenes[options.scene]())(options);
  });

command('trace <id>', 'the spans of a work item and of everything below it, from its rows: as a tree, or exported')
  .option('--otlp <url>', 'send them to this OTLP endpoint (HTTP, protobuf)')
  .action(async (id: string, options: TraceOptions) => {
    exitCode = await (await import('./commands/trace.ts')).trace(id, options);
  });

command('doctor', 'look for what would lose or stall work').action(async (options: Settings) => {
  exitCode = await (await import('./commands/doctor.ts')).doctor(options);
});

try {
  await program.parseAsync();
} catch (error) {
  exitCode = report(error);
}
process.exitCode = exitCode;

/** Reports what went wrong, without a stack if the user can fix it. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.usage;
  if (error instanceof UsageError) {
    note(error.message);
    return exit.usage;
  }
  if (error instanceof LedgerError) {
    note(`${error.message} (${error.code})${error.hint ? `\n${error.hint}` : ''}`);
    return exit.error;
  }
  note(`error: ${messageOf(error)}`);
  if (process.env['DEBUG']) note(String(error instanceof Error ? error.stack : error));
  return exit.error;
}
