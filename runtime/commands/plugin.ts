// `work-ledger plugin PROGRAM`: gives another agent's program the hooks and tools of the ledger.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

import { isObject } from '../../plv8/isObject.ts';
import { parseToml } from '../faculty/toml.ts';
import { harnesses, hookSettings, isHarness } from '../harness/harnesses.ts';
import type { HarnessName } from '../harness/harnesses.ts';
import { jsonOfFile } from '../jsonFile.ts';
import { UsageError } from '../ledger/errors.ts';
import { exit, note, print } from './output.ts';

const folder = fileURLToPath(
  new URL(existsSync(new URL('../../plugin', import.meta.url)) ? '../../plugin' : '../../../plugin', import.meta.url),
);

const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;
/** The command that a shell runs: a launcher that finds this package, or the one on PATH. */
const program = quoted(join(folder, 'work-ledger'));

/** Recognises settings that this command wrote before, wherever the package was then. */
const ours = /\bhook [a-z-]+ --harness [a-z-]+\b/;

const server = { command: join(folder, 'work-ledger'), args: ['mcp'] };

/** Recognises a server that this command wrote before. */
const oursServer = /[/\\]plugin[/\\]work-ledger$/;

/** Codex passes to a server only the variables that its settings name; the database may also be in a settings file. */
const codexServer = `[mcp_servers.work-ledger]
command = ${JSON.stringify(server.command)}
args = ["mcp"]
env_vars = ["DATABASE_URL", "WORK_LEDGER_SCHEMA", "WORK_LEDGER_PROJECT"]
`;

/** What belongs to us in a file of settings. */
type Part = { path: string; text: string; added: (to: string) => string; removed: (from: string) => string };

const json = (path: string, settings: Settings): Part => ({
  path,
  text: JSON.stringify(settings, null, 2),
  added: (to) => jsonText(merged(parsed(to, path), settings, path)),
  removed(from) {
    const before = parsed(from, path);
    const after = withoutOurs(before, path);
    return isDeepStrictEqual(after, before) ? from : jsonText(after);
  },
});

const jsonText = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

/** The files to change in a user's home, and how. */
const parts: Record<Exclude<HarnessName, 'claude-code'>, () => Part[]> = {
  codex() {
    const home = process.env['CODEX_HOME'] || join(homedir(), '.codex');
    const path = join(home, 'config.toml');
    return [
      json(join(home, 'hooks.json'), { hooks: hookSettings('codex', program) }),
      { path, text: codexServer, added: (to) => withCodexServer(to, path), removed: (from) => withoutCodexServer(from, path) },
    ];
  },
  'gemini-cli': () => [
    json(join(homedir(), '.gemini', 'settings.json'), {
      hooks: hookSettings('gemini-cli', program),
      mcpServers: { 'work-ledger': server },
    }),
  ],
};

export type PluginOptions = { install?: boolean; uninstall?: boolean };

export async function plugin(name: string, { install = false, uninstall = false }: PluginOptions): Promise<number> {
  if (!isHarness(name)) throw new UsageError(`unknown program "${name}": it is one of ${Object.keys(harnesses).join(', ')}`);
  if (name === 'claude-code') {
    if (install || uninstall)
      throw new UsageError('Claude Code installs and removes the plugin itself: run what "work-ledger plugin claude-code" prints');
    print(null, `claude plugin marketplace add ${quoted(folder)} && claude plugin install work-ledger@work-ledger`, false);
    note('To remove it: claude plugin uninstall work-ledger@work-ledger && claude plugin marketplace remove work-ledger');
    return exit.ok;
  }
  if (install || uninstall) {
    // All or nothing: the first file is written when the last one is known to be valid.
    const changes = await Promise.all(
      parts[name]().map(async ({ path, added, removed }) => ({ path, write: await change(path, install ? added : removed) })),
    );
    for (const { path, write } of changes) {
      await write?.();
      note(write ? `changed ${path}` : `nothing to change in ${path}`);
    }
  } else {
    for (const { path, text } of parts[name]()) {
      note(`in ${path}:`);
      print(null, text, false);
    }
  }
  if (name === 'codex' && !uninstall) note('Codex asks once whether it may run these hooks.');
  return exit.ok;
}

const byHand = 'Edit it by hand: without an option, this command prints what belongs to Work Ledger';

type Settings = { hooks: Record<string, object[]>; mcpServers?: Record<string, object> };

/**
 * Recognises the server in any TOML spelling. A server of this name that is not ours stays. Codex does not start if its settings are not
 * valid TOML.
 */
function withCodexServer(text: string, path: string): string {
  const command = codexCommand(text, path);
  if (command === server.command || (command !== null && !oursServer.test(command))) return text;
  const changed =
    command === null
      ? `${text.trimEnd()}\n\n${codexServer}`.trimStart()
      : text.replace(JSON.stringify(command), () => JSON.stringify(server.command));
  if (codexCommand(changed, path) !== server.command) throw notToml(path);
  return changed;
}

