// LedgerClient: every method, on a ledger with agents at work; what each of them refuses is a LedgerError with code and hint.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  checkLedger,
  commandTools,
  ensureEmbedded,
  eventResponse,
  FacultyError,
  installLedger,
  LedgerClient,
  LedgerError,
  listenAt,
  loadFaculties,
  mcpTools,
  NoConnection,
  NoLedger,
  OtherLedger,
  projectOf,
  readyLedger,
  startWorker,
  stopEmbedded,
} from '../../runtime/index.ts';
import type { CountedItem, EntryType, Faculty, WorkEvent } from '../../runtime/index.ts';
import { startCrew } from '../console/crew.ts';
import type { Crew } from '../console/crew.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';
import { socketOf } from '../faults/ground.ts';
import { startProxy } from '../faults/proxy.ts';
import { clientMethods } from '../typescriptReference.ts';

let database: TestDatabase;
let opened: LedgerClient;
let crew: Crew;
/** The methods that were called, which the last test compares with those that there are. */
const called = new Set<string>();
let client: LedgerClient;
beforeAll(async () => {
  database = await createDatabase();
  opened = await LedgerClient.open({ databaseUrl: database.url, schema: 'ledger', maximumConnections: 3 });
  called.add('open');
  client = new Proxy(opened, {
    get(target, name) {
      called.add(String(name));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  crew = await startCrew(database.url, 'ledger');
});
afterAll(async () => {
  await crew?.close();
  await opened?.close();
  await database?.drop();
});

const listening = async (): Promise<number> =>
  (await database.query(`select from pg_stat_activity where datname = current_database() and query ilike 'listen %'`)).length;
const NOWHERE = '00000000-0000-7000-8000-000000000000';
const refusal = async (act: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await act();
  } catch (error) {
    return error;
  }
};

test('work is submitted, found, listed, steered and ended', async () => {
  const { id } = await client.submit({ workType: 'sew', description: 'Sew the flag', budget: { tokens: 500 }, idempotencyKey: 'flag' });
  expect(
    await client.submit({ workType: 'sew', description: 'Sew the flag', budget: { tokens: 500 }, idempotencyKey: 'flag' }),
  ).toMatchObject({ id });
  const child = await client.submit({ workType: 'sew', description: 'Sew the hem', parentId: id });
  expect(await client.item(id)).toMatchObject({ state: 'queued', work_type: 'sew', ledger_count: 0, next_id: null });
  expect(await client.find(id.slice(-6))).toBe(id);
  expect((await client.list({ states: ['queued'], limit: 2 })).map((one) => one.id)).toEqual([child.id, id]);
  expect((await client.children(id)).map((one) => one.id)).toEqual([child.id]);
  expect(await client.now(id)).toMatchObject({ state: 'queued', doing: null });
  expect(await client.budgets(id)).toMatchObject([{ resource: 'tokens', amount: '500' }]);
  await client.setBudget(id, 'tokens', 700);
  expect(await client.budgets(id)).toMatchObject([{ resource: 'tokens', amount: '700', remaining: '700' }]);
  expect(await client.message(id, 'In red, please')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await client.pause(id, 'no thread')).toMatchObject({ state: 'paused', state_reason: 'no thread' });
  expect(await client.wait(id)).toMatchObject({ id, state: 'paused' });
  expect(await client.resume(id)).toMatchObject({ state: 'queued' });
  expect((await client.cancel(child.id, 'it has one')).map((one) => one.id)).toEqual([child.id]);
  expect(await client.retry(child.id, { content: 'It has none', key: 'hem' })).toMatchObject({ state: 'queued' });
  expect(await client.complete(id, 'Sewn', { evidence: ['a red flag'], result: { metres: 2 } })).toMatchObject({
    state: 'completed',
    outcome_data: { summary: 'Sewn', result: { metres: 2 } },
  });
  const next = await client.continue(id, 'And the pole', { key: 'pole' });
  expect(await client.continue(id, 'And the pole', { key: 'pole' })).toMatchObject({ id: next.id });
  expect(await client.item(id)).toMatchObject({ next_id: next.id });
});

test('entries are appended with all that an entry has, read, searched, told and taken back', async () => {
  const { id } = await client.submit({ workType: 'look', description: 'Look at the harbour', project: 'harbour' });
  const plan = await client.append(id, 'plan', 'How it goes', { items: [{ text: 'Count ships' }, { text: 'Count cranes' }], key: 'plan' });
  expect(
    (await client.append(id, 'plan', 'How it goes', { items: [{ text: 'Count ships' }, { text: 'Count cranes' }], key: 'plan' })).seq,
  ).toBe(plan.seq);
  await client.append(id, 'step', 'Counted the ships', { done: [1], doing: 2, keep: ['ships.csv'] });
  await client.append(id, 'finding', 'The breakwater leaks', { data: { litres: 3 } });
  expect(await database.query(`select data, keep from ledger.work_ledger where work_item_id = '${id}' order by seq`)).toEqual([
    { data: null, keep: null },
    { data: null, keep: ['ships.csv'] },
    { data: { litres: 3 }, keep: null },
  ]);
  expect((await client.read(id)).map((one) => one.entry_type)).toEqual(['plan', 'step', 'finding']);
  expect(await client.read(id, { entryType: 'step' })).toMatchObject([{ seq: 2 }]);
  expect(await client.read(id, { last: 1 })).toMatchObject([{ seq: 3 }]);
  expect(await client.text(id)).toContain('FINDINGS:\n- The breakwater leaks');
  expect(await client.search('breakwater', { limit: 5, sources: ['ledger'], project: 'harbour' })).toMatchObject([
    { work_item_id: id, seq: 3 },
  ]);
  expect(await client.digest({ project: 'harbour' })).toContain('The breakwater leaks');
  expect(await client.digest({ workItemId: id })).not.toContain('The breakwater leaks');
  expect(await client.retract(id, 3, 'It was rain')).toMatchObject({ retracts: 3 });
  expect(await client.search('breakwater', { sources: ['ledger'] })).toEqual([]);
});

test('sessions of a journal claim, are told of each other, and give back', async () => {
  const journal = client.journal();
  const one = await journal.createSession('one', 'Mend the roof', { project: 'house' });
  const two = await journal.createSession('two', 'Paint the roof', { project: 'house' });
  expect(await client.claim(one.id, 'roof', { seconds: 60, why: 'Tiles' })).toMatchObject({
    kind: 'claimed',
    key: 'roof',
    mode: 'exclusive',
  });
  expect(await client.claim(two.id, 'roof')).toMatchObject({ kind: 'taken', work_item_id: one.id });
  expect((await client.claims()).find((held) => held.key === 'roof')).toMatchObject({ work_item_id: one.id, why: 'Tiles' });
  expect(await client.tell(two.id, one.id, 'May I?')).toMatchObject([{ work_item_id: one.id, message_id: expect.any(String) }]);
  expect(await client.release(one.id, 'roof')).toBe(true);
  expect(await client.release(one.id, 'roof')).toBe(false);
  await client.claim(two.id, 'roof');
  expect(await client.breakClaim(two.id, 'roof', 'It rains')).toBe(true);
});

test('faculties, notes and the handlers of the memory tool', async () => {
  expect(await client.saveFaculty({ name: 'sewer', accepts: ['sew'], engage: { max_turns: 3 } })).toBe('sewer');
  const saved = (await client.faculties()).find((one) => one.name === 'sewer');
  expect(saved).toMatchObject({ project: null, config: { accepts: ['sew'], engage: { max_turns: 3, parallel_tool_execution: true } } });
  const said = await refusal(() => client.saveFaculty({ name: 'sewer', engage: { max_turn: 3, elide_budget: 'much' } as object }));
  expect(said).toMatchObject({ code: 'WL002' });
  expect((said as LedgerError).detail.split('\n').toSorted()).toEqual([
    'engage.elide_budget must be a whole number from 0, not "much"',
    'unknown key engage.max_turn; did you mean engage.max_turns?',
  ]);
  const version = await client.writeNote('house', 'tiles.md', 'Red ones.', { why: 'agreed' });
  expect(await client.writeNote('house', '/memories/tiles.md', 'Blue ones.', { replaces: version })).toBe(version + 1);
  expect(await client.notes('house')).toMatchObject([{ path: '/memories/tiles.md', version: version + 1 }]);
  expect(await client.readNote('house', 'tiles.md')).toMatchObject({ content: 'Blue ones.' });
  expect(await client.memory({ project: 'house' }).view({ command: 'view', path: '/memories/tiles.md' })).toContain('Blue ones.');
});

test('faculties are read from files, with all that is wrong in them at once', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'faculties-'));
  const good = join(directory, 'good.toml');
  const odd = join(directory, 'odd.toml');
  await writeFile(good, '[faculty]\nname = "tiler"\naccepts = ["tile"]\n[faculty.engage]\nmax_turns = 4\n');
  await writeFile(odd, '[faculty]\nname = "odd"\nclaims = "wran"\n[faculty.engage]\nmax_turn = 4\nelide_budget = -1\n');
  const [loaded] = await loadFaculties(opened, good);
  const config: Faculty = loaded?.config ?? { name: '' };
  expect(config.engage?.max_turns).toBe(4);
  expect(await client.saveFaculty(config)).toBe('tiler');
  const said = await refusal(() => loadFaculties(opened, [good, odd]));
  expect(said).toBeInstanceOf(FacultyError);
  expect((said as FacultyError).problems).toEqual([
    { file: odd, line: 3, column: 1, says: 'claims must be off, warn or refuse, not "wran"; did you mean "warn"?' },
    { file: odd, line: 5, column: 1, says: 'unknown key engage.max_turn; did you mean engage.max_turns?' },
    { file: odd, line: 6, column: 1, says: 'engage.elide_budget must be a whole number from 0, not -1' },
  ]);
  await rm(directory, { recursive: true });
});

