// Shared by the workspace tools: access to the workspace that the faculty grants, and errors as outcomes.

import { storableText } from '../../plv8/storable.ts';
import { WorkspaceError, WorkspaceUnavailable } from '../../sandbox/workspace.ts';
import type { Workspace } from '../../sandbox/workspace.ts';
import { failed } from './tool.ts';
import type { ToolContext, ToolOutcome } from './tool.ts';

/** The largest file that a tool reads. */
export const MAX_FILE_BYTES = 10_000_000;
/** The most text that a tool returns. */
export const MAX_RESULT_CHARS = 200_000;

const noWorkspace = failed(
  '[engine] This work has no workspace: either its faculty says workspace = "none", or no Docker daemon answers here and it does not say workspace = "host". This is an environment problem, and retrying will not help; work without files and commands.',
);

/** Runs a tool in the workspace; a workspace error becomes the outcome. */
export async function inWorkspace(context: ToolContext, use: (workspace: Workspace) => Promise<ToolOutcome>): Promise<ToolOutcome> {
  if (context.workspace === null) return noWorkspace;
  try {
    return await use(context.workspace);
  } catch (error) {
    if (error instanceof WorkspaceError) return failed(error.message);
    if (error instanceof WorkspaceUnavailable)
      return failed(
        `[engine] The workspace cannot be used now: ${error.message}. This is an environment problem; check what was done before trying again.`,
      );
    return failed(`the file system refused (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
}

/** Bytes as text; invalid UTF-8 and NUL become visible replacement characters. */
export const textOf = (bytes: Buffer): string => storableText(bytes.toString('utf8'));

export const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, 8192).includes(0);
