// How long this process has waited for answers of the server, commits and all: of whoever sends statements through pg, the project's own
// or the one beside the other engines. What is asked side by side counts side by side.

import { createRequire } from 'node:module';
import { join } from 'node:path';

import type pg from 'pg';

type Query = (this: pg.Client, ...args: unknown[]) => unknown;
type Answered = (...answer: unknown[]) => void;

/** Milliseconds until now, of all statements that were answered. Once called it goes on counting. */
export function countRoundTrips(): () => number {
  let total = 0;
  const counting = (query: Query): Query => function (...args) {
    const startedAt = performance.now();
    const add = (): void => void (total += performance.now() - startedAt);
    const last = args.at(-1);
    if (typeof last === 'function') {
      args[args.length - 1] = (...answer: unknown[]) => {
        add();
        (last as Answered)(...answer);
      };
    }
    const answer = query.apply(this, args);
    if (answer instanceof Promise) answer.then(add, add);
    return answer;
  };
  const here = import.meta.dirname;
  for (const { Client } of new Set([join(here, '../../../runtime/main.ts'), join(here, '../index.ts')].map((from) => createRequire(from)('pg') as typeof pg))) {
    const face = Client.prototype as unknown as { query: Query };
    face.query = counting(face.query);
  }
  return () => total;
}
