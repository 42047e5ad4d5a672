// What people say to running work.

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
  program.commandsGroup('Take part:');

  examples(
    command(program, 'message <id> <text>', 'say something to the agent of a work item, with its next request')
      .option('--interrupt', 'now: break off what it is doing')
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
    reads(
      command(
        program,
        'claims [id] [key]',
        'what agents and sessions are at now, for others to keep off; with a work item and a key, take that claim away: its agent is told',
      ).summary('what agents are at; with a work item and a key, take that away'),
    )
      .option('--reason <text>', 'why it is taken away')
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
    command(program, 'pause <id>', 'pause a work item when its iteration is over')
      .option('--reason <text>', 'why')
      .action(ends(async (id: string, options: Settings & { reason?: string }) => (await items()).pause(id, options))),
    "pause ID --reason 'until the freeze is over'",
  );

  examples(
    command(
      program,
      'resume <id>',
      'let a paused work item go on; with --in: continue any session in another program, which it is written for',
    )
      .summary('let a paused work item go on, or any session in another program')
      .addOption(
        new Option('--in <program>', 'where it goes on; work-ledger: as a fork. ID is then a work item, a session or a turn').choices([
          'claude-code',
          'codex',
          'work-ledger',
        ]),
      )
      .option('--workspace <dir>', 'with --in: the directory in which it goes on (default: where it worked, else this one)')
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
    command(program, 'cancel <id>', 'cancel a work item and everything below it')
      .option('--reason <text>', 'why')
      .action(ends(async (id: string, options: Settings & { reason?: string }) => (await items()).cancel(id, options))),
    "cancel ID --reason 'no longer needed'",
  );

  examples(
    command(
      program,
      'budget [id] [resource=amount...]',
      'show or set what a work item and everything below it may use; without an id: what all work of a project or a faculty may use in a day (UTC)',
    )
      .summary('show or set what a work item, a project or a faculty may use')
      .option('--project <name>', 'of this project, a day; resource=none: no limit any more')
      .option('--faculty <name>', "of this faculty, a day; a project's: NAME@PROJECT")
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

  goOnCommands(program);
}

/** Finished work goes on in a new item. */
function goOnCommands(program: Command): void {
  const key = '--idempotency-key <key>';
  const once = 'the same command repeated with it prints the same id';
  examples(
    command(program, 'continue <id> <text>', "go on with completed work: the text is said to it next; prints the new work item's id")
      .summary('go on with completed work, with a message')
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
      "go on where failed, dead or cancelled work ended; the text is said to it first; prints the new work item's id",
    )
      .summary('go on where failed, dead or cancelled work ended')
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

/** `usage`: name and arguments; `act`: with those that were typed. */
type OneOfNotes = (
  usage: string,
  says: string,
  act: (options: MemoryOptions, ...typed: (string | undefined)[]) => Promise<number>,
) => Command;

function memoryCommands(program: Command): void {
  const group = examples(
    command(program, 'memory', 'the notes of a project, which outlast work: read, edit, go back, pin, erase')
      .summary('read and edit the notes of a project')
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
    reads(
      one('list', 'list the notes: version, bytes, when it was changed, path, by whom', async (options) => (await memory()).list(options)),
    ),
    'memory list',
    "memory list --project ''",
  );
  examples(
    reads(one('show <path>', 'print a note', async (options, path) => (await memory()).show(path, options))),
    'memory show style.md',
  );
  examples(
    reads(
      one('history <path>', 'list the versions of a note, the newest first: who wrote it, when and why', async (options, path) =>
        (await memory()).history(path, options),
      ),
    ),
    'memory history style.md',
  );
  examples(
    reads(
      one('suggest', 'list what several agents were told of and no note quotes: it might become one', async (options) =>
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
      'edit a note by $EDITOR, or replace it by what comes in by stdin; refused if somebody else changes it meanwhile',
      async (options, path) => (await memory()).edit(path, options),
    )
      .option('--why <text>', 'stands in its history')
      .option('--replaces <version>', 'the version that the text on stdin was made from', integer),
    'memory edit style.md',
    "memory edit style.md --why 'tabs everywhere'",
    'memory edit style.md --replaces 3 < style.md',
  );
  examples(
    one(
      'rollback <path> <version>',
      'give a note the words of an earlier version, also one that was deleted',
      async (options, path, version) => (await memory()).rollback(path, version, options),
    ).option('--why <text>', 'stands in its history'),
    'memory rollback style.md 3',
  );
  examples(
    one('pin <path>', 'show a note in the first message of each agent and session of the project', async (options, path) =>
      (await memory()).pin(path, true, options),
    ),
    'memory pin style.md',
  );
  examples(
    one('unpin <path>', 'show it there no longer', async (options, path) => (await memory()).pin(path, false, options)),
    'memory unpin style.md',
  );
  examples(
    one('erase <path>', 'erase the words of a note for good, of all its versions', async (options, path) =>
      (await memory()).erase(path, options),
    )
      .option('--reason <text>', 'why; it stays')
      .option('--keep-newest', 'only those of earlier versions'),
    "memory erase clients.md --reason 'asked for by Anna'",
  );
}
