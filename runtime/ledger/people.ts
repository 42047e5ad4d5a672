// Who acts in a name of their own.

import { createHash } from 'node:crypto';

import { z } from 'zod';

import type { Calls } from './pool.ts';

const person = z.object({ name: z.string(), created_at: z.string(), revoked_at: z.string().nullable() });

export const people = ({ call, rows, once }: Calls) => ({
  /** Never repeated: the token of a first one would be lost. */
  personAdd: (name: string) => once.row('person_add', [name], z.object({ name: z.string(), token: z.string() })),

  personList: () => rows('person_list', [], person),

  personRevoke: (name: string) => call('person_revoke', [name], z.string()),

  /** Who these calls are by; null: nobody. */
  personCurrent: () => call('person_current', [], z.string().nullable()),
});

/** What is sent to the ledger for a token: statements may be logged there, and this opens no console. */
export const proofOf = (token: string): string => createHash('sha256').update(token).digest('hex');
