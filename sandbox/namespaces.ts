// Namespaces in which commands on the host run, where the kernel allows them. In a process namespace a command sees and signals only what
// it started itself, and nothing of that is left when it ends, however it was started: the kernel kills all that is in there with its first
// process.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export type Owner = { uid: number; gid: number };

export type Way = {
  name: string;
  /** In a process namespace, too; else only in a user namespace, from which nobody can look into processes outside. */
  isContained: boolean;
  /** The words that go before a command in a directory. */
  prefix: (directory: string) => readonly string[];
};

/** The best first. Each dies with the process that started it. */
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
    // Where AppArmor lets no other program make user namespaces. Without --chdir it would fall back to / where it cannot enter the
    // directory.
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
 * How commands get namespaces that run as a user, or as that of this process; null: not at all. Another user needs no user namespace alone.
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
