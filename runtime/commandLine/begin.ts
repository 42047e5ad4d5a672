// How one begins: a database with a ledger, a faculty, an image for agents' code.

import { Argument, Option } from 'commander';
import type { Command } from 'commander';

import { sandboxImage } from '../../sandbox/image.ts';
import type { DoctorOptions } from '../commands/doctor.ts';
import type { ConsoleSettings } from '../commands/console.ts';
import type { InstallOptions } from '../commands/install.ts';
import type { MoveOptions } from '../commands/move.ts';
import { exit, note, print } from '../commands/output.ts';
import type { ScratchOptions } from '../commands/demo/withScratch.ts';
import type { Settings } from '../config.ts';
import { shownUrl } from '../ledger/address.ts';
import { command, consoleOptions, ends, examples, reads, scratchCommand, workspaceRootsOption } from './program.ts';

const scenes = {
  one: async () => (await import('../commands/demo/demo.ts')).demo,
  team: async () => (await import('../commands/demo/demoTeam.ts')).demoTeam,
  code: async () => (await import('../commands/demo/demoCode.ts')).demoCode,
  context: async () => (await import('../commands/demo/demoContext.ts')).demoContext,
};

export function beginCommands(program: Command): void {
  program.commandsGroup('Begin:');

  examples(scratchCommand(program, 'demo', 'watch an agent fix a failing test, its ledger in Postgres; what it made is gone when it ends')
    .addOption(new Option('--scene <name>', 'one: a single agent; team: three faculties that know of each other; code: long output becomes a line; context: what a model is shown, part by part').choices(Object.keys(scenes)).default('one'))
    .action(ends(async (options: ScratchOptions & { scene: keyof typeof scenes }) => (await scenes[options.scene]())(options))), 'demo', 'demo --scene team', 'demo --keep');

  examples(program.command('init [name]').description('write a faculty and its prompt to begin with, and work-ledger.toml, in this directory; nothing is overwritten')
    .option('--dir <directory>', 'where the faculty goes', '.')
    .option('--json', 'print JSON')
    .exitOverride()
    .action(ends(async (name: string | undefined, options: { dir: string; json?: boolean }) => (await import('../commands/init.ts')).init(name ?? 'engineer', options))), 'init', 'init reviewer --dir faculties');

  examples(consoleOptions(command(program, 'up', 'start the embedded database, install the ledger, print where it is')).option('--console', 'and serve the console until a signal stops it').action(ends(async (options: ConsoleSettings & { console?: boolean }) => {
    const { findLedger } = await import('../install/findLedger.ts');
    const { readyLedger } = await import('../install/installLedger.ts');
    const place = await findLedger(options);
    await readyLedger(place.url, place.schema);
    const url = shownUrl(place.url);
    print({ url, schema: place.schema }, url, options.json ?? false);
    note(`the ledger is in schema ${place.schema}. Try: psql '${url}'`);
    return options.console ? (await import('../commands/console.ts')).serveConsole(place, options) : exit.ok;
  })), 'up', 'up --console');

  examples(command(program, 'down', 'stop the embedded database').action(async (options: Settings) => {
    const { defaultDataDir, isEmbeddedUrl, stopEmbedded } = await import('../install/embedded.ts');
    const dataDir = defaultDataDir();
    const wasRunning = await stopEmbedded(dataDir);
    print({ wasRunning, dataDir }, `${wasRunning ? 'stopped the embedded database' : 'the embedded database was not running'} (${dataDir})`, options.json ?? false);
    if (options.databaseUrl && !isEmbeddedUrl(options.databaseUrl)) note(`${shownUrl(options.databaseUrl)} is another server, which was not touched`);
  }), 'down');

  examples(command(program, 'install', 'install the ledger as a plain script, or bring it up: upgrade it, follow a schema that was renamed; and graphile-worker\'s schema')
    .option('--print', 'print what is missing as a script for psql, for somebody with more rights; change nothing')
    .option('--owner <role>', 'with --print: the role that the ledger is to belong to (default: the role that runs the script)')
    .action(ends(async (options: InstallOptions) => (await import('../commands/install.ts')).install(options))), 'install', 'install --schema agents', 'install --print --schema agents --owner app > install.sql');

  examples(command(program, 'move', 'take the ledger to another server or database while work goes on; repeat it if it was interrupted')
    .addOption(new Option('--to <url>', 'the database that it moves to, directly, not by a pooler').env('WORK_LEDGER_MOVE_TO'))
    .option('--fetch-from <url>', 'the ledger\'s database as the other server reaches it (default: its address here)')
    .option('--pause <command>', 'run before writers are refused, such as PAUSE of a pooler')
    .option('--switch <command>', 'run when the other ledger can be written: what makes clients go there')
    .option('--resume <command>', 'run after that, and after a move that failed, such as RESUME of a pooler')
    .option('--compare-later', 'open the other ledger first, and compare the rows as they were then: a shorter pause, where there are millions of them')
    .option('--undo', 'take back a move that is not over; without --to if the other server is gone for good')
    .action(ends(async (options: MoveOptions) => (await import('../commands/move.ts')).move(options))), 'move --to postgresql://owner@db2.example/app', 'move --to postgresql://owner@db2.example/app --undo');

  examples(command(program, 'javascript', 'put the functions that need a JavaScript engine into the ledger, where the database has plv8 or PL/JS').action(ends(async (options: Settings) => (await import('../commands/javascript.ts')).javascript(options))), 'javascript');

  examples(program.command('sandbox-image').description('build the image in which agents\' code and workspaces run')
    .option('--image <image>', 'its name', sandboxImage)
    .option('--debian', 'from Debian packages, where no base image can be pulled (root, debootstrap)')
    .option('--json', 'print JSON')
    .exitOverride()
    .action(ends(async ({ image, ...options }: { image: string; debian?: boolean; json?: boolean }) => (await import('../commands/sandboxImage.ts')).buildSandboxImage(image, options))), 'sandbox-image', 'sandbox-image --debian');

  examples(reads(command(program, 'doctor', 'look for what would lose or stall work')).addOption(workspaceRootsOption()).action(ends(async (options: DoctorOptions) => (await import('../commands/doctor.ts')).doctor(options))), 'doctor');

  examples(program.command('completion').description('print what completes commands and options in a shell')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .exitOverride()
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      print(null, (await import('../commands/completion.ts')).completion(program, shell), false);
    }), 'completion bash > ~/.local/share/bash-completion/completions/work-ledger', 'completion zsh > ~/.zfunc/_work-ledger', 'completion fish > ~/.config/fish/completions/work-ledger.fish');
}
