// What a process says of itself to a machine: /healthz (it lives), /readyz (it can do its work), /metrics (how the ledger stands and what
// this process counted). Nothing of it holds what an agent said, an address or a key.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Db } from '../ledger/db.ts';
import type { Counted } from './counted.ts';
import { CONTENT_TYPE, exposition } from './exposition.ts';
import { instance } from './instance.ts';

/** The longest that is waited for the ledger. */
const PATIENCE_MS = 3000;

type Options = {
  db: Pick<Db, 'serves' | 'metrics' | 'workGauges'>;
  isStopping?: () => boolean;
  /** Of a process that counts. */
  counted?: Counted | null;
};

export type Health = {
  /** Null: nothing is at this path. */
  answer(path: string): Promise<Response> | null;
};

export function healthOf({ db, isStopping = () => false, counted = null }: Options): Health {
  const ready = async (): Promise<Response> => {
    if (isStopping()) return text(503, 'it is stopping\n');
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

/** Whoever asks while it is being found out gets the same answer, also who asks after somebody was not told in time: nobody keeps the database
 * busy by asking. */
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
