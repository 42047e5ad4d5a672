// What tools did, written down where no transaction of the ledger reaches: a line in a file when a call begins to act and one when it has
// acted.

import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import type { Tool } from '../../runtime/tools/tool.ts';

/** The tool, and each of its runs in the file. */
export const recorded = (tool: Tool, file: string): Tool => ({
  ...tool,
  execute: async (input, context) => {
    const note = (what: string): void => appendFileSync(file, `${what} ${context.toolCallId} ${tool.effect} ${tool.name}\n`);
    note('began');
    const outcome = await tool.execute(input, context);
    note('ended');
    return outcome;
  },
});

/** How often the call of a tool began to act and had acted. */
export type Effect = { began: number; ended: number; effect: string };

/** By the id of the call. */
export async function effectsIn(file: string): Promise<Map<string, Effect>> {
  const found = new Map<string, Effect>();
  for (const line of (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean)) {
    const [what, id = '', effect = ''] = line.split(' ');
    const one = found.get(id) ?? { began: 0, ended: 0, effect };
    one[what === 'began' ? 'began' : 'ended']++;
    found.set(id, one);
  }
  return found;
}
