// Validates the input of a tool that is described by a JSON Schema.

import { z } from 'zod';

import { schemaErrors, UNUSABLE } from '../../plv8/jsonSchema.ts';

/**
 * Accepts whatever matches a JSON Schema, unchanged. `isCheckedAgain`: the receiver validates the input too, so a schema that cannot be
 * used here rejects nothing.
 */
export const fitting = (schema: object, { isCheckedAgain = false } = {}): z.ZodType =>
  z.unknown().superRefine((input, context) => {
    for (const message of schemaErrors(schema, input)) {
      if (!isCheckedAgain || !message.startsWith(UNUSABLE)) context.addIssue({ code: 'custom', message });
    }
  });
