// What a step of work costs from Node to the disk: a whole iteration of our worker (claim, request, model, tool, what follows) against
// the steps of other engines and a plain INSERT, on the same server, with the same 4 KB of text that does not compress. What each
// does differs widely: ours leases, assembles a context and calls a model over HTTP, theirs keep a value.

import { lineOf, linesOf, pick, takeTurns } from './harness/question.ts';
import type { Options, Question } from './harness/question.ts';
import { countRoundTrips } from './harness/roundTrips.ts';
import { withServer } from './harness/server.ts';
import type { Server } from './harness/server.ts';
import { absurd } from './peers/absurd.ts';
import { installPeers, STEP_BYTES } from './peers/contender.ts';
import type { Peer } from './peers/contender.ts';
import { dbos } from './peers/dbos.ts';
import { graphileWorker } from './peers/graphileWorker.ts';
import { langGraph } from './peers/langGraph.ts';
import { pgBoss } from './peers/pgBoss.ts';
import { plainInsert } from './peers/plainInsert.ts';
import { workLedger } from './peers/workLedger.ts';

type Turn = {
  ms: number;
  waitedMs: number | null;
  serverMs: number;
  statements: number;
  walBytes: number;
  clientMs: number;
  cpu: number | null;
};

export const iteration: Question = {
  asks: 'What does a step cost, from Node to the disk?',
  measure: (options) =>
    withServer(
      async (server) => {
        const { quick, say } = options;
        await server.admin.query('create extension pg_stat_statements');
        const peers = peersOf(options);
        if (peers.includes(dbos)) await installPeers();
        const sent = countRoundTrips();
        const [rounds, steps, first] = quick ? [3, 40, 20] : [5, 400, 200];
        const variants: Record<string, () => Promise<Turn>> = {};
        const stored = [];
        for (const [n, peer] of peers.entries()) {
          const url = await server.database(`peer_${n}`, peer.content);
          const why = await peer.prepare?.(url);
          if (why) {
            say(`${peer.name}: left out, ${why}`);
            continue;
          }
          say(peer.name);
          stored.push(lineOf(peer.name, `bytes stored a step, of ${first}`, [await storedBy(server, peer, url, first)]));
          variants[peer.name] = () => turn(server, peer, url, steps, sent);
        }
        const turns = await takeTurns(rounds, variants);
        const of = plainInsert.name;
        return [
          ...linesOf(
            pick(turns, ({ ms, cpu }) => ({ value: ms, cpu })),
            {
              unit: 'ms',
              of: { ...Object.fromEntries(Object.keys(variants).map((name) => [name, of])), [workLedger.name]: Object.keys(variants) },
            },
          ),
          ...linesOf(new Map([...pick(turns, ({ waitedMs }) => waitedMs ?? [])].map(([name, values]) => [name, values.flat()])), {
            unit: 'ms waiting for the server',
            of,
          }).filter(({ count }) => count > 0),
          ...linesOf(
            pick(turns, ({ serverMs }) => serverMs),
            { unit: 'ms executing in the server', of },
          ),
          ...linesOf(
            pick(turns, ({ clientMs }) => clientMs),
            { unit: 'ms of CPU in Node', of },
          ),
          ...linesOf(
            pick(turns, ({ statements }) => statements),
            { unit: 'statements' },
          ),
          ...linesOf(
            pick(turns, ({ walBytes }) => walBytes - STEP_BYTES),
            { unit: 'bytes of WAL beyond the text' },
          ),
          ...stored,
        ];
      },
      { shared_preload_libraries: 'pg_stat_statements' },
    ),
};

/** CI has no other packages than the project's own. */
const peersOf = ({ quick, absurd: directory }: Options): Peer[] =>
  quick && process.env['CI']
    ? [plainInsert, workLedger]
    : [plainInsert, workLedger, absurd(directory), dbos, langGraph, pgBoss, graphileWorker];

/** Bytes that the first steps add to a database that is otherwise as the engine made it. */
async function storedBy({ admin }: Server, peer: Peer, url: string, steps: number): Promise<number> {
  const size = async (): Promise<number> =>
    Number((await admin.query<{ size: string }>('select pg_database_size($1) as size', [nameOf(url)])).rows[0]?.size);
  const warm = await peer.open(url);
  await warm.close();
  const before = await size();
  const contender = await peer.open(url);
  await contender.work(steps);
  await contender.close();
  return ((await size()) - before) / steps;
}

async function turn(
  { admin, cpu }: Server,
  peer: Peer,
  url: string,
  steps: number,
  sent: ReturnType<typeof countRoundTrips>,
): Promise<Turn> {
  const counted = async () =>
    (
      await admin.query<{ ms: number; wal: number }>(
        `
    select coalesce(sum(s.total_exec_time), 0) as ms, (pg_current_wal_insert_lsn() - '0/0')::float8 as wal
      from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = $1`,
        [nameOf(url)],
      )
    ).rows[0] ?? { ms: 0, wal: 0 };
  const contender = await peer.open(url);
  try {
    await contender.work(Math.ceil(steps / 10)); // connections, plans, code
    const [before, cpuBefore, sentBefore, clientBefore] = [await counted(), await cpu(), sent(), process.cpuUsage()];
    const startedAt = performance.now();
    await contender.work(steps);
    const ms = (performance.now() - startedAt) / steps;
    const [client, answered] = [process.cpuUsage(clientBefore), sent()];
    const waitedMs = answered.ms - sentBefore.ms;
    const [after, cpuAfter] = [await counted(), await cpu()];
    return {
      ms,
      waitedMs: waitedMs > 0 ? waitedMs / steps : null,
      serverMs: (after.ms - before.ms) / steps,
      statements: (answered.statements - sentBefore.statements) / steps,
      walBytes: (after.wal - before.wal) / steps,
      clientMs: (client.user + client.system) / 1000 / steps,
      cpu: cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / steps,
    };
  } finally {
    await contender.close();
  }
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1);
