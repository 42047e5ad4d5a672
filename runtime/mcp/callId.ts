// What a call of an MCP client is known by in the ledger, so that one that comes again is done once.

import { createHash, randomUUID } from 'node:crypto';

/** What a request says beside its parameters. */
export type Meta = Readonly<Record<string, unknown>> | undefined;

/** The id of a call as Claude Code and its SDK tell it to servers, which is the one that hooks are told. */
export const CALL = 'claudecode/toolUseId';

/**
 * The protocol has no id that outlives a connection: those of its requests begin anew with each. Where the client names the call, the same
 * call with the same input is one call, whatever brings it again; where it does not, each request is a call of its own.
 */
export function callIdOf(workItemId: string, name: string, input: object, meta: Meta): string {
  const id = meta?.[CALL];
  if (typeof id !== 'string' || id === '') return randomUUID();
  const hash = createHash('sha256')
    .update(JSON.stringify([workItemId, id, name, input]))
    .digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
