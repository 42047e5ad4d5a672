// Whatever the model's API does, the work item reaches an end or waits for something named.

import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import type { ModelRequest } from '../../runtime/model/message.ts';
import { scriptOf, withFaults } from '../../runtime/model/script.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { Worker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
let model: ScriptedModel | undefined;
let worker: Worker | undefined;

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  await db.facultySave({ name: 'talker', accepts: ['talk'] });
});
afterEach(async () => {
  await worker?.stop();
  await model?.close();
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const call = (name: string, input: unknown) => ({ type: 'tool_use', name, input });
const done: ScriptedReply = { content: [{ type: 'text', text: 'Done.' }] };

/** Runs one item against the script to its end, or to where it waits for a person; with `firstIdleMs` the first call waits no longer. */
async function outcomeOf(
  script: Parameters<typeof startScriptedModel>[0],
  { maxAttempts, firstIdleMs }: { maxAttempts?: number; firstIdleMs?: number } = {},
) {
  model = await startScriptedModel(script);
  const patient = createModelClient({ apiKey: 'secret-key', baseURL: model.url });
  const hasty = firstIdleMs && createModelClient({ apiKey: 'secret-key', baseURL: model.url, idleTimeoutMs: firstIdleMs });
  let calls = 0;
  worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    graceSeconds: 0,
    model: { call: (...asked) => ((calls++ === 0 && hasty) || patient).call(...asked) },
  });
  const item = await db.workSubmit({ workType: 'talk', description: 'x', ...(maxAttempts && { maxAttempts }) });
  return until(async () => {
    const now = await db.workItem(item.id);
    return now?.resolved_at || now?.state === 'paused' ? now : null;
  });
}
const error = (status: number, type: string, headers: Record<string, string> = {}): ScriptedReply => ({ error: { status, type, headers } });

test.each<[string, ScriptedReply]>([
  ['429 with retry-after', error(429, 'rate_limit_error', { 'retry-after': '1' })],
  ['529', error(529, 'overloaded_error')],
  ['500', error(500, 'api_error')],
  ['a stalled stream', { stall: true }],
  ['a dropped connection', { drop: true }],
  ['overloaded in the middle of the stream', { midStreamError: { type: 'overloaded_error' } }],
])('%s is tried again, and the work is done', async (_name, fault) => {
  const item = await outcomeOf(withFaults(scriptOf([done]), { 0: [fault] }), 'stall' in fault ? { firstIdleMs: 1000 } : {});
  expect(item.state).toBe('completed');
  expect(model?.requests).toHaveLength(2);
  expect(model?.requests[1]?.body).toBe(model?.requests[0]?.body);
});

test('a refused key pauses the item until a person resumes it', async () => {
  const item = await outcomeOf(withFaults(scriptOf([done]), { 0: [error(401, 'authentication_error')] }));
  expect(item.state).toBe('paused');
  expect(item.state_reason).toContain('authentication');
  expect(item.state_reason).not.toContain('secret-key');
  await db.workResume(item.id);
  expect(
    (
      await until(async () => {
        const now = await db.workItem(item.id);
        return now?.resolved_at ? now : null;
      })
    ).state,
  ).toBe('completed');
});

test('a request that the API calls invalid fails the item, with its words', async () => {
  const item = await outcomeOf(() => ({ error: { status: 400, type: 'invalid_request_error', message: 'no such model' } }));
  expect(item.state).toBe('failed');
  expect(item.state_reason).toContain('no such model');
});

test('a refusal fails the item without a retry', async () => {
  const item = await outcomeOf(scriptOf([{ content: [], stopReason: 'refusal' }]));
  expect(item.state).toBe('failed');
  expect(item.state_reason).toContain('the model refused');
  expect(model?.requests).toHaveLength(1);
});

test('a response cut off by max_tokens goes on where it ended, with a higher limit', async () => {
  const item = await outcomeOf(scriptOf([{ content: [{ type: 'text', text: 'Half of' }], stopReason: 'max_tokens' }, done]));
  expect(item.state).toBe('completed');
  expect(JSON.parse(model?.requests[1]?.body ?? '').max_tokens).toBe(64000);
  expect(model?.requests[1]?.body).toContain('cut off at the output limit');
});

