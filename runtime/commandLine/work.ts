// Commands that submit work, run it, and show what came of it.

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
    .option('--tools <file...>', 'your own tools: modules, .toml files of commands, .json files of MCP servers')
    .option('--concurrency <n>', 'how many work items to run at once', within(1, MOST_AT_ONCE), 4)
    .addOption(
      new Option('--lease-seconds <n>', 'seconds without a heartbeat until a worker is considered dead')
        .env('WORK_LEDGER_LEASE_SECONDS')
        .argParser(within(1, LONGEST_SECONDS))
        .default(30),
    )
    .addOption(
      new Option('--host <name>', "name of this machine, which faculties may refer to in hosts (default: the system's)").env(
        'WORK_LEDGER_HOST',
      ),
    )
    .addOption(workspaceRootsOption())
    .option('--grace-seconds <n>', 'seconds that running iterations get to finish after a stop signal', within(0, LONGEST_SECONDS), 5)
    .addOption(
      new Option('--log-level <level>', 'level of the logs on stderr')
        .choices(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
        .default('warn'),
    );

export function workCommands(program: Command): void {
  program.commandsGroup('Work:');

  examples(
    workerOptions(
      installs(command(program, 'work', "run a worker for queued items of this directory's project and of none, until interrupted")),
    )
      .addOption(projectOption())
      .addOption(new Option('--all-projects', 'run queued items of any project').conflicts('project'))
      .addOption(
        new Option('--http <[address:]port>', 'serve /metrics, /healthz and /readyz (without an address: on loopback only)').env(
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
    workerOptions(installs(command(program, 'run [task]', 'submit a task and run it here')))
      .option('--type <type>', 'work type', 'task')
      .option('--resume <id>', 'run this existing work item here instead of submitting one')
      .option('--scripted <file>', 'dry run without a model: play the replies in this JSON file')
      .addOption(projectOption())
      .option('--workspace <dir>', 'let the built-in faculty read and write files and run commands in this host directory')
      .action(ends(async (task: string | undefined, options: RunOptions) => (await import('../commands/run.ts')).run(task, options))),
    "run 'Fix the failing test' --workspace .",
    "run 'Find why the import is slow' --type analyze --faculty engineer.toml",
    'run --resume ID',
  );

  examples(
    command(program, 'submit <description>', 'queue a work item and print its id')
      .option('--type <type>', 'work type, which selects the faculty (default: the only type that faculties here accept, else task)')
      .option('--params <json>', 'parameters as a JSON object')
      .option('--faculty <name>', 'faculty to run it, instead of one selected by type')
      .option('--priority <n>', 'higher is more urgent', integer)
      .addOption(projectOption())
      .option('--parent <id>', 'parent work item')
      .option('--dedup-key <key>', 'return the unfinished item with this key, if there is one, instead of creating another')
      .option('--external-id <id>', 'your own id for it')
      .option('--max-attempts <n>', 'maximum number of attempts', integer)
      .option('--workspace <dir>', "directory on the worker's host to run in, instead of the faculty's, such as one of several worktrees")
      .option('--run-at <time>', 'do not start before this time')
      .option('--idempotency-key <key>', 'repeating the call with the same key returns the same item')
      .option('--budget <resource=amount...>', 'limits for it and its descendants: tokens, money, seconds, calls, children')
      .option('--result-schema <json>', 'JSON Schema that its result must match, or @FILE with one')
      .action(ends(async (description: string, options: SubmitOptions) => (await items()).submit(description, options))),
    "submit 'Find why the import is slow'",
    "submit 'Port the parser' --type task --budget tokens=200000 money=2",
  );

  examples(
    anywhere(reads(command(program, 'list', "list the newest work items of this directory's project, children under their parents")))
      .alias('ps')
      .option('--state <state...>', 'only items in these states: queued, running, waiting, paused, completed, failed, dead, cancelled')
      .option('--limit <n>', 'maximum number to list', integer, 20)
      .option('--watch', 'refresh on every change, until Ctrl-C')
      .action(ends(async (options: ListOptions) => (await import('../commands/list.ts')).list(options))),
    'list --state running waiting',
    'list --watch',
  );

  examples(
    reads(
      command(program, 'show [id]', 'show a work item: its state, its calls, what failed; without an id, list the newest items'),
    ).action(
      ends(async (id: string | undefined, options: Settings) =>
        id === undefined ? await (await import('../commands/list.ts')).list(options) : await (await items()).show(id, options),
      ),
    ),
    'show ID',
    'show ID --json',
  );

  examples(
    reads(command(program, 'logs <id>', 'print the log of a work item: messages, tool calls, ledger entries'))
      .option('--limit <n>', 'only the newest n lines', integer, 200)
      .option('--follow', 'print its ledger from the beginning, then follow it until it ends')
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
    command(program, 'faculty <path...>', 'validate faculty TOML files and save them').action(
      ends(async (paths: string[], options: Settings) => (await import('../commands/faculty.ts')).faculty(paths, options)),
    ),
    'faculty engineer.toml',
    'faculty faculties/',
  );

  workspaceCommands(program);
}

/** Commands for container workspaces. */
function workspaceCommands(program: Command): void {
  const workspace = examples(
    program
      .command('workspace')
      .description('copy files from and to the containers of work items, build their image, or abandon their files')
      .summary('copy files from and to containers, build their image')
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
        .option('--image <image>', 'image to copy with: any that the daemon has', sandboxImage)
        .option('--max-size <size>', 'maximum size to copy', '1g')
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
      .description("build the image that agents' code and workspaces run in")
      .option('--image <image>', 'its name', sandboxImage)
      .option('--debian', 'build it from Debian packages, where no base image can be pulled (requires root and debootstrap)')
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
    command(
      workspace,
      'abandon <id>',
      'give up the files of a work item on a host that will not come back: work continues elsewhere without them',
    ).action(ends(async (id: string, options: Settings) => (await items()).abandonFiles(id, options))),
    'workspace abandon ID',
  );
}
