// The hooks and tools of the Claude Agent SDK, called as the SDK calls them. test/long/agentSdkHooks.test.ts has the SDK itself.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { clientOf } from '../../../runtime/client.ts';
import { ledgerHooks } from '../../../runtime/agentSdk/hooks.ts';
import { ledgerSession } from '../../../runtime/agentSdk/index.ts';
import type { LedgerHookOptions, LedgerHooks } from '../../../runtime/agentSdk/hooks.ts';
import { LedgerSessionStore } from '../../../runtime/agentSdk/sessionStore.ts';
import { ledgerTools } from '../../../runtime/agentSdk/tools.ts';
import type { LedgerTools } from '../../../runtime/agentSdk/tools.ts';
import { openDb } from '../../../runtime/ledger/db.ts';
import type { Db } from '../../../runtime/ledger/db.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';
import { until } from '../../workerProcess.ts';

let database: TestDatabase;
let db: Db;
const lines: string[] = [];

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger', { maximumPoolSize: 5 });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

type Event = keyof LedgerHooks;
/** As a busy machine needs it. */
const patient = (options: LedgerHookOptions = {}): LedgerHooks =>
  ledgerHooks({ ledger: clientOf(db, ''), project: 'acme', patience: 60_000, complain: (line) => lines.push(line), ...options });
const call = (hooks: LedgerHooks, event: Event, input: unknown, toolUseId?: string): Promise<{ hookSpecificOutput?: object }> =>
  hooks[event][0]!.hooks[0]!(input, toolUseId, { signal: new AbortController().signal });

/** A session of the SDK, and what each hook tells its model; null: nothing. */
function session(id: string, hooks = patient(), cwd = '/shop') {
  const ask = async (event: Event, input: object = {}, toolUseId?: string): Promise<string | null> => {
    const { hookSpecificOutput: said } = await call(hooks, event, { session_id: id, cwd, hook_event_name: event, ...input }, toolUseId);
    if (said === undefined) return null;
    const { hookEventName, additionalContext, permissionDecision, permissionDecisionReason } = said as Record<string, string>;
    expect(hookEventName).toBe(event);
    return additionalContext ?? `${permissionDecision}: ${permissionDecisionReason}`;
  };
  return {
    ask,
    says: (prompt: string) => ask('UserPromptSubmit', { prompt }),
    uses: (tool: string, input: object = {}, more: object = {}) =>
      ask('PostToolUse', { tool_name: tool, tool_input: input, tool_response: 'ok', ...more }),
    item: async () =>
      (
        await database.query<{ id: string; status: string; description: string }>(
          `select s.id, s.status, w.description from ledger.work_sessions s join ledger.work_items w using (id)
            where s.conversation_id = '${id}' order by s.created_at desc`,
        )
      )[0]!,
  };
}
const entriesOf = async (id: string): Promise<string[]> =>
  (await db.journal.read(id, 0, null, null)).map(({ entryType, content }) => `${entryType} ${JSON.stringify(content)}`);
const workItem = async (description: string): Promise<string> =>
  (await db.workSubmit({ workType: 'till', description, project: 'acme' })).id;

