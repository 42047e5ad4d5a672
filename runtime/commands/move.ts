// `work-ledger move`: takes the ledger to another server, or takes that back while it is not over.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

import type { Settings } from '../config.ts';
import { checkAddress, findLedger } from '../install/findLedger.ts';
import { passwordsOf } from '../ledger/address.ts';
import { UsageError } from '../ledger/errors.ts';
import { moveLedger, undoMove } from '../move/moveLedger.ts';
import { keepSecret } from '../secrets/known.ts';
import { exit, note, print, StatusLine } from './output.ts';

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
  if (to === undefined && !undo) throw new UsageError('--to names the database that the ledger is moved to');
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
  const status = new StatusLine();
  const say = (text: string): void => {
    status.clear();
    note(text);
  };
  const moved = await moveLedger({
    source,
    target: to ?? '',
    schema,
    fetchFrom,
    pause: typed('--pause', options.pause),
    switchAddress: typed('--switch', options.switch),
    resume,
    comparesLater: options.compareLater ?? false,
    say,
    progress: (text) => status.step(text),
  }).finally(() => status.clear());
  print(
    moved,
    `moved to ${moved.to}${moved.rows === null ? '' : `: ${moved.rows} rows, the same at both; nobody could write for ${moved.seconds} s`}`,
    options.json ?? false,
  );
  return exit.ok;
}

/** A command of the user's, in a shell; what it prints goes to stderr. */
const typed = (option: string, command: string | undefined) => async (): Promise<void> => {
  if (command === undefined) return;
  const [code] = (await once(spawn('sh', ['-c', command], { stdio: ['ignore', 2, 2] }), 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the command of ${option} ended with ${code ?? 'a signal'}`);
};
