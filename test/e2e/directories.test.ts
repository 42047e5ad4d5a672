// Rows of the ledger name directories of the worker's host; which of them exist for a row is the worker's to say, by who named them. What
// it refuses waits with one sentence, before a model is asked, and stays as it was: no file is copied and nothing changes its owner.

import { chmod, chown, lstat, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { noDocker } from '../docker.ts';
import { startWorkerProcess, until } from '../workerProcess.ts';
import type { WorkerProcess } from '../workerProcess.ts';

const isRoot = process.getuid?.() === 0;
const other = { uid: 65_432, gid: 65_432 };
const roles = { owner: 'postgres', client: `dir_client_${process.pid}`, boss: `dir_boss_${process.pid}` };
const prefix = `dir_${process.pid}_`;

let database: TestDatabase;
let model: ScriptedModel;
let base: string;
/** Another user than root: the database's, who can reach its socket; without root the one who runs this. */
let person: { uid: number; gid: number };

beforeAll(async () => {
  database = await createDatabase();
  await database.query(`create role ${roles.client} login; create role ${roles.boss} login; select ledger.work_roles_create('${prefix}');
    grant ${prefix}client to ${roles.client}; grant ${prefix}admin to ${roles.boss}`);
  await database.query(
    `set search_path = ledger; ${(['host', 'container'] as const)
      .map(
        (kind) =>
          `select from faculty_save('{"name": "${kind}", "accepts": ["${kind}"], "awareness": {"enabled": false}, "engage": {"workspace": "${kind}", "tools": ["bash", "write_file"], "ledger_nudge_interval": 0}}')`,
      )
      .join('; ')}`,
  );
  model = await startScriptedModel((_, { exchange }) => ({
    content:
      exchange === 0
        ? [
            { type: 'tool_use', name: 'bash', input: { command: 'cat keys; id -u; stat -c %U:%a .', timeout: 300 } },
            { type: 'tool_use', name: 'write_file', input: { path: 'new/made.txt', content: 'x' } },
          ]
        : [{ type: 'text', text: 'Done.' }],
  }));
  const found = isRoot
    ? await stat(decodeURIComponent(/@([^/:]+)[:/]/.exec(database.url)?.[1] ?? ''))
    : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  person = { uid: found.uid, gid: found.gid };
  base = await mkdtemp(join(tmpdir(), 'directories-test-'));
  await chmod(base, 0o755);
});
afterAll(async () => {
  await model?.close();
  await database?.query(`set search_path = ledger; select work_roles_drop(); drop role ${roles.client}, ${roles.boss}`);
  await database?.drop();
  await rm(base, { recursive: true, force: true });
});

/** A directory with a file of its owner alone. */
async function directory(name: string, owner: { uid: number; gid: number } | null, mode = 0o700): Promise<string> {
  const path = join(base, name);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'keys'), `KEYS of ${name}\n`, { mode: 0o600 });
  if (owner && isRoot) for (const one of [join(path, 'keys'), path]) await chown(one, owner.uid, owner.gid);
  await chmod(path, mode);
  return path;
}

type Ended = { state: string; reason: string | null; turns: number; results: string[] };

/** Submits work as a role, with a directory that it names; how it ends or why it waits. */
async function submitted(role: keyof typeof roles, kind: 'host' | 'container' | 'change', path: string): Promise<Ended> {
  const client = new pg.Client({
    connectionString: database.url.replace('postgres@', `${roles[role]}@`),
    options: '-c search_path=ledger',
  });
  await client.connect();
  try {
    const {
      rows: [item],
    } = await client.query<{ id: string }>(`select id from work_submit($1, 'Look', p_workspace_dir => $2)`, [kind, path]);
    return await until(async () => {
      const [ended] = await database.query<Ended>(`
        select state, state_reason as reason, (select count(*)::integer from ledger.turns where work_item_id = w.id) as turns,
               array(select k.result #>> '{}' from ledger.tool_calls k join ledger.turns t on t.id = k.turn_id where k.work_item_id = w.id order by t.depth, k.ordinal) as results
          from ledger.work_items w where id = '${item?.id ?? ''}' and (state = 'paused' or resolved_at is not null)`);
      return ended;
    });
  } finally {
    await client.end();
  }
}