test('a session begins with its first prompt, and is told while it works what is new', async () => {
  const till = await workItem('Mend the till');
  await db.ledgerAppend(till, 'decision', 'The till is closed');
  const alpha = session('alpha');
  expect(await alpha.says('Rewrite the drawer')).toContain('The till is closed');
  expect(await alpha.item()).toMatchObject({ status: 'active', description: 'Rewrite the drawer' });
  expect(await alpha.uses('Bash')).toBeNull();

  await db.ledgerAppend(till, 'finding', 'The drawer sticks');
  const news = await alpha.uses('Bash');
  expect(news).toMatch(/^What is new elsewhere since you were last told, .*, as data between the markers;/);
  expect(news).toContain('The drawer sticks');
  expect(await alpha.uses('Bash')).toBeNull();

  // People and other agents, too: with the next tool, also one that failed, and once.
  const { id } = await alpha.item();
  await db.workMessage(id, 'Look at the spring first', false);
  const beta = session('beta');
  await beta.says('Watch alpha');
  await db.abilityInvoke('tell_agent', { to: id, text: 'The spring is mine' }, (await beta.item()).id);
  const heard = await alpha.ask('PostToolUseFailure', { tool_name: 'Bash', tool_input: {}, error: 'exit 1' });
  expect(heard).toContain('Look at the spring first');
  expect(heard).toContain('The spring is mine');
  expect(heard).toContain('Watch alpha');
  expect(await alpha.uses('Bash')).toBeNull();

  // A bounded part at a time.
  for (let n = 0; n < 12; n++) await db.ledgerAppend(till, 'finding', `Hinge ${n} ${'and more '.repeat(30)}`);
  const parts: string[] = [];
  for (let said = await alpha.uses('Bash'); said !== null; said = await alpha.uses('Bash')) parts.push(said);
  expect(parts.length).toBeGreaterThan(2);
  for (const part of parts) expect(part.length).toBeLessThan(1600);
  expect(new Set(parts.join('').match(/Hinge \d+/g)).size).toBe(12);

  expect((await entriesOf(id)).filter((entry) => !/^(?:session_start|tool_result .*"ok")/.test(entry))).toEqual([
    expect.stringMatching(/^user_feedback .*Rewrite the drawer/),
    expect.stringMatching(/^user_feedback .*Look at the spring first/),
    expect.stringMatching(/^tool_result .*exit 1.*/),
  ]);
  expect(lines).toEqual([]);
});

test('what is told inside a subagent its session has not heard', async () => {
  const gamma = session('gamma');
  await gamma.says('Delegate');
  while ((await gamma.uses('Bash')) !== null);
  const { id } = await gamma.item();
  await db.workMessage(id, 'For the session', false);
  await db.ledgerAppend(await workItem('Mend the lamp'), 'finding', 'The lamp is hot');
  const inside = { agent_id: 'a1', agent_type: 'looker' };
  expect(await gamma.ask('SubagentStart', inside)).toContain('The lamp is hot');
  expect(await gamma.uses('Read', { file_path: '/shop/a' }, inside)).toBeNull();
  expect(await gamma.ask('SubagentStop', { ...inside, last_assistant_message: 'It is hot indeed' })).toBeNull();
  const told = await gamma.uses('Agent');
  expect(told).toContain('For the session');
  expect(told).toContain('The lamp is hot');
  const entries = await entriesOf(id);
  expect(entries.some((entry) => entry.startsWith('file_read') && entry.includes('/shop/a'))).toBe(true);
  expect(entries.some((entry) => entry.startsWith('tool_result') && entry.includes('It is hot indeed'))).toBe(true);
});

test('a file that a session changes is in the directory where it is by then', async () => {
  const one = session('moved');
  await one.says('Raise the version');
  await one.uses('Edit', { file_path: 'a.txt' }, { cwd: '/shop/till' });
  const entries = await entriesOf((await one.item()).id);
  expect(entries.filter((entry) => entry.startsWith('file_written'))).toEqual([expect.stringContaining('"/shop/till/a.txt"')]);
});

test('a file is the same on each branch, not in each folder of one tree', async () => {
  const root = await mkdtemp(join(tmpdir(), 'trees-'));
  const at = (...path: string[]): string => join(root, 'main', ...path);
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', at(), '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
  try {
    for (const path of [at('a'), at('b'), join(root, 'lib', 'a')]) await mkdir(path, { recursive: true });
    for (const args of [
      ['init', '-q'],
      ['commit', '-q', '--allow-empty', '-m', 'x'],
    ])
      await git(...args);
    await git('worktree', 'add', '-q', at('trees', 'x'));
    await promisify(execFile)('git', ['-C', join(root, 'lib'), 'init', '-q']);
    const sessions = ['a', 'b', '.', '..'].map((name) => session(`tree ${name}`, patient({ project: 'trees' }), at(name)));
    for (const one of sessions) await one.says('Raise the version');
    const edits = (n: number, path: string) => sessions[n]?.ask('PreToolUse', { tool_name: 'Edit', tool_input: { file_path: path } });
    expect(await edits(0, at('a', 'package.json'))).toBeNull();
    expect(await edits(1, at('b', 'package.json'))).toBeNull();
    expect(await edits(2, join(root, 'lib', 'a', 'package.json'))).toBeNull(); // another repository
    expect(await edits(2, at('trees', 'x', 'a', 'package.json'))).toMatch(
      /^\[claim\] Another session changed .* on another branch [^\n]*$/,
    );
  } finally {
    await rm(root, { recursive: true });
  }
});

