// Work: queueing it, doing it, and what becomes of it.

import { Option } from 'commander';
import type { Command } from 'commander';

import { sandboxImage } from '../../sandbox/image.ts';
import type { FileOptions } from '../commands/files.ts';
import type { SubmitOptions } from '../commands/items.ts';
import type { ListOptions } from '../commands/list.ts';
import type { RunOptions } from '../commands/run.ts';
import type { WorkOptions } from '../commands/work.ts';
import type { Settings } from '../config.ts';
import { LONGEST_SECONDS, MOST_AT_ONCE } from '../worker/limits.ts';
import { anywhere, command, ends, examples, installs, integer, projectOption, reads, within, workspaceRootsOption } from './program.ts';

const items = () => import('../commands/items.ts');

const workerOptions = (made: Command): Command =>
  made
    .option('--faculty <path...>', 'faculty TOML files, or directories of them, to save first')
    .option('--tools <file...>', 'tools of your own: modules, .toml files of commands, .json files of MCP servers')
    .option('--concurrency <n>', 'work items at once', within(1, MOST_AT_ONCE), 4)
    .addOption(
      new Option('--lease-seconds <n>', 'how long a silent worker is believed to live')
        .env('WORK_LEDGER_LEASE_SECONDS')
        .argParser(within(1, LONGEST_SECONDS))
        .default(30),
    )
    .addOption(
      new Option('--host <name>', "the name of this machine, by which a faculty may ask for it (hosts; default: the system's)").env(
        'WORK_LEDGER_HOST',
      ),
    )
    .addOption(workspaceRootsOption())
    .option('--grace-seconds <n>', 'how long iterations may go on after a signal to stop', within(0, LONGEST_SECONDS), 5)
    .addOption(
      new Option('--log-level <level>', 'logs on stderr').choices(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('warn'),
    );

export function workCommands(program: Command): void {
  program.commandsGroup('Work:');

  examples(
    workerOptions(
      installs(command(program, 'work', "work on what is queued, in this directory's project and in none, until a signal stops it")),
    )
      .addOption(projectOption())
      .addOption(new Option('--all-projects', 'work on what is queued in any project').conflicts('project'))
      .addOption(
        new Option('--http <[address:]port>', 'answer /metrics, /healthz and /readyz there (without an address: to this machine only)').env(
          'WORK_LEDGER_HTTP',
        ),
      )
      .action(
        ends(async (options: WorkOptions) =>
          (await import('../commands/work.ts')).work({ ...options, logLevel: options.logLevel === 'warn' ? 'info' : options.logLevel }),
        ),
      ),
    'work --faculty engineer.toml',
    'work --all-projects --faculty faculties/ --tools tools.ts --concurrency 8',
    'work --all-projects --http 0.0.0.0:9464',
  );

  examples(
    workerOptions(installs(command(program, 'run [task]', 'submit a task and work on it here')))
      .option('--type <type>', 'work type', 'task')
      .option('--resume <id>', 'go on with a work item here, instead of submitting one')
      .option('--scripted <file>', 'try it without a model: the replies of this JSON file are played instead')
      .addOption(projectOption())
      .option('--workspace <dir>', 'let the built-in faculty read, write and run commands in this directory of the host')
      .action(ends(async (task: string | undefined, options: RunOptions) => (await import('../commands/run.ts')).run(task, options))),
    "run 'Fix the failing test' --workspace .",
    "run 'Find why the import is slow' --type analyze --faculty engineer.toml",
    'run --resume ID',
  );

  examples(
    command(program, 'submit <description>', 'queue a work item and print its id')
      .option('--type <type>', 'work type: decides which faculty takes it (default: the only one that faculties here accept, else task)')
      .option('--params <json>', 'parameters, a JSON object')
      .option('--faculty <name>', 'the faculty that shall take it')
      .option('--priority <n>', 'higher is more urgent', integer)
      .addOption(projectOption())
      .option('--parent <id>', 'work item that this is a part of')
      .option('--dedup-key <key>', 'return the unfinished item of this key instead of a second one')
      .option('--external-id <id>', 'your own id for it')
      .option('--max-attempts <n>', 'how often it is tried', integer)
      .option(
        '--workspace <dir>',
        "do it in this directory of the worker's host, not in that of the faculty: of several worktrees, this one",
      )
      .option('--run-at <time>', 'not before this time')
      .option('--idempotency-key <key>', 'the same call repeated returns the same item')
      .option('--budget <resource=amount...>', 'what it and everything below it may use: tokens, money, seconds, calls, children')
      .option('--result-schema <json>', 'what its result must look like: a JSON Schema, or @FILE with one')
      .action(ends(async (description: string, options: SubmitOptions) => (await items()).submit(description, options))),
    "submit 'Find why the import is slow'",
    "submit 'Port the parser' --type task --budget tokens=200000 money=2",
  );

  examples(
    anywhere(reads(command(program, 'list', "list the newest work items of this directory's project, children below their parents")))
      .alias('ps')
      .option('--state <state...>', 'those in this state: queued, running, waiting, paused, completed, failed, dead, cancelled')
      .option('--limit <n>', 'at most this many', integer, 20)
      .option('--watch', 'again at every change, until Ctrl-C')
      .action(ends(async (options: ListOptions) => (await import('../commands/list.ts')).list(options))),
    'list --state running waiting',
    'list --watch',
  );

  examples(
    reads(command(program, 'show [id]', 'show a work item: its state, its calls, what failed; without an id the newest items')).action(
      ends(async (id: string | undefined, options: Settings) =>
        id === undefined ? await (await import('../commands/list.ts')).list(options) : await (await items()).show(id, options),
      ),
    ),
    'show ID',
    'show ID --json',
  );

  examples(
    reads(command(program, 'logs <id>', 'print what happened in a work item: what was told, said, called and entered'))
      .option('--limit <n>', 'the newest n lines', integer, 200)
      .option('--follow', 'print its ledger from the beginning, then what happens, until it ends')
      .action(
        ends(async (id: string, options: Settings & { limit?: number; follow?: boolean }) => {
          const { logs, followLogs } = await import('../commands/logs.ts');
          return options.follow ? followLogs(id, options) : logs(id, options);
        }),
      ),
    'logs ID',
    'logs ID --follow',
    'logs ID --json | jq -r .[].name',
  );

  examples(
    command(program, 'faculty <path...>', 'check faculty TOML files and save them').action(
      ends(async (paths: string[], options: Settings) => (await import('../commands/faculty.ts')).faculty(paths, options)),
    ),
    'faculty engineer.toml',
    'faculty faculties/',
  );

  workspaceCommands(program);
}

/** Of workspaces in containers. */
function workspaceCommands(program: Command): void {
  const workspace = examples(
    program
      .command('workspace')
      .description('copy files out of and into the containers of work, build their image, or give the files up')
      .summary('copy files out of and into containers, build their image')
      .helpCommand(false)
      .exitOverride(),
    'workspace pull ID files/',
    'workspace push ID files/',
    'workspace image',
    'workspace abandon ID',
  );
  for (const [name, way] of [
    ['pull', 'from the workspace of a work item into a directory'],
    ['push', 'from a directory into the workspace of a work item'],
  ] as const) {
    examples(
      command(workspace, `${name} <id> <dir>`, `copy files ${way}`)
        .option('--image <image>', 'any image that the daemon has', sandboxImage)
        .option('--max-size <size>', 'the most that is copied', '1g')
        .action(
          ends(async (id: string, directory: string, options: FileOptions) =>
            (await import('../commands/files.ts'))[name](id, directory, options),
          ),
        ),
      `workspace ${name} ID files/`,
    );
  }
  examples(
    workspace
      .command('image')
      .description("build the image in which agents' code and workspaces run")
      .option('--image <image>', 'its name', sandboxImage)
      .option('--debian', 'from Debian packages, where no base image can be pulled (root, debootstrap)')
      .option('--json', 'print JSON')
      .action(
        ends(async ({ image, ...options }: { image: string; debian?: boolean; json?: boolean }) =>
          (await import('../commands/sandboxImage.ts')).buildSandboxImage(image, options),
        ),
      ),
    'workspace image',
    'workspace image --debian',
  );
  examples(
    command(workspace, 'abandon <id>', 'give up files on a host that does not come back: the work goes on elsewhere, without them').action(
      ends(async (id: string, options: Settings) => (await items()).abandonFiles(id, options)),
    ),
    'workspace abandon ID',
  );
}