const waits = (says: string): object => ({ state: 'paused', reason: expect.stringMatching(says), turns: 0, results: [] });

async function withWorker(
  options: { roots?: string[]; owner?: { uid: number; gid: number }; args?: string[]; modelUrl?: string },
  use: (worker: WorkerProcess) => Promise<void>,
): Promise<void> {
  const home = { HOME: base, XDG_CACHE_HOME: join(base, 'none') };
  const worker = await startWorkerProcess({
    url: database.url,
    modelUrl: options.modelUrl ?? model.url,
    ...(options.args && { args: options.args }),
    ...(options.owner && isRoot && { owner: options.owner }),
    env: { ...home, WORK_LEDGER_COMMANDS_AS: '', WORK_LEDGER_WORKSPACE_ROOTS: (options.roots ?? []).join(':') },
  });
  try {
    await use(worker);
  } finally {
    await worker.end('SIGTERM');
  }
}

/** Owner, group and mode of a directory and its file. */
const stamp = (path: string): Promise<string> =>
  Promise.all([path, join(path, 'keys')].map((one) => lstat(one))).then((all) =>
    all.map(({ uid, gid, mode }) => `${uid}:${gid}:${mode}`).join(' '),
  );

describe.each(['host', 'container'] as const)('a workspace of kind %s', (kind) => {
  test.skipIf(!isRoot)('a root worker serves no directory of its own accord, whoever names it', async () => {
    const secret = await directory(`secret-${kind}`, null);
    const before = await stamp(secret);
    await withWorker({}, async () => {
      expect(await submitted('client', kind, secret)).toEqual(
        waits(
          `^workspace: ${secret} lies outside the workspace_roots of this worker, which has none, and "${roles.client}" named it, not the ledger's owner or an administrator$`,
        ),
      );
      expect(await submitted('boss', kind, secret)).toEqual(
        waits(`^workspace: ${secret} lies outside .*, and a worker that runs as root serves nothing else$`),
      );
      expect(await submitted('owner', kind, secret)).toEqual(waits('serves nothing else$'));
      // Nobody learns what is there.
      expect(await submitted('client', kind, join(secret, 'no-such'))).toEqual(waits('lies outside'));
    });
    expect(await stamp(secret)).toBe(before);
  });

  test.skipIf(!isRoot)('a root worker with roots serves what really lies below them', async () => {
    const secret = await directory(`kept-${kind}`, null);
    const roots = join(base, `roots-${kind}`);
    await directory(`roots-${kind}/own`, null);
    await symlink(secret, join(roots, 'link'));
    await symlink(roots, join(base, `way-${kind}`));
    await directory(`roots-${kind}-beside`, null);
    const before = await stamp(secret);
    await withWorker({ args: ['--workspace-roots', join(base, `way-${kind}`)] }, async () => {
      for (const role of ['client', 'owner'] as const) {
        for (const path of [
          secret,
          join(roots, 'link'),
          join(roots, 'link/.'),
          `${roots}/own/../../kept-${kind}`,
          `${roots}-beside`,
          base,
          '/',
        ]) {
          expect(await submitted(role, kind, path), `${role} ${path}`).toEqual(
            waits('lies outside the workspace_roots of this worker, and'),
          );
        }
      }
    });
    expect(await stamp(secret)).toBe(before);
  });

  test("a person's worker serves the directories of that person if the owner or an administrator names them", async () => {
    const mine = await directory(`mine-${kind}`, person);
    const theirs = isRoot ? await directory(`theirs-${kind}`, other, 0o755) : '/etc';
    await symlink(mine, join(base, `to-mine-${kind}`));
    await symlink(theirs, join(base, `to-theirs-${kind}`));
    await withWorker({ owner: person }, async () => {
      expect(await submitted('client', kind, mine)).toEqual(waits('which has none, and "dir_client'));
      for (const path of [theirs, join(base, `to-theirs-${kind}`), `${mine}/../../..`]) {
        expect(await submitted('boss', kind, path), path).toEqual(waits('and does not belong to the user that it runs as$'));
      }
      if (kind === 'container') return;
      for (const [role, path] of [
        ['boss', mine],
        ['owner', join(base, `to-mine-${kind}`)],
      ] as const) {
        expect(await submitted(role, kind, path)).toMatchObject({
          state: 'completed',
          results: [expect.stringMatching(`^KEYS of mine-${kind}\n${person.uid}\n`), expect.not.stringMatching('refused')],
        });
      }
    });
  });
});

