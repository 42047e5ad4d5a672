// People who act under their own names.

import { createHash } from 'node:crypto';

import { z } from 'zod';

import type { Calls } from './pool.ts';

const person = z.object({ name: z.string(), created_at: z.string(), revoked_at: z.string().nullable() });

export const people = ({ call, rows, once }: Calls) => ({
  /** Never repeated: the token of the first call would be lost. */
  personAdd: (name: string) => once.row('person_add', [name], z.object({ name: z.string(), token: z.string() })),

  personList: () => rows('person_list', [], person),

  personRevoke: (name: string) => call('person_revoke', [name], z.string()),

  /** The person in whose name these calls are made; null: nobody. */
  personCurrent: () => call('person_current', [], z.string().nullable()),
});

/** What is sent to the ledger in place of a token: statements may be logged there, and this hash does not open a console. */
export const proofOf = (token: string): string => createHash('sha256').update(token).digest('hex');
