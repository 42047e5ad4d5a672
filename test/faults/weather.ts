// The faults of a database, one after the other, drawn from a seed.

import { setTimeout as sleep } from 'node:timers/promises';

import type { Ground } from './ground.ts';
import type { Cut, Proxy } from './proxy.ts';

type Kind = Cut | 'terminate' | 'immediate' | 'kill';
/** `text`: of the statement that a cut waits for. */
export type Fault = { kind: Kind; text: string };

export type Weather = {
  /** How often each has happened. */
  faults: Record<string, number>;
  /** Throws if the server did not come back. */
  count(): number;
  /** No more of them; what is broken is whole again. */
  stop(): Promise<void>;
};

/** Statements whose reply may be lost: the ones that write. */
const statements = ['iteration_step', 'tool_call_settle', 'tool_call_execute', 'focus_begin', 'ledger_append', ''];
const cuts: readonly Cut[] = ['cut_before', 'cut_after', 'cut_after', 'black_hole', 'drip'];

/** `first`: the first faults, in order, before others are drawn. */
export function startWeather({
  ground,
  proxy,
  random,
  most,
  first,
}: {
  ground: Ground;
  proxy: Proxy;
  random: () => number;
  most: number;
  first: readonly Fault[];
}): Weather {
  const given = [...first];
  const faults: Record<string, number> = {};
  let failure: unknown;
  const count = (): number => {
    if (failure !== undefined) throw failure;
    return Object.values(faults).reduce((sum, n) => sum + n, 0);
  };
  const over = new AbortController();
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: over.signal }).catch(() => {});
  const kinds: readonly Kind[] = [...cuts, 'terminate', ...(ground.crash ? (['immediate', 'kill'] as const) : [])];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const happen = async ({ kind, text }: Fault): Promise<void> => {
    switch (kind) {
      case 'terminate':
        return ground.terminate();
      case 'immediate':
      case 'kill':
        return ground.crash?.(kind);
      case 'cut_before':
      case 'cut_after':
      case 'black_hole':
      case 'drip':
        await Promise.race([proxy.cutNext(kind, text), pause(3000)]);
        if (kind === 'black_hole') await pause(3000);
        if (kind === 'black_hole') proxy.cutAll();
    }
  };
  const blow = async (): Promise<void> => {
    while (!over.signal.aborted && count() < most) {
      await pause(300 + random() * 2000);
      if (over.signal.aborted) break;
      const fault = given.shift() ?? { kind: pick(kinds), text: pick(statements) };
      const { kind } = fault;
      await happen(fault).catch((error: unknown) => {
        if (kind === 'immediate' || kind === 'kill') throw error; // the server did not come back
      });
      faults[kind] = (faults[kind] ?? 0) + 1;
    }
  };
  const blown = blow();
  blown.catch((error: unknown) => (failure = error)); // thrown by count() and stop()
  return {
    faults,
    count,
    async stop() {
      over.abort();
      await blown;
      proxy.cutAll();
    },
  };
}