test('a response cut off in its first thought goes on, and the work is done', async () => {
  const thought = { type: 'thinking', thinking: 'First I would have to', signature: 'c2ln' };
  const item = await outcomeOf(
    scriptOf([
      { content: [thought], stopReason: 'max_tokens' },
      { content: [thought, call('ledger_append', { entry_type: 'note', content: 'begun' })] },
      {
        content: [
          { type: 'text', text: 'Half' },
          { type: 'redacted_thinking', data: 'ZA==' },
        ],
        stopReason: 'pause_turn',
      },
      done,
    ]),
  );
  expect(item.state).toBe('completed');
  const requests = model?.requests.map(({ body }) => JSON.parse(body) as ModelRequest) ?? [];
  expect(requests).toHaveLength(4);
  expect(requests[1]?.messages.slice(1)).toEqual([
    { role: 'assistant', content: [thought, { type: 'text', text: '(The output limit was reached here, in the middle of a thought.)' }] },
    {
      role: 'user',
      content: [{ type: 'text', text: expect.stringContaining('in the middle of a thought. Continue with less thinking at a time') }],
    },
  ]);
  expect(await db.ledgerRead(item.id, null, null)).toMatchObject([{ content: 'begun' }]);
  expect(await Promise.all((await db.turnIds(item.id)).map((turn) => db.contextAt(turn)))).toEqual(model?.requests.map(({ body }) => body));
});

test('a provider that numbers its calls anew, or by what the API does not take, is answered', async () => {
  const note = (id: string) => ({ ...call('ledger_append', { entry_type: 'note', content: id }), id });
  const item = await outcomeOf(scriptOf([{ content: [note('call_1'), note('call|fc 1')] }, { content: [note('call_1')] }, done]));
  expect(item.state).toBe('completed');
  expect((await db.ledgerRead(item.id, null, null)).map((entry) => entry.content)).toEqual(['call_1', 'call|fc 1', 'call_1']);
});

test('after a response with many calls the whole request before it comes from the cache', async () => {
  const look = (n: number) => call('ledger_append', { entry_type: 'note', content: `seen ${n}` });
  const item = await outcomeOf(scriptOf([{ content: Array.from({ length: 12 }, (_, n) => look(n)) }, { content: [look(12)] }, done]));
  expect(item.state).toBe('completed');
  const turns = await database.query<{ sent: number; cached: number }>(`
    select cached_input_tokens + cache_write_tokens + input_tokens as sent, cached_input_tokens as cached from ledger.turns where work_item_id = '${item.id}' order by depth`);
  expect(turns.map(({ cached }, n) => n === 0 || Math.abs(cached - (turns[n - 1]?.sent ?? 0)) <= 1)).toEqual([true, true, true]);
});

test('a tool call cut off by max_tokens is never run', async () => {
  const item = await outcomeOf(
    scriptOf([{ content: [call('ledger_append', { entry_type: 'note', content: 'half' })], stopReason: 'max_tokens' }, done]),
  );
  expect(item.state).toBe('completed');
  expect(await db.ledgerRead(item.id, null, null)).toEqual([]);
  expect(model?.requests[1]?.body).toContain('Not executed');
});

test('an unknown tool and an input that misses its schema are answered, not fatal', async () => {
  const item = await outcomeOf(
    scriptOf([
      { content: [call('rm_rf', {}), call('ledger_append', { entry_type: 'thought' }), call('ledger_read', { last_n: -1 })] },
      done,
    ]),
  );
  expect(item.state).toBe('completed');
  const answers = model?.requests[1]?.body ?? '';
  expect(answers).toContain('There is no tool \\"rm_rf\\"');
  expect(answers).toContain('does not match the schema of ledger_append');
  expect(answers).toContain('last_n: must be at least 1');
});

test('two appends in one parallel batch both land', async () => {
  const item = await outcomeOf(
    scriptOf([
      {
        content: [
          call('ledger_append', { entry_type: 'finding', content: 'a' }),
          call('ledger_append', { entry_type: 'finding', content: 'b' }),
        ],
      },
      done,
    ]),
  );
  expect((await db.ledgerRead(item.id, null, null)).map((entry) => entry.content).toSorted()).toEqual(['a', 'b']);
});

test('NUL and lone surrogates in a tool input arrive as a replacement', async () => {
  const item = await outcomeOf(scriptOf([{ content: [call('ledger_append', { entry_type: 'note', content: 'a\0b\ud800c' })] }, done]));
  expect(item.state).toBe('completed');
  expect((await db.ledgerRead(item.id, null, null))[0]?.content).toBe('a␀b\ufffdc');
});

test('the item dies when no attempt helps', async () => {
  const item = await outcomeOf(scriptOf([{ content: [], stopReason: 'end_turn' }, { content: [] }, { content: [] }, { content: [] }]), {
    maxAttempts: 1,
  });
  expect(item.state).toBe('failed');
  expect(item.state_reason).toContain('neither worked nor finished');
});
