// The journal's client: what its manager does, a subscription across broken connections, and the state that a user interface shows.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import type { JournalEntry } from '../../runtime/ledger/answers.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { WorkJournal } from '../../runtime/ledger/journal.ts';
import { JournalStore } from '../../runtime/ledger/journalStore.ts';
import type { JournalState } from '../../runtime/ledger/journalStore.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let journal: WorkJournal;

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  journal = new WorkJournal(db, database.url);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

test('a session from its beginning to its end', async () => {
  expect(await journal.getActiveSession('chat-1')).toBeNull();
  const session = await journal.createSession('chat-1', 'Build the thing');
  expect(session).toMatchObject({
    conversationId: 'chat-1',
    originalPrompt: 'Build the thing',
    status: 'active',
    completedAt: null,
    entryCount: 1,
  });
  expect((await journal.getActiveSession('chat-1'))?.id).toBe(session.id);
  const logged = await journal.logEntry(session.id, 'decision', { question: 'Which?', chosenOption: 'B', reasoning: 'cheaper' }, 'high');
  expect(logged).toMatchObject({
    entryType: 'decision',
    importance: 'high',
    sessionId: session.id,
    id: expect.stringMatching(/^decision\//),
    content: { type: 'decision', chosenOption: 'B' },
  });
  await journal.logEntry(session.id, 'file_written', { filePath: 'a.ts', operation: 'create' });
  await journal.logEntry(session.id, 'error', { errorType: 'build', message: 'no such module', recoverable: true });
  await journal.logEntry(session.id, 'thinking', { reasoning: 'so', planSteps: ['mend the import', 'build again'] });
  await expect(journal.logEntry(session.id, 'error', { message: 'x' })).rejects.toMatchObject({ code: 'WL002' });
  expect((await journal.getEntries(session.id)).map((entry) => entry.entryType)).toEqual([
    'session_start',
    'decision',
    'file_written',
    'error',
    'thinking',
  ]);
  expect(await journal.getEntries(session.id, { importance: ['high'] })).toEqual([logged]);
  expect(await journal.getEntries(session.id, { since: logged.timestamp, limit: 1 })).toEqual([logged]);

  expect(await journal.getLatestCheckpoint(session.id)).toBeNull();
  const checkpoint = await journal.createCheckpoint(session.id);
  expect(checkpoint).toMatchObject({
    sessionId: session.id,
    trigger: 'manual',
    manual: true,
    keyDecisions: ['Which?: B'],
    filesModified: ['a.ts'],
    pendingActions: ['mend the import', 'build again'],
  });
  expect(await journal.getLatestCheckpoint(session.id)).toEqual(checkpoint);
  expect(await journal.generateResumptionContext(session.id, 500)).toMatchObject({
    originalPrompt: 'Build the thing',
    keyDecisions: ['Which?: B'],
    filesModified: ['a.ts'],
    pendingActions: ['mend the import', 'build again'],
    errorHistory: ['no such module'],
  });
  expect(await journal.exportForResumption(session.id)).toMatch(
    /as data between the markers: .*:\n\n<(data-[0-9a-f]{12})>\n## The task\n\nBuild the thing\n.*## Open\n\n- mend the import\n- build again.*\n<\/\1>$/s,
  );
  expect(await journal.getSessionSummary(session.id)).toContain('Active');

  await journal.updateSessionStatus(session.id, 'paused');
  expect((await journal.getSession(session.id))?.status).toBe('paused');
  await expect(db.journal.sessionStatus(session.id, 'crashed')).rejects.toMatchObject({ code: 'WL002' });
  await journal.updateSessionStatus(session.id, 'completed');
  expect(await journal.getSession(session.id)).toMatchObject({ status: 'completed', completedAt: expect.any(Number) });
  expect(await journal.getActiveSession('chat-1')).toBeNull();
  expect(await db.journal.export(session.id)).toMatchObject({
    session: { status: 'completed' },
    entries: { length: 7 },
    checkpoints: [{}],
  });
  const [resumed] = await database.query<{ id: string }>(`select id from ledger.journal_resume('${session.id}', 'chat-2', 1000)`);
  expect((await journal.getActiveSession('chat-2'))?.id).toBe(resumed?.id);
  expect((await journal.getSession(resumed?.id ?? ''))?.originalPrompt).toContain('Build the thing');
});

const messages = (entries: readonly JournalEntry[]): unknown[] =>
  entries.filter((entry) => entry.entryType === 'user_feedback').map((entry) => entry.content['message']);

test('a subscriber is told each entry once, also across broken connections and late commits', async () => {
  const session = await journal.createSession('chat-3', 'Follow me');
  const told: JournalEntry[] = [];
  const end = journal.subscribe(session.id, (entry) => told.push(entry));
  await until(
    async () =>
      (await database.query(`select from ledger.fences where work_item_id = '${session.id}' and watch_ends_at is not null`)).length === 1,
  );
  for (let n = 0; n < 60; n++) {
    if (n % 20 === 10)
      await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      );
    await journal.logEntry(session.id, 'user_feedback', { message: String(n) });
  }
  await until(() => messages(told).length >= 60);
  // Written before all of these and committed behind them.
  await database.query(
    `insert into ledger.journal_entries (work_item_id, entry_type, content, created_at) values ('${session.id}', 'user_feedback', '{"message": "60"}', now() - interval '20 seconds')`,
  );
  await until(() => messages(told).length >= 61);
  const others: JournalEntry[] = [];
  const now = await db.journal.now();
  const asked = { ...db, journal: { ...db.journal, now: async () => now } }; // it subscribed a little before, as far as the answer takes time
  const endOthers = new WorkJournal(asked, database.url).subscribe(session.id, (entry) => others.push(entry));
  await until(async () => {
    await journal.logEntry(session.id, 'thinking', { reasoning: 'Is anybody there?' });
    return others.length > 0 && told.some((entry) => entry.entryType === 'thinking');
  });
  expect(messages(told)).toEqual(Array.from({ length: 61 }, (_, n) => String(n)));
  // by itself, after fifty
  expect(told.filter((entry) => entry.entryType === 'checkpoint')).toMatchObject([{ content: { manual: false } }]);
  expect(messages(others)).toEqual([]);
  end();
  const heard = told.length;
  await journal.logEntry(session.id, 'user_feedback', { message: 'late' });
  await until(() => messages(others).includes('late'));
  expect(told).toHaveLength(heard);
  endOthers();
});

