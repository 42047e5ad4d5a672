// Commands for operators of a ledger: export and erase, retention, people, moving the ledger.

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
      command(program, 'export <what>', 'print every row of a work item (or session) and its descendants as JSON lines').summary(
        'print every row of a work item as JSON lines',
      ),
    ).action(ends(async (what: string, options: Settings) => (await import('../commands/erase.ts')).exportWork(what, options))),
    'export ID > work.jsonl',
  );

  examples(
    command(program, 'erase <what>', 'permanently erase a finished work item (or session) and its descendants')
      .summary('permanently erase finished work')
      .option('--dry-run', 'show what would be erased')
      .option('--yes', 'do not ask for confirmation')
      .option('--with-forks', 'also erase the forks that share its turns')
      .option('--reason <text>', 'why; kept in the tombstone')
      .action(ends(async (what: string, options: EraseOptions) => (await import('../commands/erase.ts')).erase(what, options))),
    'erase ID --dry-run',
    "erase ID --yes --reason 'asked for by its author'",
  );

  examples(
    command(program, 'retention [age]', 'show or set when finished work is erased automatically; age: "90 days", or "never"')
      .summary('show or set when finished work is erased automatically')
      .addOption(
        new Option('--state <state>', 'only for work that ended in this state').choices(['completed', 'failed', 'dead', 'cancelled']),
      )
      .option('--faculty <name>', 'only for work of this faculty')
      .addOption(new Option('--keep <what>', 'what to keep').choices(['nothing', 'ledger', 'all']))
      .option('--export <function>', "SQL function to call with the id of a tree's root before the tree is erased, such as archive(uuid)")
      .option('--run', 'apply now, not within the hour')
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
          'instead, print the heads of the hash chains as JSON lines; keep them elsewhere to detect later whether anything was cut off',
        ).conflicts('against'),
      )
      .option('--against <file>', 'compare with heads saved earlier; - reads stdin')
      .action(ends(async (id: string | undefined, options: VerifyOptions) => (await import('../commands/verify.ts')).verify(id, options))),
    'verify',
    'verify --heads > heads-of-may.jsonl',
    'verify --against heads-of-may.jsonl',
  );

  const person = examples(
    command(program, 'person', 'manage the people who approve under their own names, each with a token')
      .summary('manage the people who approve under their own names')
      .helpCommand(false),
    "person add 'Ann Lee'",
    'person list',
    "person revoke 'Ann Lee'",
  );
  const people = () => import('../commands/person.ts');
  examples(
    command(person, 'add <name>', 'add a person and print their token, which is shown only once').action(
      ends(async (name: string, _: object, called: Command) => (await people()).personAdd(name, called.optsWithGlobals<Settings>())),
    ),
    "person add 'Ann Lee'",
  );
  examples(
    command(person, 'list', 'list everyone who has or had a token').action(
      ends(async (_: object, called: Command) => (await people()).personList(called.optsWithGlobals<Settings>())),
    ),
    'person list',
  );
  examples(
    command(person, 'revoke <name>', 'revoke a token; earlier decisions stand').action(
      ends(async (name: string, _: object, called: Command) => (await people()).personRevoke(name, called.optsWithGlobals<Settings>())),
    ),
    "person revoke 'Ann Lee'",
  );

  examples(
    command(program, 'move', 'move the ledger to another server or database while work continues; run it again if it was interrupted')
      .summary('move the ledger to another server while work continues')
      .addOption(new Option('--to <url>', "the target database; a direct address, not a pooler's").env('WORK_LEDGER_MOVE_TO'))
      .option('--fetch-from <url>', "address of the ledger's database as seen from the target server (default: the address used here)")
      .option('--pause <command>', "command to run before writes are refused, such as a pooler's PAUSE")
      .option('--switch <command>', 'command to run once the target accepts writes: redirects the clients')
      .option('--resume <command>', "command to run after that, or after a failed move, such as a pooler's RESUME")
      .option('--compare-later', 'open the target first and compare rows afterwards: a shorter pause for millions of rows')
      .option('--undo', 'undo an unfinished move; omit --to if the target server is gone for good')
      .action(ends(async (options: MoveOptions) => (await import('../commands/move.ts')).move(options))),
    'move --to postgresql://owner@db2.example/app',
    'move --to postgresql://owner@db2.example/app --undo',
  );
}