test('who is at a file is told, or refused where the project says so', async () => {
  const [one, two] = [session('one', patient({ project: 'strict' })), session('two', patient({ project: 'strict' }))];
  await one.says('Round up');
  await two.says('Round down');
  const edit = { tool_name: 'Edit', tool_input: { file_path: 'a.txt' } };
  expect(await one.ask('PreToolUse', edit)).toBeNull();
  expect(await two.ask('PreToolUse', edit)).toMatch(/^\[claim\] Another session changed a\.txt/);
  await one.ask('Stop', { background_tasks: [], session_crons: [] });
  await two.ask('PreToolUse', edit);
  await one.says('On');
  await database.query(`select ledger.project_set('strict', 'refuse')`);
  expect(await one.ask('PreToolUse', edit)).toMatch(/^deny: \[claim\] Not executed: Another session holds a\.txt/);
  expect(await one.ask('PreToolUse', { tool_name: 'Read', tool_input: { file_path: 'a.txt' } })).toBeNull();
  await two.ask('SessionEnd', { reason: 'other' });
  expect(await one.ask('PreToolUse', edit)).toBeNull();
});

test('a session rests when it stops, unless something goes on in the background, and is resumed by a prompt', async () => {
  const delta = session('delta');
  await delta.says('Wait');
  while ((await delta.uses('Bash')) !== null);
  await delta.ask('Stop', { background_tasks: [{ id: 'b1' }] });
  expect((await delta.item()).status).toBe('active');
  await delta.ask('Stop', { background_tasks: [], session_crons: [] });
  const rested = await delta.item();
  expect(rested.status).toBe('paused');
  expect(await delta.says('Go on')).toBeNull(); // nothing is new, and it knows how things stood
  expect(await delta.item()).toEqual({ ...rested, status: 'active' });
  // Somebody ended it: the next prompt opens another, after a line; no hook fails.
  await db.workComplete(rested.id, 'Done', []);
  expect(await delta.uses('Bash')).toBeNull();
  await delta.uses('Bash'); // of the next one already
  await delta.says('And on');
  const last = await delta.item();
  expect(last.id).not.toBe(rested.id);
  // It ended its work itself and stops: there is nothing left to begin another for.
  await db.workComplete(last.id, 'Done', []);
  await delta.uses('mcp__work-ledger__work_complete');
  for (const event of ['Stop', 'SessionEnd'] as const) await delta.ask(event);
  expect(await delta.item()).toEqual({ ...last, status: 'completed' });
  const over = expect.stringMatching(/^work-ledger: work item .* is completed$/);
  expect(lines.splice(0)).toEqual([over, over]);
});

test('a session that a hook of its program does not let stop is at work again with its next tool', async () => {
  const heartbeat = vi.spyOn(db.journal, 'heartbeat');
  const omicron = session('omicron');
  await omicron.says('Work on');
  for (const event of ['PostToolUse', 'PostToolUseFailure', 'PreToolUse'] as const) {
    await omicron.ask('Stop');
    expect((await omicron.item()).status).toBe('paused');
    heartbeat.mockClear();
    await omicron.ask(event, { tool_name: 'Edit', tool_input: { file_path: `/shop/${event}.js` }, error: 'no' });
    const { id, status } = await omicron.item();
    expect([status, heartbeat.mock.calls]).toEqual(['active', [[id]]]);
  }
  const claims = await database.query(`select key, is_binding from ledger.v_claims where work_item_id = '${(await omicron.item()).id}'`);
  expect(claims).toEqual([{ key: 'file:PreToolUse.js', is_binding: true }]);
  await omicron.ask('Stop', { stop_hook_active: true });
  heartbeat.mockRestore();
});

