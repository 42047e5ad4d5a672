// A copy of a ledger that wakes up next to its original, set to read only as docs/backup.md says: it is looked at, and nothing drives it.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { withConnection } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { scriptOf } from '../../runtime/model/script.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { cli } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startWorkerProcess } from '../workerProcess.ts';

let copy: TestDatabase;
let model: ScriptedModel;
let id: string;
/** From another database: in this one ALTER DATABASE is refused as well. */
const setTo = (what: 'set' | 'reset'): Promise<unknown> =>
  withConnection({ connectionString: new URL('postgres', copy.url).href }, (client) =>
    client.query(
      `alter database ${new URL(copy.url).pathname.slice(1)} ${what} default_transaction_read_only${what === 'set' ? ' = on' : ''}`,
    ),
  );
const typed = (...args: string[]) => cli(args, { env: { ...process.env, DATABASE_URL: copy.url } });

beforeAll(async () => {
  copy = await createDatabase();
  model = await startScriptedModel(
    scriptOf([{ content: [{ type: 'tool_use', id: 'call_1', name: 'work_complete', input: { summary: 'Done' } }] }]),
  );
  const db = await openDb(copy.url, 'ledger');
  await db.facultySave({ name: 'engineer', accepts: ['task'] });
  ({ id } = await db.workSubmit({ workType: 'task', description: 'What the original goes on with' }));
  await db.close();
});
afterAll(async () => {
  await model?.close();
  await copy?.drop();
});

test('no worker drives what is in it, and it can be looked at', async () => {
  await setTo('set');
  await expect(startWorkerProcess({ url: copy.url, modelUrl: model.url })).rejects.toThrow(/this server only reads/);
  expect(await typed('show', id)).toMatchObject({ code: 0, stdout: expect.stringContaining('queued') });
  expect(await typed('message', id, 'Go on')).toMatchObject({ code: 1, stderr: expect.stringContaining('this server only reads') });
  expect(model.requests).toEqual([]);
});

test('it goes on when it may be written to again', async () => {
  await setTo('reset');
  const worker = await startWorkerProcess({ url: copy.url, modelUrl: model.url });
  expect(await typed('logs', id, '--follow')).toMatchObject({ code: 0, stdout: expect.stringContaining('Done') });
  await worker.end('SIGTERM');
});
