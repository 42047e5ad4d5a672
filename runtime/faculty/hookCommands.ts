// Looks up a faculty's commands when its file is read, rather than hours later: a path relative to the directory of the file, or a name in
// PATH.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * The command with its program as an absolute path, and the program; null if the command begins with more than a plain word, which only the
 * shell can interpret.
 */
export function resolveCommand(given: string, directory: string): { command: string; program: string | null } {
  const word = /^\s*([\w./@+-]+)(?![^\s;|&<>])/.exec(given)?.[1];
  if (word === undefined) return { command: given, program: null };
  if (!word.includes('/')) return { command: given, program: word };
  const program = resolve(directory, word);
  return { command: given.replace(word, () => shellQuoted(program)), program };
}

/** Why a program (a path, or a name in PATH or known to the shell) cannot be run; null if it can. */
export function programProblem(program: string): string | null {
  if (!program.includes('/'))
    return spawnSync('sh', ['-c', 'command -v -- "$1"', 'sh', program], { stdio: 'ignore' }).status === 0
      ? null
      : `there is no program ${program} in PATH`;
  try {
    if (statSync(program).isDirectory()) return `${program} is a directory`;
    accessSync(program, constants.X_OK);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? `${program} is not executable` : `there is no program ${program}`;
  }
}

const shellQuoted = (path: string): string => (/^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`);
