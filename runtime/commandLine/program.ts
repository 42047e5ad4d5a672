// The program that all commands belong to, and what their declarations share. A command loads its modules when it is called.

import { Command, CommanderError, Help, InvalidArgumentError, Option } from 'commander';

import { version } from '../../sql/extensionSource.ts';
import { completion } from '../commands/completion.ts';
import type { Shell } from '../commands/completion.ts';
import { io } from '../commands/io.ts';
import { print } from '../commands/output.ts';
import { workspaceRoots } from '../workspaceRoots.ts';

/** A parser for whole numbers from `least` to `most`. */
export const within =
  (least: number, most: number) =>
  (text: string): number => {
    if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError('Not a whole number.');
    const n = Number(text);
    if (n < least || n > most) throw new InvalidArgumentError(`It must be ${least} to ${most}.`);
    return n;
  };

/** A parser for what is an integer in the database. */
export const integer = within(-2_147_483_648, 2_147_483_647);

export const port = within(0, 65_535);

/** Options that nearly every command has; help lists a command's own options before them. */
const commonOptions = new Set(['json', 'databaseUrl', 'listenUrl', 'readUrl', 'schema']);

/** Finds a command by name or alias. */
const commandOf = (program: Command, name: string | undefined): Command | undefined =>
  program.commands.find((one) => [one.name(), ...one.aliases()].includes(name ?? ''));

/**
 * Returns the words to parse. `help NAME` for an unknown command becomes `NAME`, so that it is rejected like the unknown command; otherwise
 * commander would print the help of the whole program.
 */
export function helpOfNothing(program: Command, argv: readonly string[]): readonly string[] {
  const name = argv[0] === 'help' ? argv[1] : argv[0];
  const isName = name !== undefined && !name.startsWith('-');
  return isName && !commandOf(program, name) ? [name] : argv;
}

export function newProgram(argv: readonly string[]): Command {
  const program = new Command('work-ledger');
  /** The command that was typed, for the hint about its help; empty if there is no such command. */
  const named = (): string => {
    const typed = commandOf(program, argv[0]);
    return typed ? `${typed.name()} ` : '';
  };
  return program
    .description('Durable working memory, bounded context and shared awareness for LLM agents, inside your Postgres.')
    .version(version())
    .addOption(new Option('--completion <shell>', 'print a shell completion script').choices(['bash', 'zsh', 'fish']))
    .on('option:completion', (shell: Shell) => {
      print(null, completion(program, shell), false);
      throw new CommanderError(0, 'work-ledger.completion', '');
    })
    .addHelpCommand(
      new Command('help').argument('[command]').description('show the help of a command').helpOption(false).helpGroup('Get started:'),
    )
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({
      visibleOptions: (shown) => {
        const options = new Help().visibleOptions(shown);
        const isCommon = (option: Option): boolean => option.long === '--help' || commonOptions.has(option.attributeName());
        return [...options.filter((option) => !isCommon(option)), ...options.filter(isCommon)];
      },
    })
    .configureOutput({
      writeOut: (text) => void io().stdout.write(text),
      writeErr: (text) => void io().stderr.write(text),
      outputError: (text, write) => {
        // Other programs have a `completion` command.
        const meant = argv[0] === 'completion' ? ' (Did you mean --completion?)' : '';
        write(`${text.trim().replaceAll('\n', ' ')}${meant} (work-ledger ${named()}--help)\n`);
      },
    })
    .addHelpText(
      'after',
      '\nTry: work-ledger demo, or in your project: work-ledger init\nID is the id of a work item, its last six characters, last, or last:2 for the one before.\nWithout DATABASE_URL, an embedded PostgreSQL is started and used.\nExit codes: 0 done, 1 error, 2 wrong usage, 3 the work item failed, 130 interrupted.',
    );
}

/** Wraps an action whose returned number becomes the exit code. */
export const ends =
  <Arguments extends unknown[]>(act: (...given: Arguments) => Promise<number>) =>
  async (...given: Arguments): Promise<void> => {
    io().exitCode = await act(...given);
  };