/** Removes the server's tables. A server of this name that is not ours stays, and so do comments above the next table. */
function withoutCodexServer(text: string, path: string): string {
  const command = codexCommand(text, path);
  if (command === null || !oursServer.test(command)) return text;
  let isOurs = false;
  const lines = text.split('\n').filter((line) => {
    if (/^\s*\[/.test(line)) isOurs = /^\s*\[mcp_servers\.("?)work-ledger\1[\].]/.test(line);
    return !isOurs || /^\s*(?:#|$)/.test(line);
  });
  const changed = `${lines.join('\n').trimEnd()}\n`;
  const expected = codexServers(text, path);
  delete expected['work-ledger'];
  if (!isDeepStrictEqual(codexServers(changed, path), expected))
    throw new UsageError(`${path} was not changed: its mcp_servers have a form that nothing can be removed from. ${byHand}`);
  return changed;
}

/** The command of the server of this name; null: there is none. */
function codexCommand(text: string, path: string): string | null {
  const there = codexServers(text, path)['work-ledger'];
  if (there === undefined) return null;
  return isObject(there) && typeof there['command'] === 'string' ? there['command'] : '';
}

function codexServers(text: string, path: string): Record<string, unknown> {
  try {
    const servers = parseToml(text).value['mcp_servers'];
    return isObject(servers) ? { ...servers } : {}; // plain, since isDeepStrictEqual() compares prototypes
  } catch {
    throw notToml(path);
  }
}

const notToml = (path: string): UsageError =>
  new UsageError(`${path} was not changed: it is no valid TOML, or has mcp_servers in a form that nothing can be added to. ${byHand}`);

/** Replaces our own settings and keeps all others, even in the same group. */
function merged(settings: Record<string, unknown>, { hooks, mcpServers }: Settings, path: string): Record<string, unknown> {
  const others = othersIn(settings, path);
  const all = { ...others.hooks };
  for (const [event, groups] of Object.entries(hooks)) all[event] = [...(all[event] ?? []), ...groups];
  if (mcpServers === undefined) return { ...settings, hooks: all };
  const servers = isObject(settings['mcpServers']) ? settings['mcpServers'] : {};
  return { ...settings, hooks: all, mcpServers: { ...servers, 'work-ledger': withServer(servers['work-ledger']) } };
}

/** As in Codex, a server of this name that is not ours stays; ours only moves, and keeps what the person set besides. */
function withServer(before: unknown): unknown {
  if (before === undefined) return server;
  return isOurServer(before) ? { ...before, command: server.command } : before;
}

const isOurServer = (entry: unknown): entry is Record<string, unknown> =>
  isObject(entry) && typeof entry['command'] === 'string' && oursServer.test(entry['command']);

/** Leaves no empty "hooks" or "mcpServers" behind. */
function withoutOurs(settings: Record<string, unknown>, path: string): Record<string, unknown> {
  const { hooks: _hooks, mcpServers: _servers, ...rest } = settings;
  return { ...rest, ...Object.fromEntries(Object.entries(othersIn(settings, path)).filter(([, part]) => Object.keys(part).length > 0)) };
}

/** The hooks and servers of others. A server of our name whose command is not ours counts as another's. */
function othersIn({ hooks = {}, mcpServers: servers = {} }: Record<string, unknown>, path: string) {
  if (!isObject(hooks) || !isObject(servers) || Object.values(hooks).some((groups) => !Array.isArray(groups)))
    throw new UsageError(`in ${path}, "hooks" must hold a list for each event, and "mcpServers" must be an object: nothing was changed`);
  const kept = Object.entries(hooks as Record<string, unknown[]>).map(([event, groups]) => [event, groups.flatMap(othersOf)] as const);
  const { 'work-ledger': named, ...others } = servers;
  return {
    hooks: Object.fromEntries(kept.filter(([, groups]) => groups.length > 0)),
    mcpServers: named === undefined || isOurServer(named) ? others : servers,
  };
}

/** A group of hooks without ours; none, if it held no others. */
function othersOf(group: unknown): unknown[] {
  if (!isObject(group) || !Array.isArray(group['hooks'])) return [group];
  const hooks = group['hooks'].filter((hook) => !ours.test(JSON.stringify(hook)));
  return hooks.length === 0 && group['hooks'].length > 0 ? [] : [{ ...group, hooks }];
}

/** Returns what writes the whole file or nothing; a symbolic link stays one. Null: there is nothing to change. */
async function change(path: string, to: (text: string) => string): Promise<(() => Promise<void>) | null> {
  const file = await target(path);
  const there = await stat(file).catch(() => null);
  if (there?.isDirectory()) throw new UsageError(`${path} is a directory; it must be a file`);
  const before = there === null ? '' : await readFile(file, 'utf8');
  const text = to(before);
  if (text === before) return null;
  return async () => {
    await mkdir(dirname(file), { recursive: true });
    const fresh = `${file}.${randomUUID()}`; // of its own: another may be installing at the same time
    try {
      await writeFile(fresh, text, { mode: there?.mode ?? 0o600 });
      await rename(fresh, file);
    } finally {
      await rm(fresh, { force: true });
    }
  };
}

/** The file behind a symbolic link, even one that is not there yet. */
async function target(path: string): Promise<string> {
  const there = await realpath(path).catch(() => null);
  const link = there === null ? await readlink(path).catch(() => null) : null;
  return there ?? (link === null ? path : resolve(dirname(path), link));
}

function parsed(text: string, path: string): Record<string, unknown> {
  try {
    const settings: unknown = jsonOfFile(text.trim() === '' ? '{}' : text);
    if (isObject(settings)) return settings;
  } catch {
    // reported below
  }
  throw new UsageError(`${path} is not plain JSON with an object in it (comments are not supported): nothing was changed. ${byHand}`);
}
