// edit_file: replaces one passage of a file.

import { z } from 'zod';

import { hashOf } from '../../sandbox/workspace.ts';
import { defineTool, failed, ok } from './tool.ts';
import { inWorkspace, isBinary, MAX_FILE_BYTES } from './workspace.ts';

export const editFile = defineTool({
  name: 'edit_file',
  description:
    'Replace a passage of a file. old_string must occur exactly once, unless replace_all is true. Fails if someone else changes the file in the meantime.',
  input: z.strictObject({
    path: z.string().min(1).describe('Path of the file, relative to the workspace.'),
    old_string: z.string().min(1).describe('The passage to replace, exactly as it appears in the file.'),
    new_string: z.string().describe('The text to replace it with.'),
    replace_all: z.boolean().default(false).describe('Replace every occurrence. Default: false.'),
  }),
  effect: 'unsafe',
  risk: 'moderate',
  source: 'none',
  execute: (input, context) =>
    inWorkspace(context, async (workspace) => {
      const bytes = await workspace.readFile(input.path, MAX_FILE_BYTES);
      const text = bytes.toString('utf8');
      // A file that changes when decoded and encoded again would be damaged by writing it back.
      if (isBinary(bytes) || !Buffer.from(text).equals(bytes)) return failed(`${input.path} is not a text file in UTF-8`);
      const parts = text.split(input.old_string);
      const count = parts.length - 1;
      if (count === 0) {
        const isOnlyBreaks = input.old_string.includes('\n') && text.includes(input.old_string.replace(/\r?\n/g, '\r\n'));
        return failed(
          `old_string does not occur in ${input.path}; ${isOnlyBreaks ? 'lines of this file end with \\r\\n: write that in old_string and new_string' : 'read the file and copy the passage exactly'}`,
        );
      }
      if (count > 1 && !input.replace_all) {
        return failed(
          `old_string occurs ${count} times in ${input.path} (lines ${linesOf(parts.slice(0, Math.min(count, 20)), input.old_string).join(', ')}); make it longer, or set replace_all`,
        );
      }
      await workspace.writeFile(input.path, parts.join(input.new_string), hashOf(bytes));
      return ok(`Replaced ${count === 1 ? 'one occurrence' : `${count} occurrences`} in ${input.path}.`);
    }),
});

/** The lines on which a passage begins. `parts` is the file split at the passage. */
function linesOf(parts: readonly string[], passage: string): number[] {
  const breaksIn = (text: string): number => text.split('\n').length - 1;
  let line = 1;
  return parts.map((part, index) => (line += breaksIn(part) + (index > 0 ? breaksIn(passage) : 0)));
}
