// What gives other agents' programs the hooks of the ledger: `work-ledger plugin`, with settings that hold other things, and hooks as
// these programs call them and read their answers. test/long/harnesses.test.ts has the programs themselves.

import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { harnesses } from '../../runtime/harness/harnesses.ts';
import { hookInput } from '../../runtime/harness/hooks.ts';
import { cli } from '../cli.ts';
import type { Ended } from '../cli.ts';

let home = '';
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'plugin-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const plugin = (...args: string[]): Promise<Ended> => cli(['plugin', ...args], { env: { PATH: process.env['PATH'], HOME: home } });

test('plugin adds to the settings of a person what is ours, once, and nothing of theirs goes', async () => {
  const file = join(home, 'dotfiles', 'settings.json');
  const path = join(home, '.gemini', 'settings.json');
  const own = { matcher: 'write_file', hooks: [{ type: 'command', command: 'mine' }] };
  for (const directory of ['dotfiles', '.gemini']) await mkdir(join(home, directory));
  const before = { theme: 'dark', hooks: { BeforeTool: [own], Notification: [own] }, mcpServers: { other: {} } };
  await writeFile(file, `\uFEFF${JSON.stringify(before)}`); // as some editors write it
  await chmod(file, 0o640);
  await symlink(file, path);
  for (let n = 0; n < 2; n++) expect(await plugin('gemini-cli', '--install')).toMatchObject({ code: 0, stdout: '' });
  const settings = JSON.parse(await readFile(file, 'utf8')) as { hooks: Record<string, unknown[]>; mcpServers: object };
  expect(settings).toMatchObject({ theme: 'dark', hooks: { BeforeTool: [own, { matcher: 'write_file|replace' }], Notification: [own] } });
  expect(Object.keys(settings.mcpServers)).toEqual(['other', 'work-ledger']);
  expect(Object.values(settings.hooks).map((groups) => groups.length)).toEqual([2, 1, 1, 1, 1, 1, 1]);
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect((await stat(file)).mode & 0o777).toBe(0o640);

  await mkdir(join(home, '.codex'));
  await writeFile(join(home, '.codex', 'config.toml'), 'model = "gpt-5.5"');
  for (let n = 0; n < 2; n++) expect(await plugin('codex', '--install')).toMatchObject({ code: 0 });
  const config = await readFile(join(home, '.codex', 'config.toml'), 'utf8');
  expect(config).toMatch(/^model = "gpt-5\.5"\n\n\[mcp_servers\.work-ledger\]\ncommand = ".*\/plugin\/work-ledger"\n/);
  expect(config.match(/mcp_servers/g)).toHaveLength(1);
});

