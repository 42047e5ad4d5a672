// A team on one ledger, as a worker drives it: who hears of what, in which request, and what that costs.

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { awaits, call, calls, done, spawn, startTeam } from '../team.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  const engage = { max_turns: 60, ledger_nudge_interval: 0, stall_limit: 0 };
  await db.facultySave({ name: 'lead', accepts: ['lead'], engage });
  await db.facultySave({ name: 'helper', accepts: ['part'], engage });
  await db.facultySave({ name: 'stranger', accepts: ['strange'], engage });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const parts = ['one', 'two', 'three', 'four'];
const iterations = 40;
const record = (type: string, content: string): ReturnType<typeof calls> => calls(call('ledger_append', { entry_type: type, content }));

test('four children of one lead hear of each other at once, for at most 1,000 tokens each; a stranger hears of the lead that waits', async () => {
  const heard = new Map<string, { exchange: number; text: string }[]>();
  const tell = (description: string, exchange: number, said: string[]): void => {
    const news = said.filter((text) => text.includes('== AWARENESS =='));
    heard.set(description, [...(heard.get(description) ?? []), ...news.map((text) => ({ exchange, text }))]);
  };
  let strangerMayEnd = false;
  const model = await startTeam({
    Lead: ({ exchange, children, said }) => {
      tell('Lead', exchange, said);
      if (exchange === 0) return record('plan', '1. Delegate 2. Put it together');
      if (exchange === 1) return calls(...parts.map((name) => spawn(`Part ${name}`)));
      return exchange === 2 ? calls(awaits(children, 600)) : done('All parts are there');
    },
    Part: ({ exchange, description, said }) => {
      tell(description, exchange, said);
      const mine = description.split(' ')[1];
      if (exchange === 0) return record('plan', `1. Read ${mine} 2. Write ${mine}`);
      if (exchange === 5) return record('finding', `Found in ${mine}: the rounding is wrong`);
      if (exchange === 10) return record('decision', `Decided in ${mine}: toCents is called fromFloat`);
      if (exchange === 15) return record('error', `Failed in ${mine}: no export toCents`);
      return exchange < iterations - 1 ? record('note', `Note ${exchange} of ${mine}`) : done(`Part ${mine} is done`);
    },
    Strange: ({ exchange, said }) => {
      tell('Strange', exchange, said);
      return strangerMayEnd ? done('Seen enough') : { ...record('note', `Look ${exchange}`), delayMs: 100 };
    },
  });
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    concurrency: 6,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  try {
    const lead = await db.workSubmit({ workType: 'lead', description: 'Lead the repair' });
    await until(async () => (await db.workItem(lead.id))?.state === 'waiting');
    const stranger = await db.workSubmit({ workType: 'strange', description: 'Strange work' });
    await until(async () => (await db.workItem(lead.id))?.resolved_at);
    strangerMayEnd = true;
    await until(async () => (await db.workItem(stranger.id))?.resolved_at);
  } finally {
    await worker.stop();
    await model.close();
  }

  const toldOf = (who: string): string =>
    heard
      .get(who)!
      .map(({ text }) => text)
      .join('\n');
  for (const name of parts) {
    const others = parts.filter((other) => other !== name);
    const first = heard.get(`Part ${name}`)![0]!;
    expect(first.exchange).toBe(0);
    expect(first.text).toContain('Your team:\n- [Lead/lead] Lead the repair (your parent, ');
    for (const other of others) {
      const told = toldOf(`Part ${name}`);
      // Once each: the sibling itself, its plan, finding, decision and error.
      for (const words of [
        `] Part ${other} (${told.includes(`] Part ${other} (queued`) ? 'queued' : 'running'}`,
        `Plan: 1. Read ${other}`,
        `Finding: Found in ${other}`,
        `Decision: Decided in ${other}`,
        `Error: Failed in ${other}`,
      ])
        expect(told.split(words), `what ${name} was told of ${other}`).toHaveLength(2);
    }
    expect(toldOf(`Part ${name}`)).not.toContain(`Found in ${name}`);
    expect(toldOf(`Part ${name}`)).not.toMatch(/Note \d/);
  }
  // The stranger hears of the tree by its root alone, which waits; of its children, nothing.
  expect(toldOf('Strange')).toMatch(
    /Currently active:\n- \[Lead\/lead\] Lead the repair \(waits for [1-4] of its children\)\n {2}Plan: 1\. Delegate/,
  );
  expect(toldOf('Strange')).not.toContain('Part one');
  expect(toldOf('Strange')).toContain('Recently completed:\n- [Lead/lead] Lead the repair');

  const costs = await database.query<{ description: string; tokens: number }>(`
    select w.description, sum(d.tokens) filter (where d.entries > 0)::integer as tokens
      from ledger.work_items w join ledger.foci f on f.work_item_id = w.id join ledger.awareness_digests d on d.focus_id = f.id
     where w.work_type = 'part' group by 1`);
  expect(costs).toHaveLength(4);
  for (const { description, tokens } of costs) expect(tokens, `tokens of all that "${description}" was told`).toBeLessThanOrEqual(1000);
});
