// grep: lines of the workspace that match a regular expression. The matching runs in a thread that can be ended,
// because some patterns would otherwise take for ever.

import { Worker } from 'node:worker_threads';

import { z } from 'zod';

import type { Workspace } from '../../sandbox/workspace.ts';
import { matches, namesHidden } from './glob.ts';
import { defineTool, failed, ok } from './tool.ts';
import { inWorkspace, isBinary, MAX_FILE_BYTES, textOf } from './workspace.ts';

const MAX_MATCHES = 200;
const MAX_LINE = 500;
const MAX_MILLISECONDS = 10_000;
const READ_AHEAD = 8;

type Match = { path: string; line: number; content: string };

const thread = `
const { parentPort, workerData } = require('node:worker_threads');
const pattern = new RegExp(workerData.pattern);
parentPort.on('message', ({ path, text }) => {
  const found = [];
  text.split('\\n').forEach((content, index) => {
    if (found.length < workerData.max && pattern.test(content)) found.push({ path, line: index + 1, content: content.slice(0, workerData.maxLine) });
  });
  parentPort.postMessage(found);
});
`;

export const grep = defineTool({
  name: 'grep',
  description: 'Find lines of the workspace that match a regular expression. Returns path:line:content.',
  input: z.strictObject({
    pattern: z.string().min(1).describe('JavaScript regular expression, matched within lines.'),
    path: z.string().min(1).default('.').describe('File or directory to search in. Default: the workspace.'),
    glob: z.string().min(1).optional().describe('Only files that match this glob pattern.'),
  }),
  effect: 'pure',
  risk: 'safe',
  execute: (input, context) =>
    inWorkspace(context, async (workspace) => {
      try {
        void new RegExp(input.pattern);
      } catch (error) {
        return failed(`the pattern is not a regular expression: ${(error as Error).message}`);
      }
      const max = context.isFromCode ? 10_000 : MAX_MATCHES;
      const found: Match[] = [];
      const matcher = startMatcher(input.pattern, max);
      try {
        for await (const { file, bytes } of contentsOf(workspace, filesOf(workspace, input, context.signal))) {
          if (!bytes || isBinary(bytes)) continue;
          found.push(...(await matcher.match(file, textOf(bytes))));
          if (found.length >= max || context.signal.aborted) break;
        }
      } catch (error) {
        if (error instanceof TooSlow) return failed('the pattern takes too long: make it simpler');
        throw error;
      } finally {
        await matcher.end();
      }
      if (found.length === 0) return { ...ok('No matches.'), value: [] };
      const lines = found.slice(0, max).map((match) => `${match.path}:${match.line}:${match.content}`);
      return { value: found.slice(0, max), ...ok(lines.join('\n') + (found.length >= max ? `\n[the first ${max} matches; narrow the search for others]` : '')) };
    }),
});

/** A few files are read ahead: a workspace may be some way off. */
async function* contentsOf(workspace: Workspace, files: AsyncIterable<string>): AsyncGenerator<{ file: string; bytes: Buffer | null }> {
  const ahead: { file: string; reading: Promise<Buffer | null> }[] = [];
  const next = async () => {
    const { file, reading } = ahead.shift()!;
    return { file, bytes: await reading };
  };
  for await (const file of files) {
    ahead.push({ file, reading: workspace.readFile(file, MAX_FILE_BYTES).catch(() => null) });
    if (ahead.length >= READ_AHEAD) yield await next();
  }
  while (ahead.length > 0) yield await next();
}

async function* filesOf(
  workspace: Workspace,
  input: { path: string; glob?: string | undefined },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const isFile = await workspace.readFile(input.path, MAX_FILE_BYTES).then(() => true, () => false);
  if (isFile) {
    yield input.path;
    return;
  }
  for await (const file of workspace.files(input.path, { isEverything: namesHidden(input.path), signal })) {
    if (file.size <= MAX_FILE_BYTES && (!input.glob || matches(file.path, input.glob))) yield file.path;
  }
}

class TooSlow extends Error {}

function startMatcher(pattern: string, max: number) {
  const worker = new Worker(thread, { eval: true, workerData: { pattern, max, maxLine: MAX_LINE } });
  const deadline = performance.now() + MAX_MILLISECONDS;
  return {
    match: (path: string, text: string): Promise<Match[]> =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new TooSlow()), deadline - performance.now());
        worker.removeAllListeners();
        worker.once('message', (found: Match[]) => {
          clearTimeout(timer);
          resolve(found);
        });
        worker.once('error', reject);
        worker.postMessage({ path, text });
      }),
    end: () => worker.terminate(),
  };
}
