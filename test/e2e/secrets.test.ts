// What a command of an agent can reach of its worker's secrets: nothing. It looks through every process of the machine, as root, as an
// ordinary user and in a container; the same search finds them where nothing guards them.

import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { commandUser } from '../../sandbox/commandUser.ts';
import { HostWorkspace } from '../../sandbox/hostWorkspace.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { cli } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { noDocker } from '../docker.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';

const reach = fileURLToPath(new URL('../fixtures/reach.mjs', import.meta.url));
const isRoot = process.getuid?.() === 0;
const halves = [`canary-${crypto.randomUUID().slice(0, 8)}`, `-${crypto.randomUUID().slice(0, 8)}7`] as const;
const secret = halves.join('');

let database: TestDatabase;
let db: Db;
let model: ScriptedModel;
const directories: string[] = [];

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  // The task says which command the agent is to run.
  model = await startScriptedModel(({ messages }, { exchange }) => {
    const command = /COMMAND (.*) END/s.exec(JSON.stringify(messages[0]))?.[1] ?? '';
    return {
      content:
        exchange === 0
          ? [{ type: 'tool_use', name: 'bash', input: { command: JSON.parse(`"${command}"`) as string, timeout: 300 } }]
          : [{ type: 'text', text: 'Done.' }],
    };
  });
});
afterAll(async () => {
  await model?.close();
  await db?.close();
  await database?.drop();
  await Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true })));
});

async function directoryOf(owner?: { uid: number; gid: number }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'secrets-test-'));
  directories.push(directory);
  await copyFile(reach, join(directory, 'reach.mjs'));
  if (owner) await chown(directory, owner.uid, owner.gid);
  return directory;
}

/** What a worker has that holds secrets: variables, a password in an argument, one in a variable. */
const secrets = () => ({
  url: `${database.url}?password=${secret}`,
  modelUrl: model.url,
  apiKey: `key-${secret}`,
  args: ['--database-url', `${database.url}?password=${secret}`],
  env: {
    GATEWAY_KEY: `gateway-${secret}`,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secret}`,
    WORK_LEDGER_MCP_TOKEN: secret,
    PGPASSWORD: secret,
  },
});

type Reached = { found: string[]; looked: { processes: number; environments: number; memories: number; descriptors: number }; uid: number };

/** The output of a command that the agent of a worker runs. */
async function agentRuns(
  command: string,
  engage: object,
  owner?: { uid: number; gid: number },
): Promise<{ output: string; pid: number; own: string }> {
  const name = `runs ${crypto.randomUUID()}`;
  await db.facultySave({ name, accepts: [name], awareness: { enabled: false }, engage: { tools: ['bash'], ...engage } });
  const home = await directoryOf(owner);
  const worker = await startWorkerProcess({
    ...secrets(),
    env: { ...secrets().env, WORK_LEDGER_COMMANDS_AS: '', HOME: home, XDG_CACHE_HOME: join(home, 'none') },
    ...(owner && { owner }),
  });
  try {
    const own = `${await readFile(`/proc/${worker.pid}/environ`, 'latin1')}${await readFile(`/proc/${worker.pid}/cmdline`, 'latin1')}`;
    const item = await db.workSubmit({ workType: name, description: `Run this: COMMAND ${command} END` });
    await until(async () => (await db.workItem(item.id))?.resolved_at);
    const [call] = await database.query<{ result: string }>(
      `select result #>> '{}' as result from ledger.tool_calls where work_item_id = '${item.id}'`,
    );
    return { output: call?.result ?? '', pid: worker.pid, own };
  } finally {
    await worker.end('SIGTERM');
  }
}

const looking = `${process.execPath} reach.mjs ${halves.join(' ')}`;

test('the search finds what nothing guards: environment, arguments and memory of a process of the same user', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '-e',
      `
    const { execFileSync } = require('node:child_process');
    process.stdout.write(execFileSync(process.execPath, [...process.argv.slice(1, 4), 'parent'], { env: { PATH: process.env.PATH }, maxBuffer: 1e8 }));
  `,
      reach,
      ...halves,
      `argument-${secret}`,
    ],
    { env: { PATH: process.env['PATH'], KEY: secret }, maxBuffer: 100_000_000 },
  );
  const { found } = JSON.parse(stdout) as Reached;
  for (const what of ['environment of', 'cmdline of', 'memory of']) expect(found.join(), what).toContain(what);
});

