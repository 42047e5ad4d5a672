// read_file: returns a file's lines, or some of them, or an image.

import { z } from 'zod';

import { imageOf, imageTypeOf } from './image.ts';
import { defineTool, failed, ok } from './tool.ts';
import type { ToolImage, ToolOutcome } from './tool.ts';
import { inWorkspace, MAX_FILE_BYTES, MAX_RESULT_CHARS, textOf } from './workspace.ts';

export const readFile = defineTool({
  name: 'read_file',
  description:
    'Read a file in the workspace. Returns its lines or, with offset and limit, a part of them. A PNG, JPEG, GIF or WebP file is shown as an image.',
  input: z.strictObject({
    path: z.string().min(1).describe('Path of the file, relative to the workspace.'),
    offset: z.int().min(0).default(0).describe('Lines to skip at the beginning. Default: 0.'),
    limit: z.int().min(1).optional().describe('Number of lines to return. Default: all.'),
  }),
  effect: 'pure',
  risk: 'safe',
  source: 'file',
  execute: (input, context) =>
    inWorkspace(context, async (workspace) => {
      const bytes = await workspace.readFile(input.path, MAX_FILE_BYTES);
      const imageType = imageTypeOf(bytes);
      if (imageType !== null) return showImage(input.path, imageType, bytes);
      const lines = textOf(bytes).split('\n');
      if (lines.at(-1) === '') lines.pop();
      const wanted = lines.slice(input.offset, input.limit === undefined ? undefined : input.offset + input.limit);
      let shown = wanted.length;
      for (let chars = wanted.reduce((sum, line) => sum + line.length + 1, 0); chars > MAX_RESULT_CHARS && shown > 1;) {
        chars -= (wanted[--shown]?.length ?? 0) + 1;
      }
      const whole = wanted.slice(0, shown).join('\n'); // longer only if it is one line
      const left = whole.length - MAX_RESULT_CHARS;
      const text = left > 0 ? `${whole.slice(0, MAX_RESULT_CHARS)}\n[line ${input.offset + 1} has ${left} more characters]` : whole;
      const next = input.offset + shown;
      const value = input.offset === 0 && input.limit === undefined ? textOf(bytes) : wanted.join('\n');
      if (lines.length === 0) return { ...ok('[the file is empty]'), value };
      if (shown === 0) return { ...ok(`[the file has only ${lines.length} lines]`), value };
      return {
        value,
        ...ok(next < lines.length ? `${text}\n[lines ${input.offset + 1} to ${next} of ${lines.length}; go on with offset ${next}]` : text),
      };
    }),
});

function showImage(path: string, mediaType: ToolImage['media_type'], bytes: Buffer): ToolOutcome {
  const image = imageOf(mediaType, bytes);
  if (image === null) return failed(`${path} is too large an image to view: ${bytes.length} bytes`);
  return { ...ok(`${path}: ${mediaType}, ${bytes.length} bytes`), images: [image] };
}
