// What tests in a browser begin with.

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { launch, missing } from './browser.ts';
import { startCrew } from './crew.ts';
import type { Crew } from './crew.ts';

export type Looking = {
  database: TestDatabase;
  crew: Crew;
  /** Replaced by a test that takes the server away. */
  running: Console;
  browser: Browser;
  context: BrowserContext;
  page: Page;
  /** What went wrong in the page: errors of scripts, and what the content policy refused. */
  faults: string[];
  /** Goes to a page of the console and waits until it is live. */
  go: (path: string) => Promise<void>;
  stateOf: (id: string) => Promise<string | undefined>;
};

/**
 * The crew at work in a database of its own, a console beside it, and a page of a browser that may change things; all of it until the
 * file's tests are over. Without a browser there is nothing, and the tests are to be skipped. `unchecked`: as of a database's drop().
 */
export async function look(options: { unchecked?: string } = {}): Promise<Looking> {
  if (missing !== null) {
    process.stderr.write(`Tests in a browser are skipped: ${missing}\n`);
    return {} as Looking;
  }
  const database = await createDatabase();
  afterAll(() => database.drop(options));
  const crew = await startCrew(database.url);
  afterAll(() => crew.close());
  const running = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
  afterAll(() => looking.running.close());
  const browser = await launch();
  afterAll(() => browser.close());
  const context = await browser.newContext();
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) faults.push(message.text());
  });
  const unanswered = new Set<string>();
  page.on('request', (request) => unanswered.add(request.url()));
  page.on('response', (response) => unanswered.delete(response.url()));
  const looking: Looking = {
    database,
    crew,
    running,
    browser,
    context,
    page,
    faults,
    go: async (path) => {
      await page.goto(new URL(path, looking.running.address).href);
      await page
        .locator('#connection .good')
        .waitFor()
        .catch(async (cause: unknown) => {
          const says = await page.evaluate<string>(`document.querySelector('#connection').outerHTML`);
          const answers = await Promise.all(
            [...unanswered].map(async (url) => {
              const to = await fetch(url, { signal: AbortSignal.timeout(10_000) }).then(({ status }) => status, String);
              return `${url} (asked from here: ${to})`;
            }),
          );
          throw new Error(`${path} is not live: ${says}; without an answer: ${answers.join(', ')}`, { cause });
        });
    },
    stateOf: async (id) => (await crew.db.workItem(id))?.state,
  };
  await page.goto(`${running.address}?token=${running.token}`);
  return looking;
}
