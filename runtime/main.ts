// The command line: its commands, and how they end.

import { CommanderError } from 'commander';

import { beginCommands } from './commandLine/begin.ts';
import { clientsCommands } from './commandLine/clients.ts';
import { keepCommands } from './commandLine/keep.ts';
import { lookCommands } from './commandLine/look.ts';
import { peopleCommands } from './commandLine/people.ts';
import { exitCode, program } from './commandLine/program.ts';
import { workCommands } from './commandLine/work.ts';
import { exit } from './commands/output.ts';
import { shownUrl } from './ledger/address.ts';

for (const declare of [beginCommands, workCommands, peopleCommands, lookCommands, clientsCommands, keepCommands]) declare();

/** Where the database's address was given. */
let addressFrom = 'DATABASE_URL';

program.hook('preAction', async (_, called) => {
  const given = (name: string): boolean => called.getOptionValueSource(name) !== undefined && called.getOptionValue(name) !== '';
  const isFromFlag = (key: string): boolean => called.getOptionValueSource(key) === 'cli';
  if (isFromFlag('databaseUrl')) addressFrom = '--database-url';
  if (['databaseUrl', 'listenUrl', 'readUrl', 'to', 'fetchFrom'].some(isFromFlag)) {
    // Every user of the machine can read the arguments of a process; a title takes their place.
    process.title = ['work-ledger', ...process.argv.slice(2).map((word) => shownUrl(word.replace(/^--(?:(?:database|listen|read)-url|to|fetch-from)=/, '')))].join(' ');
  }
  const takes = new Set(called.options.filter((option) => !option.hidden).map((option) => option.attributeName()));
  if (!takes.has('databaseUrl')) return;
  const { fileSettings } = await import('./commands/configFile.ts');
  const file = await fileSettings({ isTyped: !['hook', 'mcp'].includes(called.name()) });
  if (file.secrets) (await import('./secrets/ofEnvironment.ts')).keepNamed(file.secrets);
  if (file.databaseFrom !== undefined && !given('databaseUrl')) addressFrom = file.databaseFrom;
  const isWorker = takes.has('leaseSeconds');
  for (const key of ['databaseUrl', 'listenUrl', 'readUrl', 'schema', 'tools', 'host', 'workspaceRoots'] as const) {
    if (takes.has(key) && (key !== 'host' || isWorker) && file[key] !== undefined && !given(key)) called.setOptionValueWithSource(key, file[key], 'config');
  }
  // It belongs to the database that is named beside it: one that is named nearer is read where it is written.
  const nearness = (key: string): number => (given(key) ? ['config', 'env', 'cli'].indexOf(called.getOptionValueSource(key) ?? '') : -1);
  if (nearness('readUrl') < nearness('databaseUrl')) called.setOptionValue('readUrl', undefined);
  if (given('readUrl')) addressFrom += ` or ${isFromFlag('readUrl') ? '--read-url' : called.getOptionValueSource('readUrl') === 'env' ? 'WORK_LEDGER_READ_URL' : 'read_url'}`;
  // Those of a file are saved; none of them is chosen for a task, as one of a flag is.
  if ((isWorker || called.name() === 'submit') && file.faculties && !given('faculty')) called.setOptionValueWithSource('facultiesOfFile', file.faculties, 'config');
});

try {
  await program.parseAsync();
  process.exitCode = exitCode();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exit.ok : exit.usage;
  else process.exitCode = (await import('./commands/problem.ts')).problem(error, addressFrom);
}
