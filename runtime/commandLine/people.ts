// What people say to work that is under way.

import type { Command } from 'commander';

import type { Settings } from '../config.ts';
import { command, ends, examples, reads } from './program.ts';

const items = () => import('../commands/items.ts');
const approvals = () => import('../commands/approvals.ts');

export function peopleCommands(program: Command): void {
  program.commandsGroup('Take part:');

  examples(
    command(program, 'message <id> <text>', 'say something to the agent of a work item, with its next request')
      .option('--interrupt', 'now: break off what is under way')
      .action(
        ends(async (id: string, text: string, options: Settings & { interrupt?: boolean }) => (await items()).message(id, text, options)),
      ),
    "message ID 'Leave the tests as they are'",
    "message ID 'Stop: that is the wrong table' --interrupt",
  );

  examples(
    reads(
      command(
        program,
        'approve [call]',
        'let a tool call run: shows its arguments and asks; without a call, lists those that wait for a person',
      ).summary('let a tool call run; without a call, list those that wait'),
    )
      .option(
        '--hash <hash>',
        'the hash of the arguments that you looked at, as "approve" without a call prints it; required where nobody can be asked',
      )
      .action(
        ends(async (call: string | undefined, options: Settings & { hash?: string }) =>
          call === undefined ? (await approvals()).approvals(options) : (await approvals()).approve(call, options),
        ),
      ),
    'approve',
    'approve CALL',
    'approve CALL --hash 3f9a1c02d4e5f607',
  );

  examples(
    command(program, 'reject <call>', 'refuse a tool call, whatever its arguments; the model is told')
      .option('--reason <text>', 'why')
      .action(ends(async (call: string, options: Settings & { reason?: string }) => (await approvals()).reject(call, options))),
    "reject CALL --reason 'not on a Friday'",
  );

  examples(
    command(program, 'pause <id>', 'pause a work item when its iteration is over')
      .option('--reason <text>', 'why')
      .action(ends(async (id: string, options: Settings & { reason?: string }) => (await items()).pause(id, options))),
    "pause ID --reason 'until the freeze is over'",
  );

  examples(
    command(program, 'resume <id>', 'let a paused work item go on').action(
      ends(async (id: string, options: Settings) => (await items()).resume(id, options)),
    ),
    'resume ID',
  );

  examples(
    command(program, 'cancel <id>', 'cancel a work item and everything below it')
      .option('--reason <text>', 'why')
      .action(ends(async (id: string, options: Settings & { reason?: string }) => (await items()).cancel(id, options))),
    "cancel ID --reason 'no longer needed'",
  );

  examples(
    command(program, 'budget <id> [resource=amount...]', 'show or set what a work item and everything below it may use').action(
      ends(async (id: string, amounts: string[], options: Settings) => (await items()).budget(id, amounts, options)),
    ),
    'budget ID',
    'budget ID tokens=500000 money=5',
  );

  examples(
    command(
      program,
      'fork <turn> [text]',
      "continue from a turn on a new branch, and print the new work item's id; the text is said to it first",
    )
      .summary('continue from a turn on a new branch')
      .option('--faculty <name>', 'another faculty')
      .action(
        ends(async (turn: string, text: string | undefined, options: Settings & { faculty?: string }) =>
          (await items()).fork(turn, text, options),
        ),
      ),
    "fork TURN 'Try it with an index instead' --faculty engineer",
  );
}
