// What a process reports about itself to monitoring: /healthz (it is alive), /readyz (it can work), /metrics (the state of the ledger and
// what this process has counted). None of it contains what an agent said, an address or a key.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Db } from '../ledger/db.ts';
import type { Counted } from './counted.ts';
import { CONTENT_TYPE, exposition } from './exposition.ts';
import { instance } from './instance.ts';

/** The longest time to wait for the ledger. */
const PATIENCE_MS = 3000;

type Options = {
  db: Pick<Db, 'serves' | 'takesWrites' | 'metrics' | 'workGauges'>;
  /** Whether it is ready only where it may write, as a worker has to. */
  writes?: boolean;
  isStopping?: () => boolean;
  /** Given in a process that counts. */
  counted?: Counted | null;
};

export type Health = {
  /** Null if there is nothing at this path. */
  answer(path: string): Promise<Response> | null;
};

export function healthOf({ db, writes = false, isStopping = () => false, counted = null }: Options): Health {
  const ready = async (): Promise<Response> => {
    if (isStopping()) return text(503, 'it is stopping\n');
    if (writes && !(await db.takesWrites())) return text(503, 'the database takes no writes\n');
    return (await db.serves()) ? text(200, 'ready\n') : text(503, 'the ledger was upgraded and does not serve this version\n');
  };
  const metrics = async (): Promise<Response> => {
    const [all, gauges] = await Promise.all([db.metrics(), db.workGauges()]);
    return text(200, exposition(all, gauges, counted, instance()), CONTENT_TYPE);
  };
  const looks = new Map<string, () => Promise<Response>>([
    ['/healthz', () => Promise.resolve(text(200, 'ok\n'))],
    ['/readyz', alone(ready)],
    ['/metrics', alone(metrics)],
  ]);
  return { answer: (path) => looks.get(path)?.() ?? null };
}

/**
 * Runs one query at a time: requests that arrive while it runs get the same answer, even after an earlier request has timed out. So
 * requests cannot overload the database.
 */
function alone(find: () => Promise<Response>): () => Promise<Response> {
  let finding: Promise<Response> | null = null;
  return async () => {
    finding ??= find()
      .catch(() => text(503, 'the database does not answer\n'))
      .finally(() => (finding = null));
    return (await soon(finding).catch(() => text(503, 'the database does not answer in time\n'))).clone();
  };
}

async function soon<T>(answer: Promise<T>): Promise<T> {
  const late = sleep(PATIENCE_MS, undefined, { ref: false }).then(() => {
    throw new Error('no answer in time');
  });
  late.catch(() => {});
  return Promise.race([answer, late]);
}

const text = (status: number, body: string, type = 'text/plain; charset=utf-8'): Response =>
  new Response(body, { status, headers: { 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } });
