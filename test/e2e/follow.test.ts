// Sessions of other programs are followed by a real process while they grow: each thing once, whatever happens to file, process and ledger.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { FollowEvent } from '../../runtime/import/followSessions.ts';
import { importFile } from '../../runtime/import/importFile.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { claudeSession } from '../importer.ts';
import { until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
let database: TestDatabase;
let db: Db;
let home: string;
const followers: Follower[] = [];

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'follow-test-'));
});
afterEach(async () => {
  for (const one of followers.splice(0)) await one.end('SIGKILL');
  await chmod(home, 0o700);
  await rm(home, { recursive: true, force: true });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

type Follower = { events: FollowEvent[]; log: () => string; end: (signal: NodeJS.Signals) => Promise<number | null>; pid: number };

/** `work-ledger follow` in a process of its own, with `home` as its home. */
async function follow(paths: string[] = [], env: NodeJS.ProcessEnv = {}, isReady = true): Promise<Follower> {
  const child = spawn(process.execPath, [main, 'follow', '--json', ...paths], {
    env: { PATH: process.env['PATH'], HOME: home, DATABASE_URL: database.url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const events: FollowEvent[] = [];
  let [log, rest] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    events.push(...lines.map((line) => JSON.parse(line) as FollowEvent));
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (log += chunk));
  const follower: Follower = {
    events,
    log: () => log,
    pid: child.pid ?? 0,
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return (await ended)[0];
    },
  };
  followers.push(follower);
  if (isReady) {
    await until(() => {
      if (child.exitCode !== null) throw new Error(`it ended: ${log}`);
      return events.some(({ event }) => event === 'ready');
    });
  }
  return follower;
}

const place = async (path: string): Promise<string> => {
  await mkdir(dirname(join(home, path)), { recursive: true });
  return join(home, path);
};
/** A session of Claude Code: what it writes for n exchanges, in lines of its own. */
const session = (id: string, n: number): string[] => claudeSession(n).map((line) => line.replaceAll('session-1', id));
const text = (lines: string[]): string => lines.map((line) => `${line}\n`).join('');
const turnsOf = async (label: string): Promise<number> =>
  (
    await database.query<{ n: number }>(
      `select count(*)::int as n from ledger.foci f join ledger.turns t on t.focus_id = f.id where f.session_label = '${label}'`,
    )
  )[0]!.n;
const callsOf = async (label: string): Promise<{ calls: number; open: number }> =>
  (
    await database.query<{ calls: number; open: number }>(
      `select count(*)::int as calls, count(*) filter (where k.completed_at is null)::int as open
       from ledger.foci f join ledger.tool_calls k on k.work_item_id = f.work_item_id where f.session_label = '${label}'`,
    )
  )[0]!;
const itemsOf = (label: string): Promise<{ id: string; state: string; work_type: string; project: string; says: string }[]> =>
  database.query(
    `select w.id, w.state, w.work_type, w.project, ledger._journal_state(w) as says
       from ledger.work_items w where w.external_id = 'import:${label}' or w.params ->> 'conversationId' = split_part('${label}', ':', 2)`,
  );
const recordsOf = async (label: string): Promise<number> =>
  (await database.query<{ n: number }>(`select count(*)::int as n from ledger.session_records where session_label = '${label}'`))[0]!.n;
const old = (path: string): Promise<void> => utimes(path, new Date('2026-01-02'), new Date('2026-01-02'));
/** A way to the database that can be shut. */
async function gateTo(address: string): Promise<{ url: string; shut: () => void; open: () => Promise<void> }> {
  const url = new URL(address);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const there = connect(`${decodeURIComponent(url.hostname)}/.s.PGSQL.5432`);
    for (const [one, other] of [
      [client, there],
      [there, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => other.destroy());
    }
    client.pipe(there).pipe(client);
  });
  const open = (port = 0): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  await open();
  const { port } = server.address() as AddressInfo;
  const there = new URL(address);
  [there.hostname, there.port] = ['127.0.0.1', String(port)];
  return {
    url: there.href,
    shut() {
      server.close();
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    open: () => open(port),
  };
}
let count = 0;
const newId = (): string => `followed-${process.pid}-${++count}`;

describe('a file that grows', () => {
  test('its turns are there as they are written, and its session counts as active', async () => {
    const [id, file] = [newId(), await place('.claude/projects/-work/S.jsonl')];
    const lines = session(id, 3);
    await writeFile(file, text(lines.slice(0, 1)));
    await follow();
    await until(async () => (await itemsOf(`claude-code:${id}`)).length === 1); // as soon as somebody asked
    await appendFile(file, text(lines.slice(1, 3)));
    await until(async () => (await callsOf(`claude-code:${id}`)).open === 1);
    expect(await turnsOf(`claude-code:${id}`)).toBe(1);
    expect(await itemsOf(`claude-code:${id}`)).toMatchObject([
      { work_type: 'journal', state: 'created', says: 'active', project: '/work' },
    ]);
    await appendFile(file, text(lines.slice(3)));
    await until(async () => (await turnsOf(`claude-code:${id}`)) === 3);
    expect(await callsOf(`claude-code:${id}`)).toEqual({ calls: 3, open: 0 });
  });

  test('a line that is cut in the middle waits for its end', async () => {
    const [id, file] = [newId(), await place('.claude/projects/-work/S.jsonl')];
    const whole = text(session(id, 2));
    const cut = text(session(id, 2).slice(0, 5)).length + 40;
    await writeFile(file, whole.slice(0, cut));
    await follow();
    expect(await callsOf(`claude-code:${id}`)).toEqual({ calls: 1, open: 0 });
    for (let at = cut; at < whole.length; at += 30) await appendFile(file, whole.slice(at, at + 30));
    await until(async () => (await callsOf(`claude-code:${id}`)).calls === 2);
    await until(async () => (await callsOf(`claude-code:${id}`)).open === 0);
    expect(await recordsOf(`claude-code:${id}`)).toBe(0);
  });

  test('one that is cut, replaced, moved or copied is the same session', async () => {
    const [id, file] = [newId(), await place('.claude/projects/-work/S.jsonl')];
    const label = `claude-code:${id}`;
    const lines = session(id, 5);
    await writeFile(file, text(lines.slice(0, 7)));
    const { events } = await follow();
    expect(await turnsOf(label)).toBe(2);
    await truncate(file, text(lines.slice(0, 2)).length); // and it goes on elsewhere than where it was
    await appendFile(file, text(lines.slice(2, 10)));
    await until(async () => (await turnsOf(label)) === 3);
    await writeFile(`${file}.new`, text(lines.slice(0, 13)));
    await rename(`${file}.new`, file);
    await until(async () => (await turnsOf(label)) === 4);
    const moved = await place('.claude/projects/-elsewhere/deep/T.jsonl');
    await rename(file, moved);
    await appendFile(moved, text(lines.slice(13)));
    await until(async () => (await turnsOf(label)) === 5);
    await writeFile(file, text(lines));
    await rename(join(home, '.claude/projects/-elsewhere'), join(home, '.claude/projects/-again'));
    await appendFile(join(home, '.claude/projects/-again/deep/T.jsonl'), `${text(session(id, 6).slice(16))}`);
    await until(async () => (await turnsOf(label)) === 6);
    expect(await callsOf(label)).toEqual({ calls: 6, open: 0 });
    expect(await itemsOf(label)).toHaveLength(1);
    expect(events.filter(({ event }) => event === 'problem')).toEqual([]);
  });

  test('what was written over to the same length is read again', async () => {
    const [a, b] = [newId(), newId()];
    const file = await place('.claude/projects/-work/S.jsonl');
    await writeFile(file, text(session(a, 1)));
    await follow();
    await writeFile(file, text(session(b, 2)));
    await until(async () => (await turnsOf(`claude-code:${b}`)) === 2);
    expect(await turnsOf(`claude-code:${a}`)).toBe(1);
  });

  test('one that begins with a copy of another session shares its turns', async () => {
    const [before, id] = [newId(), newId()];
    await writeFile(await place('.claude/projects/-work/A.jsonl'), text(session(before, 2)));
    await follow();
    const file = join(home, '.claude/projects/-work/B.jsonl');
    await writeFile(file, text(session(before, 2))); // as it is copied
    const own = session(id, 3)
      .slice(7)
      .map((line) => line.replaceAll(`"uuid":"${id}`, `"uuid":"${id}-own`));
    await new Promise((resolve) => setTimeout(resolve, 500)); // so that the copy is read alone, or not: both must do
    await appendFile(file, text(own));
    await until(async () => (await turnsOf(`claude-code:${id}`)) === 1);
    const [head] = await database.query<{ n: number }>(
      `select count(*)::int as n from ledger.sessions s, ledger.turn_ancestry(s.head_turn_id) a where s.label = 'claude-code:${id}'`,
    );
    expect(head?.n).toBe(3);
    expect(await turnsOf(`claude-code:${before}`)).toBe(2);
  });

  test('one that says nothing, cannot be read, is a link or has an odd name stops no other', async () => {
    const [id, odd, hidden, late] = [newId(), newId(), newId(), newId()];
    const folder = dirname(await place('.claude/projects/-work/x'));
    await writeFile(join(folder, 'garbage.jsonl'), '\0\xff not JSON\n{"a": 1}\n[[[\n'.repeat(20_000));
    await writeFile(join(folder, 'empty.jsonl'), '');
    await writeFile(join(folder, `line\nbreak "${odd}".jsonl`), text(session(odd, 1)));
    await writeFile(join(home, 'outside.jsonl'), text(session(hidden, 1)));
    await symlink(join(home, 'outside.jsonl'), join(folder, 'link.jsonl'));
    await symlink(folder, join(folder, 'loop'));
    await mkdir(join(folder, 'folder.jsonl'));
    await writeFile(join(folder, 'late.jsonl'), text(session(late, 1)), { mode: 0 });
    await writeFile(join(folder, 'S.jsonl'), text(session(id, 1)));
    const { events } = await follow();
    expect([await turnsOf(`claude-code:${id}`), await turnsOf(`claude-code:${odd}`), await turnsOf(`claude-code:${hidden}`)]).toEqual([
      1, 1, 0,
    ]);
    expect(events.flatMap((one) => (one.event === 'problem' ? one.path : []))).toContain(join(folder, 'garbage.jsonl'));
    await chmod(join(folder, 'late.jsonl'), 0o600);
    await until(async () => (await turnsOf(`claude-code:${late}`)) === 1);
  });

  test('folders that are not there yet, go and come back', async () => {
    const ids = [newId(), newId(), newId(), newId()];
    await symlink(join(home, 'nowhere'), join(home, '.codex'));
    await follow();
    for (const [id, gone] of [
      [ids[0], '.claude'],
      [ids[1], '.claude/projects'],
      [ids[2], '.claude/projects/-work'],
      [ids[3], '.claude'],
    ] as const) {
      const file = await place(`.claude/projects/-work/nested/${id}.jsonl`);
      await writeFile(file, text(session(id ?? '', 1)));
      await until(async () => (await turnsOf(`claude-code:${id}`)) === 1, 20);
      await rm(join(home, gone), { recursive: true });
    }
  });
});

describe('a process that follows', () => {
  test('reads nothing again that it read before, and what came meanwhile', async () => {
    const [id, other] = [newId(), newId()];
    const folder = dirname(await place('.claude/projects/-work/x'));
    for (let n = 0; n < 2000; n++) {
      const file = join(folder, `old-${n}.jsonl`);
      // Most files of a real folder are no conversation.
      await writeFile(file, n % 100 === 0 ? text(session(`${id}-${n}`, 1)) : '{"type":"summary","summary":"Something","leafUuid":"x"}\n');
      await old(file);
    }
    const log = join(home, 'opens');
    const counted = { NODE_OPTIONS: `--import ${fileURLToPath(new URL('../fixtures/countOpens.mjs', import.meta.url))}`, OPENS: log };
    const opened = async (): Promise<Set<string>> =>
      new Set(
        (await readFile(log, 'utf8').catch(() => ''))
          .split('\n')
          .filter((line) => line.includes('.claude/projects'))
          .map((line) => JSON.parse(line) as string),
      );
    const first = await follow([], counted);
    expect(first.events.find(({ event }) => event === 'ready')).toMatchObject({ files: 2000, read: 2000, asBefore: 0 });
    expect((await opened()).size).toBe(2000);
    expect(await first.end('SIGINT')).toBe(0);
    expect(first.log()).toBe('');
    await rm(log);
    await writeFile(join(folder, 'new.jsonl'), text(session(other, 1)));
    await appendFile(join(folder, 'old-100.jsonl'), text(session(`${id}-100`, 2).slice(4)));
    const second = await follow([], counted);
    expect(second.events.find(({ event }) => event === 'ready')).toMatchObject({ files: 2001, read: 2, asBefore: 1999 });
    expect(await opened()).toEqual(new Set([join(folder, 'new.jsonl'), join(folder, 'old-100.jsonl')]));
    expect([await turnsOf(`claude-code:${id}-100`), await turnsOf(`claude-code:${other}`)]).toEqual([2, 1]);
    expect(await itemsOf(`claude-code:${id}-200`)).toMatchObject([{ state: 'paused' }]); // it can be resumed, and nobody is at it
  });

  test.each(['before_session_import:2', 'after_session_import:2', 'before_followed_file_read', 'after_followed_file_read'])(
    'killed %s it loses and doubles nothing',
    async (point) => {
      const [id, file] = [newId(), await place('.claude/projects/-work/S.jsonl')];
      await writeFile(file, text(session(id, 3)));
      const first = await follow([], { WORK_LEDGER_FAILPOINTS: `${point}=kill` }, false);
      await appendFile(file, text(session(id, 4).slice(10)));
      expect(await Promise.race([first.end('SIGCONT')])).toBe(null);
      await appendFile(file, text(session(id, 5).slice(13)));
      await follow();
      await until(async () => (await turnsOf(`claude-code:${id}`)) === 5);
      expect(await callsOf(`claude-code:${id}`)).toEqual({ calls: 5, open: 0 });
      expect(await itemsOf(`claude-code:${id}`)).toHaveLength(1);
    },
  );

  test('two of them store each thing once', async () => {
    const ids = Array.from({ length: 5 }, newId);
    const files = await Promise.all(ids.map((id) => place(`.claude/projects/-work/${id}.jsonl`)));
    for (const [n, file] of files.entries()) await writeFile(file, text(session(ids[n]!, 2)));
    const both = await Promise.all([follow(), follow()]);
    for (let n = 2; n < 12; n++)
      for (const [i, file] of files.entries()) await appendFile(file, text(session(ids[i]!, n + 1).slice(1 + n * 3)));
    for (const id of ids) {
      await until(async () => (await turnsOf(`claude-code:${id}`)) === 12 && (await callsOf(`claude-code:${id}`)).open === 0);
      expect(await callsOf(`claude-code:${id}`)).toEqual({ calls: 12, open: 0 });
      expect(await itemsOf(`claude-code:${id}`)).toHaveLength(1);
    }
    expect(both.flatMap(({ events }) => events.filter(({ event }) => event === 'problem'))).toEqual([]);
  });

  test('waits for a ledger that is away, and goes on where it was', async () => {
    const [id, file] = [newId(), await place('.claude/projects/-work/S.jsonl')];
    await writeFile(file, text(session(id, 1)));
    const gate = await gateTo(database.url);
    const { events } = await follow([], { DATABASE_URL: gate.url });
    gate.shut();
    await appendFile(file, text(session(id, 2).slice(4)));
    await until(() => events.some(({ event }) => event === 'waiting'));
    await appendFile(file, text(session(id, 3).slice(7)));
    await gate.open();
    await until(async () => (await turnsOf(`claude-code:${id}`)) === 3);
    expect(await callsOf(`claude-code:${id}`)).toEqual({ calls: 3, open: 0 });
    expect(events.map(({ event }) => event)).toContain('back');
    gate.shut();
  });
});

describe('a session is one item', () => {
  test('that hooks opened, that is followed, and that an import meets', async () => {
    const [id, file] = [newId(), await place('.claude/projects/-work/S.jsonl')];
    await follow();
    const opened = await db.journal.sessionOpen(id, '/work', '/work');
    await writeFile(file, text(session(id, 2)));
    await until(async () => (await turnsOf(`claude-code:${id}`)) === 2);
    expect(await itemsOf(`claude-code:${id}`)).toMatchObject([{ id: opened, work_type: 'journal', says: 'active' }]);
    expect(await importFile(db, file)).toMatchObject({ sessions: [{ workItemId: opened, added: { turns: 0, calls: 0 } }] });
  });

  test('that is followed first, and that hooks then find; others are told of it', async () => {
    const [id, file] = [newId(), await place('.claude/projects/-work/S.jsonl')];
    const today = new Date().toISOString().slice(0, 11);
    await writeFile(file, text(session(id, 1).map((line) => line.replaceAll('/work"', `/work-${id}"`).replace('2026-01-01T', today))));
    await follow();
    const [item] = await itemsOf(`claude-code:${id}`);
    expect(item).toMatchObject({ project: `/work-${id}`, says: 'active' });
    expect(await db.journal.sessionOpen(id, '/work', '/work')).toBe(item?.id);
    const other = await db.journal.sessionOpen(newId(), `/work-${id}`, `/work-${id}`);
    const [told] = await database.query<{ told: string }>(`select ledger.awareness_digest('${other}') as told`);
    expect(told?.told).toContain('Mend the import');
  });

  test('with subagents of its own', async () => {
    const id = newId();
    const call = session(id, 1).map((line) => line.replaceAll('"name":"Read"', '"name":"Agent"'));
    const agent = session(id, 2).map((line) =>
      line
        .replaceAll(`"uuid":"${id}`, `"uuid":"${id}-agent`)
        .replaceAll('"type":', '"isSidechain":true,"agentId":"a1","type":')
        .replaceAll('"isSidechain":true,"agentId":"a1","type":"t', '"type":"t'),
    );
    await writeFile(await place(`.claude/projects/-work/${id}.jsonl`), text(call.slice(0, 3)));
    await follow();
    await writeFile(await place(`.claude/projects/-work/${id}/subagents/agent-a1.meta.json`), '{"toolUseId": "t1"}');
    await writeFile(await place(`.claude/projects/-work/${id}/subagents/agent-a1.jsonl`), text(agent));
    await until(async () => (await turnsOf(`claude-code:${id}#a1`)) === 2);
    expect(
      await database.query(
        `select parent_session_label, spawn_tool_call_id is not null as spawned from ledger.sessions where label = 'claude-code:${id}#a1'`,
      ),
    ).toEqual([{ parent_session_label: `claude-code:${id}`, spawned: true }]);
  });
});
