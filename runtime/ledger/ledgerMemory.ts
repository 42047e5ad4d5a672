// The notes of a project as the six handlers that betaMemoryTool() of Anthropic's SDK expects.

import { randomUUID } from 'node:crypto';

import type { Db } from './db.ts';
import { LedgerError } from './errors.ts';
import type { MemoryHand } from './notes.ts';

type Commands = {
  view: { command: 'view'; path: string; view_range?: number[] };
  create: { command: 'create'; path: string; file_text: string };
  str_replace: { command: 'str_replace'; path: string; old_str: string; new_str: string };
  insert: { command: 'insert'; path: string; insert_line: number; insert_text: string };
  delete: { command: 'delete'; path: string };
  rename: { command: 'rename'; old_path: string; new_path: string };
};

/** The handlers that betaMemoryTool() expects: MemoryToolHandlers. */
export type LedgerMemory = { [Name in keyof Commands]: (command: Commands[Name]) => Promise<string> };

/**
 * The notes of a project, which outlive its work: `betaMemoryTool(client.memory({ project: 'github.com/acme/shop' }))`. `project`: any of
 * its names, see projectOf(); null: the notes of work that belongs to no project. `workItemId`: the item for which the agent works, whose
 * project then applies; with its `lease` while a worker drives it. What this agent was shown is remembered by the item, or else by
 * `reader`, a name of your choice (default: a new one for each call of this function), so that it cannot overwrite what others change
 * meanwhile. The message of a LedgerError is meant for the model.
 */
export function ledgerMemory(
  ask: (use: (db: Pick<Db, 'notes'>) => Promise<string>) => Promise<string>,
  options: { project: string | null; reader?: string } | { workItemId: string; lease?: string },
): LedgerMemory {
  const hand: MemoryHand =
    'workItemId' in options
      ? { project: null, workItemId: options.workItemId, lease: options.lease ?? null, reader: null }
      : { project: options.project, workItemId: null, lease: null, reader: options.reader ?? randomUUID() };
  const run = (command: object): Promise<string> =>
    ask((db) =>
      db.notes.command(command, hand, randomUUID()).catch((error: unknown) => {
        // The SDK's helper passes only the message to the model, so the ledger's hint, which is written for models, is added to it.
        if (!(error instanceof LedgerError) || error.hint === '') throw error;
        throw new LedgerError(error.code, `${error.message}\n${error.hint}`, error.detail, error.hint);
      }),
    );
  return { view: run, create: run, str_replace: run, insert: run, delete: run, rename: run };
}