/** Adds example command lines to the help of a command. */
export const examples = (made: Command, ...lines: string[]): Command =>
  made.addHelpText(
    'after',
    `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  work-ledger ${line}`).join('\n')}`,
  );

/** Option for commands whose work belongs to a project. */
export const projectOption = (): Option =>
  new Option(
    '--project <name>',
    "the project (default: this directory's: project in work-ledger.toml, else its repository, else its path)",
  ).env('WORK_LEDGER_PROJECT');

/** Options for commands that list the work of one project, or of all. */
export const anywhere = (made: Command): Command => made.addOption(projectOption()).option('--all', 'across all projects');

/** Option for commands that run work or check how a worker would. */
export const workspaceRootsOption = (): Option =>
  new Option('--workspace-roots <dir...>', 'directories on this machine under which any work item may place its workspace (default: none)')
    .env('WORK_LEDGER_WORKSPACE_ROOTS')
    .argParser((text: string, before: string[] | undefined) => [...(before ?? []), ...workspaceRoots(text)]);

const located = (made: Command): Command =>
  made
    .addOption(new Option('--database-url <url>', 'the database').env('DATABASE_URL'))
    .addOption(new Option('--listen-url <url>', 'address for LISTEN, if the database is behind a pooler').env('WORK_LEDGER_LISTEN_URL'));

/** Adds a command with the options that locate the ledger. */
export function command(parent: Command, name: string, description: string, how: { hidden?: boolean } = {}): Command {
  return located(parent.command(name, how).description(description))
    .addOption(
      new Option('--schema <name>', "the ledger's schema (default: that of the extension, else work_ledger)").env('WORK_LEDGER_SCHEMA'),
    )
    .option('--json', 'print JSON')
    .exitOverride();
}

/** Adds a command that creates its own temporary ledger, in a schema that nobody can choose. */
export const scratchCommand = (program: Command, name: string, description: string): Command =>
  located(program.command(name).description(description))
    .addOption(
      new Option('--schema <name>').hideHelp().argParser(() => {
        throw new InvalidArgumentError(`${name} works in a schema of its own, whatever others are there.`);
      }),
    )
    .option(
      '--install',
      "allow it to create its schema (and graphile-worker's, if missing) in the given database; not needed for the embedded one",
    )
    .option('--keep', 'keep its schema afterwards, to inspect it')
    .option('--json', 'print JSON')
    .exitOverride();

/** Adds `--install` to a command that may start in a database without a ledger. */
export const installs = (made: Command): Command =>
  made.option('--install', 'install a ledger first if the given database has none (the embedded one always gets one)');

/** Adds `--read-url` to a command that only reads, so that it can read from a standby. */
export const reads = (made: Command): Command =>
  made.addOption(new Option('--read-url <url>', 'address to read from, such as a standby of the database').env('WORK_LEDGER_READ_URL'));

/**
 * Option for commands that serve MCP over HTTP. The token itself is never an argument, since every user of the machine could read it there.
 */
export const tokenFile = (): Option =>
  new Option('--token-file <file>', 'file with the token for MCP over HTTP (default: the token in WORK_LEDGER_MCP_TOKEN)').env(
    'WORK_LEDGER_MCP_TOKEN_FILE',
  );

export const consoleOptions = (made: Command): Command =>
  made
    .option('--port <n>', 'the port to listen on; 0: any free port', port, 4747)
    .option('--host <address>', 'the address to listen on; on any but a loopback address, reading requires the token, too', '127.0.0.1')
    .option(
      '--allow-host <name...>',
      'further host names for the console and its /mcp endpoint, such as that of a reverse proxy; reading then requires the token, too',
    )
    .option('--read-only', 'allow no changes from the console')
    .option('--people', 'everyone logs in with their own token (work-ledger person add); there is no shared one')
    .option('--user-header <name>', 'header in which a reverse proxy passes the user name, such as X-Forwarded-User')
    .option('--proxy-secret-file <file>', 'with --user-header: file with the secret that the proxy sends in X-Work-Ledger-Proxy')
    .option('--proxy-address <address...>', 'with --user-header: addresses the proxy connects from, if not this machine')
    .addOption(tokenFile());