test.skipIf(!isRoot)('where the worker is root, its agent runs commands as the owner of the directory, who finds nothing', async () => {
  const theirs = { uid: 65_432, gid: 65_432 };
  const directory = await directoryOf(theirs);
  const { output, own } = await agentRuns(`${looking}; id -u; touch made; stat -c %u made`, {
    workspace: 'host',
    workspace_dir: directory,
  });
  const [json = '', uid, owner] = output.split('\n');
  const reached = JSON.parse(json) as Reached;
  expect(reached).toMatchObject({ found: [], uid: theirs.uid });
  expect(reached.looked.processes).toBeGreaterThan(2);
  expect([uid, owner]).toEqual([String(theirs.uid), String(theirs.uid)]);
  // What the worker writes there is theirs, too.
  await new HostWorkspace(directory).writeFile('below/written', 'x');
  expect([(await stat(join(directory, 'below'))).uid, (await stat(join(directory, 'below/written'))).uid]).toEqual([
    theirs.uid,
    theirs.uid,
  ]);
  expect(own).not.toContain(secret);
  expect(own).toMatch(/work-ledger work .*--database-url postgresql:.*password=\*\*\*/);
});

test.skipIf(!isRoot)(
  "in a directory of root's, commands run as a user who can use it; where there is none, as root only if somebody says so",
  async () => {
    vi.stubEnv('WORK_LEDGER_COMMANDS_AS', '');
    const [open, closed] = [await directoryOf(), await directoryOf()];
    await chmod(open, 0o755);
    const place = (path: string, isOwn = false) => ({ path, uid: 0, gid: 0, isOwn });
    expect(await commandUser(place(open))).toMatchObject({ kind: 'another', uid: expect.toSatisfy((uid) => uid !== 0), mayWrite: false });
    await expect(commandUser(place(closed))).rejects.toThrow(/^agents' commands do not run as root, and the user [\w-]+ cannot use /);
    await expect(new HostWorkspace(closed).run('id', { timeoutSeconds: 300, signal: new AbortController().signal })).rejects.toThrow(
      'do not run as root',
    );
    expect(await commandUser(place(closed, true))).toMatchObject({ kind: 'namespace', why: `${closed} belongs to root, who started this` });
    vi.stubEnv('WORK_LEDGER_COMMANDS_AS', 'root');
    expect(await commandUser(place(closed))).toMatchObject({ kind: 'namespace', why: 'WORK_LEDGER_COMMANDS_AS says so' });
    expect(
      (await new HostWorkspace(closed).run(looking, { timeoutSeconds: 300, signal: new AbortController().signal, maxBytes: 10_000_000 }))
        .stdout,
    ).toContain('"found":[]');
    vi.unstubAllEnvs();
    expect((await Promise.all([open, closed].map((path) => stat(path)))).map(({ uid }) => uid)).toEqual([0, 0]);
  },
);

test("an ordinary user's agent finds nothing either, although its commands are of the same user", async () => {
  // As root, another user plays the ordinary one: the database's, who can reach its socket.
  const socket = decodeURIComponent(/@([^/:]+)[:/]/.exec(database.url)?.[1] ?? '');
  const { uid, gid } = isRoot ? await stat(socket) : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const owner = isRoot ? { uid, gid } : undefined;
  const directory = await directoryOf(owner);
  const { output, own } = await agentRuns(
    `${looking}; touch made; stat -c %u made`,
    { workspace: 'host', workspace_dir: directory },
    owner,
  );
  const [json = '', made] = output.split('\n');
  const reached = JSON.parse(json) as Reached;
  expect(reached).toMatchObject({ found: [], uid });
  expect(reached.looked.processes).toBeGreaterThan(2);
  expect(made).toBe(String(uid));
  expect(own).not.toContain(secret);
});

test('the doctor says as whom commands run, and what cannot be kept from them', async () => {
  const here = await directoryOf();
  await chmod(here, 0o755);
  await db.facultySave({ name: 'here', engage: { workspace: 'host', workspace_dir: here } });
  await db.facultySave({ name: 'elsewhere', engage: { workspace: 'container', workspace_dir: '/etc' } });
  const { stdout } = await cli(['doctor', '--json', '--workspace-roots', here], {
    env: { ...process.env, WORK_LEDGER_COMMANDS_AS: '', DATABASE_URL: database.url },
  });
  const checks = JSON.parse(stdout) as { check: string; severity: string; detail: string }[];
  expect(checks.filter(({ detail }) => detail.includes('"elsewhere"'))).toMatchObject(
    isRoot
      ? [
          {
            severity: 'warning',
            detail:
              'work of faculty "elsewhere" would wait: /etc lies outside the workspace_roots of this worker, and a worker that runs as root serves nothing else',
          },
        ]
      : [
          {
            severity: 'warning',
            detail:
              'work of faculty "elsewhere" would wait: /etc lies outside the workspace_roots of this worker, and does not belong to the user that it runs as',
          },
        ],
  );
  const says = checks.filter(({ check }) => check === 'secrets');
  expect(says.find(({ detail }) => detail.startsWith(`commands in ${here} run`))).toMatchObject(
    isRoot
      ? { severity: 'fine', detail: expect.stringMatching(/ run as [\w-]+, who cannot read the worker, nor write there$/) }
      : {
          severity: 'fine',
          detail: `commands in ${here} run in a user namespace: they cannot read the worker, nor the shell that started it`,
        },
  );
  expect(says.at(-1)?.detail).toMatch(/^not kept from commands of workspace = "host": files that their user may read/);
});

describe.skipIf(noDocker !== null)('in a container', () => {
  test('nothing of the worker is there', async () => {
    const search = `for f in /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/keys /run/* /tmp/* /etc/*; do tr '\\\\0' '\\\\n' < $f; done 2>/dev/null | grep -ac '${halves[0]}[-]${halves[1].slice(1)}'; env | grep -c canary; ls /proc | grep -c '^[0-9]'`;
    const { output } = await agentRuns(search, { workspace: 'container' });
    expect(output).toMatch(/^0\n0\n[1-9]/);
  });
});

test('a core dump of the worker would hold no memory', async () => {
  const directory = await directoryOf();
  await writeFile(
    join(directory, 'filter.ts'),
    `
    import { readFileSync } from 'node:fs';
    import { hideEnvironment } from ${JSON.stringify(fileURLToPath(new URL('../../sandbox/ownSecrets.ts', import.meta.url)))};
    console.log(hideEnvironment(), readFileSync('/proc/self/coredump_filter', 'utf8').trim(), process.env['KEY'], readFileSync('/proc/self/environ', 'utf8').includes('KEY'));
  `,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [join(directory, 'filter.ts')], { env: { ...process.env, KEY: secret } });
  expect(stdout).toBe(`true 00000000 ${secret} false\n`);
});

test('where process.env is a copy, as in a thread, the environment of the program stays as it was', async () => {
  const directory = await directoryOf();
  const source = JSON.stringify(fileURLToPath(new URL('../../sandbox/ownSecrets.ts', import.meta.url)));
  await writeFile(
    join(directory, 'inThread.mjs'),
    `
    import { parentPort } from 'node:worker_threads';
    import { hideEnvironment } from ${source};
    parentPort.postMessage([hideEnvironment(), process.env.KEY]);
  `,
  );
  await writeFile(
    join(directory, 'threads.mjs'),
    `
    import { once } from 'node:events';
    import { Worker } from 'node:worker_threads';
    const [said] = await once(new Worker(new URL('inThread.mjs', import.meta.url)), 'message');
    console.log(JSON.stringify([said, process.env.KEY]));
    const real = process.env;
    process.env = { ...real };
    const { hideEnvironment } = await import(${source});
    console.log(hideEnvironment(), Object.getOwnPropertySymbols(process.env).length, real.KEY);
  `,
  );
  const env = { ...process.env, KEY: secret };
  const { stdout } = await promisify(execFile)(process.execPath, [join(directory, 'threads.mjs')], { env });
  expect(stdout).toBe(`${JSON.stringify([[false, secret], secret])}\nfalse 0 ${secret}\n`);
});
