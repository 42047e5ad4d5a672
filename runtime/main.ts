// The command line: its commands, and how they end. A command loads what it needs when it is called.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';

import { sandboxImage } from '../sandbox/image.ts';
import { version } from '../sql/extensionSource.ts';
import type { ConsoleSettings } from './commands/console.ts';
import type { CostOptions } from './commands/cost.ts';
import type { EraseOptions, RetentionOptions } from './commands/erase.ts';
import type { FileOptions } from './commands/files.ts';
import type { ClientOptions } from './commands/hook.ts';
import type { SubmitOptions } from './commands/items.ts';
import type { ListOptions } from './commands/list.ts';
import type { McpHttpSettings } from './commands/mcp.ts';
import { exit, note, print } from './commands/output.ts';
import type { RunOptions } from './commands/run.ts';
import type { TraceOptions } from './commands/trace.ts';
import type { WorkOptions } from './commands/work.ts';
import type { Settings } from './config.ts';
import { shownUrl } from './ledger/address.ts';

function integer(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError('Not a whole number.');
  return Number(text);
}

function port(text: string): number {
  const n = integer(text);
  if (n < 0 || n > 65_535) throw new InvalidArgumentError('A port is 0 to 65535.');
  return n;
}

const program = new Command('work-ledger')
  .description('Durable working memory, bounded context and shared awareness for LLM agents, inside your Postgres.')
  .version(version())
  .exitOverride()
  .showSuggestionAfterError()
  .configureOutput({ outputError: (text, write) => write(`${text.trim().replaceAll('\n', ' ')} (work-ledger ${named()}--help)\n`) })
  .addHelpText('after', '\nTry: work-ledger demo, or in a project of yours: work-ledger init\nWithout DATABASE_URL an embedded PostgreSQL in a directory of yours is used.\nExit codes: 0 done, 1 error, 2 wrong usage, 3 the work item failed, 130 interrupted.');

/** The command that was typed, for its help; empty if there is none of that name. */
const named = (): string => {
  const typed = program.commands.find((one) => [one.name(), ...one.aliases()].includes(process.argv[2] ?? ''));
  return typed ? `${typed.name()} ` : '';
};

let exitCode: number = exit.ok;
/** Where the database's address was given. */
let addressFrom = 'DATABASE_URL';

const items = () => import('./commands/items.ts');
const scenes = {
  one: async () => (await import('./commands/demo/demo.ts')).demo,
  team: async () => (await import('./commands/demo/demoTeam.ts')).demoTeam,
  code: async () => (await import('./commands/demo/demoCode.ts')).demoCode,
  context: async () => (await import('./commands/demo/demoContext.ts')).demoContext,
};

