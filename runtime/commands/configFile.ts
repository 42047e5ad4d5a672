// work-ledger.toml: settings of a project, in the nearest directory upwards that has one, and of a person, in ~/.config/work-ledger/. Each
// key is looked up in this order: flag, environment, project, person, default. `hook` and `mcp`, which clients start unasked, may run in a
// directory that someone else made, and that must not decide where typed text is sent: there only the person's file counts.

import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { UsageError } from '../ledger/errors.ts';

export type FileSettings = {
  databaseUrl?: string;
  listenUrl?: string;
  readUrl?: string;
  schema?: string;
  /** The project's name; see project.ts. */
  project?: string;
  /** The name of this machine, for workers. */
  host?: string;
  /** Faculty files, or directories of them. */
  faculties?: string[];
  tools?: string[];
  /** Directories that items may name, for workers. */
  workspaceRoots?: string[];
  /** The file and key that the database's address comes from. */
  databaseFrom?: string;
};

const fileName = 'work-ledger.toml';

/**
 * The settings in the files; for a key in both, the project's. Variables that either names as secret are kept as such from here on. Throws
 * UsageError with line and column.
 */
export async function fileSettings({ isTyped }: { isTyped: boolean }): Promise<FileSettings> {
  const home = join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'work-ledger', fileName);
  const project = isTyped ? nearest(process.cwd()) : null;
  const { readUrl, secrets = [], ...own } = await settingsIn(home);
  const { secrets: more = [], ...nearer } = project === null ? {} : await settingsIn(project);
  const named = [...secrets, ...(isTyped ? more : await secretsNamedHere())];
  if (named.length > 0) (await import('../secrets/ofEnvironment.ts')).keepNamed(named);
  // If the project names its own database, the person's standby does not follow that one.
  return { ...own, ...(readUrl !== undefined && nearer.databaseUrl === undefined && { readUrl }), ...nearer };
}

/**
 * The project that the nearest file names for a directory. Unlike a database, a project may be named by a directory that someone else made.
 * A file that cannot be read names none; commands that people type report it. Hooks call this at each tool call, so the keys
 * are not checked: checking the others takes as long as the rest of a hook.
 */
export async function projectNamedIn(directory: string): Promise<string | null> {
  const { project } = await uncheckedKeys(() => directory);
  return typeof project === 'string' && project !== '' ? project : null;
}

/** The variables that the nearest file names as secret, whoever made it: more is removed, and nothing goes elsewhere. */
async function secretsNamedHere(): Promise<string[]> {
  const { secrets } = await uncheckedKeys(() => process.cwd());
  return Array.isArray(secrets) ? secrets.filter((name) => typeof name === 'string') : [];
}

async function uncheckedKeys(directory: () => string): Promise<Record<string, unknown>> {
  try {
    const path = nearest(directory());
    return path === null ? {} : (await import('../faculty/toml.ts')).parseToml(readFileSync(path, 'utf8')).value;
  } catch {
    return {};
  }
}

/** Whether a directory, or one above it, has a file with its project's settings. */
export const isConfigured = (directory: string): boolean => nearest(directory) !== null;

function nearest(directory: string): string | null {
  for (let at = directory; ; at = dirname(at)) {
    const path = join(at, fileName);
    if (isOurs(path)) return path;
    if (at === dirname(at)) return null;
  }
}

/** The owner of this file decides what we run, and in a shared directory such as /tmp anyone may own it. */
function isOurs(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) return false;
  if (![process.getuid?.(), 0].includes(found.uid))
    throw new UsageError(`${path} belongs to another user: remove it, or work in a directory that you own`);
  return true;
}

export async function settingsIn(path: string): Promise<FileSettings & { secrets?: string[] }> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  const {
    database_url: databaseUrl,
    listen_url: listenUrl,
    read_url: readUrl,
    schema,
    project,
    host,
    faculties,
    tools,
    workspace_roots: workspaceRoots,
    secrets,
  } = (await import('./configKeys.ts')).configKeys(path, text);
  const here = (names: readonly string[]): string[] => names.map((name) => resolve(dirname(path), name));
  return {
    ...(databaseUrl !== undefined && { databaseUrl, databaseFrom: `database_url in ${path}` }),
    ...(listenUrl !== undefined && { listenUrl }),
    ...(readUrl !== undefined && { readUrl }),
    ...(schema !== undefined && { schema }),
    ...(project !== undefined && { project }),
    ...(host !== undefined && { host }),
    ...(faculties && { faculties: here(faculties) }),
    ...(tools && { tools: here(tools) }),
    ...(workspaceRoots && { workspaceRoots: here(workspaceRoots) }),
    ...(secrets && { secrets }),
  };
}
