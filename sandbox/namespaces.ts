// The namespaces in which commands on the host run, if the kernel allows them. In a process namespace a command sees and signals only the
// processes that it started, and none of them is left when it ends, however they were started: when its first process ends, the kernel
// kills all others.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export type Owner = { uid: number; gid: number };

export type Way = {
  name: string;
  /** Whether it creates a process namespace too; otherwise only a user namespace, from which nobody can look into processes outside. */
  isContained: boolean;
  /** The words to put before a command to run it in a directory. */
  prefix: (directory: string) => readonly string[];
};

/** The best first. With each, the command dies with the process that started it. */
export const ways: readonly Way[] = [
  {
    name: 'unshare',
    isContained: true,
    prefix: () => [
      'setpriv',
      '--pdeathsig',
      'KILL',
      'unshare',
      '--user',
      '--map-current-user',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      '--',
    ],
  },
  {
    // For machines on which AppArmor lets no other program create user namespaces. Without --chdir it would fall back to / if it cannot
    // enter the directory.
    name: 'bwrap',
    isContained: true,
    prefix: (directory) => [
      'bwrap',
      '--unshare-user',
      '--unshare-pid',
      '--die-with-parent',
      '--bind',
      '/',
      '/',
      '--dev-bind',
      '/dev',
      '/dev',
      '--proc',
      '/proc',
      '--chdir',
      directory,
      '--',
    ],
  },
  { name: 'unshare --user', isContained: false, prefix: () => ['unshare', '--user', '--map-current-user', '--'] },
];

const known = new Map<string, Promise<Way | null>>();

/**
 * How to run commands in namespaces as a user, or as that of this process; null: not possible. For another user, a user namespace alone is
 * not needed.
 */
export function wayFor(owner: Owner | null): Promise<Way | null> {
  const key = `${owner?.uid} ${owner?.gid}`;
  const found =
    known.get(key) ??
    firstThatWorks(
      ways.filter(({ isContained }) => isContained || owner === null),
      owner,
    );
  known.set(key, found);
  return found;
}

async function firstThatWorks(candidates: readonly Way[], owner: Owner | null): Promise<Way | null> {
  for (const way of candidates) if (await works(way, owner)) return way;
  return null;
}

export async function works({ prefix }: Way, owner: Owner | null): Promise<boolean> {
  const [program = '', ...words] = prefix('/');
  return promisify(execFile)(program, [...words, 'true'], { cwd: '/', timeout: 60_000, ...owner }).then(
    () => true,
    () => false,
  );
}
