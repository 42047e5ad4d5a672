// Loads faculties from TOML files, for programs.

import { dbOf } from './client.ts';
import type { LedgerClient } from './client.ts';
import { projectNamedIn } from './commands/configFile.ts';
import { loadFaculties as load } from './faculty/loadFaculties.ts';
import type { LoadedFaculty } from './faculty/loadFaculties.ts';

/**
 * Reads faculty files, and every *.toml in directories, as `work-ledger faculty` does, but saves nothing: pass each `config` to
 * saveFaculty(). Throws FacultyError with every problem in all of them; each has file, line, column and a message, which suggests the key
 * or word that was probably meant. `warnings` lists what is accepted but has no effect.
 */
export const loadFaculties = (ledger: LedgerClient, paths: string | readonly string[]): Promise<LoadedFaculty[]> =>
  load(dbOf(ledger), typeof paths === 'string' ? [paths] : paths, projectNamedIn);