test('closing pauses a session that was broken off, once nobody else uses the ledger', async () => {
  const address = { url: `${database.url}?application_name=broken-off`, schema: 'ledger', project: 'acme', patience: 60_000 };
  const [own, other] = [ledgerSession(address), ledgerSession(address)];
  const pi = session('pi', own.hooks);
  await pi.says('Work on');
  const connections = (): Promise<unknown[]> => database.query(`select from pg_stat_activity where application_name = 'broken-off'`);
  await other.close();
  expect((await pi.item()).status).toBe('active');
  expect(await connections()).not.toEqual([]);
  await own.close();
  expect((await pi.item()).status).toBe('paused');
  await until(async () => (await connections()).length === 0);
});

test('the work with which a session goes on while it works is kept alive', async () => {
  const heartbeat = vi.spyOn(db.journal, 'heartbeat');
  const xi = session('xi');
  await xi.says('Work on');
  const first = await xi.item();
  await db.workComplete(first.id, 'Done', []);
  await xi.uses('Bash'); // is told
  await xi.uses('Bash');
  expect(heartbeat.mock.calls).toEqual([[first.id], [(await xi.item()).id]]);
  await xi.ask('Stop');
  heartbeat.mockRestore();
  expect(lines.splice(0)).toHaveLength(1);
});

test('where the work stands is told after a compaction', async () => {
  const epsilon = session('epsilon');
  await epsilon.says('Remember this task');
  while ((await epsilon.uses('Bash')) !== null);
  expect(await epsilon.ask('PreCompact', { trigger: 'auto' })).toBeNull();
  expect(await epsilon.uses('Bash')).toContain('Remember this task');
  expect(await epsilon.uses('Bash')).toBeNull();
  await epsilon.ask('PreCompact', { trigger: 'auto' });
  const begun = await epsilon.ask('SessionStart', { source: 'compact' });
  expect(begun?.match(/Work to continue/g)?.length).toBe(1);
  expect(await epsilon.uses('Bash')).toBeNull();
});

test('the tasks of a model are the plan of its session', async () => {
  const zeta = session('zeta');
  await zeta.says('Make a list');
  for (const [task_id, task_subject] of [
    ['1', 'Make the copy'],
    ['2', 'Prove it'],
  ]) {
    await zeta.ask('TaskCreated', { task_id, task_subject });
    await zeta.uses('TaskCreate');
  }
  await zeta.uses('Bash');
  await zeta.ask('TaskCompleted', { task_id: '1', task_subject: 'Make the copy' });
  await zeta.ask('TaskCompleted', { task_id: '1', task_subject: 'Make the copy' });
  await zeta.ask('TaskCompleted', { task_id: 'of another process', task_subject: 'Older' });
  const { id } = await zeta.item();
  expect(await database.query(`select n, text, state from ledger.v_plan where work_item_id = '${id}' order by n`)).toEqual([
    { n: 1, text: 'Make the copy', state: 'done' },
    { n: 2, text: 'Prove it', state: 'open' },
  ]);
  expect(
    await database.query(
      `select entry_type, content from ledger.work_ledger where work_item_id = '${id}' and entry_type <> 'note' order by seq`,
    ),
  ).toEqual([
    { entry_type: 'plan', content: '1. [ ] Make the copy\n2. [ ] Prove it' },
    { entry_type: 'step', content: 'Done: Make the copy\nPlan: 1 done' },
    { entry_type: 'step', content: 'Done: Older' },
  ]);

  // Its work is over: what is left of the list is the plan of the next.
  await db.workComplete(id, 'Half of it', []);
  await zeta.says('Go on');
  await zeta.ask('TaskCompleted', { task_id: '2', task_subject: 'Prove it' });
  expect(
    await database.query(`select n, text, state from ledger.v_plan where work_item_id = '${(await zeta.item()).id}' order by n`),
  ).toEqual([
    { n: 1, text: 'Make the copy', state: 'done' },
    { n: 2, text: 'Prove it', state: 'done' },
  ]);
  expect(lines).toEqual([]);
});

