// Commands with which people steer running work.

import { Option } from 'commander';
import type { Command } from 'commander';

import type { Harness } from '../commands/resume.ts';
import type { Settings } from '../config.ts';
import type { MemoryOptions } from '../commands/memory.ts';
import { command, ends, examples, integer, projectOption, reads } from './program.ts';

const items = () => import('../commands/items.ts');
const approvals = () => import('../commands/approvals.ts');
const claims = () => import('../commands/claims.ts');
const memory = () => import('../commands/memory.ts');

export function peopleCommands(program: Command): void {
  program.commandsGroup('Steer:');

  examples(
    command(program, 'message <id> <text>', 'send a message to the agent of a work item; it arrives with its next request')
      .option('--interrupt', 'deliver it now: abort the current model or tool call')
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
        'approve a tool call, after showing its arguments; without a call, list the calls that await approval',
      ).summary('approve a tool call; without a call, list those that await approval'),
    )
      .option(
        '--hash <hash>',
        'hash of the arguments you reviewed, as listed by "approve" without a call; required where nobody can be asked',
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
    command(program, 'reject <call>', 'reject a tool call; the model is told')
      .option('--reason <text>', 'why')
      .action(ends(async (call: string, options: Settings & { reason?: string }) => (await approvals()).reject(call, options))),
    "reject CALL --reason 'not on a Friday'",
  );

  examples(
    reads(
      command(
        program,
        'claims [id] [key]',
        'list what agents and sessions have claimed; with a work item and a key, revoke that claim: its agent is told',
      ).summary('list what agents have claimed; with a work item and a key, revoke a claim'),
    )
      .option('--reason <text>', 'why it is revoked')
      .action(
        ends(async (id: string | undefined, key: string | undefined, options: Settings & { reason?: string }) =>
          id === undefined ? (await claims()).claims(options) : (await claims()).breakClaim(id, key, options),
        ),
      ),
    'claims',
    "claims ID file:src/money.js --reason 'it is urgent'",
  );

  memoryCommands(program);

  examples(
    command(program, 'pause <id>', 'pause a work item after its current iteration')
      .option('--reason <text>', 'why')
      .action(ends(async (id: string, options: Settings & { reason?: string }) => (await items()).pause(id, options))),
    "pause ID --reason 'until the freeze is over'",
  );

  examples(
    command(program, 'resume <id>', 'resume a paused work item; with --in, continue any session in another program')
      .summary('resume a paused work item, or continue any session in another program')
      .addOption(
        new Option(
          '--in <program>',
          'the program to continue in (work-ledger: as a fork); ID may then be a work item, a session or a turn',
        ).choices(['claude-code', 'codex', 'work-ledger']),
      )
      .option('--workspace <dir>', 'with --in: the directory to continue in (default: the one it ran in, else this one)')
      .action(
        ends(async (id: string, { in: where, ...options }: Settings & { in?: Harness; workspace?: string }) =>
          where === undefined
            ? (await items()).resume(id, options)
            : (await import('../commands/resume.ts')).resumeIn(id, { ...options, in: where }),
        ),
      ),
    'resume ID',
    'resume ID --in claude-code',
  );

  examples(
    command(program, 'cancel <id>', 'cancel a work item and its descendants')
      .option('--reason <text>', 'why')
      .action(ends(async (id: string, options: Settings & { reason?: string }) => (await items()).cancel(id, options))),
    "cancel ID --reason 'no longer needed'",
  );

  examples(
    command(
      program,
      'budget [id] [resource=amount...]',
      'show or set the budget of a work item and its descendants; without an id, the daily budget (UTC) of a project or a faculty',
    )
      .summary('show or set the budget of a work item, a project or a faculty')
      .option('--project <name>', 'daily budget of this project; resource=none removes a limit')
      .option('--faculty <name>', 'daily budget of this faculty; within one project: NAME@PROJECT')
      .action(
        ends(async (id: string | undefined, amounts: string[], options: Settings & { project?: string; faculty?: string }) =>
          id === undefined || options.project !== undefined || options.faculty !== undefined
            ? (await items()).dailyBudget([...(id === undefined ? [] : [id]), ...amounts], options)
            : (await items()).budget(id, amounts, options),
        ),
      ),
    'budget ID',
    'budget ID tokens=500000 money=5',
    'budget --project github.com/acme/shop money=20',
  );

  examples(
    command(
      program,
      'fork <turn> [text]',
      "continue from a turn on a new branch, starting with the text as a message; prints the new work item's id",
    )
      .summary('continue from a turn on a new branch')
      .option('--faculty <name>', 'use another faculty')
      .action(
        ends(async (turn: string, text: string | undefined, options: Settings & { faculty?: string }) =>
          (await items()).fork(turn, text, options),
        ),
      ),
    "fork TURN 'Try it with an index instead' --faculty engineer",
  );

  goOnCommands(program);
}

/** Commands that continue finished work in a new item. */
function goOnCommands(program: Command): void {
  const key = '--idempotency-key <key>';
  const once = 'repeating the command with the same key returns the same item';
  examples(
    command(program, 'continue <id> <text>', "continue completed work with the text as the next message; prints the new work item's id")
      .summary('continue completed work with a message')
      .option(key, once)
      .action(
        ends(async (id: string, text: string, options: Settings & { idempotencyKey?: string }) => (await items()).goOn(id, text, options)),
      ),
    "continue ID 'And now the tests'",
  );

  examples(
    command(
      program,
      'retry <id> [text]',
      "continue where failed, dead or cancelled work ended, starting with the text as a message; prints the new work item's id",
    )
      .summary('continue where failed, dead or cancelled work ended')
      .option(key, once)
      .action(
        ends(async (id: string, text: string | undefined, options: Settings & { idempotencyKey?: string }) =>
          (await items()).retry(id, text, options),
        ),
      ),
    'retry ID',
    "retry ID 'The key works again'",
  );
}

/** `usage`: name and arguments; `act`: called with the arguments that were typed. */
type OneOfNotes = (
  usage: string,
  says: string,
  act: (options: MemoryOptions, ...typed: (string | undefined)[]) => Promise<number>,
) => Command;

function memoryCommands(program: Command): void {
  const group = examples(
    command(program, 'memory', 'manage the notes of a project, which outlive its work: read, edit, roll back, pin, erase')
      .summary('manage the notes of a project')
      .helpCommand(false),
    'memory list',
    'memory show style.md',
    'memory edit style.md',
    'memory pin style.md',
  );
  const one: OneOfNotes = (usage, says, act) =>
    command(group, usage, says)
      .addOption(projectOption())
      .action(
        ends(async (...given: unknown[]) => {
          const called = given.at(-1) as Command;
          return act(called.optsWithGlobals<MemoryOptions>(), ...(given.slice(0, -2) as (string | undefined)[]));
        }),
      );
  readNotes(one);
  writeNotes(one);
}

function readNotes(one: OneOfNotes): void {
  examples(
    reads(one('list', 'list the notes: version, bytes, last change, path, author', async (options) => (await memory()).list(options))),
    'memory list',
    "memory list --project ''",
  );
  examples(
    reads(one('show <path>', 'print a note', async (options, path) => (await memory()).show(path, options))),
    'memory show style.md',
  );
  examples(
    reads(
      one('history <path>', 'list the versions of a note, newest first: author, time, reason', async (options, path) =>
        (await memory()).history(path, options),
      ),
    ),
    'memory history style.md',
  );
  examples(
    reads(
      one('suggest', 'list findings that several agents were told of and no note covers yet', async (options) =>
        (await memory()).suggest(options),
      ),
    ),
    'memory suggest',
  );
}

function writeNotes(one: OneOfNotes): void {
  examples(
    one(
      'edit <path>',
      'edit a note in $EDITOR, or replace it with stdin; rejected if someone else changed it in the meantime',
      async (options, path) => (await memory()).edit(path, options),
    )
      .option('--why <text>', 'reason, kept in its history')
      .option('--replaces <version>', 'the version that the text on stdin is based on', integer),
    'memory edit style.md',
    "memory edit style.md --why 'tabs everywhere'",
    'memory edit style.md --replaces 3 < style.md',
  );
  examples(
    one('rollback <path> <version>', 'restore an earlier version of a note, even of a deleted one', async (options, path, version) =>
      (await memory()).rollback(path, version, options),
    ).option('--why <text>', 'reason, kept in its history'),
    'memory rollback style.md 3',
  );
  examples(
    one(
      'pin <path> [version]',
      'include a note in the first message to every agent and session of the project; rejected if the version you name is no longer the newest',
      async (options, path, version) => (await memory()).pin(path, true, options, version),
    ),
    'memory pin style.md',
    'memory pin style.md 3',
  );
  examples(
    one('unpin <path>', 'stop including a note there', async (options, path) => (await memory()).pin(path, false, options)),
    'memory unpin style.md',
  );
  examples(
    one('erase <path>', 'permanently erase the text of a note, in all its versions', async (options, path) =>
      (await memory()).erase(path, options),
    )
      .option('--reason <text>', 'why; kept after the erasure')
      .option('--keep-newest', 'erase only earlier versions'),
    "memory erase clients.md --reason 'asked for by Anna'",
  );
}
