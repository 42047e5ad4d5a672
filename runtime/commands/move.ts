// `work-ledger move`: moves the ledger to another server, or undoes that while the move is not final.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import type { Settings } from '../config.ts';
import { findLedger } from '../install/findLedger.ts';
import { checkAddress } from '../ledger/checkAddress.ts';
import { passwordsOf } from '../ledger/address.ts';
import { messageOf, UsageError } from '../ledger/errors.ts';
import { moveLedger, standsAt, undoMove } from '../move/moveLedger.ts';
import type { MoveOrder } from '../move/moveLedger.ts';
import { keepSecret } from '../secrets/known.ts';
import { exit, note, print, StatusLine } from './output.ts';
import { stoppable } from './stoppable.ts';

export type MoveOptions = Settings & {
  to?: string;
  fetchFrom?: string;
  pause?: string;
  switch?: string;
  resume?: string;
  compareLater?: boolean;
  undo?: boolean;
};

export async function move(options: MoveOptions): Promise<number> {
  const { to, undo = false } = options;
  if (to === undefined && !undo) throw new UsageError('--to is required: the database to move the ledger to');
  for (const address of [to, options.fetchFrom]) if (address !== undefined) checkAddress(address);
  const { url: source, schema } = await findLedger(options);
  const fetchFrom = options.fetchFrom ?? source;
  for (const url of [source, to ?? '', fetchFrom]) passwordsOf(url).forEach(keepSecret);
  const resume = typed('--resume', options.resume);
  if (undo) {
    const isUndone = await undoMove({ source, schema, target: to ?? null, resume });
    print(
      { isUndone },
      isUndone ? 'the move is undone: this ledger is written as before' : 'there is no move to undo',
      options.json ?? false,
    );
    return exit.ok;
  }
  return stoppable((stopped) =>
    carried(
      {
        source,
        target: to ?? '',
        schema,
        fetchFrom,
        pause: typed('--pause', options.pause),
        switchAddress: typed('--switch', options.switch),
        resume,
        comparesLater: options.compareLater ?? false,
        stopped,
      },
      options.json ?? false,
    ),
  );
}

async function carried(order: Omit<MoveOrder, 'say' | 'progress'>, isJson: boolean): Promise<number> {
  const status = new StatusLine();
  const say = (text: string): void => {
    status.clear();
    note(text);
  };
  order.stopped.addEventListener('abort', () => say('stopping at the next safe point; Ctrl-C again stops at once'));
  try {
    const moved = await moveLedger({ ...order, say, progress: (text) => status.step(text) }).finally(() => status.clear());
    print(
      moved,
      `moved to ${moved.to}${moved.rows === null ? '' : `: ${moved.rows} rows, the same at both; nobody could write for ${moved.seconds} s`}`,
      isJson,
    );
    return exit.ok;
  } catch (error) {
    if (!order.stopped.aborted) throw error;
    // If Ctrl-C also ended a command of the user's, that command's error says why the move failed.
    if (error !== order.stopped.reason) note(messageOf(error));
    note(`stopped; nothing is lost, ${await standsAt(order)}`);
    return exit.interrupted;
  }
}

/** Runs a command of the user's in a shell; its output goes to stderr. */
const typed = (option: string, command: string | undefined) => async (): Promise<void> => {
  if (command === undefined) return;
  const [code] = (await once(spawn('sh', ['-c', command], { stdio: ['ignore', 2, 2] }), 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the ${option} command exited with ${code ?? 'a signal'}`);
};
