// Registers a program's tools with the ledger, so that faculties may list them.

import { z } from 'zod';

import type { Db } from '../ledger/db.ts';
import type { Tool } from '../tools/tool.ts';

export async function registerTools(tools: readonly Tool[], db: Db): Promise<void> {
  for (const tool of tools) {
    const { $schema: _, ...inputSchema } = tool.inputSchema ?? z.toJSONSchema(tool.input, { io: 'input' });
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
