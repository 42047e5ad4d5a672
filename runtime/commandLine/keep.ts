// What is kept, and what goes.

import { Option } from 'commander';
import type { Command } from 'commander';

import type { EraseOptions, RetentionOptions } from '../commands/erase.ts';
import type { VerifyOptions } from '../commands/verify.ts';
import type { Settings } from '../config.ts';
import { command, ends, examples, reads } from './program.ts';

export function keepCommands(program: Command): void {
  program.commandsGroup('Keep and erase:');

  examples(reads(command(program, 'export <what>', 'every row of a work item and of everything below it, as JSON lines; what: its id, or a session'))
    .action(ends(async (what: string, options: Settings) => (await import('../commands/erase.ts')).exportWork(what, options))), 'export ID > work.jsonl');

  examples(command(program, 'erase <what>', 'erase a finished work item, and everything below it, for good; what: its id, or a session')
    .option('--dry-run', 'show what would go')
    .option('--yes', 'do not ask')
    .option('--with-forks', 'also the forks that share its turns')
    .option('--reason <text>', 'why; stays in the tombstone')
    .action(ends(async (what: string, options: EraseOptions) => (await import('../commands/erase.ts')).erase(what, options))), 'erase ID --dry-run', "erase ID --yes --reason 'asked for by its author'");

  examples(command(program, 'retention [age]', 'what is erased by itself: show it, or set it; age: "90 days", or "never"')
    .addOption(new Option('--state <state>', 'of work in this final state').choices(['completed', 'failed', 'dead', 'cancelled']))
    .option('--faculty <name>', 'of this faculty')
    .addOption(new Option('--keep <what>', 'what stays').choices(['nothing', 'ledger', 'all']))
    .option('--export <function>', 'called with the root before its tree goes: archive(uuid)')
    .option('--run', 'now, not within the hour')
    .action(ends(async (age: string | undefined, options: RetentionOptions) => (await import('../commands/erase.ts')).retention(age, options))), "retention '90 days' --keep ledger", 'retention never', 'retention --run');

  examples(command(program, 'verify [id]', 'check that nothing recorded was altered, in one work item or in all; exits 1 if something was')
    .option('--heads <file>', 'what "work-ledger heads" printed and was kept elsewhere; -: from stdin')
    .action(ends(async (id: string | undefined, options: VerifyOptions) => (await import('../commands/verify.ts')).verify(id, options))), 'verify', 'verify --heads heads-of-may.jsonl');

  examples(reads(command(program, 'heads [id]', 'the ends of the chains of hashes, as JSON lines: kept elsewhere, they show later that nothing was cut off'))
    .action(ends(async (id: string | undefined, options: Settings) => (await import('../commands/verify.ts')).heads(id, options))), 'heads', 'heads ID');
}
