// Sessions of other programs are followed by a real process while they grow: each thing once, whatever happens to file, process and ledger.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
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
const wordsOf = async (label: string): Promise<string> =>
  (
    await database.query<{ words: string }>(
      `select string_agg(m.content::text, ' ') as words from ledger.foci f join ledger.turns t on t.focus_id = f.id
       join ledger.messages m on m.turn_id = t.id where f.session_label = '${label}'`,
    )
  )[0]!.words;
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
    await until(async () => (await turnsOf(`claude-code:${id}`)) === 3 && (await callsOf(`claude-code:${id}`)).open === 0);
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
    await appendFile(join(home, '.claude/projects/-again/deep/T.jsonl'), text(session(id, 6).slice(16)));
    await until(async () => (await turnsOf(label)) === 6 && (await callsOf(label)).open === 0);
    expect(await callsOf(label)).toEqual({ calls: 6, open: 0 });
    expect(await itemsOf(label)).toHaveLength(1);
    expect(events.filter(({ event }) => event === 'problem')).toEqual([]);
  });

  test('what was written over to the same length is read again', async () => {
    const id = newId();
    const [a, b] = [`${id}a`, `${id}b`];
    const file = await place('.claude/projects/-work/S.jsonl');
    await writeFile(file, text(session(a, 1)));
    await follow();
    await writeFile(file, text(session(b, 1)));
    await until(async () => (await turnsOf(`claude-code:${b}`)) === 1);
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
      await until(async () => (await turnsOf(`claude-code:${id}`)) === 1);
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
      expect(await first.end('SIGCONT')).toBe(null);
      await appendFile(file, text(session(id, 5).slice(13)));
      await follow();
      await until(async () => (await turnsOf(`claude-code:${id}`)) === 5 && (await callsOf(`claude-code:${id}`)).open === 0);
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

  test('warns of a folder that was named and does not exist, and reads it once it does', async () => {
    const named = join(home, 'later');
    const { log } = await follow([named]);
    expect(log()).toContain(`warning: ${named} does not exist yet\n`);
    const id = newId();
    await writeFile(await place('later/S.jsonl'), text(session(id, 1)));
    await until(async () => (await turnsOf(`claude-code:${id}`)) === 1);
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
    await until(async () => (await turnsOf(`claude-code:${id}`)) === 3 && (await callsOf(`claude-code:${id}`)).open === 0);
    expect(await callsOf(`claude-code:${id}`)).toEqual({ calls: 3, open: 0 });
    expect(events.map(({ event }) => event)).toContain('back');
    gate.shut();
  });

  test('tries again what a server that only reads did not take, though its program writes no more', async () => {
    const [id, file] = [newId(), await place('.claude/projects/-work/S.jsonl')];
    await writeFile(file, text(session(id, 1)));
    const { events } = await follow();
    const readsOnly = async (is: 'on' | 'off'): Promise<void> => {
      const name = new URL(database.url).pathname.slice(1);
      await database.query(`begin read write; alter database ${name} set default_transaction_read_only to ${is}; commit`);
      await database.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    };
    try {
      await readsOnly('on');
      await appendFile(file, text(session(id, 2).slice(4)));
      await until(() => events.some((event) => event.event === 'problem' && event.problem.includes('only reads')));
    } finally {
      await readsOnly('off');
    }
    await until(async () => (await turnsOf(`claude-code:${id}`)) === 2);
    expect(await callsOf(`claude-code:${id}`)).toEqual({ calls: 2, open: 0 });
    expect(events.filter(({ event }) => event === 'problem')).toHaveLength(1);
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

describe('other programs', () => {
  const at = new Date().toISOString();
  const json = (...records: object[]): string => text(records.map((record) => JSON.stringify(record)));

  test('a response of Codex is there when its tokens are: they are recorded behind its calls', async () => {
    const [id, file] = [newId(), await place('.codex/sessions/2026/01/01/rollout-x.jsonl')];
    const item = (payload: object): object => ({ timestamp: at, type: 'response_item', payload });
    const counted = (n: number): object => ({
      timestamp: at,
      type: 'event_msg',
      payload: { type: 'token_count', info: { total_token_usage: { n }, last_token_usage: { input_tokens: n, output_tokens: 5 } } },
    });
    await writeFile(
      file,
      json(
        { timestamp: at, type: 'session_meta', payload: { id, cwd: '/work' } },
        item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Mend it' }] }),
        item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] }),
        item({ type: 'function_call', name: 'shell', arguments: '{"cmd": "ls"}', call_id: 'a' }),
      ),
    );
    await follow();
    expect(await itemsOf(`codex:${id}`)).toMatchObject([{ project: '/work', says: 'active' }]);
    expect(await turnsOf(`codex:${id}`)).toBe(0);
    await appendFile(file, json(item({ type: 'function_call_output', call_id: 'a', output: 'a.py' }), counted(100)));
    await until(async () => (await turnsOf(`codex:${id}`)) === 1);
    await appendFile(file, json(item({ type: 'message', role: 'assistant', content: [{ text: 'Done.' }] }), counted(200)));
    await until(async () => (await turnsOf(`codex:${id}`)) === 2);
    await importFile(db, file);
    expect(
      await database.query(
        `select t.input_tokens, (select count(*)::int from ledger.tool_calls k where k.turn_id = t.id) as calls
           from ledger.foci f join ledger.turns t on t.focus_id = f.id where f.session_label = 'codex:${id}' order by t.iteration`,
      ),
    ).toEqual([
      { input_tokens: 100, calls: 1 },
      { input_tokens: 200, calls: 0 },
    ]);
    const moved = await place('.codex/sessions/archived/rollout-x.jsonl');
    await rename(file, moved);
    await appendFile(moved, json(item({ type: 'message', role: 'assistant', content: [{ text: 'More.' }] }), counted(300)));
    await until(async () => (await turnsOf(`codex:${id}`)) === 3);
    expect(await itemsOf(`codex:${id}`)).toHaveLength(1);
  });

  test('a message of Gemini CLI is written again with what came since; its folder says where it worked', async () => {
    const [id, file] = [newId(), await place('.gemini/tmp/work/chats/session-1.jsonl')];
    await writeFile(join(home, '.gemini/tmp/work/.project_root'), '/gemini-work\n');
    await writeFile(join(home, '.gemini/tmp/work/logs.json'), '[{"sessionId": "x"}]');
    const response = { id: 'g1', timestamp: at, type: 'gemini', content: 'I look.', model: 'gemini-3-pro' };
    const tokens = { input: 100, cached: 60, output: 7, total: 107 };
    const call = { id: 'a', name: 'list', args: { path: '.' }, status: 'success', timestamp: at };
    const result = [{ functionResponse: { response: { output: 'a.py' } } }];
    await writeFile(
      file,
      json({ sessionId: id, projectHash: 'h', startTime: at }, { id: 'u1', timestamp: at, type: 'user', content: 'Mend it' }, response),
    );
    const { events } = await follow();
    expect(await itemsOf(`gemini-cli:${id}`)).toMatchObject([{ project: '/gemini-work', says: 'active' }]);
    await appendFile(file, json({ ...response, tokens }, { $set: { lastUpdated: at } }));
    await until(async () => (await turnsOf(`gemini-cli:${id}`)) === 1);
    await appendFile(file, json({ ...response, tokens, toolCalls: [call] }));
    await until(async () => (await callsOf(`gemini-cli:${id}`)).open === 1);
    await appendFile(
      file,
      json({ ...response, tokens, toolCalls: [{ ...call, result }] }, { ...response, id: 'g2', content: 'Done.', tokens }),
    );
    await until(async () => (await turnsOf(`gemini-cli:${id}`)) === 2);
    expect(await callsOf(`gemini-cli:${id}`)).toEqual({ calls: 1, open: 0 });
    await appendFile(file, json({ $rewindTo: 'g2' }, { ...response, id: 'g3', content: 'Otherwise.', tokens }));
    await until(async () => (await turnsOf(`gemini-cli:${id}`)) === 3);
    expect(await database.query(`select 1 from ledger.sessions where parent_session_label = 'gemini-cli:${id}'`)).toHaveLength(1);
    expect(await importFile(db, file)).toMatchObject({ sessions: [{ added: { turns: 0, calls: 0 } }] });
    expect(events.filter(({ event }) => event === 'problem')).toEqual([]);
  });

  test('a document that is written anew', async () => {
    const [id, file] = [newId(), await place('.gemini/tmp/h/chats/session-1.json')];
    const message = (n: number): object => ({
      id: `g${n}`,
      timestamp: at,
      type: 'gemini',
      content: `Step ${n}.`,
      tokens: { input: 1, output: 1 },
    });
    const document = (n: number): string =>
      JSON.stringify(
        { sessionId: id, messages: [{ type: 'user', content: 'Go' }, ...Array.from({ length: n }, (_, i) => message(i))] },
        null,
        2,
      );
    await writeFile(file, document(1));
    await follow();
    await writeFile(file, document(3).slice(0, 200));
    await writeFile(file, document(3));
    await until(async () => (await turnsOf(`gemini-cli:${id}`)) === 3);
  });

  test('of the conversations in the database of Cursor only what changed', async () => {
    const ids = [newId(), newId()] as const;
    const cursor = new DatabaseSync(await place('.config/Cursor/User/globalStorage/state.vscdb'));
    cursor.exec('pragma journal_mode = wal; create table cursorDiskKV (key text unique on conflict replace, value blob)');
    const put = (key: string, value: object) =>
      cursor.prepare('insert into cursorDiskKV values (?, ?)').run(key, Buffer.from(JSON.stringify(value)));
    const converse = (id: string, n: number): void => {
      for (let i = 1; i <= n; i++) put(`bubbleId:${id}:b${i}`, { bubbleId: `b${i}`, type: i % 2 === 1 ? 1 : 2, text: `Word ${i}.` });
      const headers = Array.from({ length: n }, (_, i) => ({ bubbleId: `b${i + 1}` }));
      put(`composerData:${id}`, { createdAt: Date.now(), fullConversationHeadersOnly: headers });
    };
    for (const id of ids) converse(id, 2);
    const first = await follow();
    for (const id of ids) expect(await turnsOf(`cursor:${id}`)).toBe(1);
    expect(await itemsOf(`cursor:${ids[0]}`)).toMatchObject([{ says: 'paused' }]);
    converse(ids[1], 4);
    await until(async () => (await turnsOf(`cursor:${ids[1]}`)) === 2);
    expect(await itemsOf(`cursor:${ids[1]}`)).toMatchObject([{ work_type: 'journal', says: 'active' }]);
    put(`bubbleId:${ids[1]}:b4`, { bubbleId: 'b4', type: 2, text: 'Word 4. And more.' }); // a word that nothing else tells of
    await until(async () => (await wordsOf(`cursor:${ids[1]}`)).includes('And more.'));
    await first.end('SIGINT');
    const sum = async (): Promise<unknown> =>
      database.query(`select sum(xmin::text::bigint)::text from ledger.work_items where external_id = 'import:cursor:${ids[0]}'`);
    const before = await sum();
    converse(ids[1], 6);
    await follow();
    await until(async () => (await turnsOf(`cursor:${ids[1]}`)) === 3);
    expect(await sum()).toEqual(before);
    cursor.close();
  });

  test.each(['copilot', 'pi'])('%s', async (program) => {
    const id = newId();
    const file = await place(program === 'pi' ? '.pi/agent/sessions/--work--/x.jsonl' : `.copilot/session-state/${id}/events.jsonl`);
    const said = (n: number): object =>
      program === 'pi'
        ? { type: 'message', timestamp: at, message: { role: 'assistant', content: [{ type: 'text', text: `Step ${n}.` }] } }
        : { type: 'assistant.message', timestamp: at, data: { messageId: `m${n}`, content: `Step ${n}.` } };
    const begun =
      program === 'pi'
        ? { type: 'session', id, cwd: '/work' }
        : { type: 'session.start', data: { sessionId: id, context: { cwd: '/work' } } };
    const asked =
      program === 'pi'
        ? { type: 'message', message: { role: 'user', content: [{ type: 'text', text: 'Go' }] } }
        : { type: 'user.message', data: { content: 'Go' } };
    await writeFile(file, json(begun, asked, said(1)));
    await follow();
    await appendFile(file, json(said(2)));
    await until(async () => (await turnsOf(`${program}:${id}`)) === 2);
    expect(await itemsOf(`${program}:${id}`)).toMatchObject([{ project: '/work', says: 'active' }]);
  });
});

const recordings = fileURLToPath(new URL('../../../shared/transcripts/', import.meta.url));
if (!existsSync(recordings)) console.warn('skipped: the recorded runs (../shared/transcripts is not there)');

describe.skipIf(!existsSync(recordings))('the recorded runs beside the project', () => {
  test.each(['marot-spotter/258c7280-ae70-4798-800f-63464d01a85d.jsonl', 'agentv/f5ae798066.jsonl', 'pi-mono/large-session.jsonl'])(
    '%s, written in parts that end anywhere, is what an import makes of it',
    async (name) => {
      const bytes = await readFile(recordings + name);
      const other = await createDatabase();
      const there = await openDb(other.url, 'ledger');
      const shape = `
        select (select count(*)::int from ledger.turns) as turns, (select count(*)::int from ledger.tool_calls) as calls,
               (select count(*)::int from ledger.tool_calls where completed_at is null) as open,
               (select md5(string_agg(coalesce(k.result::text, '') || k.input::text, '|' order by t.depth, k.ordinal)) from ledger.tool_calls k join ledger.turns t on t.id = k.turn_id) as results,
               (select sum(input_tokens + output_tokens + cached_input_tokens)::text from ledger.work_usage) as tokens,
               (select count(*)::int from ledger.session_records) as records`;
      const own = await createDatabase();
      try {
        await importFile(there, recordings + name);
        const file = await place('sessions/x.jsonl');
        await follow([join(home, 'sessions')], { DATABASE_URL: own.url });
        for (let n = 0; n < 12; n++) {
          await appendFile(file, bytes.subarray(Math.floor((bytes.length * n) / 12), Math.floor((bytes.length * (n + 1)) / 12)));
          await until(async () => (await own.query<{ n: number }>('select count(*)::int as n from ledger.followed_files'))[0]!.n > 0);
        }
        await old(file); // its program ended
        const [imported] = await other.query<{ turns: number; calls: number; results: string; tokens: string }>(shape);
        await until(async () => JSON.stringify((await own.query(shape))[0]) === JSON.stringify(imported)).catch(() => {});
        expect((await own.query(shape))[0]).toEqual(imported);
      } finally {
        for (const one of followers.splice(0)) await one.end('SIGINT');
        await there.close();
        await other.drop();
        await own.drop();
      }
    },
  );
});
