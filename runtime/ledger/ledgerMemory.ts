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
 * your choice (default: a new one for each call of this function); what others change meanwhile it cannot write over. An error's message
 * is what the model is to read.
 */
export function ledgerMemory(
  db: Pick<Db, 'notes'>,
  options: { project: string | null; reader?: string } | { workItemId: string; lease?: string },
): LedgerMemory {
  const hand: MemoryHand =
    'workItemId' in options
      ? { project: null, workItemId: options.workItemId, lease: options.lease ?? null, reader: null }
      : { project: options.project, workItemId: null, lease: null, reader: options.reader ?? randomUUID() };
  const run = async (command: object): Promise<string> => {
    try {
      return await db.notes.command(command, hand, randomUUID());
    } catch (error) {
      // The helper of the SDK tells the model the message alone.
      throw error instanceof LedgerError && error.hint ? new Error(`${error.message}\n${error.hint}`, { cause: error }) : error;
    }
  };
  return { view: run, create: run, str_replace: run, insert: run, delete: run, rename: run };
}
