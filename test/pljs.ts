// PL/JS for the tests' own cluster: the files of Debian's package postgresql-18-pljs, unpacked into WORK_LEDGER_PLJS. Where
// that is not set, what needs an engine is skipped and says so.

import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';

const unpacked = process.env['WORK_LEDGER_PLJS'];
const library = join(unpacked ?? '', 'usr/lib/postgresql/18/lib');

/** Why tests with an engine cannot run here; null when they can. */
export const noPljs: string | null =
  unpacked === undefined
    ? 'WORK_LEDGER_PLJS is not set (test/fetchPljs.sh DIRECTORY unpacks PL/JS)'
    : existsSync(join(library, 'pljs.so'))
      ? null
      : `${unpacked} has no pljs.so`;

/** Makes `create extension pljs` possible where extensions are found in `extensionDir`, for databases with the setting. */
export function placePljs(extensionDir: string): void {
  if (noPljs === null)
    cpSync(join(unpacked ?? '', 'usr/share/postgresql/18/extension'), join(extensionDir, 'extension'), { recursive: true });
}

/** For `alter database`. */
export const libraryPath = `${library}:$libdir`;