test('a session that was resumed in another process goes on with its plan', async () => {
  const first = session('resumed');
  await first.says('Make a list');
  for (const [task_id, task_subject] of [
    ['1', 'Copy'],
    ['2', 'Prove\nit'],
    ['3', 'Tell'],
  ])
    await first.ask('TaskCreated', { task_id, task_subject });
  await first.ask('TaskCompleted', { task_id: '1', task_subject: 'Copy' });

  // Another ledger is another process, as far as sessions go.
  const own = await openDb(database.url, 'ledger', { maximumPoolSize: 3 });
  const then = session('resumed', patient({ ledger: clientOf(own, '') }));
  await then.says('Go on');
  await then.ask('TaskCreated', { task_id: '4', task_subject: 'Sweep' });
  await then.uses('Bash');
  await then.ask('TaskCompleted', { task_id: '2', task_subject: 'Prove\nit' });
  await then.ask('TaskCompleted', { task_id: '4', task_subject: 'Sweep' });
  await then.ask('TaskCompleted', { task_id: '1', task_subject: 'Copy' });
  const { id } = await then.item();
  expect(await database.query(`select n, text, state from ledger.v_plan where work_item_id = '${id}' order by n`)).toEqual([
    { n: 1, text: 'Copy', state: 'done' },
    { n: 2, text: 'Prove it', state: 'done' },
    { n: 3, text: 'Tell', state: 'open' },
    { n: 4, text: 'Sweep', state: 'done' },
  ]);
  await own.close();
  expect(lines).toEqual([]);
});

async function connected(tools: LedgerTools): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  tools.instance.connect(theirs); // as the SDK does it: messages come before it is done
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(ours);
  return client;
}

test('tools act as the session that calls them, also where several ask one server at once', async () => {
  const hooks = patient();
  const tools = ledgerTools({ ledger: clientOf(db, ''), project: 'acme' });
  const [first, second] = await Promise.all([connected(tools), connected(tools)]);
  const [eta, theta] = [session('eta', hooks), session('theta', hooks)];
  expect((await first.listTools()).tools.map(({ name }) => name)).toContain('ledger_append');
  expect(await database.query(`select from ledger.work_items where params ->> 'conversationId' like 'agent-sdk:%'`)).toEqual([]);
  await eta.says('Eta works');
  await theta.says('Theta works');
  const name = 'mcp__work-ledger__ledger_append';
  const append = (client: Client, content: string, id?: string) =>
    client.callTool({
      name: 'ledger_append',
      arguments: { entry_type: 'finding', content },
      ...(id !== undefined && { _meta: { 'claudecode/toolUseId': id } }),
    });
  await theta.ask('PreToolUse', { tool_name: name, tool_input: {} }, 't2');
  await eta.ask('PreToolUse', { tool_name: name, tool_input: {} }, 't1');
  await Promise.all([append(first, 'Found by theta', 't2'), append(second, 'Found by eta', 't1')]);
  await append(first, 'Found by the last');
  const of = async (one: { item(): Promise<{ id: string }> }): Promise<unknown[]> =>
    (
      await database.query<{ content: string }>(
        `select content from ledger.work_ledger where work_item_id = '${(await one.item()).id}' order by seq`,
      )
    ).map(({ content }) => content);
  expect(await of(theta)).toEqual(['Found by theta']);
  expect(await of(eta)).toEqual(['Found by eta', 'Found by the last']);
  // Its own tools write their own record.
  await eta.uses(name);
  expect((await entriesOf((await eta.item()).id)).some((entry) => entry.includes('mcp__'))).toBe(false);
  // What is for a session, none of its subagents hears in its place.
  await db.workMessage((await eta.item()).id, 'For the session', false);
  await eta.ask('PreToolUse', { tool_name: name, tool_input: {}, agent_id: 'a1' }, 't3');
  expect(JSON.stringify(await append(first, 'Found by a subagent', 't3'))).not.toContain('For the session');
  await eta.ask('PreToolUse', { tool_name: name, tool_input: {} }, 't4');
  expect(JSON.stringify(await append(first, 'Found by eta', 't4'))).toContain('For the session');
  expect((await of(eta)).slice(2)).toEqual(['Found by a subagent', 'Found by eta']);
  // A program with two ledgers gives one of them another name.
  await theta.ask('PreToolUse', { tool_name: 'mcp__other__ledger_append', tool_input: {}, agent_id: 'a2' }, 't5');
  await eta.ask('PreToolUse', { tool_name: name, tool_input: {} }, 't6');
  await db.workMessage((await theta.item()).id, 'For theta', false);
  expect(JSON.stringify(await append(first, 'Found under another name', 't5'))).not.toContain('For theta');
  expect(await of(theta)).toEqual(['Found by theta', 'Found under another name']);
  // A query ends, another begins: one server serves both.
  await first.close();
  const third = await connected(tools);
  expect((await third.callTool({ name: 'awareness_digest', arguments: {} })).isError).not.toBe(true);
  for (const client of [second, third]) await client.close();

  const alone = ledgerTools({ ledger: clientOf(db, ''), session: 'iota', project: 'acme' });
  const client = await connected(alone);
  await append(client, 'Found by iota');
  expect(await of(session('iota'))).toEqual(['Found by iota']);
  await client.close();
  await Promise.all([tools.instance.close(), alone.instance.close()]);
});

test('tools of a program without hooks go on with other work when theirs is over, and when a store of the same ledger is closed', async () => {
  const address = { url: database.url, schema: 'ledger', project: 'acme' };
  const tools = ledgerTools({ ...address, session: 'kappa' });
  const client = await connected(tools);
  const say = (name: string, input: object) => client.callTool({ name, arguments: { ...input } });
  const found = { entry_type: 'finding', content: 'Found' };
  await say('work_complete', { summary: 'Done' });
  const first = await session('kappa').item();
  expect((await say('ledger_append', found)).isError).toBe(true);
  expect((await say('ledger_append', found)).isError).not.toBe(true);
  expect((await session('kappa').item()).id).not.toBe(first.id);

  const store = new LedgerSessionStore(address);
  await store.append({ projectKey: '-shop', sessionId: 'kappa' }, [{ type: 'user', uuid: 'a' }]);
  await store.close();
  expect((await say('ledger_append', found)).isError).not.toBe(true);
  await client.close();
  await tools.instance.close();
});

test('a session without hooks is kept alive as long as a query of it is connected', async () => {
  const beats: string[] = [];
  const heartbeat = vi.spyOn(db.journal, 'heartbeat').mockImplementation(async (id) => void beats.push(id));
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const tools = ledgerTools({ ledger: clientOf(db, ''), project: 'acme', session: 'sigma' });
    const [client, other] = [await connected(tools), await connected(tools)];
    for (const one of [client, other]) await one.callTool({ name: 'awareness_digest', arguments: {} });
    const { id } = await session('sigma').item();
    expect(beats).toEqual([id]);
    await other.close();
    vi.advanceTimersByTime(45 * 60_000);
    expect(beats.length).toBe(46);
    await client.close();
    vi.advanceTimersByTime(5 * 60_000);
    expect(beats.length).toBe(46);

    const next = await connected(tools);
    await next.callTool({ name: 'awareness_digest', arguments: {} });
    expect(beats.length).toBe(47);
    await tools.instance.close();
    vi.advanceTimersByTime(5 * 60_000);
    expect(beats.length).toBe(47);
  } finally {
    vi.useRealTimers();
    heartbeat.mockRestore();
  }
});

