// First paint of the console: the server's time for a page of an item with many turns against one with a hundredth of them, and for
// `/` with 100 and with 5,000 items under way against two. And until a browser has painted the run of an item, against a page that has nothing to read.

import { startConsole } from '../../runtime/console/server.ts';
import { launch, missing } from '../console/browser.ts';
import { longItem } from '../longItem.ts';
import { wideLedger } from '../wideLedger.ts';
import { linesOf, pick, takeTurns } from './harness/question.ts';
import type { Line, Question } from './harness/question.ts';
import { withServer } from './harness/server.ts';

type Look = { ms: number; bytes: number };
const tabs = ['', '/turns', '/ledger', '/context', '/context?from=1', '/context/part/request?turn=LAST', '/cost'];

export const console: Question = {
  asks: 'How long until a page of the console is there?',
  measure: ({ quick, say }) =>
    withServer(async ({ url, admin }) => {
      const [rounds, many] = quick ? [3, 1_000] : [15, 10_000];
      await admin.query(`set search_path = work_ledger; select from faculty_save('{"name": "worker", "accepts": ["analyze"]}')`);
      const running = await startConsole({ url, schema: 'work_ledger', port: 0 });
      const look = async (path: string): Promise<Look> => {
        const began = performance.now();
        const answer = await fetch(new URL(path, running.address));
        const body = await answer.text();
        if (!answer.ok || body.includes('failed-part')) throw new Error(`${path}: ${answer.status}`);
        return { ms: performance.now() - began, bytes: body.length };
      };
      try {
        const items = [
          [many / 100, await longItem(admin, many / 100)],
          [many, await longItem(admin, many)],
        ] as const;
        await admin.query('vacuum analyze');
        say('console: both items are there');
        const pages = Object.fromEntries(
          tabs.flatMap((tab) =>
            items.map(([turns, id]) => [`/work/ID${tab}, ${turns} turns`, `/work/${id}${tab.replace('LAST', String(turns))}`]),
          ),
        );
        const turns = await takeTurns(rounds, await warm(look, pages));
        const of = Object.fromEntries(tabs.map((tab) => [`/work/ID${tab}, ${many} turns`, `/work/ID${tab}, ${many / 100} turns`]));
        const lines: Line[] = [
          ...linesOf(
            pick(turns, ({ ms }) => ms),
            { unit: 'ms', of },
          ),
          ...linesOf(
            pick(turns, ({ bytes }) => bytes),
            { unit: 'bytes', of },
          ),
        ];
        if (missing === null) lines.push(...(await painted(running.address, items, rounds)));
        else say(`console: nothing is painted: ${missing}`);
        const front: [string, number[]][] = [
          ['/, 2 items under way', []],
          ['/, 100 items under way', []],
          [`/, ${many / 2} items under way`, []],
        ];
        for (const [n, [, times]] of front.entries()) {
          if (n === 1) for (let more = 2; more < 100; more++) await longItem(admin, 3);
          if (n === 2) await wideLedger(admin, many / 2 - 100);
          await admin.query('vacuum analyze');
          await look('/');
          for (let round = 0; round < rounds; round++) times.push((await look('/')).ms);
        }
        return [...lines, ...linesOf(new Map(front), { unit: 'ms', of: front[0]?.[0] ?? '' })];
      } finally {
        await running.close();
      }
    }),
};

/** What a browser needs for the run of an item: from the request to the first of its content on screen. */
async function painted(at: string, items: readonly (readonly [number, string])[], rounds: number): Promise<Line[]> {
  const browser = await launch();
  try {
    const page = await browser.newPage();
    const paint = async (path: string): Promise<number> => {
      await page.goto('about:blank');
      await page.goto(new URL(path, at).href);
      return page.evaluate(async () => {
        const first = (): number | undefined => performance.getEntriesByName('first-contentful-paint')[0]?.startTime;
        while (first() === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
        return first() ?? NaN;
      });
    };
    const pages: [string, string][] = [
      ['/keys, painted', '/keys'],
      ...items.map(([turns, id]): [string, string] => [`/work/ID, ${turns} turns, painted`, `/work/${id}`]),
    ];
    for (const [, path] of pages) await paint(path);
    const turns = await takeTurns(rounds, Object.fromEntries(pages.map(([name, path]) => [name, () => paint(path)])));
    return linesOf(turns, { unit: 'ms', of: '/keys, painted' });
  } finally {
    await browser.close();
  }
}

/** Each once before: connections, catalogs. */
async function warm(
  look: (path: string) => Promise<Look>,
  pages: Readonly<Record<string, string>>,
): Promise<Record<string, () => Promise<Look>>> {
  for (const path of Object.values(pages)) await look(path);
  return Object.fromEntries(Object.entries(pages).map(([name, path]) => [name, () => look(path)]));
}
