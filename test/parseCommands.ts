// The real command line, of which nothing is run: the names, options and examples of all commands, and what it says against each of these
// lines.

import type { Command } from 'commander';

import { makeProgram } from '../runtime/main.ts';

export type Parsed = { names: string[]; options: string[]; examples: Record<string, string[]>; problems: string[] };

export async function parseCommands(lines: readonly (readonly string[])[]): Promise<Parsed> {
  const program = makeProgram();
  const commands = program.commands.flatMap((one) => [one, ...one.commands]);
  const parsed: Parsed = {
    names: program.commands.flatMap((one) => [one.name(), ...one.aliases()]),
    options: [program, ...commands].flatMap((one) => one.options.map((option) => option.long ?? '')),
    examples: Object.fromEntries(commands.map((one) => [one.name(), examplesOf(one)])),
    problems: [],
  };
  for (const one of [program, ...commands]) one.configureOutput({ writeOut: () => {}, writeErr: () => {} });
  for (const one of commands.filter((command) => command.commands.length === 0 || command.registeredArguments.length > 0))
    one.action(() => {});
  for (const words of lines) {
    parsed.problems.push(
      await program.parseAsync(words, { from: 'user' }).then(
        () => '',
        (error: { message: string; exitCode?: number }) => (error.exitCode === 0 ? '' : error.message),
      ),
    );
  }
  return parsed;
}

/** The command lines at the end of its help. */
function examplesOf(command: Command): string[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
  return [...help.matchAll(/^ {2}work-ledger (.+)$/gm)].map(([, line = '']) => line);
}