// Before there is a database: of hooks that reach none.
const everyEvent = Object.keys(ledgerHooks({ url: 'postgresql://127.0.0.1:1/none', schema: 'none' })) as Event[];
const inputOf = (event: Event): object => ({
  session_id: 's',
  cwd: '/shop',
  hook_event_name: event,
  prompt: 'Hello',
  tool_name: 'Edit',
  tool_input: { file_path: 'a' },
  task_id: '1',
  task_subject: 'One',
});

test.each([
  ['refuses connections', false],
  ['takes them and is silent', true],
])('a database that %s holds no hook up, and each says so in a line', async (_, isSilent) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  if (!isSilent) await new Promise((resolve) => server.close(resolve));
  const said: string[] = [];
  const hooks = ledgerHooks({
    url: `postgresql://u:hidden@127.0.0.1:${port}/x`,
    schema: 'ledger',
    project: 'acme',
    complain: (line) => said.push(line),
  });
  for (const event of everyEvent) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // how long a busy machine takes decides nothing
    try {
      const answer = call(hooks, event, inputOf(event));
      await vi.advanceTimersByTimeAsync(500);
      expect(await Promise.race([answer, new Promise(setImmediate)]), event).toEqual({});
    } finally {
      vi.useRealTimers();
    }
  }
  expect(said.length).toBe(everyEvent.length);
  for (const line of said) expect(line).toMatch(/^work-ledger: .*(?:cannot be reached|does not answer)/);
  expect(said.join('\n')).not.toMatch(/hidden|\n\n/);
  server.close();
});

test.each([
  [null],
  ['text'],
  [[]],
  [{}],
  [{ session_id: '' }],
  [{ session_id: 7 }],
  [{ session_id: 's', cwd: {} }],
  [{ session_id: 's', tool_input: 'x' }],
  [{ session_id: 's', prompt: ['x'] }],
  [{ session_id: 's', tool_name: 7 }],
  [{ session_id: 's', agent_id: 1 }],
])('what is no input of a hook is answered with nothing, and a line: %j', async (input) => {
  const said: string[] = [];
  const hooks = patient({ complain: (line) => said.push(line) });
  for (const event of everyEvent) expect(await call(hooks, event, input)).toEqual({});
  expect(said.length).toBe(everyEvent.length);
  for (const line of said) expect(line).toMatch(/^work-ledger: /);
});

test('what the ledger cannot store, or what is enormous, is no reason to fail', async () => {
  const kappa = session('kappa\u0000\ud800');
  await kappa.says(`\u0000\ud800${'long '.repeat(100_000)}`);
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  await kappa.uses('Bash', { file_path: 7 }, { tool_response: { a: '\u0000'.repeat(100_000) } });
  expect(lines.splice(0)).toEqual([]);
  await kappa.uses('Bash', {}, { tool_response: circular });
  expect(lines.splice(0)).toEqual([expect.stringMatching(/^work-ledger: .*circular/)]);
  await kappa.ask('TaskCreated', { task_id: '1', task_subject: ' ' });
  expect(lines.splice(0)).toEqual(['work-ledger: a task has an id and a subject']);
});

test('what comes too late for its hook is told with the next one', async () => {
  const own = await openDb(database.url, 'ledger', { maximumPoolSize: 3 });
  const hooks = ledgerHooks({ ledger: clientOf(own, ''), project: 'acme', complain: (line) => lines.push(line) });
  const patientHooks = patient({ ledger: clientOf(own, '') }); // the same sessions
  const lambda = session('lambda', patientHooks);
  await lambda.says('Wait for it');
  while ((await lambda.uses('Bash')) !== null);
  const { id } = await lambda.item();
  await db.workMessage(id, 'It came late', false);
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('begin');
  await holder.query(`select from ledger.fences where work_item_id = '${id}' for update`);
  expect(await session('lambda', hooks).uses('Bash')).toBeNull();
  expect(lines.splice(0)).toEqual(['work-ledger: the database does not answer: the session goes on']);
  await holder.query('commit');
  await holder.end();
  await until(
    async () => (await database.query(`select from ledger.inbox where work_item_id = '${id}' and consumed_at is null`)).length === 0,
  );
  let heard: string | null = null;
  await until(async () => (heard = await lambda.uses('Bash')) !== null);
  expect(heard).toContain('It came late');
  expect(await lambda.uses('Bash')).toBeNull();
  await own.close();
});