test('the type of a faculty has its keys and their words, and no others', () => {
  // @ts-expect-error -- there is no such key
  const key: Faculty = { name: 'x', engage: { max_turn: 3 } };
  // @ts-expect-error -- that is none of its words
  const word: Faculty = { name: 'x', claims: 'wran' };
  // @ts-expect-error -- a faculty has a name
  const nameless: Faculty = { engage: { thinking: 'adaptive' } };
  expect([key, word, nameless]).toHaveLength(3);
});

test('agents at work are looked at, followed, forked and answered', async () => {
  const { done, root } = crew.ids;
  const turns = await client.turns(done);
  expect(turns.length).toBeGreaterThan(0);
  expect(turns.at(-1)).toMatchObject({ status: 'completed', model: expect.any(String), input_tokens: expect.any(Number) });
  expect(await client.turns(done, { limit: 1 })).toEqual(turns.slice(-1));
  const last = turns.at(-1)?.turn_id ?? '';
  expect(JSON.parse(await client.request(last))).toMatchObject({ messages: expect.any(Array) });
  expect(await client.fork(last, { message: 'Try without' })).toMatchObject({ state: 'queued' });
  const events: WorkEvent[] = [];
  for await (const event of client.follow(done)) events.push(event);
  expect(events.filter((event) => event.kind === 'entry').map(({ entry }) => entry.seq)).toEqual(
    (await client.read(done)).map(({ seq }) => seq),
  );
  expect(events.some((event) => event.kind === 'call')).toBe(true);
  expect(await client.wait(root, { signal: AbortSignal.abort() })).toMatchObject({ id: root, resolved_at: null });
  expect(await client.cost('item', { workItemId: done })).toMatchObject([{ key: done, requests: turns.length }]);
  const [approval] = await client.approvals();
  const { tool_call_id: call, input_hash: inputHash } = approval ?? { tool_call_id: '', input_hash: '' };
  expect(await refusal(() => client.approve(call, { inputHash: 'another' }))).toMatchObject({ code: 'WL008' });
  await client.approve(call, { inputHash });
  expect(await refusal(() => client.reject(call, 'too late'))).toMatchObject({ code: 'WL008' });
});

test('every state that there is can be listed, and no other', async () => {
  const states = await database.query<{ state: string }>('select state from ledger._work_states()');
  expect(states.length).toBeGreaterThan(5);
  for (const { state } of states) expect((await client.list({ states: [state] })).every((one) => one.state === state)).toBe(true);
  expect(await refusal(() => client.list({ states: ['queued', 'qeued'] }))).toMatchObject({
    code: 'WL002',
    message: expect.stringMatching(/^there is no state "qeued": one of created, queued, /),
  });
});

test('a loop over follow() can be left while it waits', async () => {
  const { id } = await client.submit({ workType: 'nobody takes it', description: 'Sew a bag' });
  const before = await listening();
  for (const options of [{}, { signal: new AbortController().signal }]) {
    const events = client.follow(id, options);
    const next = events.next(); // there is nothing yet
    await until(async () => (await listening()) > before);
    expect((await events.return({} as CountedItem)).done).toBe(true);
    expect((await next).done).toBe(true);
    await until(async () => (await listening()) === before);
  }
});

test('what an open client can never do is refused when it is opened', async () => {
  const at = { databaseUrl: database.url, schema: 'ledger' };
  for (const maximumConnections of [0, -1, 1.5, Number.NaN])
    expect(await refusal(() => LedgerClient.open({ ...at, maximumConnections }))).toMatchObject({
      code: 'WL002',
      message: `maximumConnections must be a whole number from 1, not ${maximumConnections}`,
    });
  for (const patienceSeconds of [-1, Number.NaN])
    expect(await refusal(() => LedgerClient.open({ ...at, patienceSeconds }))).toMatchObject({
      code: 'WL002',
      message: `patienceSeconds must be a number from 0, not ${patienceSeconds}`,
    });
  expect(await refusal(() => LedgerClient.open({ ...at, databaseUrl: 'postgresql://ana:secret@localhost:99999/x' }))).toMatchObject({
    code: 'WL002',
    message: '"postgresql://ana:***@localhost:99999/x" is not the address of a database',
  });
});

test('what is of another type than it must be is a LedgerError, whose hint is of it', async () => {
  const { id } = await client.submit({ workType: 'nobody takes it', description: 'Sew a hat' });
  const odd = (value: unknown): never => value as never;
  const params: Record<string, unknown> = {};
  params['self'] = params;
  const deep: unknown = Array.from({ length: 20_000 }).reduce((inner) => [inner], null);
  const acts: (() => Promise<unknown>)[] = [
    () => client.submit({ description: 'Sew it', params }),
    () => client.submit({ description: 'Sew it', params: { hats: 5n } }),
    () => client.submit({ description: 'Sew it', params: { deep } }),
    () => client.item(odd(deep)),
    () => client.submit({ description: 'Sew it later', runAt: odd(new Date()) }),
    () => client.submit({ description: odd(['Sew it']) }),
    () => client.item(odd({ id })),
    () => client.item(odd(undefined)),
    () => client.item(odd(() => id)),
    () => client.append(id, 'step', 'Cut', { keep: odd(7) }),
    () => client.as({ name: 'Ana' }).item(odd([])),
  ];
  for (const act of acts)
    expect(await refusal(act)).toMatchObject({
      name: 'LedgerError',
      code: 'WL002',
      message: expect.stringContaining('an argument cannot be used'),
    });
  expect(await refusal(() => client.setBudget(id, 'tokens', odd('many')))).toMatchObject({
    code: '22P02',
    hint: expect.not.stringContaining('UUID'),
  });
  expect(await refusal(() => client.item('many'))).toMatchObject({ code: '22P02', hint: expect.stringContaining('UUID') });
});

