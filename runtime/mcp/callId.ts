// The id under which the ledger knows an MCP client's call, so that a call that arrives again is done only once.

import { createHash, randomUUID } from 'node:crypto';

/** The metadata of a request, besides its parameters. */
export type Meta = Readonly<Record<string, unknown>> | undefined;

/** The key under which Claude Code and its SDK send a call's id to servers; hooks get the same id. */
export const CALL = 'claudecode/toolUseId';

/**
 * The protocol has no id that outlives a connection: request ids start over with each. If the client names the call, the same id with the
 * same input is one call, however it arrives again; otherwise each request is a separate call.
 */
export function callIdOf(workItemId: string, name: string, input: object, meta: Meta): string {
  const id = meta?.[CALL];
  if (typeof id !== 'string' || id === '') return randomUUID();
  const hash = createHash('sha256')
    .update(JSON.stringify([workItemId, id, name, input]))
    .digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
