// From handing work over to its first line of code, in an idle worker: for ours the first line is the request that arrives at the
// model; against a bare NOTIFY that reaches a LISTEN.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { linesOf, median, pick, takeTurns, timed } from './harness/question.ts';
import type { Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';
import { absurd } from './peers/absurd.ts';
import type { Contender, Peer } from './peers/contender.ts';
import { dbos } from './peers/dbos.ts';
import { graphileWorker } from './peers/graphileWorker.ts';
import { pgBoss } from './peers/pgBoss.ts';
import { workLedger } from './peers/workLedger.ts';

type Turn = { first: number; warm: number };

const notify: Peer = {
  name: 'NOTIFY to LISTEN',
  content: 'empty',
  async open(url) {
    const [sender, listener] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
    await Promise.all([sender.connect(), listener.connect()]);
    await listener.query('listen bench');
    return {
      work: async () => {},
      async begin() {
        await Promise.all([once(listener, 'notification'), sender.query('notify bench')]);
      },
      async close() {
        await Promise.all([sender.end(), listener.end()]);
      },
    };
  },
};

export const submit: Question = {
  asks: 'How long from a submit to the first line of the work?',
  measure: (options) =>
    withServer(async (server) => {
      const { quick, say } = options;
      const variants: Record<string, () => Promise<Turn>> = {};
      for (const [n, peer] of [notify, workLedger, graphileWorker, dbos, pgBoss, absurd(options.absurd)].entries()) {
        const url = await server.database(`peer_${n}`, peer.content);
        const why = await peer.prepare?.(url);
        if (why) {
          say(`${peer.name}: left out, ${why}`);
          continue;
        }
        const name = peer === workLedger ? 'Work Ledger, until the model is asked' : peer.name.replace(/,.*/, '');
        variants[name] = async () => begins(await peer.open(url), quick ? 5 : 30);
      }
      say('submit: rounds');
      const turns = await takeTurns(quick ? 2 : 7, variants);
      const of = notify.name;
      return [
        ...linesOf(
          pick(turns, ({ warm }) => warm),
          { unit: 'ms', of },
        ),
        ...linesOf(
          pick(turns, ({ first }) => first),
          { unit: 'ms, the first after the start', of },
        ),
      ];
    }),
};

/** The first, three seconds after the start, and the median of those after it; between them everything comes to rest. */
async function begins(contender: Contender, count: number): Promise<Turn> {
  const times: number[] = [];
  try {
    for (let n = 0; n <= count; n++) {
      await sleep(n === 0 ? 3000 : 250);
      times.push(await timed(() => contender.begin!()));
    }
  } finally {
    await sleep(250);
    await contender.close();
  }
  return { first: times[0] ?? Number.NaN, warm: median(times.slice(1)) };
}