/** Adds to the help of a command what people type. */
const examples = (made: Command, ...lines: string[]): Command => made.addHelpText('after', `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  work-ledger ${line}`).join('\n')}`);

/** A command with the options that locate the ledger; the number that it returns is the exit code. */
function command(name: string, description: string, parent: Command = program): Command {
  return parent
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

program.hook('preAction', async (_, called) => {
  const given = (name: string): boolean => called.getOptionValueSource(name) !== undefined && called.getOptionValue(name) !== '';
  const isFromFlag = called.getOptionValueSource('databaseUrl') === 'cli';
  if (isFromFlag) {
    addressFrom = '--database-url';
    // Every user of the machine can read the arguments of a process; a title takes their place.
    process.title = ['work-ledger', ...process.argv.slice(2).map((word) => shownUrl(word.replace(/^--database-url=/, '')))].join(' ');
  }
  const takes = new Set(called.options.map((option) => option.attributeName()));
  if (!takes.has('databaseUrl')) return;
  const { fileSettings } = await import('./commands/configFile.ts');
  const file = await fileSettings({ isTyped: !['hook', 'mcp'].includes(called.name()) });
  if (file.secrets) (await import('./secrets/ofEnvironment.ts')).keepNamed(file.secrets);
  if (file.databaseFrom !== undefined && !given('databaseUrl')) addressFrom = file.databaseFrom;
  for (const key of ['databaseUrl', 'schema', 'tools'] as const) {
    if (takes.has(key) && file[key] !== undefined && !given(key)) called.setOptionValueWithSource(key, file[key], 'config');
  }
  // Those of a file are saved; none of them is chosen for a task, as one of a flag is.
  if ((takes.has('leaseSeconds') || called.name() === 'submit') && file.faculties && !given('faculty')) called.setOptionValueWithSource('facultiesOfFile', file.faculties, 'config');
});

const consoleOptions = (made: Command): Command => made
  .option('--port <n>', 'the console\'s port; 0: any that is free', port, 4747)
  .option('--host <address>', 'the address that the console listens on; at any but this machine\'s own, reading takes the token, too', '127.0.0.1')
  .option('--allow-host <name...>', 'other names under which the console, and MCP at its /mcp, are reached, such as that of a reverse proxy; then, too, reading takes the token')
  .option('--read-only', 'nothing can be changed from the console');

consoleOptions(command('up', 'start the embedded database, install the ledger, print where it is')).option('--console', 'and serve the console until a signal stops it').action(async (options: ConsoleSettings & { console?: boolean }) => {
  const { findLedger } = await import('./install/findLedger.ts');
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
  note(`For psql: set search_path to "${installed.schema}", public; for everybody: alter database … set search_path to "${installed.schema}", public`);
});

command('javascript', 'put the functions that need a JavaScript engine into the ledger, where the database has plv8 or PL/JS').action(async (options: Settings) => {
  exitCode = await (await import('./commands/javascript.ts')).javascript(options);
});

examples(workerOptions(command('work', 'work on what is queued until a signal stops it')).action(async (options: WorkOptions) => {
  exitCode = await (await import('./commands/work.ts')).work({ ...options, logLevel: options.logLevel === 'warn' ? 'info' : options.logLevel });
}), 'work --faculty engineer.toml', 'work --faculty faculties/ --tools tools.ts --concurrency 8');

examples(workerOptions(command('run [task]', 'submit a task and work on it here'))
  .option('--type <type>', 'work type', 'task')
  .option('--resume <id>', 'go on with a work item here, instead of submitting one')
  .option('--scripted <file>', 'try it without a model: the replies of this JSON file are played instead')
  .option('--workspace <dir>', 'let the built-in faculty read, write and run commands in this directory of the host')
  .action(async (task: string | undefined, options: RunOptions) => {
    exitCode = await (await import('./commands/run.ts')).run(task, options);
  }), "run 'Fix the failing test' --workspace .", "run 'Find why the import is slow' --type analyze --faculty engineer.toml", 'run --resume ID');

examples(command('submit <description>', 'queue a work item and print its id')
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
  }), "submit 'Find why the import is slow' --type analyze", "submit 'Port the parser' --type task --budget tokens=200000 money=2");

examples(command('list', 'the newest work items, children below their parents').alias('ps')
  .option('--state <state...>', 'those in this state: queued, running, waiting, paused, completed, failed, dead, cancelled')
  .option('--limit <n>', 'at most this many', integer, 20)
  .option('--watch', 'again at every change, until Ctrl-C')
  .action(async (options: ListOptions) => {
    exitCode = await (await import('./commands/list.ts')).list(options);
  }), 'list --state running waiting', 'ps --watch');

command('show [id]', 'a work item: its state, its calls, what failed; without an id the newest items').action(async (id: string | undefined, options: Settings) => {
  exitCode = id === undefined ? await (await import('./commands/list.ts')).list(options) : await (await items()).show(id, options);
});

examples(command('logs <id>', 'what happened in a work item: what was said, called and entered; "tail" goes on with what comes')
  .option('--limit <n>', 'the newest n lines', integer, 200)
  .action(async (id: string, options: Settings & { limit?: number }) => {
    exitCode = await (await import('./commands/logs.ts')).logs(id, options);
  }), 'logs ID', 'logs ID --json | jq -r .[].name');

examples(program.command('init [name]').description('write a faculty and its prompt to begin with, and work-ledger.toml, in this directory; nothing is overwritten')
  .option('--dir <directory>', 'where the faculty goes', '.')
  .option('--json', 'print JSON')
  .exitOverride()
  .action(async (name: string | undefined, options: { dir: string; json?: boolean }) => {
    exitCode = await (await import('./commands/init.ts')).init(name ?? 'engineer', options);
  }), 'init', 'init reviewer --dir faculties');

examples(command('sql [query]', 'psql with the ledger\'s address and search path: a session, or one query').action(async (query: string | undefined, options: Settings) => {
  exitCode = await (await import('./commands/psql.ts')).psql(query, options);
}), 'sql', "sql 'select description, doing, why from v_now'");

examples(program.command('completion').description('print what completes commands and options in a shell')
  .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
  .exitOverride()
  .action(async (shell: 'bash' | 'zsh' | 'fish') => {
    print(null, (await import('./commands/completion.ts')).completion(program, shell), false);
  }), 'completion bash > ~/.local/share/bash-completion/completions/work-ledger', 'completion zsh > ~/.zfunc/_work-ledger', 'completion fish > ~/.config/fish/completions/work-ledger.fish');

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

program.command('sandbox-image').description('build the image in which agents\' code and workspaces run')
  .option('--image <image>', 'its name', sandboxImage)
  .option('--debian', 'from Debian packages, where no base image can be pulled (root, debootstrap)')
  .option('--json', 'print JSON')
  .exitOverride()
  .action(async ({ image, ...options }: { image: string; debian?: boolean; json?: boolean }) => {
    exitCode = await (await import('./commands/sandboxImage.ts')).buildSandboxImage(image, options);
  });

const ledger = examples(command('ledger', 'the ledger of a work item').argument('<id>')
  .option('--type <type>', 'entries of this type only')
  .option('--last <n>', 'the newest n only', integer)
  .option('--formatted', 'as the block that a model is given')
  .action(async (id: string, options: Settings & { type?: string; last?: number; formatted?: boolean }) => {
    exitCode = await (await items()).ledger(id, options);
  }), 'ledger ID --type finding', "ledger append ID finding 'The index is never used'");

command('append <id> <type> <content>', 'add an entry to the ledger of a work item that no worker drives: finding, decision, plan, step, note, error; content -: from stdin', ledger)
  .action(async (id: string, type: string, content: string, _: object, called: Command) => {
    exitCode = await (await items()).ledgerAppend(id, type, content, called.optsWithGlobals<Settings>());
  });

command('retract <id> <seq> <reason>', 'take an entry back: agents no longer read it, and those that were told of it are told so; it stays in the log', ledger)
  .action(async (id: string, seq: string, reason: string, _: object, called: Command) => {
    exitCode = await (await items()).ledgerRetract(id, integer(seq), reason, called.optsWithGlobals<Settings>());
  });

examples(command('complete <id> <summary>', 'complete a work item that no worker drives')
  .option('--evidence <text...>', 'what supports it: ids of tool calls, handles of artifacts, or words')
  .action(async (id: string, summary: string, options: Settings & { evidence?: string[] }) => {
    exitCode = await (await items()).complete(id, summary, options);
  }), "complete ID 'The index was never used; it is now' --evidence 'explain analyze: 12 ms'");

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

examples(command('erase <what>', 'erase a finished work item, and everything below it, for good; what: its id, or a session')
  .option('--dry-run', 'show what would go')
  .option('--yes', 'do not ask')
  .option('--with-forks', 'also the forks that share its turns')
  .option('--reason <text>', 'why; stays in the tombstone')
  .action(async (what: string, options: EraseOptions) => {
    exitCode = await (await import('./commands/erase.ts')).erase(what, options);
  }), 'erase ID --dry-run', "erase ID --yes --reason 'asked for by its author'");

examples(command('retention [age]', 'what is erased by itself: show it, or set it; age: "90 days", or "never"')
  .addOption(new Option('--state <state>', 'of work in this final state').choices(['completed', 'failed', 'dead', 'cancelled']))
  .option('--faculty <name>', 'of this faculty')
  .addOption(new Option('--keep <what>', 'what stays').choices(['nothing', 'ledger', 'all']))
  .option('--export <function>', 'called with the root before its tree goes: archive(uuid)')
  .option('--run', 'now, not within the hour')
  .action(async (age: string | undefined, options: RetentionOptions) => {
    exitCode = await (await import('./commands/erase.ts')).retention(age, options);
  }), "retention '90 days' --keep ledger", 'retention never', 'retention --run');

command('export <what>', 'every row of a work item and of everything below it, as JSON lines; what: its id, or a session')
  .action(async (what: string, options: Settings) => {
    exitCode = await (await import('./commands/erase.ts')).exportWork(what, options);
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
  .option('--keep-secrets', 'store what looks like a secret as it is')
  .action(async (paths: string[], options: Settings & { keepSecrets?: boolean }) => {
    exitCode = await (await import('./commands/import.ts')).importFiles(paths, options);
  });

command('mcp', 'serve the ledger to an MCP client over stdio, or to clients on other machines over HTTP')
  .option('--conversation <name>', 'what the session is found by (default: this directory); over HTTP each client has its own')
  .option('--work-item <id>', 'be that work item instead')
  .option('--http', 'over HTTP, with a token in WORK_LEDGER_MCP_TOKEN')
  .option('--host <address>', 'the address to listen on', '127.0.0.1')
  .option('--port <n>', 'its port; 0: any', port, 7717)
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

program.command('plugin').description('the command that adds the plugin for Claude Code from this package').exitOverride().action(() => {
  const folder = fileURLToPath(new URL(existsSync(new URL('../plugin', import.meta.url)) ? '../plugin' : '../../plugin', import.meta.url));
  print(null, `claude plugin marketplace add '${folder.replaceAll("'", `'\\''`)}' && claude plugin install work-ledger@work-ledger`, false);
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
  if (error instanceof CommanderError) exitCode = error.exitCode === 0 ? exit.ok : exit.usage;
  else exitCode = (await import('./commands/problem.ts')).problem(error, addressFrom);
}
process.exitCode = exitCode;
