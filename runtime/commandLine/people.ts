// What people say to work that is under way.

import type { Settings } from '../config.ts';
import { command, ends, examples, program } from './program.ts';

const items = () => import('../commands/items.ts');

export function peopleCommands(): void {
  program.commandsGroup('Take part:');

  command('message <id> <text>', 'say something to the agent of a work item, with its next request')
    .option('--interrupt', 'now: break off what is under way')
    .action(ends(async (id: string, text: string, options: Settings & { interrupt?: boolean }) => (await items()).message(id, text, options)));

  command('approvals', 'tool calls that wait for a person').action(ends(async (options: Settings) => (await items()).approvals(options)));

  command('approve <call>', 'let a tool call run').action(ends(async (call: string, options: Settings) => (await items()).approve(call, options)));

  command('reject <call>', 'refuse a tool call; the model is told')
    .option('--reason <text>', 'why')
    .action(ends(async (call: string, options: Settings & { reason?: string }) => (await items()).reject(call, options)));

  command('pause <id>', 'pause a work item when its iteration is over')
    .option('--reason <text>', 'why')
    .action(ends(async (id: string, options: Settings & { reason?: string }) => (await items()).pause(id, options)));

  command('resume <id>', 'let a paused work item go on').action(ends(async (id: string, options: Settings) => (await items()).resume(id, options)));

  command('cancel <id>', 'cancel a work item and everything below it')
    .option('--reason <text>', 'why')
    .action(ends(async (id: string, options: Settings & { reason?: string }) => (await items()).cancel(id, options)));

  examples(command('complete <id> <summary>', 'complete a work item that no worker drives')
    .option('--evidence <text...>', 'what supports it: ids of tool calls, handles of artifacts, or words')
    .action(ends(async (id: string, summary: string, options: Settings & { evidence?: string[] }) => (await items()).complete(id, summary, options))), "complete ID 'The index was never used; it is now' --evidence 'explain analyze: 12 ms'");

  command('budget <id> [resource=amount...]', 'what a work item and everything below it may use: show it, or set it')
    .action(ends(async (id: string, amounts: string[], options: Settings) => (await items()).budget(id, amounts, options)));

  command('fork <turn> [text]', 'go on from a turn on a branch of its own, and print the new work item\'s id; the text is said to it first')
    .option('--faculty <name>', 'another faculty')
    .action(ends(async (turn: string, text: string | undefined, options: Settings & { faculty?: string }) => (await items()).fork(turn, text, options)));
}
