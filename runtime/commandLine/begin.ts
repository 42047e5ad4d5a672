// Commands to get started: try a demo, create a database with a ledger, write a faculty.

import { Option } from 'commander';
import type { Command } from 'commander';

import type { DoctorOptions } from '../commands/doctor.ts';
import type { ConsoleSettings } from '../commands/console.ts';
import type { InstallOptions } from '../commands/install.ts';
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
  program.commandsGroup('Get started:');

  examples(
    scratchCommand(
      program,
      'demo',
      'watch an agent fix a failing test, with its ledger in Postgres; everything it creates is removed when it ends',
    )
      .summary('watch an agent fix a failing test')
      .addOption(
        new Option(
          '--scene <name>',
          'one: a single agent; team: three faculties that are aware of each other; code: long output shrinks to one line; context: what the model is shown, part by part',
        )
          .choices(Object.keys(scenes))
          .default('one'),
      )
      .action(ends(async (options: ScratchOptions & { scene: keyof typeof scenes }) => (await scenes[options.scene]())(options))),
    'demo',
    'demo --scene team',
    'demo --keep',
  );

  examples(
    program
      .command('init [name]')
      .description('create a starter faculty, its prompt and work-ledger.toml in this directory; existing files are not overwritten')
      .summary('create a starter faculty, its prompt and work-ledger.toml')
      .option('--dir <directory>', 'directory for the faculty', '.')
      .option('--json', 'print JSON')
      .exitOverride()
      .action(
        ends(async (name: string | undefined, options: { dir: string; json?: boolean }) =>
          (await import('../commands/init.ts')).init(name ?? 'engineer', options),
        ),
      ),
    'init',
    'init reviewer --dir faculties',
  );

  examples(
    consoleOptions(command(program, 'up', 'start the embedded database, install the ledger and print its address'))
      .option('--console', 'also serve the console, until interrupted')
      .action(
        ends(async (options: ConsoleSettings & { console?: boolean }) => {
          const { findLedger } = await import('../install/findLedger.ts');
          const { readyLedger } = await import('../install/installLedger.ts');
          const place = await findLedger(options);
          await readyLedger(place.url, place.schema);
          const url = shownUrl(place.url);
          print({ url, schema: place.schema }, url, options.json ?? false);
          note(`the ledger is in schema ${place.schema}. Try: psql '${url}'`);
          return options.console ? (await import('../commands/console.ts')).serveConsole(place, options) : exit.ok;
        }),
      ),
    'up',
    'up --console',
  );

  examples(
    command(program, 'down', 'stop the embedded database').action(async (options: Settings) => {
      const { defaultDataDir, isEmbeddedUrl, stopEmbedded } = await import('../install/embedded.ts');
      const dataDir = defaultDataDir();
      const wasRunning = await stopEmbedded(dataDir);
      print(
        { wasRunning, dataDir },
        `${wasRunning ? 'stopped the embedded database' : 'the embedded database was not running'} (${dataDir})`,
        options.json ?? false,
      );
      if (options.databaseUrl && !isEmbeddedUrl(options.databaseUrl))
        note(`${shownUrl(options.databaseUrl)} is another server, which was not touched`);
    }),
    'down',
  );

  examples(
    command(
      program,
      'install',
      "install or upgrade the ledger with a plain SQL script, or adapt it after its schema was renamed; graphile-worker's schema likewise",
    )
      .summary('install or upgrade the ledger')
      .option('--print', 'change nothing; print a psql script of what is missing, to be run by someone with more rights')
      .option('--owner <role>', 'with --print: the role that will own the ledger (default: the role that runs the script)')
      .addOption(
        new Option('--javascript', 'also install the functions that need a JavaScript engine (plv8 or PL/JS in the database)').conflicts(
          'print',
        ),
      )
      .action(ends(async (options: InstallOptions) => (await import('../commands/install.ts')).install(options))),
    'install',
    'install --schema agents',
    'install --print --schema agents --owner app > install.sql',
  );

  examples(
    reads(command(program, 'doctor', 'check for problems that could lose or stall work'))
      .addOption(workspaceRootsOption())
      .action(ends(async (options: DoctorOptions) => (await import('../commands/doctor.ts')).doctor(options))),
    'doctor',
  );
}
