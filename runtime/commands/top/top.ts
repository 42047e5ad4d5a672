// `work-ledger top`: the console's page Now in a terminal, live, with keys for what a person decides there.

import type { ReadStream, WriteStream } from 'node:tty';

import { follow, Hints } from '../../console/events.ts';
import { errorWords } from '../../console/page.ts';
import { ITEMS, TREES, usedOf } from '../../console/pages/now.ts';
import { Pace, sharedLooks } from '../../console/streams.ts';
import type { Settings } from '../../config.ts';
import type { Db } from '../../ledger/db.ts';
import { io } from '../io.ts';
import { exit, note, print } from '../output.ts';
import { whereOf } from '../where.ts';
import type { Where } from '../where.ts';
import { soonOver } from '../stoppable.ts';
import { openReader, withLedger, withReader } from '../withLedger.ts';
import { Desk } from './desk.ts';
import { Screen } from './screen.ts';
import type { Key } from './screen.ts';
import { once } from './view.ts';
import type { Seen } from './view.ts';

export type TopOptions = Settings & Where;

/** Where to read, and where to write; null: nowhere. */
type Ledger = { read: Db; url: string; write: Db | null };

const QUEUED = 12;
/** No notification says that a waiting time is over, so everything is read again at this interval. */
const AGAIN_MS = 10_000;

/** `over` fires when a person ends it, or a signal; `code` is how it ends then. */
type Ending = { over: AbortController; code: number };

export function top(options: TopOptions): Promise<number> {
  const ending: Ending = { over: new AbortController(), code: exit.ok };
  return soonOver(opened(options, ending), ending.over.signal, () => ending.code);
}

function opened(options: TopOptions, ending: Ending): Promise<number> {
  // Without a terminal, or without a database to write to, no actions are possible.
  if (isOnce(options) || (options.readUrl && !options.databaseUrl))
    return withReader(options, (read, url) => shown({ read, url, write: null }, options, ending));
  return withLedger(options, async (write, url) => {
    const reader = await openReader(options, { db: write, url });
    try {
      return await shown({ read: reader.db, url: reader.url, write }, options, ending);
    } finally {
      if (reader.db !== write) await reader.db.close();
    }
  });
}

const isOnce = ({ json = false }: TopOptions): boolean => json || !io().stdin.isTTY || !io().stdout.isTTY;

async function shown(ledger: Ledger, options: TopOptions, ending: Ending): Promise<number> {
  const project = await whereOf(options);
  const { stdin, stdout } = io();
  if (isOnce(options)) {
    const seen = await readAll(ledger, project, 0);
    if (!options.json) note('top updates live in a terminal; this is a snapshot:');
    print({ under_way: seen.rows, queue: seen.queue }, once(seen, 120), options.json ?? false);
    return exit.ok;
  }
  return live(ledger, project, ending, stdin as ReadStream, stdout as WriteStream);
}

async function readAll({ read, write }: Ledger, project: string | null, skipped: number): Promise<Seen> {
  const [rows, queue, sums, used, shell] = await Promise.all([
    read.console.underWay({ project, trees: TREES, skipped, items: ITEMS }),
    read.console.queue(project, QUEUED),
    read.console.underWaySums(project),
    usedOf({ db: read, project }),
    read.console.shell(project),
  ]);
  const isReadOnly = write === null || (read === write && shell.is_read_only);
  return { project, isReadOnly, rows, queue, sums, approvals: shell.approvals, used, words: new Map(), skipped, problem: null };
}

/** Runs until q, ^C or a signal ends it. */
async function live(ledger: Ledger, project: string | null, ending: Ending, input: ReadStream, output: WriteStream): Promise<number> {
  const end = (as: number): void => {
    ending.code = as;
    ending.over.abort();
  };
  const interrupt = (): void => end(exit.interrupted);
  const readAgain = (): Promise<void> =>
    readAll(ledger, project, desk.skipped).then(
      (seen) => desk.see(seen),
      (error: unknown) => desk.fails(errorWords(error)),
    );
  const desk = new Desk(ledger, await readAll(ledger, project, 0), readAgain, () => draw());
  const screen = new Screen(input, output, (key: Key) => {
    if (key.isControl && key.name === 'c') return interrupt();
    if (key.isControl && key.name === 'z') return suspend(screen, () => draw());
    if (desk.press(key, screen) === 'quit') end(exit.ok);
  });
  const draw = (): void => screen.draw(desk.frame(screen.width, screen.height));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, interrupt);
  const onResize = (): void => draw();
  output.on('resize', onResize);
  const tick = setInterval(() => {
    desk.tick();
    draw();
  }, 250);
  screen.open();
  try {
    draw();
    await watch(ledger, project, desk, ending.over.signal, readAgain);
  } finally {
    clearInterval(tick);
    output.off('resize', onResize);
    for (const name of signals) process.off(name, interrupt);
    desk.decision.leave();
    screen.close();
  }
  return ending.code;
}

/** ^Z: gives the terminal to the shell until the program is resumed. */
function suspend(screen: Screen, draw: () => void): void {
  screen.close();
  process.once('SIGCONT', () => {
    screen.open();
    draw();
  });
  process.kill(process.pid, 'SIGTSTP');
}

/** Reads again what has changed, as an open page of the console does, and receives agents' text. */
async function watch(
  ledger: Ledger,
  project: string | null,
  desk: Desk,
  signal: AbortSignal,
  readAgain: () => Promise<void>,
): Promise<void> {
  const pace = new Pace();
  const { looks } = sharedLooks(ledger.read, pace);
  const hints = new Hints(ledger.url);
  const told = pace.forPage((part) => part);
  const page = {
    isReadOnly: ledger.write !== ledger.read,
    async versions() {
      const { underWay, queue, asks, workers } = await looks.console.ledgerInputs();
      const time = Math.floor(Date.now() / AGAIN_MS);
      return told([['top', JSON.stringify([underWay, queue, asks, workers, time])]]);
    },
    agents: async () =>
      (await looks.console.underWayAsked({ project, trees: TREES, skipped: desk.skipped, items: ITEMS })).map(({ id }) => id),
  };
  try {
    for await (const { event, data } of follow(page, looks, hints, signal)) {
      if (event === 'words') desk.hear(data as { item: string; text: string });
      else if (event === 'parts') await pace.read('top', readAgain);
      else desk.fails((data as { why?: string }).why ?? null);
    }
  } finally {
    await hints.close();
  }
}
