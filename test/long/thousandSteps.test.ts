// Long work in a small window: a thousand steps, each request valid, under the limit and rebuilt to the byte.

import { expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import { validateRequest } from '../../runtime/model/validateRequest.ts';
import { createDatabase } from '../database.ts';
import { Player } from '../player.ts';

const window = 20_000;

test('a thousand steps take fewer than twenty compactions', async () => {
  const database = await createDatabase();
  const db = await openDb(database.url, 'ledger');
  await db.abilityRegister({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, effect: 'pure', risk: 'safe' });
  await db.facultySave({
    name: 'steady',
    awareness: { enabled: false },
    engage: { tools: ['look'], context_window: window, max_turns: 2000, ledger_nudge_interval: 0, elide_budget: 0 },
  });
  const played = new Player(db, (await db.workSubmit({ workType: 'compact', description: 'Do the long work', faculty: 'steady' })).id);
  for (let i = 0; i < 1000; i++) {
    expect(
      await played.say({
        calls: [
          { kind: 'step', content: `Step ${i} was done` },
          { kind: 'look', result: 'x'.repeat(20) },
        ],
      }),
    ).toBe('continued');
  }
  expect((await played.begin()).kind).toBe('call_model');
  await db.iterationRelease(played.claim);
  for (const { turnId, body } of played.sent) {
    expect(validateRequest(JSON.parse(body))).toEqual([]);
    expect(Math.ceil(body.length * 0.4)).toBeLessThanOrEqual(window);
    expect(await db.contextAt(turnId)).toBe(body);
  }
  const compactions = await database.query(`select from ledger.v_compactions where work_item_id = '${played.workItemId}'`);
  expect(compactions.length).toBeGreaterThan(0);
  expect(compactions.length).toBeLessThan(20);
  const last = played.sent.findLast((one) => !one.isSummary)?.body ?? '';
  expect(last).toContain('older, in ledger_read)');
  expect(last).toContain('Step 998 was done');
  await db.close();
  await database.drop();
});