test('a subscriber is told what is written before the database has answered it for the first time', async () => {
  const session = await journal.createSession('chat-slow', 'Follow me');
  let answer = (): void => {};
  const isWritten = new Promise<void>((resolve) => (answer = resolve));
  const slow = { ...db, journal: { ...db.journal, now: () => isWritten.then(() => db.journal.now()) } };
  const told: JournalEntry[] = [];
  const end = new WorkJournal(slow, database.url).subscribe(session.id, (entry) => told.push(entry));
  await journal.logEntry(session.id, 'user_feedback', { message: 'early' });
  answer();
  await journal.logEntry(session.id, 'user_feedback', { message: 'late' });
  await until(() => messages(told).includes('late'));
  expect(messages(told)).toEqual(['early', 'late']);
  end();
});

test('a hint is answered by reading what is new, not the last minute', async () => {
  const session = await journal.createSession('chat-busy', 'Follow me');
  await database.query(
    `insert into ledger.journal_entries (work_item_id, entry_type, content, created_at) select '${session.id}', 'user_feedback', '{"message": "old"}', now() - interval '30 seconds' from generate_series(1, 2000)`,
  );
  const sizes: number[] = [];
  const counting = {
    ...db,
    journal: {
      ...db.journal,
      read: async (...args: Parameters<typeof db.journal.read>) => {
        const entries = await db.journal.read(...args);
        sizes.push(entries.length);
        return entries;
      },
    },
  };
  const told: JournalEntry[] = [];
  const end = new WorkJournal(counting, database.url).subscribe(session.id, (entry) => told.push(entry));
  await until(() => sizes.length > 0);
  expect(sizes[0], 'the first read has to know them all').toBeGreaterThan(2000);
  await until(async () => {
    await journal.logEntry(session.id, 'user_feedback', { message: 'new' });
    return sizes.some((size) => size < 2000);
  });
  await until(() => messages(told).length > 0);
  expect(new Set(messages(told))).toEqual(new Set(['new']));
  end();
});

