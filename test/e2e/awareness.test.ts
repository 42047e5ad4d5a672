// A team on one ledger, as a worker drives it: who hears of what, in which request, and what that costs.

import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import type { ScriptedReply } from '../../runtime/model/script.ts';
import { awaits, call, calls, done, spawn, startTeam } from '../team.ts';
import type { Seen } from '../team.ts';
import { until } from '../workerProcess.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  const engage = { max_turns: 2000, ledger_nudge_interval: 0, stall_limit: 0 };
  await db.facultySave({ name: 'lead', accepts: ['lead'], engage });
  await db.facultySave({ name: 'helper', accepts: ['part'], engage });
  await db.facultySave({ name: 'stranger', accepts: ['strange'], engage });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** What each work item was told of others, and before which of its responses. */
function hearing() {
  const heard = new Map<string, { exchange: number; text: string }[]>();
  return {
    heard,
    tell: (description: string, exchange: number, said: string[]): void => {
      const news = said.filter((text) => text.includes('== AWARENESS =='));
      heard.set(description, [...(heard.get(description) ?? []), ...news.map((text) => ({ exchange, text }))]);
    },
    toldOf: (who: string): string => (heard.get(who) ?? []).map(({ text }) => text).join('\n'),
  };
}

/** Does `act` while a worker drives what it submits. */
async function driven(model: ScriptedModel, concurrency: number, act: () => Promise<void>): Promise<void> {
  const worker = await startWorker({
    url: database.url,
    schema: 'ledger',
    tools: [],
    log: pino({ level: 'silent' }),
    concurrency,
    model: createModelClient({ apiKey: 'k', baseURL: model.url }),
  });
  try {
    await act();
  } finally {
    await worker.stop();
    await model.close();
  }
}

const over = async (ids: string[]): Promise<void> => {
  for (const id of ids) await until(async () => (await db.workItem(id))?.resolved_at);
};

const parts = ['one', 'two', 'three', 'four'];
const iterations = 40;
const record = (type: string, content: string): ReturnType<typeof calls> => calls(call('ledger_append', { entry_type: type, content }));

test('four children of one lead hear of each other at once, for at most 1,000 tokens each; a stranger hears of the lead that waits', async () => {
  const { heard, tell, toldOf } = hearing();
  // In the middle of their work the children wait for each other, and until the stranger has heard of the lead.
  const half = new Set<string>();
  const met = Promise.withResolvers<void>();
  const meet = (): void => {
    if (half.size === parts.length && toldOf('Strange').includes('(waits for ')) met.resolve();
  };
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
      if (exchange === 20) {
        half.add(mine ?? '');
        meet();
        return { ...record('note', `Note ${exchange} of ${mine}`), afterEvent: () => met.promise };
      }
      return exchange < iterations - 1 ? record('note', `Note ${exchange} of ${mine}`) : done(`Part ${mine} is done`);
    },
    Strange: ({ exchange, said }) => {
      tell('Strange', exchange, said);
      meet();
      return toldOf('Strange').includes('Recently completed:\n- [Lead/lead]')
        ? done('Seen enough')
        : { ...record('note', `Look ${exchange}`), delayMs: 100 };
    },
  });
  await driven(model, 6, async () => {
    const lead = await db.workSubmit({ workType: 'lead', description: 'Lead the repair' });
    await until(async () => (await db.workItem(lead.id))?.state === 'waiting');
    const stranger = await db.workSubmit({ workType: 'strange', description: 'Strange work' });
    await over([lead.id, stranger.id]);
  });

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

