// What whoever runs a ledger does: what is kept and what goes, who decides, where it is.

import { Option } from 'commander';
import type { Command } from 'commander';

import type { EraseOptions, RetentionOptions } from '../commands/erase.ts';
import type { MoveOptions } from '../commands/move.ts';
import type { VerifyOptions } from '../commands/verify.ts';
import type { Settings } from '../config.ts';
import { command, ends, examples, reads } from './program.ts';

export function operateCommands(program: Command): void {
  program.commandsGroup('Operate:');

  examples(
    reads(
      command(
        program,
        'export <what>',
        'print every row of a work item and of everything below it, as JSON lines; what: its id, or a session',
      ).summary('print every row of a work item, as JSON lines'),
    ).action(ends(async (what: string, options: Settings) => (await import('../commands/erase.ts')).exportWork(what, options))),
    'export ID > work.jsonl',
  );

  examples(
    command(program, 'erase <what>', 'erase a finished work item, and everything below it, for good; what: its id, or a session')
      .summary('erase finished work for good')
      .option('--dry-run', 'show what would go')
      .option('--yes', 'do not ask')
      .option('--with-forks', 'also the forks that share its turns')
      .option('--reason <text>', 'why; stays in the tombstone')
      .action(ends(async (what: string, options: EraseOptions) => (await import('../commands/erase.ts')).erase(what, options))),
    'erase ID --dry-run',
    "erase ID --yes --reason 'asked for by its author'",
  );

  examples(
    command(program, 'retention [age]', 'show or set when finished work is erased automatically; age: "90 days", or "never"')
      .summary('show or set when finished work is erased automatically')
      .addOption(new Option('--state <state>', 'of work in this final state').choices(['completed', 'failed', 'dead', 'cancelled']))
      .option('--faculty <name>', 'of this faculty')
      .addOption(new Option('--keep <what>', 'what stays').choices(['nothing', 'ledger', 'all']))
      .option('--export <function>', 'called with the root before its tree goes: archive(uuid)')
      .option('--run', 'now, not within the hour')
      .action(
        ends(async (age: string | undefined, options: RetentionOptions) => (await import('../commands/erase.ts')).retention(age, options)),
      ),
    "retention '90 days' --keep ledger",
    'retention never',
    'retention --run',
  );

  examples(
    reads(
      command(
        program,
        'verify [id]',
        'check that nothing recorded was altered, in one work item or in all; exits 1 if something was',
      ).summary('check that nothing recorded was altered'),
    )
      .addOption(
        new Option(
          '--heads',
          'print the ends of the chains of hashes instead, as JSON lines; stored elsewhere, they show later whether anything was cut off',
        ).conflicts('against'),
      )
      .option('--against <file>', 'compare with heads that were stored elsewhere; -: from stdin')
      .action(ends(async (id: string | undefined, options: VerifyOptions) => (await import('../commands/verify.ts')).verify(id, options))),
    'verify',
    'verify --heads > heads-of-may.jsonl',
    'verify --against heads-of-may.jsonl',
  );

  const person = examples(
    command(program, 'person', 'manage the people who decide under their own names, each by a token')
      .summary('manage the people who decide under their own names')
      .helpCommand(false),
    "person add 'Ann Lee'",
    'person list',
    "person revoke 'Ann Lee'",
  );
  const people = () => import('../commands/person.ts');
  examples(
    command(person, 'add <name>', 'add a person, and print the token: it is shown this once').action(
      ends(async (name: string, _: object, called: Command) => (await people()).personAdd(name, called.optsWithGlobals<Settings>())),
    ),
    "person add 'Ann Lee'",
  );
  examples(
    command(person, 'list', 'list who has a token, or had one').action(
      ends(async (_: object, called: Command) => (await people()).personList(called.optsWithGlobals<Settings>())),
    ),
    'person list',
  );
  examples(
    command(person, 'revoke <name>', 'revoke a token: nothing more can be decided with it; what was decided stays').action(
      ends(async (name: string, _: object, called: Command) => (await people()).personRevoke(name, called.optsWithGlobals<Settings>())),
    ),
    "person revoke 'Ann Lee'",
  );

  examples(
    command(program, 'move', 'move the ledger to another server or database while work goes on; repeat it if it was interrupted')
      .summary('move the ledger to another server while work goes on')
      .addOption(new Option('--to <url>', 'the database that it moves to, directly, not by a pooler').env('WORK_LEDGER_MOVE_TO'))
      .option('--fetch-from <url>', "the ledger's database as the other server reaches it (default: its address here)")
      .option('--pause <command>', 'run before writers are refused, such as PAUSE of a pooler')
      .option('--switch <command>', 'run when the other ledger can be written: what makes clients go there')
      .option('--resume <command>', 'run after that, and after a move that failed, such as RESUME of a pooler')
      .option(
        '--compare-later',
        'open the other ledger first, and compare the rows as they were then: a shorter pause, where there are millions of them',
      )
      .option('--undo', 'take back a move that is not over; without --to if the other server is gone for good')
      .action(ends(async (options: MoveOptions) => (await import('../commands/move.ts')).move(options))),
    'move --to postgresql://owner@db2.example/app',
    'move --to postgresql://owner@db2.example/app --undo',
  );
}
