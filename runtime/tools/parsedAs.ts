// Checks the settings of tools, which people write.

import { z } from 'zod';

import { UsageError } from '../ledger/errors.ts';

/** The settings in the schema's form. Throws UsageError with everything that is wrong in them. */
export function parsedAs<T>(schema: z.ZodType<T>, document: unknown): T {
  const { data, error } = schema.safeParse(document);
  if (error) throw new UsageError(z.prettifyError(error));
  return data;
}
