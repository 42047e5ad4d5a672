// read_file: a file's lines, or some of them.

import { z } from 'zod';

import { defineTool, ok } from './tool.ts';
import { inWorkspace, MAX_FILE_BYTES, MAX_RESULT_CHARS, textOf } from './workspace.ts';

export const readFile = defineTool({
  name: 'read_file',
  description: 'Read a text file of the workspace. Returns its lines; with offset and limit, a part of them.',
  input: z.strictObject({
    path: z.string().min(1).describe('Path of the file, relative to the workspace.'),
    offset: z.int().min(0).default(0).describe('Lines to skip at the beginning. Default: 0.'),
    limit: z.int().min(1).optional().describe('Number of lines to return. Default: all.'),
  }),
  effect: 'pure',
  risk: 'safe',
  execute: (input, context) =>
    inWorkspace(context, async (workspace) => {
      const lines = textOf(await workspace.readFile(input.path, MAX_FILE_BYTES)).split('\n');
      if (lines.at(-1) === '') lines.pop();
      const wanted = lines.slice(input.offset, input.limit === undefined ? undefined : input.offset + input.limit);
      let shown = wanted.length;
      for (let chars = wanted.reduce((sum, line) => sum + line.length + 1, 0); chars > MAX_RESULT_CHARS && shown > 1; ) {
        chars -= (wanted[--shown]?.length ?? 0) + 1;
      }
      const text = wanted.slice(0, shown).join('\n').slice(0, MAX_RESULT_CHARS);
      const next = input.offset + shown;
      if (lines.length === 0) return ok('[the file is empty]');
      if (shown === 0) return ok(`[the file has only ${lines.length} lines]`);
      return ok(next < lines.length ? `${text}\n[lines ${input.offset + 1} to ${next} of ${lines.length}; go on with offset ${next}]` : text);
    }),
});
