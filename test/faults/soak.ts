// `make soak`: 10,000 iterations in one worker. What it holds after each thousand (heap after a collection, memory, descriptors, jobs,
// connections) stays what it was after the first two; the invariants of the ledger hold at the end. ITERATIONS=… for another length.

import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { startThrowaway } from '../../runtime/install/throwaway.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { withConnection } from '../../runtime/ledger/connection.ts';
import { startModel } from '../bench/harness/model.ts';
import { openWorker } from '../bench/peers/workLedger.ts';

const ITERATIONS = Number(process.env['ITERATIONS'] ?? 10_000);
const AN_ITEM = 100;
const A_LOOK = Math.max(AN_ITEM, ITERATIONS / 10);

type Look = { iterations: number; heapMb: number; rssMb: number; descriptors: number; jobs: number; connections: number };

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const server = await startThrowaway({ isDurable: true });
await installLedger(server.url, 'work_ledger');
const model = await startModel();
const worker = await openWorker(server.url, model);

async function look(iterations: number): Promise<Look> {
  collect();
  const { rss, heapUsed } = process.memoryUsage();
  const {
    rows: [of],
  } = await withConnection({ connectionString: server.url }, (client) =>
    client.query<{ jobs: number; connections: number }>(
      `select (select count(*) from graphile_worker.jobs)::integer as jobs, (select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid())::integer as connections`,
    ),
  );
  const now = {
    iterations,
    heapMb: Math.round(heapUsed / 2 ** 20),
    rssMb: Math.round(rss / 2 ** 20),
    descriptors: readdirSync('/proc/self/fd').length,
    jobs: of?.jobs ?? -1,
    connections: of?.connections ?? -1,
  };
  console.log(
    Object.entries(now)
      .map(([name, n]) => `${name} ${n}`)
      .join('  '),
  );
  return now;
}

const looks: Look[] = [];
for (let n = AN_ITEM; n <= ITERATIONS; n += AN_ITEM) {
  await worker.work(AN_ITEM - 1); // and the iteration that ends it
  if (n % A_LOOK === 0) looks.push(await look(n));
}
const violations = await withConnection(
  { connectionString: server.url },
  async (client) => (await client.query('select * from work_ledger.work_ledger_check()')).rows,
);
await worker.close();
await model.close();
await server.stop();

/** What may grow by so much from the second look to the last one. */
const room: Record<Exclude<keyof Look, 'iterations'>, number> = { heapMb: 16, rssMb: 80, descriptors: 4, jobs: 2, connections: 2 };
const [, early = looks[0]] = looks;
const grown = Object.entries(room)
  .filter(([name, more]) => (looks.at(-1)?.[name as keyof Look] ?? 0) > (early?.[name as keyof Look] ?? 0) + more)
  .map(([name]) => name);
for (const name of grown) console.log(`${name} grew`);
for (const violation of violations) console.log(JSON.stringify(violation));
console.log(grown.length + violations.length === 0 ? `flat over ${ITERATIONS} iterations` : 'not flat');
process.exit(grown.length + violations.length === 0 ? 0 : 1);