test('uninstall removes what is ours wherever the package was, and nothing else', async () => {
  const [hooks, config, gemini] = [
    join(home, '.codex', 'hooks.json'),
    join(home, '.codex', 'config.toml'),
    join(home, '.gemini', 'settings.json'),
  ];
  await Promise.all([
    rm(join(home, '.codex'), { recursive: true, force: true }),
    rm(join(home, '.gemini'), { recursive: true, force: true }),
  ]);
  const own = { hooks: [{ type: 'command', command: 'mine' }] };
  const toml = 'model = "gpt-5.5"\n\n[mcp_servers.other]\ncommand = "x" # [mcp_servers.work-ledger]\n';
  for (const directory of ['.codex', '.gemini']) await mkdir(join(home, directory));
  await writeFile(hooks, JSON.stringify({ hooks: { Stop: [own] } }));
  await writeFile(config, toml);
  await writeFile(gemini, JSON.stringify({ theme: 'dark' }));
  for (const name of ['codex', 'gemini-cli']) expect(await plugin(name, '--install')).toMatchObject({ code: 0 });
  await writeFile(config, `${await readFile(config, 'utf8')}[mcp_servers.work-ledger.env]\nA = "b"\n# of what follows\n[projects]\n`);
  expect(await plugin('codex', '--uninstall')).toMatchObject({ code: 0, stderr: `changed ${hooks}\nchanged ${config}\n` });
  expect(JSON.parse(await readFile(hooks, 'utf8'))).toEqual({ hooks: { Stop: [own] } });
  expect((await readFile(config, 'utf8')).replaceAll(/\n+/g, '\n')).toBe(`${toml.replaceAll(/\n+/g, '\n')}# of what follows\n[projects]\n`);
  expect(await plugin('gemini-cli', '--uninstall')).toMatchObject({ code: 0, stderr: `changed ${gemini}\n` });
  expect(JSON.parse(await readFile(gemini, 'utf8'))).toEqual({ theme: 'dark' });

  await Promise.all([rm(hooks), rm(config)]);
  for (const option of ['--install', '--uninstall']) expect(await plugin('codex', option)).toMatchObject({ code: 0 });
  expect([await readFile(hooks, 'utf8'), await readFile(config, 'utf8')]).toEqual(['{}\n', '\n']);

  const foreign = '[mcp_servers.work-ledger]\nurl = "https://ledger.example/mcp"\n';
  await writeFile(config, foreign);
  await rm(hooks);
  const servers = JSON.stringify({ mcpServers: { 'work-ledger': { command: 'mine' } } });
  await writeFile(gemini, servers);
  expect(await plugin('codex', '--uninstall')).toMatchObject({
    code: 0,
    stderr: `nothing to change in ${hooks}\nnothing to change in ${config}\n`,
  });
  expect(await plugin('gemini-cli', '--uninstall')).toMatchObject({ code: 0, stderr: `nothing to change in ${gemini}\n` });
  expect([await readFile(config, 'utf8'), await readFile(gemini, 'utf8'), await lstat(hooks).catch(() => null)]).toEqual([
    foreign,
    servers,
    null,
  ]);
  expect(await plugin('gemini-cli', '--install')).toMatchObject({ code: 0 });
  expect(JSON.parse(await readFile(gemini, 'utf8'))).toMatchObject(JSON.parse(servers) as object);

  for (const form of ['mcp_servers.work-ledger.command = COMMAND\n', 'mcp_servers = { work-ledger = { command = COMMAND } }\n']) {
    const text = form.replace('COMMAND', '"/elsewhere/plugin/work-ledger"');
    await writeFile(config, text);
    expect(await plugin('codex', '--uninstall')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/nothing can be removed from\. Edit it by hand/),
    });
    expect(await readFile(config, 'utf8')).toBe(text);
  }
  expect(await plugin('codex', '--install', '--uninstall')).toMatchObject({ code: 2 });
  expect(await plugin('claude-code', '--uninstall')).toMatchObject({ code: 2 });
});

test('what stands beside ours in a group of hooks stays, and ours is replaced wherever the package was', async () => {
  const path = join(home, '.codex', 'hooks.json');
  const [before, mine] = ["'/elsewhere/plugin/work-ledger' hook stop --harness codex || exit 1", 'mine'].map((command) => ({
    type: 'command',
    command,
  }));
  await mkdir(join(home, '.codex'), { recursive: true });
  await writeFile(path, JSON.stringify({ hooks: { Stop: [{ hooks: [before, mine] }, { hooks: [before] }, { hooks: [] }] } }));
  expect(await plugin('codex', '--install')).toMatchObject({ code: 0 });
  const { Stop: groups } = (JSON.parse(await readFile(path, 'utf8')) as { hooks: { Stop: { hooks: { command: string }[] }[] } }).hooks;
  expect(groups.map(({ hooks }) => hooks.map(({ command }) => command))).toEqual([['mine'], [], [expect.stringContaining('hook stop')]]);
  expect(JSON.stringify(groups)).not.toContain('/elsewhere/');
});

