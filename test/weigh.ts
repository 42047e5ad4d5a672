// A tool of a program, for runs that need one.

import { defineTool, ok } from '../runtime/index.ts';
import { z } from 'zod';

export const weigh = defineTool({
  name: 'weigh',
  description: 'Weighs a thing.',
  input: z.object({ thing: z.string() }),
  effect: 'pure',
  risk: 'safe',
  execute: async ({ thing }) => ok(`${thing} weighs 3 kg`),
});