test('two leads with two children each in one repository hear of each other by their roots; a third one in another hears of none', async () => {
  const { tell, toldOf } = hearing();
  const begun = new Set<string>();
  // Until all of the two trees are there and have been heard of.
  const isHeard = (): boolean =>
    begun.size === 7 &&
    ['north left', 'north right', 'south left', 'south right'].every((hand) => {
      const [own, side] = hand.split(' ');
      const [other, sibling] = [own === 'north' ? 'south' : 'north', side === 'left' ? 'right' : 'left'];
      return [`Found by Hand ${own} ${sibling}`, `- Found by Head ${other} (Lead`].every((words) => toldOf(`Hand ${hand}`).includes(words));
    });
  const role = ({ exchange, description, children, said }: Seen): ScriptedReply => {
    tell(description, exchange, said);
    const lead = description.split(' ')[1]!;
    begun.add(description);
    if (exchange === 0) return record('finding', `Found by ${description}`);
    if (exchange === 1 && description.startsWith('Head')) return calls(spawn(`Hand ${lead} left`), spawn(`Hand ${lead} right`));
    if (exchange === 2 && description.startsWith('Head')) return calls(awaits(children, 600));
    if (description.startsWith('Head')) return done(`${lead} is put together`);
    return exchange < 4 || !isHeard() ? { ...record('note', `Look ${exchange}`), delayMs: 50 } : done('Done');
  };
  await driven(await startTeam({ Head: role, Hand: role, Alone: role }), 7, async () => {
    const ids = [];
    for (const [description, project] of [
      ['Head north', 'shop'],
      ['Head south', 'shop'],
      ['Alone here', 'other'],
    ] as const)
      ids.push((await db.workSubmit({ workType: description.startsWith('Head') ? 'lead' : 'strange', description, project })).id);
    await over(ids);
  });

  for (const [own, other] of [
    ['north', 'south'],
    ['south', 'north'],
  ]) {
    for (const [side, sibling] of [
      ['left', 'right'],
      ['right', 'left'],
    ]) {
      const told = toldOf(`Hand ${own} ${side}`);
      expect(told).toContain(`Your team:\n- [Lead/lead] Head ${own} (your parent`);
      expect(told).toContain(`] Hand ${own} ${sibling} (`);
      expect(told.split(`Finding: Found by Hand ${own} ${sibling}`), 'once').toHaveLength(2);
      expect(told).toMatch(new RegExp(`Currently active:\n(.*\n)*- \\[Lead/lead\\] Head ${other}`));
      expect(told).toContain(`- Found by Head ${other} (Lead`);
      expect(told, 'what is below the other lead').not.toContain(`Hand ${other}`);
      expect(told).not.toContain('Alone');
    }
    expect(toldOf(`Head ${own}`)).toContain(`Head ${other}`);
    expect(toldOf(`Head ${own}`)).not.toContain('Alone');
  }
  expect(toldOf('Alone here')).not.toMatch(/Head|Hand/);
});

test('twenty agents that start at once hear of each other, a little at a time and everything once', async () => {
  const { heard, tell, toldOf } = hearing();
  const names = Array.from({ length: 20 }, (_, n) => `Agent ${String.fromCodePoint(97 + n)}`);
  const decided = new Set<string>();
  const hasHeard = (own: string): boolean => names.every((name) => name === own || toldOf(own).includes(`Decided by ${name}`));
  const begun = new Set<string>();
  const allBegun = Promise.withResolvers<void>();
  const model = await startTeam({
    Agent: ({ exchange, description, said }) => {
      tell(description, exchange, said);
      if (exchange === 0) {
        begun.add(description);
        if (begun.size === names.length) allBegun.resolve();
        return { ...record('decision', `Decided by ${description}`), afterEvent: () => allBegun.promise };
      }
      decided.add(description); // its request shows that the first response is stored
      const isOver = decided.size === names.length && hasHeard(description);
      return isOver ? done('Heard of all') : { ...record('note', `Look ${exchange}`), delayMs: 50 };
    },
  });
  await driven(model, 20, async () => {
    const ids = await Promise.all(
      names.map(async (description) => (await db.workSubmit({ workType: 'strange', description, project: 'busy' })).id),
    );
    await over(ids);
  });

  for (const name of names) {
    for (const other of names.filter((one) => one !== name))
      expect(toldOf(name).split(`Decided by ${other} (`), `what ${name} was told of ${other}`).toHaveLength(2);
    expect(toldOf(name)).not.toContain(`Decided by ${name}`);
    expect(toldOf(name)).not.toMatch(/Head|Hand|Part/);
    expect(heard.get(name)!.length, 'requests that told something').toBeGreaterThan(1);
  }
  const [most] = await database.query<{ tokens: number }>(`
    select max(d.tokens)::integer as tokens from ledger.awareness_digests d join ledger.foci f on f.id = d.focus_id join ledger.work_items w on w.id = f.work_item_id
     where w.project = 'busy' and d.is_delta`);
  expect(most!.tokens).toBeLessThanOrEqual(340); // news_tokens, and the fence around it
});