test('a server of Gemini CLI that is not ours stays; ours is moved along with what the person set besides', async () => {
  const path = join(home, '.gemini', 'settings.json');
  await rm(path, { force: true });
  await mkdir(join(home, '.gemini'), { recursive: true });
  const install = async (own: object): Promise<unknown> => {
    await writeFile(path, JSON.stringify({ mcpServers: { 'work-ledger': own } }));
    expect(await plugin('gemini-cli', '--install')).toMatchObject({ code: 0 });
    return (JSON.parse(await readFile(path, 'utf8')) as { mcpServers: Record<string, unknown> }).mcpServers['work-ledger'];
  };
  for (const own of [
    { httpUrl: 'https://ledger.example/mcp', headers: { Authorization: 'Bearer mine' } },
    { command: 'mine', args: [] },
  ])
    expect(await install(own)).toEqual(own);
  const moved = await install({ command: '/elsewhere/plugin/work-ledger', args: ['mcp', '--conversation', 'anna'], trust: true });
  expect(moved).toEqual({
    command: expect.stringMatching(/^(?!\/elsewhere).*\/plugin\/work-ledger$/),
    args: ['mcp', '--conversation', 'anna'],
    trust: true,
  });

  await rm(path);
  await symlink(join('..', 'not-yet.json'), path); // as a manager of dotfiles leaves it
  expect(await plugin('gemini-cli', '--install')).toMatchObject({ code: 0 });
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect(await readFile(join(home, 'not-yet.json'), 'utf8')).toContain('hook stop');
  await rm(path);
});

