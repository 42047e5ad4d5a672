// Debian's Chromium, driven without a download. Where there is none, `missing` says so.

import { existsSync } from 'node:fs';

import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import type { TestDatabase } from '../database.ts';
import { startCrew } from './crew.ts';
import type { Crew } from './crew.ts';

const found = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => path !== undefined && existsSync(path));

/** Why a browser cannot be driven here; null: it can. */
export const missing = found === undefined ? 'there is no Chromium: apt-get install chromium, or CHROMIUM=PATH' : null;

export function launch(): Promise<Browser> {
  if (found === undefined) throw new Error(missing ?? '');
  return chromium.launch({ executablePath: found, args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--font-render-hinting=none'] });
}

export type Looking = {
  crew: Crew;
  /** Replaced by a test that takes the server away. */
  running: Console;
  browser: Browser;
  context: BrowserContext;
  page: Page;
  /** What went wrong in the page: errors of scripts, and what the content policy refused. */
  faults: string[];
  /** Goes to a page of the console and waits until it is live. */
  go(path: string): Promise<void>;
  stateOf(id: string): Promise<string | undefined>;
  close(): Promise<void>;
};

/** The crew at work, a console beside it, and a page of a browser that may change things. */
export async function look(database: TestDatabase): Promise<Looking> {
  const crew = await startCrew(database.url);
  const browser = await launch();
  const context = await browser.newContext();
  context.setDefaultTimeout(300_000);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) faults.push(message.text());
  });
  const looking: Looking = {
    crew, browser, context, page, faults,
    running: await startConsole({ url: database.url, schema: 'ledger', port: 0 }),
    async go(path) {
      await page.goto(new URL(path, looking.running.address).href);
      await page.locator('#connection .good').waitFor();
    },
    stateOf: async (id) => (await crew.db.workItem(id))?.state,
    async close() {
      await browser.close();
      await looking.running.close();
      await crew.close();
    },
  };
  await page.goto(`${looking.running.address}?token=${looking.running.token}`);
  return looking;
}
