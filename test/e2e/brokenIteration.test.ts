// A fault of the runtime itself is not the work item's death: the iteration is tried again, and the reason is on the item.

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import type { ModelClient } from '../../runtime/model/message.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  await db.facultySave({ name: 'talker', accepts: ['talk'] });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

test('an exception on the way, with NUL in its message, is tried again', async () => {
  let calls = 0;
  await database.query(`
    create table reasons (said text);
    create function reason() returns trigger language plpgsql as $$ begin insert into reasons values (new.state_reason); return null; end $$;
    create trigger reason after update of state_reason on ledger.work_items for each row execute function reason()`);
  const model: ModelClient = {
    call: async () => {
      if (calls++ === 0) throw new Error('out of\0order');
      const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
      return {
        kind: 'response',
        response: {
          id: 'm',
          model: 'm',
          content: [{ type: 'text', text: 'Done.' }],
          stopReason: 'end_turn',
          stopDetails: null,
          usage,
          requestId: null,
          durationMs: 1,
        },
      };
    },
  };
  const worker = await startWorker({ url: database.url, schema: 'ledger', tools: [], log: pino({ level: 'silent' }), model });
  const item = await db.workSubmit({ workType: 'talk', description: 'x' });
  await until(async () => (await db.workItem(item.id))?.state === 'completed');
  expect(await database.query('select said from reasons where said is not null')).toContainEqual({ said: 'unknown: out of␀order' });
  expect(calls).toBe(2);
  await worker.stop();
});