test('the server of Codex is found written however, and moved along; one that is not ours stays', async () => {
  const path = join(home, '.codex', 'config.toml');
  const hooks = join(home, '.codex', 'hooks.json');
  await mkdir(join(home, '.codex'), { recursive: true });
  const install = async (text: string): Promise<string> => {
    await writeFile(path, text);
    expect(await plugin('codex', '--install')).toMatchObject({ code: 0 });
    return readFile(path, 'utf8');
  };
  const added = (await install('')).match(/^command = (".*")$/m)?.[1] ?? '';
  for (const text of [
    '[mcp_servers."work-ledger"]\ncommand = COMMAND # mine\nargs = ["mcp"]\n',
    'mcp_servers.work-ledger.command = COMMAND\n',
    'mcp_servers = { other = { command = "x" }, work-ledger = { command = COMMAND } }\n',
  ])
    expect(await install(text.replace('COMMAND', '"/elsewhere/plugin/work-ledger"'))).toBe(text.replace('COMMAND', added));
  expect(await install('# [mcp_servers.work-ledger]\n')).toMatch(/^# \[mcp_servers\.work-ledger\]\n\n\[mcp_servers\.work-ledger\]\n/);
  for (const own of ['[mcp_servers.work-ledger]\nurl = "https://ledger.example/mcp"\n', '[mcp_servers.work-ledger]\ncommand = "mine"\n'])
    expect(await install(own)).toBe(own);
  for (const text of [
    'mcp_servers = { other = { command = "x" } }\n',
    'no TOML\n',
    "[mcp_servers.work-ledger]\ncommand = '/elsewhere/plugin/work-ledger'\n",
  ]) {
    await writeFile(path, text);
    await rm(hooks, { force: true });
    expect(await plugin('codex', '--install')).toMatchObject({ code: 2, stderr: expect.stringContaining('was not changed') });
    expect([await readFile(path, 'utf8'), await lstat(hooks).catch(() => null)]).toEqual([text, null]); // both files or none
  }
  await rm(path);
  await mkdir(path);
  expect(await plugin('codex', '--install')).toMatchObject({ code: 2, stderr: expect.stringContaining(`${path} is a directory`) });
  await rm(path, { recursive: true });
});

test('plugin prints what is to be added, and changes nothing that it does not understand', async () => {
  const printed = await plugin('gemini-cli');
  expect(Object.keys((JSON.parse(printed.stdout) as { hooks: object }).hooks)).toContain('BeforeTool');
  expect((await plugin('claude-code')).stdout).toMatch(/^claude plugin marketplace add '.*\/plugin' && claude plugin install/);
  expect(await plugin('claude-code', '--install')).toMatchObject({ code: 2 });
  expect(await plugin('vim')).toMatchObject({
    code: 2,
    stderr: 'error: unknown program "vim": it is one of claude-code, codex, gemini-cli\n',
  });
  const path = join(home, '.gemini', 'settings.json');
  for (const [text, words] of [
    ['{ // mine\n}', /not plain JSON with an object in it .*: nothing was changed/],
    ['[]', /not plain JSON with an object in it/],
    ['{"hooks": []}', /must hold a list for each event/],
    ['{"hooks": {"BeforeTool": {}}}', /must hold a list for each event/],
    ['{"mcpServers": []}', /must hold a list for each event/],
  ] as const) {
    await writeFile(path, text);
    expect(await plugin('gemini-cli', '--install')).toMatchObject({ code: 2, stderr: expect.stringMatching(words) });
    expect(await readFile(path, 'utf8')).toBe(text);
  }
});

test('what these programs send is read, and what they are told is said, in their own way', () => {
  const { codex, 'gemini-cli': gemini, 'claude-code': claude } = harnesses;
  const failed = 'Exit code: 1\nOutput:\nno such file';
  expect(codex.read({ tool_response: failed })).toEqual({ tool_response: failed, error: failed });
  expect(codex.read({ tool_response: 'Exit code: 0\nOutput:\n' })).toEqual({ tool_response: 'Exit code: 0\nOutput:\n' });
  expect(gemini.read({ tool_response: { llmContent: 'seen', error: { message: 'no' } } })).toEqual({
    tool_response: 'seen',
    error: '{"message":"no"}',
  });
  expect(gemini.read({ prompt: '<hook_context>of others</hook_context>\n\nMend it.' })).toEqual({ prompt: 'Mend it.' });

  expect(hookInput({ session_id: 's', cwd: null, tool_input: null, last_assistant_message: null })).toEqual({ session_id: 's' });
  expect(() => hookInput({ last_assistant_message: 1 })).toThrow('last_assistant_message is not a text');

  const said = { context: 'of others' };
  const added = (hookEventName: string): string =>
    JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext: 'of others' } });
  expect(claude.answer('user-prompt', 'UserPromptSubmit', said)).toBe('of others');
  expect(codex.answer('user-prompt', 'UserPromptSubmit', said)).toBe(added('UserPromptSubmit'));
  expect(codex.answer('pre-compact', 'PreCompact', said)).toBe('');
  expect(gemini.answer('post-tool-use', 'AfterTool', said)).toBe(added('AfterTool'));
  expect(gemini.answer('pre-tool-use', 'BeforeTool', said)).toBe('{"systemMessage":"of others"}');
  expect(gemini.answer('pre-tool-use', 'BeforeTool', { context: '', refusal: 'held' })).toBe('{"decision":"deny","reason":"held"}');
  for (const each of [claude, codex, gemini]) expect(each.answer('stop', 'Stop', { context: '' })).toBe('');
});

test('several that install at once do not get in the way of each other', async () => {
  const root = await mkdtemp(join(tmpdir(), 'plugin-test-'));
  try {
    const command = new URL('../../runtime/commands/plugin.ts', import.meta.url).href;
    const script = `const { plugin } = await import(${JSON.stringify(command)});
      await Promise.all([1, 2, 3, 4].map(() => plugin('gemini-cli', { install: true })));`;
    const env = { PATH: process.env['PATH'], HOME: root };
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
    expect(await readdir(join(root, '.gemini'))).toEqual(['settings.json']);
    expect(JSON.parse(await readFile(join(root, '.gemini', 'settings.json'), 'utf8'))).toHaveProperty('mcpServers.work-ledger');
  } finally {
    await rm(root, { recursive: true });
  }
});
