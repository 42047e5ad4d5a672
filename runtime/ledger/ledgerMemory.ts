// The notes of a project as the six handlers that betaMemoryTool() of Anthropic's SDK takes.

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

/** What betaMemoryTool() takes: MemoryToolHandlers. */
export type LedgerMemory = { [Name in keyof Commands]: (command: Commands[Name]) => Promise<string> };

/**
 * The notes of a project, which outlast work: `betaMemoryTool(client.memory({ project: 'github.com/acme/shop' }))`. `project`: any name
 * of it, see projectOf(); null: the notes of work that is in no project. `workItemId`, with its `lease` while it is driven: the item
 * for which the agent works, whose project then counts. What this agent was shown is remembered by the item, else by `reader`, a name of
 * your choice (default: a new one for each call of this function); what others change meanwhile it cannot write over. The message of a
 * LedgerError is what the model is to read.
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
        // The helper of the SDK tells the model the message alone: the ledger's own hint, which is for models, is in it.
        if (!(error instanceof LedgerError) || error.hint === '') throw error;
        throw new LedgerError(error.code, `${error.message}\n${error.hint}`, error.detail, error.hint);
      }),
    );
  return { view: run, create: run, str_replace: run, insert: run, delete: run, rename: run };
}
