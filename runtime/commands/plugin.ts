// `work-ledger plugin PROGRAM`: gives another agent's program the hooks and tools of the ledger.

import { existsSync } from 'node:fs';
import { mkdir, readFile, readlink, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

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

type Part = { path: string; text: string; install(): Promise<void> };

const json = (path: string, settings: Settings): Part => ({
  path,
  text: JSON.stringify(settings, null, 2),
  install: () => change(path, (text) => `${JSON.stringify(merged(parsed(text, path), settings, path), null, 2)}\n`),
});

/** The files to change in a user's home, and how. */
const parts: Record<Exclude<HarnessName, 'claude-code'>, () => Part[]> = {
  codex() {
    const home = process.env['CODEX_HOME'] || join(homedir(), '.codex');
    const path = join(home, 'config.toml');
    return [
      json(join(home, 'hooks.json'), { hooks: hookSettings('codex', program) }),
      { path, text: codexServer, install: () => change(path, (text) => withCodexServer(text, path)) },
    ];
  },
  'gemini-cli': () => [
    json(join(homedir(), '.gemini', 'settings.json'), {
      hooks: hookSettings('gemini-cli', program),
      mcpServers: { 'work-ledger': server },
    }),
  ],
};

export async function plugin(name: string, { install = false }: { install?: boolean }): Promise<number> {
  if (!isHarness(name)) throw new UsageError(`unknown program "${name}": it is one of ${Object.keys(harnesses).join(', ')}`);
  if (name === 'claude-code') {
    if (install) throw new UsageError('Claude Code installs the plugin itself: run what "work-ledger plugin claude-code" prints');
    print(null, `claude plugin marketplace add ${quoted(folder)} && claude plugin install work-ledger@work-ledger`, false);
    return exit.ok;
  }
  for (const part of parts[name]()) {
    if (install) await part.install();
    note(install ? `changed ${part.path}` : `in ${part.path}:`);
    if (!install) print(null, part.text, false);
  }
  if (name === 'codex') note('Codex asks once whether it may run these hooks.');
  return exit.ok;
}

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

/** The command of the server of this name; null: there is none. */
function codexCommand(text: string, path: string): string | null {
  let servers: unknown;
  try {
    servers = parseToml(text).value['mcp_servers'];
  } catch {
    throw notToml(path);
  }
  const there = isObject(servers) ? servers['work-ledger'] : undefined;
  if (there === undefined) return null;
  return isObject(there) && typeof there['command'] === 'string' ? there['command'] : '';
}

const notToml = (path: string): UsageError =>
  new UsageError(
    `${path} was not changed: it is no valid TOML, or has mcp_servers in a form that nothing can be added to. Add by hand what is printed without --install`,
  );

/** Replaces our own settings and keeps all others, even in the same group. */
function merged(settings: Record<string, unknown>, { hooks, mcpServers }: Settings, path: string): Record<string, unknown> {
  const { hooks: before = {}, mcpServers: servers = {} } = settings;
  if (!isObject(before) || !isObject(servers) || Object.values(before).some((groups) => !Array.isArray(groups)))
    throw new UsageError(`in ${path}, "hooks" must hold a list for each event, and "mcpServers" must be an object: nothing was changed`);
  const kept = Object.entries(before as Record<string, unknown[]>).map(([event, groups]) => [event, groups.flatMap(withoutOurs)] as const);
  const all: Record<string, unknown[]> = Object.fromEntries(kept.filter(([, groups]) => groups.length > 0));
  for (const [event, groups] of Object.entries(hooks)) all[event] = [...(all[event] ?? []), ...groups];
  return { ...settings, hooks: all, ...(mcpServers && { mcpServers: { ...servers, 'work-ledger': withServer(servers['work-ledger']) } }) };
}

/** As in Codex, a server of this name that is not ours stays; ours only moves, and keeps what the person set besides. */
function withServer(before: unknown): unknown {
  if (before === undefined) return server;
  const isOurs = isObject(before) && typeof before['command'] === 'string' && oursServer.test(before['command']);
  return isOurs ? { ...before, command: server.command } : before;
}

function withoutOurs(group: unknown): unknown[] {
  if (!isObject(group) || !Array.isArray(group['hooks'])) return [group];
  const hooks = group['hooks'].filter((hook) => !ours.test(JSON.stringify(hook)));
  return hooks.length === 0 && group['hooks'].length > 0 ? [] : [{ ...group, hooks }];
}

/** Writes the whole file or nothing; a symbolic link stays one. */
async function change(path: string, to: (text: string) => string): Promise<void> {
  const file = await target(path);
  const there = await stat(file).catch(() => null);
  const text = to(there === null ? '' : await readFile(file, 'utf8'));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.work-ledger`, text, { mode: there?.mode ?? 0o600 });
  await rename(`${file}.work-ledger`, file);
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
  throw new UsageError(
    `${path} is not plain JSON with an object in it (comments are not supported): nothing was changed. Add by hand what is printed without --install`,
  );
}