test('null in place of options, and anything but a text in place of one, are refused by every function', async () => {
  const nothing = null as never;
  const acts: Record<string, () => unknown> = {
    open: () => LedgerClient.open(nothing),
    'open, an address': () => LedgerClient.open({ databaseUrl: 7 as never }),
    'open, a schema': () => LedgerClient.open({ databaseUrl: database.url, schema: {} as never }),
    submit: () => opened.submit(nothing),
    list: () => opened.list(nothing),
    follow: () => opened.follow(NOWHERE, nothing).next(),
    'follow, a signal': () => opened.follow(NOWHERE, { signal: 7 as never }).next(),
    'follow, a word': () => opened.follow(crew.ids.done, { activity: 'some' as never }).next(),
    wait: () => opened.wait(NOWHERE, { signal: 'soon' as never }),
    append: () => opened.append(NOWHERE, 'note', 'x', nothing),
    readNote: () => opened.readNote(null, 7 as never),
    as: () => opened.as(nothing).list(),
    'as nobody': () => opened.as({} as never).list(),
    memory: () => opened.memory(nothing),
    journal: () => opened.journal(nothing),
    createSession: () => opened.journal().createSession('a', 'b', nothing),
    createCheckpoint: () => opened.journal().createCheckpoint(NOWHERE, nothing),
    startWorker: () => startWorker(nothing),
    eventResponse: () => eventResponse(nothing, NOWHERE, new Request('http://x/')),
    'eventResponse, a word': () => eventResponse(opened, crew.ids.done, new Request('http://x/'), { activity: 'some' as never }),
    'eventResponse, show': () => eventResponse(opened, crew.ids.done, new Request('http://x/'), { show: 7 as never }),
    readyLedger: () => readyLedger(database.url, ''),
    'readyLedger, no address': () => readyLedger(undefined as never, 'ledger'),
    'readyLedger, options': () => readyLedger(database.url, 'ledger', nothing),
    installLedger: () => installLedger(database.url, 7 as never),
    'installLedger, an empty name': () => installLedger(database.url, ''),
    checkLedger: () => checkLedger(7 as never, 'ledger'),
    listenAt: () => listenAt(database.url, nothing),
    ensureEmbedded: () => ensureEmbedded({ dataDir: 7 as never }),
    stopEmbedded: () => stopEmbedded(nothing),
    projectOf: () => projectOf(undefined as never),
    loadFaculties: () => loadFaculties(opened, 7 as never),
    'loadFaculties, a path': () => loadFaculties(opened, [nothing]),
    'loadFaculties, no client': () => loadFaculties({} as never, []),
    commandTools: () => commandTools({ tool: [{ name: 'a b' }] }),
    mcpTools: () => mcpTools({ mcpServers: { a: {} } }),
    'mcpTools, a variable': () => mcpTools({ mcpServers: { a: { command: '${THERE_IS_NO_SUCH_VARIABLE}' } } }),
  };
  const said: Record<string, unknown> = {};
  for (const [name, act] of Object.entries(acts)) {
    const error = await refusal(async () => act());
    said[name] = error instanceof LedgerError && error.hint !== '' ? error.code : String(error);
  }
  expect(said).toEqual(Object.fromEntries(Object.keys(acts).map((name) => [name, 'WL002'])));
  expect(await refusal(async () => commandTools({ tool: [{ name: 'a b' }] }))).toMatchObject({
    message: expect.stringContaining('a tool is called by 1 to 64 of'),
  });
});

test('an MCP server that does not start is not taken for a database that is away', async () => {
  const said = await refusal(() => mcpTools({ mcpServers: { a: { command: '/there/is/no/such/program' } } }));
  expect(said).not.toBeInstanceOf(NoConnection);
  expect(said).toMatchObject({ message: expect.stringContaining('The MCP server "a" does not start') });
});

test('one that is closed says so', async () => {
  const closed = await LedgerClient.open({ databaseUrl: database.url, schema: 'ledger' });
  const { id } = await closed.submit({ workType: 'nobody takes it', description: 'Sew a tent' });
  await closed.close();
  for (const act of [() => closed.item(id), () => closed.follow(id).next(), () => closed.as({ name: 'Ana' }).list()])
    expect(await refusal(act)).toMatchObject({ name: 'LedgerError', code: 'WL008', message: 'this LedgerClient is closed' });
});

test('a person acts in a name of their own', async () => {
  const { token } = await crew.db.personAdd('Ana');
  const { id } = await client.submit({ workType: 'nobody takes it', description: 'Sew a sail' });
  const message = await client.as({ token }).message(id, 'A big one');
  expect(await database.query(`select person from ledger.inbox where id = '${message}'`)).toEqual([{ person: 'Ana' }]);
  expect(await refusal(() => client.as({ token: 'none' }).list())).toMatchObject({ name: 'LedgerError', code: '42501' });
});

