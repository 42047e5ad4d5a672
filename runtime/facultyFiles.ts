// Faculties from TOML files, for programs.

import { dbOf } from './client.ts';
import type { LedgerClient } from './client.ts';
import { projectNamedIn } from './commands/configFile.ts';
import { loadFaculties as load } from './faculty/loadFaculties.ts';
import type { LoadedFaculty } from './faculty/loadFaculties.ts';

/**
 * Reads faculty files, and every *.toml of directories, as `work-ledger faculty` does, and saves nothing: give each `config` to saveFaculty().
 * Throws FacultyError with all that is wrong in all of them: each problem has file, line, column and what it says, with the key or the word
 * that was probably meant. `warnings`: what is accepted and has no effect.
 */
export const loadFaculties = (ledger: LedgerClient, paths: string | readonly string[]): Promise<LoadedFaculty[]> =>
  load(dbOf(ledger), typeof paths === 'string' ? [paths] : paths, projectNamedIn);
