// glob: the files of the workspace that match a pattern.

import { matchesGlob } from 'node:path';

import { z } from 'zod';

import { defineTool, ok } from './tool.ts';
import { inWorkspace } from './workspace.ts';

const MAX_FILES = 1000;

export const glob = defineTool({
  name: 'glob',
  description: 'Find files of the workspace by pattern, such as **/*.ts; newest first. .git and node_modules are left out unless the pattern names them.',
  input: z.strictObject({
    pattern: z.string().min(1).describe('Glob pattern, relative to path.'),
    path: z.string().min(1).default('.').describe('Directory to search in. Default: the workspace.'),
  }),
  effect: 'pure',
  risk: 'safe',
  execute: (input, context) =>
    inWorkspace(context, async (workspace) => {
      const prefix = input.path.replace(/^\.\/?/, '').replace(/\/$/, '');
      const found: { path: string; modifiedMs: number }[] = [];
      for await (const file of workspace.files(input.path, { isEverything: namesHidden(input.pattern), signal: context.signal })) {
        const below = prefix === '' || !file.path.startsWith(`${prefix}/`) ? file.path : file.path.slice(prefix.length + 1);
        if (matches(below, input.pattern)) found.push(file);
      }
      if (found.length === 0) return { ...ok('No files match.'), value: [] };
      const sorted = found.toSorted((a, b) => b.modifiedMs - a.modifiedMs || (a.path < b.path ? -1 : 1));
      const more = sorted.length > MAX_FILES ? `\n[${sorted.length - MAX_FILES} more]` : '';
      return { ...ok(sorted.slice(0, MAX_FILES).map((file) => file.path).join('\n') + more), value: sorted.map((file) => file.path) };
    }),
});

export const namesHidden = (pattern: string): boolean => /(^|\/)(\.git|node_modules)(\/|$)/.test(pattern);

/** A pattern without a slash matches the name anywhere, as people expect. */
export function matches(path: string, pattern: string): boolean {
  return matchesGlob(path, pattern) || (!pattern.includes('/') && matchesGlob(path.slice(path.lastIndexOf('/') + 1), pattern));
}
