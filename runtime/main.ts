// The command line: its commands and exit codes.

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
 * Runs a command line, given without the words that started it, and sets the exit code on `streams` (default: this process).
 */
export function main(argv: readonly string[], streams: Io = process): Promise<void> {
  return withIo(streams, async () => {
    /** Where the database's address came from, for error messages. */
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

/** All commands. `argv` is the command line as typed, for error messages. */
export function makeProgram(argv: readonly string[] = []): Command {
  const program = newProgram(argv);
  for (const declare of [beginCommands, workCommands, peopleCommands, lookCommands, clientsCommands, operateCommands]) declare(program);
  return program;
}

/** Before a command begins, takes from work-ledger.toml whatever flags and the environment did not set. */
async function settle(called: Command, argv: readonly string[], address: { from: string }): Promise<void> {
  const given = (name: string): boolean => called.getOptionValueSource(name) !== undefined && called.getOptionValue(name) !== '';
  const isFromFlag = (key: string): boolean => called.getOptionValueSource(key) === 'cli';
  if (isFromFlag('databaseUrl')) address.from = '--database-url';
  if (['databaseUrl', 'listenUrl', 'readUrl', 'to', 'fetchFrom'].some(isFromFlag)) {
    // Every user of the machine can read a process's arguments, so a title without passwords replaces them.
    process.title = [
      'work-ledger',
      ...argv.map((word) => shownUrl(word.replace(/^--(?:(?:database|listen|read)-url|to|fetch-from)=/, ''))),
    ].join(' ');
  }
  const takes = new Set(called.options.filter((option) => !option.hidden).map((option) => option.attributeName()));
  if (!takes.has('databaseUrl')) return;
  const { fileSettings } = await import('./commands/configFile.ts');
  const file = await fileSettings({ isTyped: !['hook', 'mcp'].includes(called.name()) });
  if (file.databaseFrom !== undefined && !given('databaseUrl')) address.from = file.databaseFrom;
  const isWorker = takes.has('leaseSeconds');
  for (const key of ['databaseUrl', 'listenUrl', 'readUrl', 'schema', 'tools', 'host', 'workspaceRoots'] as const) {
    if (takes.has(key) && (key !== 'host' || isWorker) && file[key] !== undefined && !given(key))
      called.setOptionValueWithSource(key, file[key], 'config');
  }
  // A read address belongs to the database named at the same level. If databaseUrl comes from a stronger source (flag, environment,
  // file), readUrl is ignored.
  const nearness = (key: string): number => (given(key) ? ['config', 'env', 'cli'].indexOf(called.getOptionValueSource(key) ?? '') : -1);
  if (nearness('readUrl') < nearness('databaseUrl')) called.setOptionValue('readUrl', undefined);
  if (given('readUrl'))
    address.from += ` or ${isFromFlag('readUrl') ? '--read-url' : called.getOptionValueSource('readUrl') === 'env' ? 'WORK_LEDGER_READ_URL' : 'read_url'}`;
  // Faculties listed in the file are saved, but unlike one given with a flag, none of them is chosen for the task.
  if ((isWorker || called.name() === 'submit') && file.faculties && !given('faculty'))
    called.setOptionValueWithSource('facultiesOfFile', file.faculties, 'config');
}

if (import.meta.main) {
  endWithReader(process.argv[2]);
  await main(process.argv.slice(2));
}
