// One worker with many foci at once: iterations a second, CPU for each, memory; and what a streamed word costs in a worker against the
// provider's SDK alone.

import Anthropic from '@anthropic-ai/sdk';

import { linesOf, pick, takeTurns } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { startModel } from './harness/model.ts';
import { withServer } from './harness/server.ts';
import { openWorker } from './peers/workLedger.ts';

type Turn = { perSecond: number; clientMs: number; serverMs: number; megabytes: number };

export const foci: Question = {
  asks: 'What does one worker manage at once?',
  axis: 'foci at once',
  measure: ({ quick, say }) =>
    withServer(async ({ url, cpu }) => {
      const model = await startModel();
      const lines: Line[] = [];
      const of = 'iterations of a worker';
      for (const concurrency of quick ? [1, 10] : [1, 10, 50]) {
        say(`foci: ${concurrency}`);
        const turns = await takeTurns(quick ? 2 : 5, {
          [of]: async (): Promise<Turn> => {
            const worker = await openWorker(url, model, concurrency);
            try {
              const [items, steps] = [concurrency, quick ? 10 : Math.max(20, Math.round(400 / concurrency))];
              await Promise.all(Array.from({ length: items }, () => worker.work(2)));
              const [client, server, startedAt] = [process.cpuUsage(), await cpu(), performance.now()];
              let megabytes = 0;
              const look = setInterval(() => (megabytes = Math.max(megabytes, process.memoryUsage().rss / 2 ** 20)), 50);
              await Promise.all(Array.from({ length: items }, () => worker.work(steps)));
              clearInterval(look);
              const used = process.cpuUsage(client);
              const count = items * steps;
              return {
                perSecond: (1000 * count) / (performance.now() - startedAt),
                clientMs: (used.user + used.system) / 1000 / count,
                serverMs: (((await cpu()) ?? Number.NaN) - (server ?? Number.NaN)) / 1000 / count,
                megabytes,
              };
            } finally {
              await worker.close();
            }
          },
        });
        lines.push(
          ...linesOf(
            pick(turns, ({ perSecond }) => perSecond),
            { unit: 'a second', at: concurrency },
          ),
          ...linesOf(
            pick(turns, ({ clientMs }) => clientMs),
            { unit: 'ms of CPU in the worker', at: concurrency },
          ),
          ...linesOf(
            pick(turns, ({ serverMs }) => serverMs),
            { unit: 'ms of CPU in the server', at: concurrency },
          ),
          ...linesOf(
            pick(turns, ({ megabytes }) => megabytes),
            { unit: 'MB of memory at most', at: concurrency },
          ),
        );
      }
      say('foci: streams');
      lines.push(...(await streams(url, model.url, quick)));
      await model.close();
      return lines;
    }),
};

/** CPU of this process for each word of a long response, beyond what a short one takes. */
async function streams(url: string, modelUrl: string, quick: boolean): Promise<Line[]> {
  const words = quick ? 2000 : 20_000;
  const model = await startModel();
  const worker = await openWorker(url, model, 1);
  const sdk = new Anthropic({ apiKey: 'none', baseURL: modelUrl });
  const used = async (write: (words: number) => Promise<unknown>): Promise<number> => {
    const start = process.cpuUsage();
    await write(10);
    const [short, middle] = [process.cpuUsage(start), process.cpuUsage()];
    await write(words);
    const long = process.cpuUsage(middle);
    return (long.user + long.system - short.user - short.system) / (words - 10);
  };
  const bare = 'the SDK alone';
  const turns = await takeTurns(quick ? 3 : 9, {
    [bare]: () =>
      used(async (count) => {
        const stream = await sdk.messages.create({
          model: 'claude-sonnet-5-5',
          max_tokens: 100_000,
          stream: true,
          messages: [{ role: 'user', content: `Write ${count} words` }],
        });
        let length = 0;
        for await (const event of stream)
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') length += event.delta.text.length;
        if (length < count) throw new Error('the stream was short');
      }),
    'a worker': () => used((count) => worker.write(count)),
  });
  await worker.close();
  await model.close();
  return linesOf(turns, { unit: 'µs of CPU a streamed word', of: bare });
}
