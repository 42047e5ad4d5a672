// node --import test/parseCommands.ts runtime/main.ts: the real command line, of which nothing is run. Takes command lines as JSON,
// a list of lists of words, in COMMAND_LINES, and prints the names, options and examples of all commands and, for each line, what it said against it.

import { Command } from 'commander';

type Method<Given extends unknown[], Answer> = (this: Command, ...given: Given) => Answer;
const action = Reflect.get(Command.prototype, 'action') as Method<[() => void], Command>;
Command.prototype.action = function acceptOnly() {
  return action.call(this, () => {});
};

const silent = { writeOut: () => {}, writeErr: () => {} };
function silence(command: Command): void {
  command.exitOverride().configureOutput(silent);
  for (const one of command.commands) silence(one);
}

/** The command lines at the end of its help. */
function examplesOf(command: Command): string[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
  return [...help.matchAll(/^ {2}work-ledger (.+)$/gm)].map(([, line = '']) => line);
}

const parseAsync = Reflect.get(Command.prototype, 'parseAsync') as Method<[string[], { from: 'user' }], Promise<Command>>;
Command.prototype.parseAsync = async function parseAll(this: Command) {
  silence(this);
  const lines = JSON.parse(process.env['COMMAND_LINES'] ?? '[]') as string[][];
  const problems: string[] = [];
  for (const words of lines) {
    problems.push(await parseAsync.call(this, words, { from: 'user' }).then(() => '', (error: { message: string; exitCode?: number }) => (error.exitCode === 0 ? '' : error.message)));
  }
  const commands = this.commands.flatMap((one) => [one, ...one.commands]);
  process.stdout.write(JSON.stringify({
    names: this.commands.flatMap((one) => [one.name(), ...one.aliases()]),
    options: [this, ...commands].flatMap((one) => one.options.map((option) => option.long)),
    examples: Object.fromEntries(commands.map((one) => [one.name(), examplesOf(one)])),
    problems,
  }));
  return this;
};
