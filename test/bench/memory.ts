// Does a worker that runs for long need more and more memory? Its heap after a collection and what the system gave it, while one
// item after the other is worked through.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { against, lineOf } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { startModel } from './harness/model.ts';
import { withServer } from './harness/server.ts';
import { openWorker } from './peers/workLedger.ts';

const STEPS = 100;

export const memory: Question = {
  asks: 'Does a worker need more memory the longer it runs?',
  axis: 'iterations',
  measure: ({ quick, say }) =>
    withServer(async ({ url }) => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const model = await startModel();
      const worker = await openWorker(url, model);
      const lines: Line[] = [];
      const places = quick ? [100, 200, 300] : [100, 1000, 2000, 4000, 7000, 10_000];
      for (let n = STEPS; n <= (places.at(-1) ?? 0); n += STEPS) {
        await worker.work(STEPS - 1); // and the iteration that ends it
        if (!places.includes(n)) continue;
        say(`memory: ${n} iterations`);
        collect();
        const { rss, heapUsed } = process.memoryUsage();
        const now = [lineOf('given by the system', 'MB', [rss / 2 ** 20], n), lineOf('heap in use', 'MB', [heapUsed / 2 ** 20], n)];
        lines.push(
          ...now.map((line) => {
            const early = lines.find(({ name, at }) => name === line.name && at === places[1]);
            return early ? against(line, { ...early, name: `that at ${early.at}` }) : line;
          }),
        );
      }
      await worker.close();
      await model.close();
      return lines;
    }),
};
