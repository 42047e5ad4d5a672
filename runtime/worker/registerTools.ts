// Registers a program's tools with the ledger, so that faculties may list them.

import { z } from 'zod';

import { isObject } from '../../plv8/isObject.ts';
import { executeCode } from '../focus/runCode.ts';
import type { Db } from '../ledger/db.ts';
import { messageOf, UsageError } from '../ledger/errors.ts';
import type { Tool } from '../tools/tool.ts';

export async function registerTools(tools: readonly Tool[], db: Db): Promise<void> {
  for (const tool of tools) {
    // The database keeps the names of its own abilities; this one is registered by the workers that have Docker, which run no other tool under it.
    if (tool.name === executeCode.name) throw new UsageError(`the tool "${tool.name}" belongs to Work Ledger: choose another name`);
    const { $schema: _, ...inputSchema } = tool.inputSchema ?? schemaOf(tool);
    await db.abilityRegister({
      name: tool.name,
      description: tool.description,
      inputSchema,
      effect: tool.effect,
      risk: tool.risk,
      source: tool.source,
      touches: tool.touches,
    });
  }
}

function schemaOf({ name, input }: Tool): Record<string, unknown> {
  if (!isObject(input) || !('_zod' in input)) throw new UsageError(`the input of the tool "${name}" must be a schema of zod 4`);
  try {
    return z.toJSONSchema(input as z.ZodType, { io: 'input' });
  } catch (error) {
    throw new UsageError(`the input of the tool "${name}" has no JSON Schema that a model could be shown: ${messageOf(error)}`);
  }
}
