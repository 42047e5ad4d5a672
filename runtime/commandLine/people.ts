// What people say to work that is under way.

import type { Command } from 'commander';

import type { Settings } from '../config.ts';
import { command, ends, examples, reads } from './program.ts';

const items = () => import('../commands/items.ts');
const approvals = () => import('../commands/approvals.ts');

export function peopleCommands(program: Command): void {
  program.commandsGroup('Take part:');

  examples(command(program, 'message <id> <text>', 'say something to the agent of a work item, with its next request')
    .option('--interrupt', 'now: break off what is under way')
    .action(ends(async (id: string, text: string, options: Settings & { interrupt?: boolean }) => (await items()).message(id, text, options))), "message ID 'Leave the tests as they are'", "message ID 'Stop: that is the wrong table' --interrupt");

  examples(reads(command(program, 'approvals', 'tool calls that wait for a person, with all their arguments')).action(ends(async (options: Settings) => (await approvals()).approvals(options))), 'approvals');

  examples(command(program, 'approve <call>', 'let a tool call run: shows its arguments and asks')
    .option('--hash <hash>', 'the arguments that were looked at, as "approvals" names them; required where nobody can be asked')
    .action(ends(async (call: string, options: Settings & { hash?: string }) => (await approvals()).approve(call, options))), 'approve CALL', 'approve CALL --hash 3f9a1c02d4e5f607');

  examples(command(program, 'reject <call>', 'refuse a tool call, whatever its arguments; the model is told')
    .option('--reason <text>', 'why')
    .action(ends(async (call: string, options: Settings & { reason?: string }) => (await approvals()).reject(call, options))), "reject CALL --reason 'not on a Friday'");

  examples(command(program, 'pause <id>', 'pause a work item when its iteration is over')
    .option('--reason <text>', 'why')
    .action(ends(async (id: string, options: Settings & { reason?: string }) => (await items()).pause(id, options))), "pause ID --reason 'until the freeze is over'");

  examples(command(program, 'resume <id>', 'let a paused work item go on').action(ends(async (id: string, options: Settings) => (await items()).resume(id, options))), 'resume ID');

  examples(command(program, 'abandon-files <id>', 'give up workspace files on a host that does not come back: the work goes on elsewhere, without them').action(ends(async (id: string, options: Settings) => (await items()).abandonFiles(id, options))), 'abandon-files ID');

  examples(command(program, 'cancel <id>', 'cancel a work item and everything below it')
    .option('--reason <text>', 'why')
    .action(ends(async (id: string, options: Settings & { reason?: string }) => (await items()).cancel(id, options))), "cancel ID --reason 'no longer needed'");

  examples(command(program, 'complete <id> <summary>', 'complete a work item that no worker drives')
    .option('--evidence <text...>', 'what supports it: ids of tool calls, handles of artifacts, or words')
    .action(ends(async (id: string, summary: string, options: Settings & { evidence?: string[] }) => (await items()).complete(id, summary, options))), "complete ID 'The index was never used; it is now' --evidence 'explain analyze: 12 ms'");

  examples(command(program, 'budget <id> [resource=amount...]', 'what a work item and everything below it may use: show it, or set it')
    .action(ends(async (id: string, amounts: string[], options: Settings) => (await items()).budget(id, amounts, options))), 'budget ID', 'budget ID tokens=500000 money=5');

  examples(command(program, 'fork <turn> [text]', 'go on from a turn on a branch of its own, and print the new work item\'s id; the text is said to it first')
    .option('--faculty <name>', 'another faculty')
    .action(ends(async (turn: string, text: string | undefined, options: Settings & { faculty?: string }) => (await items()).fork(turn, text, options))), "fork TURN 'Try it with an index instead' --faculty engineer");

  const person = examples(command(program, 'person', 'the people who decide in a name of their own, by a token'), "person add 'Ann Lee'", 'person list', "person revoke 'Ann Lee'");
  const people = () => import('../commands/person.ts');
  examples(command(person, 'add <name>', 'add a person, and print the token: it is shown this once')
    .action(ends(async (name: string, _: object, called: Command) => (await people()).personAdd(name, called.optsWithGlobals<Settings>()))), "person add 'Ann Lee'");
  examples(command(person, 'list', 'who has a token, or had one')
    .action(ends(async (_: object, called: Command) => (await people()).personList(called.optsWithGlobals<Settings>()))), 'person list');
  examples(command(person, 'revoke <name>', 'let a token say nothing any more; what was decided with it stays')
    .action(ends(async (name: string, _: object, called: Command) => (await people()).personRevoke(name, called.optsWithGlobals<Settings>()))), "person revoke 'Ann Lee'");
}