test.skipIf(!isRoot)(
  'on the host a root worker runs commands as whoever the directory belongs to, never as root, and gives nothing away',
  async () => {
    const [closed, open, theirs] = [
      await directory('served/closed', null),
      await directory('served/open', null, 0o755),
      await directory('served/theirs', other),
    ];
    await chmod(join(base, 'served'), 0o755);
    const before = await Promise.all([closed, open].map(stamp));
    await withWorker({ roots: [join(base, 'served')] }, async () => {
      expect((await submitted('client', 'host', closed)).results[0]).toMatch(
        /^\[engine\] The workspace cannot be used now: agents' commands do not run as root, and the user [\w-]+ cannot use .*served\/closed: give it to another user/,
      );
      const [said] = (await submitted('client', 'host', open)).results;
      expect(said).toMatch(/\n?[1-9]\d*\nroot:755|nobody:755|UNKNOWN:755/);
      expect(said).not.toContain('KEYS of');
      const inTheirs = await submitted('client', 'host', theirs);
      expect(inTheirs).toMatchObject({
        state: 'completed',
        results: [expect.stringMatching(`^KEYS of served/theirs\n${other.uid}\n`), expect.anything()],
      });
    });
    expect(await Promise.all([closed, open].map(stamp))).toEqual(before);
    const made = await Promise.all([join(theirs, 'new'), join(theirs, 'new/made.txt')].map((path) => stat(path)));
    expect(made.map(({ uid }) => uid)).toEqual([other.uid, other.uid]); // what the worker itself makes there is theirs
  },
);

test('a link that an agent changes while it works leads to nothing', async () => {
  const [roots, secret] = [join(base, 'changed'), await directory('elsewhere', person, 0o755)];
  await directory('changed/real', person);
  await chown(roots, person.uid, person.gid);
  await symlink(join(roots, 'real'), join(roots, 'link'));
  await database.query(
    `select ledger.faculty_save('{"name": "changer", "accepts": ["change"], "awareness": {"enabled": false}, "engage": {"workspace": "host", "tools": ["bash", "read_file"], "max_parallel_tools": 1, "ledger_nudge_interval": 0}}')`,
  );
  const calls = [
    { name: 'read_file', input: { path: 'keys' } },
    { name: 'bash', input: { command: `ln -sfn ${secret} ${join(roots, 'link')}; echo changed`, timeout: 300 } },
    { name: 'read_file', input: { path: 'keys' } },
    { name: 'bash', input: { command: 'cat keys', timeout: 300 } },
  ];
  const changer = await startScriptedModel((_, { exchange }) => ({
    content: exchange === 0 ? calls.map((call) => ({ type: 'tool_use', ...call })) : [{ type: 'text', text: 'Done.' }],
  }));
  await withWorker({ roots: [roots], owner: person, modelUrl: changer.url }, async () => {
    const { results } = await submitted('client', 'change', join(roots, 'link'));
    expect(results.slice(0, 2)).toEqual([expect.stringContaining('KEYS of changed/real'), 'changed']);
    for (const result of results.slice(2)) expect(result).toContain('lies outside the workspace_roots of this worker');
    expect(results).toHaveLength(4);
  });
  await changer.close();
});

test.skipIf(!isRoot || noDocker !== null)('a container begins with the files of a directory below the roots', async () => {
  const seed = await directory('copied/seed', null);
  await withWorker({ roots: [join(base, 'copied')] }, async () => {
    expect(await submitted('client', 'container', seed)).toMatchObject({
      state: 'completed',
      results: [expect.stringMatching(/^KEYS of copied\/seed\n65534\n/), expect.anything()],
    });
  });
});
