// The directories of this machine that a worker serves regardless of who names them. In a separate file because every command reads it and
// must not load more.

import { delimiter } from 'node:path';

/** The directories in WORK_LEDGER_WORKSPACE_ROOTS, separated as in PATH. */
export const workspaceRoots = (named = process.env['WORK_LEDGER_WORKSPACE_ROOTS'] ?? ''): string[] =>
  named.split(delimiter).filter((path) => path !== '');
