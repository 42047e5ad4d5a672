// The input of a tool that was described by a JSON Schema.

import { z } from 'zod';

import { schemaErrors, UNUSABLE } from '../../plv8/jsonSchema.ts';

/**
 * Accepts what fits a JSON Schema, unchanged. `isCheckedAgain`: whoever gets the input checks it, too, so that a schema that cannot be used
 * here refuses nothing.
 */
export const fitting = (schema: object, { isCheckedAgain = false } = {}): z.ZodType =>
  z.unknown().superRefine((input, context) => {
    for (const message of schemaErrors(schema, input)) {
      if (!isCheckedAgain || !message.startsWith(UNUSABLE)) context.addIssue({ code: 'custom', message });
    }
  });
