// What the ledger holds, and what it cost.

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
  program.commandsGroup('Look:');

  examples(
    consoleOptions(
      reads(
        command(program, 'console', 'look at the ledger in a browser, live, and act: pages on 127.0.0.1 until a signal stops it').summary(
          'look at the ledger in a browser, live, and act',
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
          'look at running work in the terminal, live, and act: approve, refuse, message, pause; until q or Ctrl-C; without a terminal, once',
        ).summary('look at running work in the terminal, live, and act'),
      ),
    ).action(ends(async (options: TopOptions) => (await import('../commands/top/top.ts')).top(options))),
    'top',
    'top --all',
  );

  const ledger = examples(
    reads(
      command(
        program,
        'ledger',
        'print the ledger of a work item, or write to it by hand, where no worker does: append, retract, complete',
      ).summary('print the ledger of a work item, or write to it by hand'),
    )
      .argument('<id>')
      .option('--type <type>', 'entries of this type only')
      .option('--last <n>', 'the newest n only', integer)
      .option('--formatted', 'as the block that a model is given')
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
      `add an entry to the ledger of a work item that no worker drives: ${entryTypes.join(', ')}; content -: from stdin`,
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
      'take an entry back: agents no longer read it, and those that were told of it are told so; it stays in the log',
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
    command(ledger, 'complete <id> <summary>', 'complete a work item that no worker drives')
      .option('--evidence <text...>', 'what supports it: ids of tool calls, handles of artifacts, or words')
      .option('--result <json>', 'the answer for programs, which must fit the schema of the item or its faculty')
      .action(
        ends(async (id: string, summary: string, _: object, called: Command) =>
          (await items()).complete(id, summary, called.optsWithGlobals<Settings & { evidence?: string[]; result?: string }>()),
        ),
      ),
    "ledger complete ID 'The index was never used; it is now' --evidence 'explain analyze: 12 ms'",
  );

  examples(
    reads(command(program, 'digest [id]', 'print what a work item is told about everything else'))
      .option('--across', 'and what goes on in the ledgers that ledger_link() linked')
      .action(ends(async (id: string | undefined, options: Settings & { across?: boolean }) => (await items()).digest(id, options))),
    'digest',
    'digest ID',
    'digest --across',
  );

  examples(
    reads(
      anywhere(
        command(
          program,
          'cost [id]',
          "print what work cost: that of this directory's project, or a work item with everything below it",
        ).summary('print what work cost'),
      ),
    )
      .addOption(
        new Option('--by <grouping>', 'sums by: tree, item, child, project, faculty, model, day, cache').choices([
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
        'draw where the time of a work item and of everything below it went, from its rows, as a tree with bars; --json: its spans; or export them',
      ).summary('draw where the time of a work item went, or export its spans'),
    )
      .option('--otlp <url>', 'send them to this OTLP endpoint (HTTP, protobuf)')
      .option('--because <id>', 'of a turn, or of a call: what of its answer stands in its request, and where from')
      .action(ends(async (id: string, options: TraceOptions) => (await import('../commands/trace.ts')).trace(id, options))),
    'trace ID',
    'trace ID --otlp http://localhost:4318',
  );

  examples(
    command(program, 'sql [query]', "start psql with the ledger's address and search path: a session, or one query")
      .summary('start psql on the ledger: a session, or one query')
      .action(ends(async (query: string | undefined, options: Settings) => (await import('../commands/psql.ts')).psql(query, options))),
    'sql',
    "sql 'select description, doing, why from v_now'",
  );
}