/** Each method with input that it cannot take, and the code that it answers; null: it takes none, or none that is bad. */
const bad: Record<string, [code: string, act: () => Promise<unknown>] | null> = {
  open: ['WL002', () => LedgerClient.open({ databaseUrl: 'nowhere' })],
  as: null,
  close: null,
  submit: ['WL002', () => client.submit({ description: ' ' })],
  item: ['22P02', () => client.item('nope')],
  find: ['WL001', () => client.find('ffffffff')],
  list: ['WL002', () => client.list({ states: ['queued', 'nope'] })],
  children: ['22P02', () => client.children('nope')],
  now: ['22P02', () => client.now('nope')],
  turns: ['2201W', () => client.turns(crew.ids.done, { limit: -1 })],
  request: ['WL001', () => client.request(NOWHERE)],
  follow: ['22P02', () => client.follow('nope').next()],
  wait: ['WL001', () => client.wait(NOWHERE)],
  message: ['WL001', () => client.message(NOWHERE, 'Hello')],
  pause: ['22P02', () => client.pause('nope')],
  resume: ['22P02', () => client.resume('nope')],
  cancel: ['22P02', () => client.cancel('nope')],
  complete: ['WL002', () => client.complete(crew.ids.untaken, '')],
  continue: ['WL008', () => client.continue(crew.ids.failed, 'More')],
  retry: ['WL008', () => client.retry(crew.ids.done)],
  fork: ['22P02', () => client.fork('nope')],
  append: ['WL002', () => client.append(crew.ids.untaken, 'thought', 'x')],
  retract: ['WL001', () => client.retract(crew.ids.done, 999, 'no')],
  read: ['22P02', () => client.read('nope')],
  text: ['WL001', () => client.text(NOWHERE)],
  search: ['WL002', () => client.search('import', { limit: 0 })],
  digest: ['WL001', () => client.digest({ workItemId: NOWHERE })],
  claims: null,
  claim: ['22007', () => client.claim(crew.ids.untaken, 'roof', { seconds: Number.NaN })],
  release: ['WL001', () => client.release(NOWHERE, 'roof')],
  breakClaim: ['WL001', () => client.breakClaim(NOWHERE, 'roof')],
  tell: ['WL001', () => client.tell(NOWHERE, 'team', 'Hello')],
  approvals: null,
  approve: ['WL001', () => client.approve(NOWHERE)],
  reject: ['22P02', () => client.reject('nope')],
  cost: ['WL002', () => client.cost('hour')],
  budgets: ['22P02', () => client.budgets('nope')],
  setBudget: ['WL002', () => client.setBudget(crew.ids.untaken, 'wood', 1)],
  saveFaculty: ['WL002', () => client.saveFaculty({ name: ' ' })],
  faculties: null,
  notes: ['WL002', () => client.notes(undefined as unknown as null)],
  readNote: ['WL001', () => client.readNote(null, 'nothing.md')],
  writeNote: ['WL002', () => client.writeNote(null, '../up.md', 'x')],
  memory: ['WL001', () => client.memory({ project: null }).view({ command: 'view', path: '/memories/none.md' })],
  journal: ['WL002', () => client.journal().logEntry(crew.ids.untaken, 'finding' as EntryType, {})],
};

test('what a method cannot take is a LedgerError with its code and a hint', async () => {
  const said: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(bad)) {
    if (one === null) continue;
    const error = await refusal(one[1]);
    said[name] =
      error instanceof LedgerError && error.message !== '' && error.hint !== '' && error instanceof Error
        ? error.code
        : `${String(error)}, no LedgerError with a hint`;
  }
  expect(said).toEqual(Object.fromEntries(Object.entries(bad).flatMap(([name, one]) => (one === null ? [] : [[name, one[0]]]))));
});

