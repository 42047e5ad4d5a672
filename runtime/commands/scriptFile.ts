// Replies written by a person, to try a task without a model: a JSON list with one element for each answer of the model.
//
//   [
//     {"say": "I look first.", "calls": [{"name": "bash", "input": {"command": "ls"}}]},
//     {"calls": [{"name": "work_complete", "input": {"summary": "Looked."}}]}
//   ]
//
// The n-th request of a conversation gets the n-th reply, so that a repeated request gets the same one; after the last, "Done.".

import { readFileSync } from 'node:fs';

import { jsonOfFile } from '../jsonFile.ts';
import { UsageError } from '../ledger/errors.ts';
import { mistakeIn, plainReply, replies } from '../model/replies.ts';
import { scriptOf } from '../model/script.ts';
import type { Script } from '../model/script.ts';

/** Throws UsageError with the place of the first mistake. */
export function scriptFile(path: string): Script {
  let given: unknown;
  try {
    given = jsonOfFile(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') throw new UsageError(`${path} is a directory, not a file of replies`);
    if (error instanceof SyntaxError) throw new UsageError(`${path} is not JSON: ${error.message}`);
    throw error;
  }
  const { data, error } = replies.safeParse(given);
  if (!data) throw new UsageError(`${path}: ${mistakeIn(error)}`);
  return scriptOf(data.map(plainReply));
}
