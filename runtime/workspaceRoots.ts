// Which directories of this machine a worker serves whoever names them. A file of its own: every command reads it, and needs nothing for
// it.

import { delimiter } from 'node:path';

/** The directories named by WORK_LEDGER_WORKSPACE_ROOTS, as in PATH. */
export const workspaceRoots = (named = process.env['WORK_LEDGER_WORKSPACE_ROOTS'] ?? ''): string[] =>
  named.split(delimiter).filter((path) => path !== '');
