// Commands that show what the ledger holds and what it cost.

import { Option } from 'commander';
import type { Command } from 'commander';

import type { ConsoleSettings } from '../commands/console.ts';
import type { CostOptions } from '../commands/cost.ts';
import type { TopOptions } from '../commands/top/top.ts';
import type { TraceOptions } from '../commands/trace.ts';
import type { Settings } from '../config.ts';
import { entryTypes } from '../ledger/entryTypes.ts';
import { anywhere, command, consoleOptions, ends, examples, integer, reads } from './program.ts';

const items = () => import('../commands/items.ts');

export function lookCommands(program: Command): void {
  program.commandsGroup('Observe:');

  examples(
    consoleOptions(
      reads(
        command(program, 'console', 'watch and control the ledger in a browser; serves on 127.0.0.1 until interrupted').summary(
          'watch and control the ledger in a browser',
        ),
      ),
    ).action(ends(async (options: ConsoleSettings) => (await import('../commands/console.ts')).console(options))),
    'console',
    'console --read-only --port 0',
  );

  examples(
    reads(
      anywhere(
        command(
          program,
          'top',
          'watch running work in the terminal and control it: approve, reject, message, pause; q or Ctrl-C quits; without a terminal, print it once',
        ).summary('watch and control running work in the terminal'),
      ),
    ).action(ends(async (options: TopOptions) => (await import('../commands/top/top.ts')).top(options))),
    'top',
    'top --all',
  );

  const ledger = examples(
    reads(
      command(program, 'ledger', 'print the ledger of a work item, or write to one that no worker runs: append, retract, complete').summary(
        'print the ledger of a work item, or write to it',
      ),
    )
      .argument('<id>')
      .option('--type <type>', 'only entries of this type')
      .option('--last <n>', 'only the newest n', integer)
      .option('--formatted', 'formatted as models see it')
      .action(
        ends(async (id: string, options: Settings & { type?: string; last?: number; formatted?: boolean }) =>
          (await items()).ledger(id, options),
        ),
      ),
    'ledger ID --type finding',
    "ledger append ID finding 'The index is never used'",
  );

  examples(
    command(
      ledger,
      'append <id> <type> <content>',
      `add an entry (${entryTypes.join(', ')}) to the ledger of a work item that no worker runs; content - reads stdin`,
    ).action(
      ends(async (id: string, type: string, content: string, _: object, called: Command) =>
        (await items()).ledgerAppend(id, type, content, called.optsWithGlobals<Settings>()),
      ),
    ),
    "ledger append ID finding 'The index is never used'",
  );

  examples(
    command(
      ledger,
      'retract',
      'retract an entry: agents no longer see it, and those that were told of it are informed; it stays in the log',
    )
      .argument('<id>')
      .argument('<seq>', 'its number in the ledger', integer)
      .argument('<reason>')
      .action(
        ends(async (id: string, seq: number, reason: string, _: object, called: Command) =>
          (await items()).ledgerRetract(id, seq, reason, called.optsWithGlobals<Settings>()),
        ),
      ),
    "ledger retract ID 1 'It was the cache'",
  );

  examples(
    command(ledger, 'complete <id> <summary>', 'complete a work item that no worker runs')
      .option('--evidence <text...>', 'supporting evidence: ids of tool calls, handles of artifacts, or text')
      .option('--result <json>', 'result for programs; must match the schema of the item or its faculty')
      .action(
        ends(async (id: string, summary: string, _: object, called: Command) =>
          (await items()).complete(id, summary, called.optsWithGlobals<Settings & { evidence?: string[]; result?: string }>()),
        ),
      ),
    "ledger complete ID 'The index was never used; it is now' --evidence 'explain analyze: 12 ms'",
  );

  examples(
    reads(command(program, 'digest [id]', 'print what a work item is told about other work'))
      .option('--across', 'include the ledgers linked by ledger_link()')
      .action(ends(async (id: string | undefined, options: Settings & { across?: boolean }) => (await items()).digest(id, options))),
    'digest',
    'digest ID',
    'digest --across',
  );

  examples(
    reads(
      anywhere(
        command(program, 'cost [id]', "print the cost of this directory's project, or of a work item and all its descendants").summary(
          'print the cost of work',
        ),
      ),
    )
      .addOption(
        new Option('--by <grouping>', 'group by tree, item, child, project, faculty, model, day or cache').choices([
          'tree',
          'item',
          'child',
          'project',
          'faculty',
          'model',
          'day',
          'cache',
        ]),
      )
      .action(ends(async (id: string | undefined, options: CostOptions) => (await import('../commands/cost.ts')).cost(id, options))),
    'cost --by day',
    'cost ID',
  );

  examples(
    reads(
      command(
        program,
        'trace <id>',
        'show where the time of a work item and its descendants went, as a waterfall; --json prints its spans',
      ).summary('show where the time of a work item went, or export its spans'),
    )
      .option('--otlp <url>', 'export the spans to this OTLP endpoint (HTTP, protobuf)')
      .option('--because <id>', 'a turn or a tool call: list the parts of its request that the answer used, and their origin')
      .action(ends(async (id: string, options: TraceOptions) => (await import('../commands/trace.ts')).trace(id, options))),
    'trace ID',
    'trace ID --otlp http://localhost:4318',
  );

  examples(
    command(program, 'sql [query]', "start psql with the ledger's address and search path, or run one query")
      .summary('start psql on the ledger, or run one query')
      .action(ends(async (query: string | undefined, options: Settings) => (await import('../commands/psql.ts')).psql(query, options))),
    'sql',
    "sql 'select description, doing, why from v_now'",
  );
}
