// As whom commands of agents run on the host, so that they cannot read the worker: its environment, memory and descriptors in /proc,
// nor those of the shell that started it. Where the worker is root, they run as another user. Where it is not, they run in a user
// namespace of their own: the kernel lets nobody in there look into processes outside of it, also of the same user.

import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { lchown, lstat, mkdir, open, opendir, readFile, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { WorkspaceUnavailable } from './workspace.ts';

export type Owner = { uid: number; gid: number };

/** another: other than that of the worker. namespace: that of the worker, in a user namespace of its own. same: nothing keeps the worker from being read. */
export type CommandUser =
  | ({ kind: 'another'; name: string } & Owner)
  | { kind: 'namespace'; why: string | null }
  | { kind: 'same'; why: string };

/** What starts a command as this user: words before it, and options of spawn. */
export type Start = { prefix: readonly string[]; owner: Owner | null; env: NodeJS.ProcessEnv };

const known = new Map<string, Promise<Start>>();
/** Has no entry in /etc/passwd anywhere. */
const nameless = 65_533;

/** How to start a command in a directory. A directory of root's is handed over first to the user who shall work there. Throws WorkspaceUnavailable. */
export function startIn(directory: string): Promise<Start> {
  const started = known.get(directory) ?? begin(directory);
  known.set(directory, started);
  started.catch(() => known.delete(directory));
  return started;
}

async function begin(directory: string): Promise<Start> {
  const user = await commandUser(directory);
  if (user.kind === 'same') return { prefix: [], owner: null, env: {} };
  if (user.kind === 'namespace') return { prefix: intoNamespace, owner: null, env: {} };
  const { uid, gid, name } = user;
  await handOver(directory, { uid, gid });
  return { prefix: [], owner: { uid, gid }, env: { HOME: await homeOf(user), USER: name, LOGNAME: name, TMPDIR: undefined, SHELL: undefined } };
}

/** Who runs the commands of a directory of this host; changes nothing. */
export async function commandUser(directory: string): Promise<CommandUser> {
  if (process.getuid?.() !== 0) return ownUser(null);
  const named = process.env['WORK_LEDGER_COMMANDS_AS'];
  if (named) {
    const user = (await users()).find(({ name, uid }) => name === named || String(uid) === named);
    if (!user) throw new WorkspaceUnavailable(`WORK_LEDGER_COMMANDS_AS names ${named}, and this machine has no such user`);
    return user.uid === 0 ? ownUser('WORK_LEDGER_COMMANDS_AS says so') : { kind: 'another', ...user };
  }
  const { uid, gid } = await stat(directory).catch(() => ({ uid: 0, gid: 0 }));
  if (uid !== 0) return { kind: 'another', ...((await users()).find((user) => user.uid === uid) ?? { uid, gid, name: String(uid) }) };
  const user = await unprivileged();
  const obstacle = await obstacleTo(directory, user);
  return obstacle === null ? { kind: 'another', ...user } : ownUser(obstacle);
}

async function ownUser(why: string | null): Promise<CommandUser> {
  return (await hasNamespaces()) ? { kind: 'namespace', why } : { kind: 'same', why: [why, 'this machine allows no user namespaces'].filter(Boolean).join(', and ') };
}

const intoNamespace = ['unshare', '--user', '--map-current-user', '--'];
let namespaces: Promise<boolean> | undefined;

const hasNamespaces = (): Promise<boolean> =>
  (namespaces ??= promisify(execFile)(intoNamespace[0] ?? '', [...intoNamespace.slice(1), 'true'], { timeout: 10_000 }).then(() => true, () => false));

type User = Owner & { name: string };

async function users(): Promise<User[]> {
  const lines = await readFile('/etc/passwd', 'utf8').then((text) => text.split('\n'), () => []);
  return lines.map((line) => line.split(':')).map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}

/** The user work-ledger if there is one, else nobody, unless the embedded database runs as nobody. */
async function unprivileged(): Promise<User> {
  const all = await users();
  const named = (name: string): User | undefined => all.find((user) => user.name === name);
  return named('work-ledger') ?? (named('postgres') ? named('nobody') : undefined) ?? { uid: nameless, gid: nameless, name: String(nameless) };
}

/** Why a directory of root's cannot become another user's. */
async function obstacleTo(directory: string, user: User): Promise<string | null> {
  const holds = (path: string): boolean => `${path}/`.startsWith(directory === '/' ? '/' : `${directory}/`);
  if (dirname(directory) === '/' || [homedir(), process.execPath, import.meta.dirname].some(holds)) return `${directory} belongs to root and is not only a workspace`;
  for (const path of [directory, dirname(process.execPath)]) {
    if (!(await canEnter(path, user))) return `the user ${user.name} cannot enter ${path}`;
  }
  return null;
}

async function canEnter(path: string, { uid, gid }: Owner): Promise<boolean> {
  for (let at = resolve(path), isAsked = true; ; at = dirname(at), isAsked = false) {
    const found = await stat(at).catch(() => null);
    if (found === null) return false;
    const isToBeOwned = isAsked && found.uid === 0 && path !== dirname(process.execPath);
    const bit = found.uid === uid ? constants.S_IXUSR : found.gid === gid ? constants.S_IXGRP : constants.S_IXOTH;
    if (!isToBeOwned && (found.mode & bit) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/** What root owns below a directory of root's becomes the user's. Links are not followed, file systems not crossed, and files that have other names elsewhere are left. */
async function handOver(directory: string, owner: Owner): Promise<void> {
  const { uid, dev } = await lstat(directory);
  if (uid !== 0) return;
  const below = async (path: string): Promise<void> => {
    for await (const entry of await opendir(path)) {
      const one = join(path, entry.name);
      const found = await lstat(one).catch(() => null);
      if (found === null || found.dev !== dev) continue;
      if (found.isDirectory()) await below(one);
      if (found.uid === 0 && (found.isDirectory() || found.nlink === 1)) await lchown(one, owner.uid, owner.gid).catch(() => {});
    }
  };
  await below(directory);
  await lchown(directory, owner.uid, owner.gid); // last, so that what broke off is begun again
}

/** A home of its own: the programs that it starts keep caches and settings there. */
async function homeOf({ uid, gid }: Owner): Promise<string> {
  const home = join(tmpdir(), `work-ledger-home-${uid}`);
  await mkdir(home, { mode: 0o700 }).then(() => lchown(home, uid, gid), () => {});
  const directory = await open(home, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(() => null);
  const found = await directory?.stat();
  await directory?.close();
  return found?.uid === uid ? home : '/nonexistent';
}
