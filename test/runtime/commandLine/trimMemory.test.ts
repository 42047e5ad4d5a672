// A process that waits returns what it took: once, as long as it takes no more; one that works is left alone.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

const module = new URL('../../../runtime/commandLine/trimMemory.ts', import.meta.url).href;

type Seen = { before: number; after: number; collections: number };

/** What a process of its own saw in so many ticks of 20 ms after its heap had shrunk, or in so many without that. */
async function seen(work: string): Promise<Seen> {
  const program = `
    import { PerformanceObserver, constants } from 'node:perf_hooks';
    import { getHeapStatistics } from 'node:v8';
    import { trimMemory } from ${JSON.stringify(module)};
    const size = () => getHeapStatistics().total_heap_size;
    let [collections, ticks] = [0, 0];
    new PerformanceObserver((list) => {
      collections += list.getEntries().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR).length;
    }).observe({ entryTypes: ['gc'] });
    let taken = Array.from({ length: 500_000 }, (_, n) => ({ n }));
    taken = null;
    const before = size();
    let isSmall = false;
    trimMemory(100);
    setInterval(() => {
      if (!isSmall && size() < before / 2) [isSmall, ticks, collections] = [true, 0, 0];
      ${work}
      if (++ticks < (isSmall ? 25 : ${work === '' ? 1000 : 50})) return;
      process.stdout.write(JSON.stringify({ before, after: size(), collections }), () => process.exit());
    }, 20);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  return JSON.parse(stdout) as Seen;
}

test('a process that waits gives its garbage back, and is not interrupted again while it takes nothing', async () => {
  const { before, after, collections } = await seen('');
  expect(after).toBeLessThan(before / 2);
  expect(collections).toBeLessThanOrEqual(2); // the parts of the first, heard of late
});

test('a process that works is left alone', async () => {
  const { before, after } = await seen('for (const end = performance.now() + 10; performance.now() < end; );');
  expect(after).toBeGreaterThan(before / 2);
});
