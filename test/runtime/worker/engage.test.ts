// The doorbell never fails its job, whatever happens: graphile-worker would try again on its own terms.

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Runtime } from '../../../runtime/focus/focus.ts';
import { NoConnection } from '../../../runtime/ledger/connection.ts';
import { openChecked } from '../../../runtime/ledger/db.ts';
import type { Db } from '../../../runtime/ledger/db.ts';
import { engage } from '../../../runtime/worker/engage.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openChecked(database.url, 'a schema without a ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** What a job of this payload logs. */
async function rung(payload: unknown): Promise<string[]> {
  const said: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void said.push((JSON.parse(line) as { msg: string }).msg) });
  const leases = { workerId: 'worker', leaseSeconds: 30 };
  await engage({ db, leases, log } as unknown as Runtime)(payload, undefined as never);
  return said;
}

test('of an iteration that the database does not even let begin', async () => {
  await expect(db.focusClaim('01a20140-ceab-71ce-90f1-6e3f51471e2f', 'worker', 30)).rejects.toThrow();
  expect(await rung({ work_item_id: '01a20140-ceab-71ce-90f1-6e3f51471e2f' })).toEqual(['the iteration could not be given back']);
});

test('of an iteration that a stopping worker could not give back: once is enough', async () => {
  const said: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void said.push((JSON.parse(line) as { msg: string }).msg) });
  const asked: string[] = [];
  const away = (name: string, answer?: unknown) => async () => {
    asked.push(name);
    if (answer === undefined) throw new NoConnection('postgresql://h/app', Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
    return answer;
  };
  const runtime = {
    db: {
      focusBegin: away('focusBegin', {
        claim: { kind: 'claimed', iteration: 2, faculty: { engage: { workspace: 'none' }, hooks: {} } },
        begin: null,
      }),
      iterationBegin: away('iterationBegin'),
      iterationFail: away('iterationFail'),
    },
    leases: { workerId: 'worker', leaseSeconds: 30, hold: () => ({ signal: AbortSignal.abort('stopping'), drop: () => {} }) },
    hooks: new Map(),
    log,
  };
  await engage(runtime as unknown as Runtime)({ work_item_id: '01a20140-ceab-71ce-90f1-6e3f51471e2f' }, undefined as never);
  expect(asked).toEqual(['focusBegin', 'iterationBegin']);
  expect(said).toEqual(['the iteration could not be given back']);
});

test('of a payload that names no work item', async () => {
  for (const payload of [null, {}, { work_item_id: 'x' }]) expect(await rung(payload)).toEqual(['an engage job without a work item']);
});
