// A tool in TypeScript has the ledger of the item whose call it is, under its lease, and loses it with that.

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { defineTool, LedgerError, ok } from '../../runtime/index.ts';
import type { ToolContext } from '../../runtime/index.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { call, calls, done, startTeam } from '../team.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** Lets an agent call a tool that does this; how its item ended. `from`: the project of the item. */
async function withTool(does: (context: ToolContext) => Promise<unknown>, whileIt?: (id: string) => Promise<void>) {
  const tool = defineTool({
    name: 'survey',
    description: 'Surveys the field.',
    input: z.strictObject({}),
    effect: 'unsafe',
    risk: 'safe',
    execute: async (_, context) => ok(JSON.stringify(await does(context))),
  });
  const model = await startTeam({ Survey: ({ exchange, results }) => (exchange === 0 ? calls(call('survey', {})) : done(results.join())) });
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [tool],
    log: pino({ level: 'silent' }),
    concurrency: 1,
    leaseSeconds: 3600,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  try {
    await db.facultySave({
      name: 'surveyor',
      accepts: ['survey'],
      engage: { tools: ['survey'], workspace: 'none' },
      awareness: { enabled: false },
    });
    const { id } = await db.workSubmit({ workType: 'survey', description: 'Survey the field', project: 'farm' });
    await whileIt?.(id);
    await until(async () => (await db.workItem(id))?.resolved_at !== null);
    return { id, item: await db.workItem(id) };
  } finally {
    await worker.stop();
    await model.close();
  }
}

test('it appends, reads, searches, claims and tells as the item whose call it is', async () => {
  const other = await db.workSubmit({ workType: 'dig', description: 'Dig the ditch', project: 'farm' });
  await db.ledgerAppend(other.id, 'finding', 'The ditch is wet');
  const elsewhere = await db.workSubmit({ workType: 'dig', description: 'Dig elsewhere', project: 'mine' });
  await db.ledgerAppend(elsewhere.id, 'finding', 'The shaft is wet');
  let says: unknown[] = [];
  const { id, item } = await withTool(async ({ ledger, workItemId }) => {
    const first = await ledger.append('finding', 'The field is stony', { data: { stones: 3 } });
    const again = await ledger.append('finding', 'The field is stony', { data: { stones: 3 } });
    const note = await ledger.append('note', 'Bring a cart');
    says = [
      first.work_item_id === workItemId,
      [first.seq, again.seq, note.seq],
      (await ledger.read({ last: 1 })).map(({ content }) => content),
      await ledger.search('wet'),
      await ledger.claim('record:field', { mode: 'shared', why: 'Stones' }),
      await ledger.tell(other.id, 'The field drains into your ditch'),
    ];
    return 'surveyed';
  });
  expect(item?.state).toBe('completed');
  const [isOwn, seqs, read, found, claimed, told] = says;
  expect(isOwn).toBe(true);
  expect(seqs).toEqual([1, 1, 2]);
  expect(read).toEqual(['Bring a cart']);
  expect(found).toContain('The ditch is');
  expect(found).not.toContain('shaft');
  expect(claimed).toMatchObject({ kind: 'claimed', key: 'record:field', mode: 'shared' });
  expect(told).toMatchObject([{ work_item_id: other.id, message_id: expect.any(String) }]);
  expect((await db.ledgerRead(id, null, null)).map(({ content }) => content)).toEqual(
    expect.arrayContaining(['The field is stony', 'Bring a cart']),
  );
  expect(await database.query(`select attempt from ledger.work_ledger where work_item_id = '${id}' and entry_type = 'note'`)).toEqual([
    { attempt: 1 },
  ]);
});

test('what is refused says why; once the item is cancelled nothing of the tool is written', async () => {
  const errors: unknown[] = [];
  let isCancelled = false;
  let hasBegun = false;
  const { id } = await withTool(
    async ({ ledger }) => {
      errors.push(await ledger.append('thought', 'x').catch((error: unknown) => error));
      errors.push(await ledger.tell('nobody at all', 'x').catch((error: unknown) => error));
      hasBegun = true;
      await until(() => isCancelled);
      errors.push(await ledger.append('finding', 'Too late').catch((error: unknown) => error));
      errors.push(await ledger.claim('record:field').catch((error: unknown) => error));
      return 'late';
    },
    async (item) => {
      await until(() => hasBegun);
      await db.workCancel(item, null);
      isCancelled = true;
      await until(() => errors.length === 4);
    },
  );
  expect(errors.map((error) => (error instanceof LedgerError && error.hint !== '' ? error.code : error))).toEqual([
    'WL002',
    'WL001',
    'WL003',
    'WL003',
  ]);
  expect(await db.ledgerRead(id, 'finding', null)).toEqual([]);
});
