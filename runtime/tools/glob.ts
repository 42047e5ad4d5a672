// glob: lists the files of the workspace that match a pattern.

import { posix } from 'node:path';

import { z } from 'zod';

import { globProblem, patternsModule } from './patterns.ts';
import { MAX_MILLISECONDS, Thread, TooSlow } from './thread.ts';
import { defineTool, failed, ok } from './tool.ts';
import { inWorkspace } from './workspace.ts';

const MAX_FILES = 1000;

/** The tool with a different time limit for its pattern. */
export const globWithin = (milliseconds: number) =>
  defineTool({
    name: 'glob',
    description:
      'Find files in the workspace by a pattern such as **/*.ts, newest first. .git and node_modules are left out unless the pattern names them.',
    input: z.strictObject({
      pattern: z.string().min(1).describe('Glob pattern, relative to path.'),
      path: z.string().min(1).default('.').describe('Directory to search in. Default: the workspace.'),
    }),
    effect: 'pure',
    risk: 'safe',
    source: 'file',
    execute: (input, context) =>
      inWorkspace(context, async (workspace) => {
        const prefix = posix.relative(workspace.root, posix.resolve(workspace.root, input.path));
        const problem = globProblem(input.pattern);
        if (problem !== null) return failed(problem);
        const files = new Map<string, { path: string; modifiedMs: number }>();
        for await (const file of workspace.files(input.path, { isEverything: namesHidden(input.pattern), signal: context.signal })) {
          files.set(prefix === '' || !file.path.startsWith(`${prefix}/`) ? file.path : file.path.slice(prefix.length + 1), file);
        }
        const matching = await matchingPaths([...files.keys()], input.pattern, milliseconds);
        if (matching === null) return failed('the glob pattern takes too long: make it simpler');
        const found = matching.map((path) => files.get(path)!);
        if (found.length === 0) return { ...ok('No files match.'), value: [] };
        const sorted = found.toSorted((a, b) => b.modifiedMs - a.modifiedMs || (a.path < b.path ? -1 : 1));
        const more = sorted.length > MAX_FILES ? `\n[${sorted.length - MAX_FILES} more]` : '';
        return {
          ...ok(
            sorted
              .slice(0, MAX_FILES)
              .map((file) => file.path)
              .join('\n') + more,
          ),
          value: sorted.map((file) => file.path),
        };
      }),
  });

export const glob = globWithin(MAX_MILLISECONDS);

export const namesHidden = (pattern: string): boolean => /(^|\/)(\.git|node_modules)(\/|$)/.test(pattern);

/** The paths that match a glob pattern; null if matching takes too long. */
export async function matchingPaths(paths: readonly string[], pattern: string, milliseconds: number): Promise<string[] | null> {
  let thread: Thread<readonly string[], string[]> | undefined;
  try {
    thread = await Thread.start(patternsModule, 'globMatcher', pattern, milliseconds);
    return await thread.ask(paths);
  } catch (error) {
    if (error instanceof TooSlow) return null;
    throw error;
  } finally {
    await thread?.end();
  }
}