test('a change is checked while the hook of another session is behind', async () => {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  const xi = session('xi');
  await xi.says('Hold the shop');
  await xi.ask('PreToolUse', { tool_name: 'Edit', tool_input: { file_path: '/shop/held.ts' } });
  const options: LedgerHookOptions = { ledger: clientOf(db, ''), project: 'acme', patience: 60_000, complain: (line) => lines.push(line) };
  const hooks = ledgerHooks(options);
  const omikron = session('omikron', hooks);
  await omikron.says('Wait');
  const pi = session('pi', hooks);
  await pi.says('Change it, too');
  const { id } = await omikron.item();
  await holder.query('begin');
  await holder.query(`select from ledger.fences where work_item_id = '${id}' for update`);
  options.patience = 1;
  expect(await omikron.uses('Bash')).toBeNull();
  options.patience = 60_000;
  expect(await pi.ask('PreToolUse', { tool_name: 'Edit', tool_input: { file_path: '/shop/held.ts' } })).toContain('held.ts');
  await holder.query('commit');
  await holder.end();
  lines.splice(0);
});

test('a database that is away ends no program that has tools, and closing one ledger leaves others theirs', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'agent-sdk-')), 'program.ts');
  const module = fileURLToPath(new URL('../../../runtime/agentSdk/index.ts', import.meta.url));
  await writeFile(
    file,
    `import { ledgerSession, ledgerTools } from '${module}';
     const away = ledgerTools({ url: 'postgresql://nobody@127.0.0.1:1/none', schema: 'ledger', project: 'acme' });
     await away.instance.connect({ start: async () => {}, send: async () => {}, close: async () => {} });
     await new Promise((resolve) => setTimeout(resolve, 500));
     const address = { url: process.env.URL, schema: 'ledger', project: 'acme' };
     const [one, two] = [ledgerSession(address), ledgerSession(address)];
     const key = { projectKey: '-shop', sessionId: 'rho' };
     await one.sessionStore.append(key, [{ type: 'user', uuid: 'a' }]);
     await two.sessionStore.append(key, [{ type: 'user', uuid: 'b' }]);
     await one.close();
     await one.close();
     await two.sessionStore.append(key, [{ type: 'user', uuid: 'c' }]);
     console.log((await two.sessionStore.load(key)).length);
     await two.close();`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env: { ...process.env, URL: database.url }, timeout: 120_000 });
  expect(stdout).toBe('3\n');
});

test('a program that is done ends, with what it reported stored', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'agent-sdk-')), 'program.ts');
  const module = fileURLToPath(new URL('../../../runtime/agentSdk/hooks.ts', import.meta.url));
  await writeFile(
    file,
    `import { ledgerHooks } from '${module}';
     const hooks = ledgerHooks({ url: process.env.URL, schema: 'ledger', project: 'acme', patience: 60000 });
     const input = { session_id: 'mu', cwd: '/shop' };
     await hooks.UserPromptSubmit[0].hooks[0]({ ...input, prompt: 'Run and end' });
     void hooks.PostToolUse[0].hooks[0]({ ...input, tool_name: 'Bash', tool_response: 'the last of it' });`,
  );
  await promisify(execFile)(process.execPath, [file], { env: { ...process.env, URL: database.url }, timeout: 120_000 });
  const { id } = await session('mu').item();
  expect((await entriesOf(id)).some((entry) => entry.includes('the last of it'))).toBe(true);
});
