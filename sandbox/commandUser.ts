// Decides as which user agents' commands run on the host, so that they cannot read the worker: its environment, memory and descriptors in
// /proc, and those of the shell that started it. If the worker is root, they run as another user, and never as root unless the person who
// started the worker says so. Otherwise they run in a separate user namespace: the kernel does not let processes in there look into
// processes outside, even of the same user. No directory changes its owner: a user who cannot use it runs nothing there.

import { constants } from 'node:fs';
import { lchown, mkdir, open, readdir, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { wayFor } from './namespaces.ts';
import type { Owner } from './namespaces.ts';
import { WorkspaceUnavailable } from './workspace.ts';

/** A directory without links in its path, and its owner. isOwn: the person who started this process named it for it. */
export type Place = Owner & { path: string; isOwn: boolean };

/**
 * another: a different user from the worker's. namespace: the worker's user, in a separate user namespace. same: the worker's user, with
 * nothing that keeps commands from reading the worker.
 */
export type CommandUser =
  | ({ kind: 'another'; name: string; mayWrite: boolean } & Owner)
  | { kind: 'namespace'; why: string | null }
  | { kind: 'same'; why: string };

/** How to start a command as this user: words to put before it, and options for spawn. */
export type Start = {
  prefix: readonly string[];
  owner: Owner | null;
  env: NodeJS.ProcessEnv;
  /** In a separate process namespace. */ isContained: boolean;
};

/** A user id without an entry in /etc/passwd. */
const nameless = 65_533;

/** How to start a command in a directory. Throws WorkspaceUnavailable. */
export async function startIn(place: Place): Promise<Start> {
  const user = await commandUser(place);
  const owner = user.kind === 'another' ? { uid: user.uid, gid: user.gid } : null;
  const way = await wayFor(owner);
  const start = { prefix: way?.prefix(place.path) ?? [], owner, isContained: way?.isContained ?? false };
  if (user.kind !== 'another') return { ...start, env: {} };
  return { ...start, env: { HOME: await homeOf(user), USER: user.name, LOGNAME: user.name, TMPDIR: undefined, SHELL: undefined } };
}

/** The user for commands in a directory of this host; changes nothing. Throws WorkspaceUnavailable if no user may run them. */
export async function commandUser(place: Place): Promise<CommandUser> {
  if (process.getuid?.() !== 0) return ownUser(null);
  const { path, uid, gid, isOwn } = place;
  const named = process.env['WORK_LEDGER_COMMANDS_AS'];
  if (named) {
    const user = (await users()).find(({ name, uid: id }) => name === named || String(id) === named);
    if (!user) throw new WorkspaceUnavailable(`WORK_LEDGER_COMMANDS_AS names ${named}, and this machine has no such user`);
    return user.uid === 0
      ? ownUser('WORK_LEDGER_COMMANDS_AS says so')
      : { kind: 'another', ...user, mayWrite: await canUse(path, user, constants.S_IWOTH) };
  }
  if (uid !== 0)
    return { kind: 'another', ...((await users()).find((user) => user.uid === uid) ?? { uid, gid, name: String(uid) }), mayWrite: true };
  const user = await unprivileged();
  const mayWrite = await canUse(path, user, constants.S_IWOTH);
  if (isOwn && !(mayWrite && (await canUse(dirname(process.execPath), user)))) return ownUser(`${path} belongs to root, who started this`);
  if (await canUse(path, user)) return { kind: 'another', ...user, mayWrite };
  throw new WorkspaceUnavailable(
    `agents' commands do not run as root, and the user ${user.name} cannot use ${path}: give it to another user, or name one in WORK_LEDGER_COMMANDS_AS`,
  );
}

/**
 * What commands can do to processes outside because this machine allows no process namespaces; null: nothing, because they get one.
 */
export async function uncontained(): Promise<string | null> {
  const user = process.getuid?.() === 0 ? await unprivileged() : null;
  const way = await wayFor(user && { uid: user.uid, gid: user.gid });
  return way?.isContained
    ? null
    : 'this machine allows no process namespaces (unshare of util-linux, or bubblewrap): what a command starts with setsid outlives it, and commands may signal other processes of their user';
}

async function ownUser(why: string | null): Promise<CommandUser> {
  return (await wayFor(null)) !== null
    ? { kind: 'namespace', why }
    : { kind: 'same', why: [why, 'this machine allows no user namespaces'].filter(Boolean).join(', and ') };
}

type User = Owner & { name: string };

async function users(): Promise<User[]> {
  const lines = await readFile('/etc/passwd', 'utf8').then(
    (text) => text.split('\n'),
    () => [],
  );
  return lines.map((line) => line.split(':')).map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}

/** The user work-ledger if it exists, otherwise nobody, unless the embedded database runs as nobody. */
async function unprivileged(): Promise<User> {
  const all = await users();
  const named = (name: string): User | undefined => all.find((user) => user.name === name);
  return (
    named('work-ledger') ?? (named('postgres') ? named('nobody') : undefined) ?? { uid: nameless, gid: nameless, name: String(nameless) }
  );
}

/** Whether a user may enter a directory by its path, list it and, if asked, change it; judged only by its modes. */
async function canUse(path: string, { uid, gid }: Owner, more = 0): Promise<boolean> {
  for (let at = path, wants = constants.S_IROTH | constants.S_IXOTH | more; ; at = dirname(at), wants = constants.S_IXOTH) {
    const found = await stat(at).catch(() => null);
    if (found === null) return false;
    const granted = found.mode >> (found.uid === uid ? 6 : found.gid === gid ? 3 : 0);
    if ((granted & wants) !== wants) return false;
    if (at === dirname(at)) return true;
  }
}

/**
 * If this process is root, gives a directory that it has just created for commands, with its contents, to the user that commands run as
 * there. Never call it for a directory that others could reach before.
 */
export async function giveToCommands(made: string): Promise<void> {
  const user = await unprivileged();
  if (
    process.getuid?.() !== 0 ||
    process.env['WORK_LEDGER_COMMANDS_AS'] ||
    !(await canUse(dirname(made), user)) ||
    !(await canUse(dirname(process.execPath), user))
  )
    return;
  for (const path of ['', ...(await readdir(made, { recursive: true }))]) await lchown(join(made, path), user.uid, user.gid);
}

/** A separate home directory, for caches and settings of the programs that commands start. */
async function homeOf({ uid, gid }: Owner): Promise<string> {
  const home = join(tmpdir(), `work-ledger-home-${uid}`);
  await mkdir(home, { mode: 0o700 }).then(
    () => lchown(home, uid, gid),
    () => {},
  );
  const directory = await open(home, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(() => null);
  const found = await directory?.stat();
  await directory?.close();
  return found?.uid === uid ? home : '/nonexistent';
}