/** The same of what journal() and memory() return. */
const badBeneath: Record<string, [code: string, act: () => Promise<unknown>]> = {
  createSession: ['WL002', () => client.journal().createSession('', '')],
  getSession: ['22P02', () => client.journal().getSession('nope')],
  updateSessionStatus: ['WL001', () => client.journal().updateSessionStatus(NOWHERE, 'paused')],
  heartbeat: ['WL001', () => client.journal().heartbeat(NOWHERE)],
  getResumableSessions: ['WL002', () => client.journal().getResumableSessions({ targetTokens: -1 })],
  getEntries: ['22P02', () => client.journal().getEntries('nope')],
  createCheckpoint: ['WL001', () => client.journal().createCheckpoint(NOWHERE)],
  getLatestCheckpoint: ['22P02', () => client.journal().getLatestCheckpoint('nope')],
  generateResumptionContext: ['WL001', () => client.journal().generateResumptionContext(NOWHERE)],
  getSessionSummary: ['WL001', () => client.journal().getSessionSummary(NOWHERE)],
  summarizeSession: ['WL002', () => client.journal().summarizeSession(NOWHERE)],
  exportForResumption: ['WL001', () => client.journal().exportForResumption(NOWHERE)],
  create: ['WL006', () => client.memory({ project: 'house' }).create({ command: 'create', path: '/memories/taken.md', file_text: 'x' })],
  rename: [
    '22P02',
    () => client.memory({ workItemId: 'nope' }).rename({ command: 'rename', old_path: '/memories/a', new_path: '/memories/b' }),
  ],
};

test('so is what a journal and the handlers of the memory tool cannot take', async () => {
  await client.writeNote('house', 'taken.md', 'Ours');
  const said: Record<string, unknown> = {};
  for (const [name, [, act]] of Object.entries(badBeneath)) {
    const error = await refusal(act);
    said[name] = error instanceof LedgerError && error.hint !== '' ? error.code : `${String(error)}, no LedgerError with a hint`;
  }
  expect(said).toEqual(Object.fromEntries(Object.entries(badBeneath).map(([name, [code]]) => [name, code])));
});

test('every public method has a comment, bad input and a call in these tests', () => {
  const methods = clientMethods();
  expect(methods.filter(({ says }) => says.length < 20).map(({ name }) => name)).toEqual([]);
  expect(Object.keys(bad).toSorted()).toEqual(methods.map(({ name }) => name).toSorted());
  called.add('close'); // the next test but one
  expect(methods.map(({ name }) => name).filter((name) => !called.has(name))).toEqual([]);
});

test('a ledger that is not there, a database that is away: of a class that a program can tell', async () => {
  expect(await refusal(() => LedgerClient.open({ databaseUrl: database.url, schema: 'none' }))).toBeInstanceOf(NoLedger);
  expect(await refusal(() => LedgerClient.open({ databaseUrl: database.url, schema: 'none' }))).toBeInstanceOf(OtherLedger);
  expect(await refusal(() => LedgerClient.open({ databaseUrl: 'postgresql://127.0.0.1:1/x' }))).toBeInstanceOf(NoConnection);
  const proxy = await startProxy({ path: socketOf(database.url) });
  const through = new URL(database.url);
  const cut = await LedgerClient.open({
    databaseUrl: `postgresql://postgres@127.0.0.1:${proxy.port}${through.pathname}`,
    schema: 'ledger',
    patienceSeconds: 0,
  });
  expect(await cut.list({ limit: 1 })).toHaveLength(1);
  await proxy.close();
  expect(await refusal(() => cut.list())).toBeInstanceOf(NoConnection);
  expect(await refusal(() => cut.journal().getActiveSession('one'))).toBeInstanceOf(NoConnection);
  expect(await refusal(() => cut.memory({ project: null }).view({ command: 'view', path: '/memories' }))).toBeInstanceOf(NoConnection);
  await cut.close();
});

test('it is closed by "await using"', async () => {
  let held: LedgerClient;
  {
    await using inner = await LedgerClient.open({ databaseUrl: database.url, schema: 'ledger' });
    held = inner;
    expect(await inner.list({ limit: 1 })).toHaveLength(1);
  }
  await expect(held.list()).rejects.toThrow();
});
