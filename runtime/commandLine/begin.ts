// How one begins: a demo, a database with a ledger, a faculty.

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
  program.commandsGroup('Begin:');

  examples(
    scratchCommand(program, 'demo', 'watch an agent fix a failing test, its ledger in Postgres; what it made is gone when it ends')
      .summary('watch an agent fix a failing test')
      .addOption(
        new Option(
          '--scene <name>',
          'one: a single agent; team: three faculties that know of each other; code: long output becomes a line; context: what a model is shown, part by part',
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
      .description('write a faculty and its prompt to begin with, and work-ledger.toml, in this directory; nothing is overwritten')
      .summary('write a faculty, its prompt and work-ledger.toml to begin with')
      .option('--dir <directory>', 'where the faculty goes', '.')
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
    consoleOptions(command(program, 'up', 'start the embedded database, install the ledger, print where it is'))
      .option('--console', 'and serve the console until a signal stops it')
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
      "install the ledger as a plain script, upgrade it, or adapt it to a schema that was renamed; likewise graphile-worker's schema",
    )
      .summary('install or upgrade the ledger')
      .option('--print', 'print what is missing as a script for psql, for somebody with more rights; change nothing')
      .option('--owner <role>', 'with --print: the role that the ledger is to belong to (default: the role that runs the script)')
      .addOption(
        new Option(
          '--javascript',
          'also install the functions that need a JavaScript engine; the database must have plv8 or PL/JS',
        ).conflicts('print'),
      )
      .action(ends(async (options: InstallOptions) => (await import('../commands/install.ts')).install(options))),
    'install',
    'install --schema agents',
    'install --print --schema agents --owner app > install.sql',
  );

  examples(
    reads(command(program, 'doctor', 'look for anything that would lose or stall work'))
      .addOption(workspaceRootsOption())
      .action(ends(async (options: DoctorOptions) => (await import('../commands/doctor.ts')).doctor(options))),
    'doctor',
  );
}
