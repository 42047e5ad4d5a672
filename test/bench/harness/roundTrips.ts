// The statements that this process has sent, and how long it has waited for their answers, commits and all: of whoever sends them through
// pg, the project's own or the one beside the other engines. What is asked side by side counts side by side.

import { createRequire } from 'node:module';
import { join } from 'node:path';

import type pg from 'pg';

type Query = (this: pg.Client, ...args: unknown[]) => unknown;
type Answered = (...answer: unknown[]) => void;

/** Until now: statements, and milliseconds of those that were answered. Once called it goes on counting. */
export function countRoundTrips(): () => { statements: number; ms: number } {
  let [statements, ms] = [0, 0];
  const counting = (query: Query): Query =>
    function (...args) {
      const startedAt = performance.now();
      statements += 1;
      const add = (): void => void (ms += performance.now() - startedAt);
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
  for (const { Client } of new Set(
    [join(here, '../../../runtime/main.ts'), join(here, '../index.ts')].map((from) => createRequire(from)('pg') as typeof pg),
  )) {
    const face = Client.prototype as unknown as { query: Query };
    face.query = counting(face.query);
  }
  return () => ({ statements, ms });
}
