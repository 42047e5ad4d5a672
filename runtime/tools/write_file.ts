// write_file: creates or replaces a whole file in one step; it replaces only the version that existed when the call began.

import { z } from 'zod';

import { defineTool, ok } from './tool.ts';
import { inWorkspace } from './workspace.ts';

export const writeFile = defineTool({
  name: 'write_file',
  description:
    'Write a file in the workspace, replacing the content that it has when the call begins; fails if someone else changes it in the meantime. Missing directories are created.',
  input: z.strictObject({
    path: z.string().min(1).describe('Path of the file, relative to the workspace.'),
    content: z.string().describe('The whole new content.'),
  }),
  effect: 'idempotent',
  risk: 'moderate',
  source: 'none',
  execute: (input, context) =>
    inWorkspace(context, async (workspace) => {
      await workspace.writeFile(input.path, input.content, await workspace.hashFile(input.path));
      return ok(`Wrote ${Buffer.byteLength(input.content)} bytes to ${input.path}.`);
    }),
});
