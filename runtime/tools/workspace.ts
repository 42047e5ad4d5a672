// What the file tools share: the workspace that the faculty grants, and refusals as outcomes.

import { HostWorkspace, WorkspaceError } from '../../sandbox/hostWorkspace.ts';
import { failed } from './tool.ts';
import type { ToolContext, ToolOutcome } from './tool.ts';

/** The largest file that a tool reads. */
export const MAX_FILE_BYTES = 10_000_000;
/** The most text that a tool returns. */
export const MAX_RESULT_CHARS = 200_000;

export const noWorkspace = failed('This work has no workspace: its faculty does not say workspace = "host".');

/** Runs a file tool in the workspace; what the workspace refuses becomes the outcome. */
export async function inWorkspace(context: ToolContext, use: (workspace: HostWorkspace) => Promise<ToolOutcome>): Promise<ToolOutcome> {
  if (context.workspace === null) return noWorkspace;
  try {
    return await use(new HostWorkspace(context.workspace));
  } catch (error) {
    if (error instanceof WorkspaceError) return failed(error.message);
    return failed(`the file system refused (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
}

/** Bytes as text: invalid UTF-8 and NUL stay visible as replacements. */
export const textOf = (bytes: Buffer): string => bytes.toString('utf8').replaceAll('\0', '␀');

export const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, 8192).includes(0);