test('a model summarizes a session', async () => {
  const model = await startScriptedModel(scriptOf([{ content: [{ type: 'text', text: ' It chose B.\n' }] }]));
  const writer = new WorkJournal(db, database.url, { model: createModelClient({ baseURL: model.url, apiKey: 'none' }) });
  const session = await journal.createSession('chat-5', 'Build the thing');
  await journal.logEntry(session.id, 'decision', { question: 'Which?', chosenOption: 'B', reasoning: 'cheaper' });
  await journal.logEntry(session.id, 'thinking', { reasoning: 'so', planSteps: ['fix the import'] });
  expect(await writer.summarizeSession(session.id, { model: 'claude-haiku-4-5' })).toBe('It chose B.');
  const asked = JSON.parse(model.requests[0]?.body ?? '') as { model: string; messages: { content: { text: string }[] }[] };
  expect(asked.model).toBe('claude-haiku-4-5');
  expect(asked.messages[0]?.content[0]?.text).toMatch(/^<(journal-\w+)>\nBuild the thing\n.*decision: \{.*"cheaper".*<\/\1>$/s);
  expect(asked.messages[0]?.content[1]?.text).toContain('Preserve: plan, key findings, decisions, completed steps, errors.');
  expect((await journal.getEntries(session.id)).at(-1)).toMatchObject({
    entryType: 'summary',
    content: {
      currentStatus: 'It chose B.',
      nextSteps: ['fix the import'],
      accomplishments: [],
      model: 'claude-haiku-4-5',
      inputTokens: expect.any(Number),
    },
  });
  expect((await journal.generateResumptionContext(session.id)).workSummary).toContain('Its own summary: It chose B.');
  await model.close();
  await expect(writer.summarizeSession(session.id)).rejects.toThrow(/transport/);
  await expect(journal.summarizeSession(session.id)).rejects.toThrow('without a model');
});

test('the state of a conversation for a user interface', async () => {
  const store = new JournalStore(journal, 'chat-4');
  const seen: JournalState[] = [];
  store.onChange((state) => seen.push(state));
  await store.load();
  expect(store.state).toEqual({ session: null, entries: [], latestCheckpoint: null, isLoading: false, error: null });
  expect(await store.logEntry('user_feedback', { message: 'nobody hears' })).toBeNull();
  const session = await store.startSession('Show me');
  expect(store.state).toMatchObject({
    session: { id: session?.id, status: 'active' },
    entries: [{ entryType: 'session_start' }],
    isLoading: false,
  });
  await store.logEntry('code_generated', { language: 'ts', code: 'x'.repeat(4000), purpose: 'size' });
  await until(() => store.state.entries.length === 2);
  expect(store.getTokenEstimate()).toBeGreaterThan(1000);
  expect(store.isApproachingLimit(0.8, 1000)).toBe(true);
  expect(store.isApproachingLimit()).toBe(false);
  await store.createCheckpoint();
  expect(store.state.latestCheckpoint).toMatchObject({ trigger: 'manual' });
  await store.logEntry('error', { message: 'incomplete' });
  expect(store.state.error).toContain('entries of type error need');
  await store.pauseSession();
  expect(store.state.session?.status).toBe('paused');
  await store.resumeSession();
  expect(store.state.session?.status).toBe('active');
  expect((await store.generateResumptionContext(500))?.tokenCount).toBeLessThanOrEqual(500);
  // Another program goes on with the same conversation.
  const other = new JournalStore(journal, 'chat-4');
  await other.load();
  expect(other.state.session?.id).toBe(session?.id);
  await other.logEntry('user_feedback', { message: 'from elsewhere' });
  await until(() => store.state.entries.some((entry) => entry.content['message'] === 'from elsewhere'));
  await store.completeSession();
  expect(store.state.session?.status).toBe('completed');
  expect(seen.some((state) => state.isLoading)).toBe(true);
  store.close();
  other.close();
});

test('a program that drives a session says each minute that it is alive, until it lets go', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const store = new JournalStore(journal, 'chat-6');
    const session = await store.startSession('Follow me');
    const status = async (): Promise<string | undefined> => (await journal.getSession(session?.id ?? ''))?.status;
    for (let n = 0; n < 2; n++) {
      await database.query(`update ledger.work_items set heartbeat_ends_at = now() where id = '${session?.id}'`);
      vi.advanceTimersByTime(60_000);
      await until(async () => (await status()) === 'active');
    }
    store.close();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
