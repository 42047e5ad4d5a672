// The command line: its commands, and how they end.

import { CommanderError } from 'commander';
import type { Command } from 'commander';

import { beginCommands } from './commandLine/begin.ts';
import { clientsCommands } from './commandLine/clients.ts';
import { endWithReader } from './commandLine/closedPipe.ts';
import { lookCommands } from './commandLine/look.ts';
import { operateCommands } from './commandLine/operate.ts';
import { peopleCommands } from './commandLine/people.ts';
import { helpOfNothing, newProgram } from './commandLine/program.ts';
import { workCommands } from './commandLine/work.ts';
import { io, withIo } from './commands/io.ts';
import type { Io } from './commands/io.ts';
import { exit } from './commands/output.ts';
import { shownUrl } from './ledger/address.ts';

/**
 * Runs a command line, given without the words that started it, and sets the exit code of `streams`: by default this process and its own.
 */
export function main(argv: readonly string[], streams: Io = process): Promise<void> {
  return withIo(streams, async () => {
    /** Where the database's address was given. */
    const address = { from: 'DATABASE_URL' };
    try {
      if (argv[0] === '--complete') {
        io().stdout.write(await (await import('./commands/complete.ts')).complete(argv[1] ?? '', argv[2] ?? ''));
        return;
      }
      const typed = argv.length > 0 ? argv : (await import('./commands/unasked.ts')).unasked();
      const program = makeProgram(typed);
      await program
        .hook('preAction', (_, called) => settle(called, typed, address))
        .parseAsync(helpOfNothing(program, typed), { from: 'user' });
    } catch (error) {
      if (error instanceof CommanderError) io().exitCode = error.exitCode === 0 ? exit.ok : exit.usage;
      else io().exitCode = (await import('./commands/problem.ts')).problem(error, address.from);
    }
  });
}

/** All commands. `argv`: what is typed, for what an error says of it. */
export function makeProgram(argv: readonly string[] = []): Command {
  const program = newProgram(argv);
  for (const declare of [beginCommands, workCommands, peopleCommands, lookCommands, clientsCommands, operateCommands]) declare(program);
  return program;
}

/** Takes what a command was not told by flags and the environment from work-ledger.toml, before it begins. */
async function settle(called: Command, argv: readonly string[], address: { from: string }): Promise<void> {
  const given = (name: string): boolean => called.getOptionValueSource(name) !== undefined && called.getOptionValue(name) !== '';
  const isFromFlag = (key: string): boolean => called.getOptionValueSource(key) === 'cli';
  if (isFromFlag('databaseUrl')) address.from = '--database-url';
  if (['databaseUrl', 'listenUrl', 'readUrl', 'to', 'fetchFrom'].some(isFromFlag)) {
    // Every user of the machine can read the arguments of a process; a title takes their place.
    process.title = [
      'work-ledger',
      ...argv.map((word) => shownUrl(word.replace(/^--(?:(?:database|listen|read)-url|to|fetch-from)=/, ''))),
    ].join(' ');
  }
  const takes = new Set(called.options.filter((option) => !option.hidden).map((option) => option.attributeName()));
  if (!takes.has('databaseUrl')) return;
  const { fileSettings } = await import('./commands/configFile.ts');
  const file = await fileSettings({ isTyped: !['hook', 'mcp'].includes(called.name()) });
  if (file.secrets) (await import('./secrets/ofEnvironment.ts')).keepNamed(file.secrets);
  if (file.databaseFrom !== undefined && !given('databaseUrl')) address.from = file.databaseFrom;
  const isWorker = takes.has('leaseSeconds');
  for (const key of ['databaseUrl', 'listenUrl', 'readUrl', 'schema', 'tools', 'host', 'workspaceRoots'] as const) {
    if (takes.has(key) && (key !== 'host' || isWorker) && file[key] !== undefined && !given(key))
      called.setOptionValueWithSource(key, file[key], 'config');
  }
  // It belongs to the database that is named beside it: one that is named nearer is read where it is written.
  const nearness = (key: string): number => (given(key) ? ['config', 'env', 'cli'].indexOf(called.getOptionValueSource(key) ?? '') : -1);
  if (nearness('readUrl') < nearness('databaseUrl')) called.setOptionValue('readUrl', undefined);
  if (given('readUrl'))
    address.from += ` or ${isFromFlag('readUrl') ? '--read-url' : called.getOptionValueSource('readUrl') === 'env' ? 'WORK_LEDGER_READ_URL' : 'read_url'}`;
  // Those of a file are saved; none of them is chosen for a task, as one of a flag is.
  if ((isWorker || called.name() === 'submit') && file.faculties && !given('faculty'))
    called.setOptionValueWithSource('facultiesOfFile', file.faculties, 'config');
}

if (import.meta.main) {
  endWithReader(process.argv[2]);
  await main(process.argv.slice(2));
}
