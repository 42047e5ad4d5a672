// Determines which project a directory belongs to. All clones and worktrees of a repository are one project, so a repository with a remote
// is named after the remote.

import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { promisify } from 'node:util';

import { projectNamedIn } from './commands/configFile.ts';

/**
 * The `project` of the nearest work-ledger.toml; otherwise, in a repository, its remote as host/path (origin, or else the first by name)
 * or, without a remote, its path; otherwise the directory's path.
 */
export async function projectOf(directory: string): Promise<string> {
  const here = await realpath(directory).catch(() => resolve(directory));
  const name = (await projectNamedIn(here)) ?? (await repositoryAt(here)) ?? here;
  return asTaken(name) || asTaken(here);
}

/** Characters that a ledger treats as blank or invisible: _spaced() in sql/. */
const blank = /[\p{C}\p{Z}]|\u034F|[\u115F\u1160]|[\u180B-\u180F]|\u3164|[\uFE00-\uFE0F]|\uFFA0|[\u{E0000}-\u{E0FFF}]/gu;

/** A name as a ledger stores it: on one line, with single spaces, at most 500 characters (the last ones). */
export const asTaken = (name: string): string =>
  Array.from(name.replaceAll(blank, ' ').replaceAll(/ +/g, ' ').trim()).slice(-500).join('').trim();

async function repositoryAt(directory: string): Promise<string | null> {
  const common = await git(directory, 'rev-parse', '--git-common-dir');
  if (common === null) return null;
  const own = resolve(directory, common);
  const home = basename(own) === '.git' ? dirname(own) : own; // in a bare repository, the repository itself
  const remotes = (await git(directory, 'config', '--get-regexp', String.raw`^remote\..*\.url$`))?.split('\n').toSorted() ?? [];
  const remote = remotes.find((line) => line.startsWith('remote.origin.url ')) ?? remotes[0];
  return remote === undefined ? home : remoteName(remote.slice(remote.indexOf(' ') + 1), home);
}

/** Git sets these for its hooks. They name the repository that is pushed to or committed in, whichever directory is asked about. */
const ofHooks = { GIT_DIR: undefined, GIT_COMMON_DIR: undefined, GIT_WORK_TREE: undefined, GIT_CONFIG: undefined };

/** The output of git; null if there is none, the directory is in no repository, or git is not installed. */
async function git(directory: string, ...args: string[]): Promise<string | null> {
  const options = { timeout: 5000, env: { ...process.env, ...ofHooks } };
  const said = await promisify(execFile)('git', ['-C', directory, ...args], options).catch(() => null);
  return said === null || said.stdout.trim() === '' ? null : said.stdout.trim();
}

/**
 * A remote's address without scheme, user, password, port and ".git": github.com/acme/shop. For a local directory: its path, resolved
 * against `base`.
 */
export function remoteName(address: string, base: string): string {
  const [, host, path] = /^(?:[^/@:]+@)?([^/:]+):(?!\/\/)(.+)$/.exec(address) ?? [];
  const url = host === undefined && URL.canParse(address) ? new URL(address) : null;
  if (url?.hostname) return named(`${url.hostname.toLowerCase()}/${url.pathname}`);
  if (host !== undefined && path !== undefined) return named(`${host.toLowerCase()}/${path}`);
  return named(resolve(base, url === null ? address : decoded(url.pathname)));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a % that encodes nothing
  }
}

const named = (path: string): string => path.replaceAll(/(?<!^)\/+/g, '/').replace(/\/?(?:\.git)?\/*$/, '');
