// JSON Schema without eval, which a database does not allow: by zod, as the runtime checks the input of tools.

import { config, fromJSONSchema } from 'zod';

config({ jitless: true });

/** Why a value does not fit a schema, each with the place in the value; empty: it fits. */
export function schemaErrors(schema: unknown, value: unknown): string[] {
  try {
    const result = fromJSONSchema(schema as Parameters<typeof fromJSONSchema>[0]).safeParse(value);
    return result.success ? [] : result.error.issues.map(({ path, message }) => (path.length === 0 ? message : `/${path.join('/')}: ${message}`));
  } catch (error) {
    // What an engine says of itself differs from engine to engine.
    return [(error as Error).constructor === Error ? `the schema cannot be used: ${(error as Error).message}` : 'the schema cannot be used'];
  }
}
