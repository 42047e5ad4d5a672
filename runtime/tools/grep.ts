// grep: finds lines in the workspace that match a regular expression. Matching runs in a thread that can be ended, because some patterns
// would never finish.

import { z } from 'zod';

import type { Workspace } from '../../sandbox/workspace.ts';
import { matchingPaths, namesHidden } from './glob.ts';
import { globProblem, patternsModule } from './patterns.ts';
import type { Match } from './patterns.ts';
import { MAX_MILLISECONDS, Thread, TooSlow } from './thread.ts';
import { defineTool, failed, ok } from './tool.ts';
import { inWorkspace, isBinary, MAX_FILE_BYTES, textOf } from './workspace.ts';

const MAX_MATCHES = 200;
const MAX_LINE = 500;
const READ_AHEAD = 8;

const tooSlow = 'the pattern takes too long: make it simpler';

/** The tool with a different time limit for its patterns. */
export const grepWithin = (milliseconds: number) =>
  defineTool({
    name: 'grep',
    description: 'Find lines in the files of the workspace that match a regular expression. Returns path:line:content.',
    input: z.strictObject({
      pattern: z.string().min(1).describe('JavaScript regular expression, matched within lines.'),
      path: z.string().min(1).default('.').describe('File or directory to search in. Default: the workspace.'),
      glob: z.string().min(1).optional().describe('Only files that match this glob pattern.'),
    }),
    effect: 'pure',
    risk: 'safe',
    source: 'file',
    execute: (input, context) =>
      inWorkspace(context, async (workspace) => {
        const problem = input.glob === undefined ? null : globProblem(input.glob);
        if (problem !== null) return failed(problem);
        const max = context.isFromCode ? 10_000 : MAX_MATCHES;
        const found: Match[] = [];
        let matcher: Thread<{ path: string; text: string }, Match[]> | undefined;
        try {
          matcher = await Thread.start(patternsModule, 'lineMatcher', { pattern: input.pattern, max, maxLine: MAX_LINE }, milliseconds);
        } catch (error) {
          return failed(error instanceof TooSlow ? tooSlow : `the pattern is not a regular expression: ${(error as Error).message}`);
        }
        try {
          const files = await filesOf(workspace, input, milliseconds, context.signal);
          if (files === null) return failed('the glob pattern takes too long: make it simpler');
          for await (const { file, bytes } of contentsOf(workspace, files)) {
            if (!bytes || isBinary(bytes)) continue;
            found.push(...(await matcher.ask({ path: file, text: textOf(bytes) })));
            if (found.length >= max || context.signal.aborted) break;
          }
        } catch (error) {
          if (error instanceof TooSlow) return failed(tooSlow);
          throw error;
        } finally {
          await matcher.end();
        }
        if (found.length === 0) return { ...ok('No matches.'), value: [] };
        const lines = found.slice(0, max).map((match) => `${match.path}:${match.line}:${match.content}`);
        return {
          value: found.slice(0, max),
          ...ok(lines.join('\n') + (found.length >= max ? `\n[the first ${max} matches; narrow the search for others]` : '')),
        };
      }),
  });

export const grep = grepWithin(MAX_MILLISECONDS);

/** Reads a few files ahead, because a workspace may be slow to answer. */
async function* contentsOf(workspace: Workspace, files: readonly string[]): AsyncGenerator<{ file: string; bytes: Buffer | null }> {
  const ahead: { file: string; reading: Promise<Buffer | null> }[] = [];
  const next = async () => {
    const { file, reading } = ahead.shift()!;
    return { file, bytes: await reading };
  };
  for (const file of files) {
    ahead.push({ file, reading: workspace.readFile(file, MAX_FILE_BYTES).catch(() => null) });
    if (ahead.length >= READ_AHEAD) yield await next();
  }
  while (ahead.length > 0) yield await next();
}

/** Null if matching the glob pattern takes too long. */
async function filesOf(
  workspace: Workspace,
  input: { path: string; glob?: string | undefined },
  milliseconds: number,
  signal: AbortSignal,
): Promise<string[] | null> {
  const isFile = await workspace.readFile(input.path, MAX_FILE_BYTES).then(
    () => true,
    () => false,
  );
  if (isFile) return [input.path];
  const files: string[] = [];
  for await (const file of workspace.files(input.path, { isEverything: namesHidden(input.path), signal }))
    if (file.size <= MAX_FILE_BYTES) files.push(file.path);
  return input.glob === undefined ? files : matchingPaths(files, input.glob, milliseconds);
}
