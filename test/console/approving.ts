// Approvals in a browser: a ledger whose calls are played, a console beside it, and pages whose clock stands still, so that a test says
// how far it goes.

import pg from 'pg';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { playedDatabase } from '../playedDatabase.ts';
import type { Played } from '../playedDatabase.ts';
import { until } from '../workerProcess.ts';
import { launch, missing } from './browser.ts';

let played: Played;
let running: Console;
let browser: Browser;
export const database = (): Played => played;
/** What went wrong in the pages: errors of scripts, and what the content policy refused. */
export const faults: string[] = [];

/** All of it, for the tests of a file. */
export function approving(): void {
  if (missing !== null) process.stderr.write(`Tests in a browser are skipped: ${missing}\n`);
  beforeAll(async () => {
    if (missing !== null) return;
    played = await playedDatabase();
    running = await startConsole({ url: played.url, schema: 'ledger', port: 0 });
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await running?.close();
    await played?.drop();
  });
  /** Whatever a test left undecided. */
  afterEach(() => played?.query('select tool_call_reject(tool_call_id) from v_approvals'));
}

const engage = '{"tools": ["deploy_moderate", "deploy_dangerous"], "require_approval": "moderate", "approval_timeout": 500000000}';

/** A call that waits for approval; its id. */
export function asked(input: unknown, risk: 'dangerous' | 'moderate' = 'moderate'): Promise<string> {
  const says = pg.escapeLiteral(JSON.stringify([[{ type: 'tool_use', id: 'asks', name: `deploy_${risk}`, input }]]));
  return played.play(
    `select tool('deploy_${risk}', 'unsafe', '${risk}'); select agent('${engage}'); select submit('Bring it out'); select play(${says}); select call('asks')::text`,
  );
}

export async function decisionOn(id: string): Promise<string | null> {
  return (
    (await played.query<{ decision: string | null }>(`select decision from approvals where tool_call_id = '${id}'`))[0]?.decision ?? null
  );
}

/** Other arguments for a call that waits, and their hash. */
export const change = (id: string, input: unknown): Promise<unknown> =>
  played.query(`
  alter table tool_calls disable trigger user;
  update tool_calls set rewritten_input = ${pg.escapeLiteral(JSON.stringify(input))} where id = '${id}';
  alter table tool_calls enable trigger user;
  alter table approvals disable trigger user;
  update approvals a set input_hash = _content_hash(_call_input(k)::text) from tool_calls k where k.id = a.tool_call_id and k.id = '${id}';
  alter table approvals enable trigger user`);

export type Open = {
  page: Page;
  ask(id: string): Locator;
  approve(id: string): Locator;
  /** Lets the clock of the page go on. */
  pass(ms: number): Promise<void>;
  state(id: string): Promise<string | null>;
  says(id: string): Promise<string | null>;
  go(path: string): Promise<void>;
  close(): Promise<void>;
};
export type Opening = BrowserContextOptions & { isFresh?: boolean; hasClock?: boolean };

/** A page whose clock stands; its panels have stood still for a second unless `isFresh`. Without `hasClock` time passes by itself. */
export async function open(path: string, options: Opening = {}): Promise<Open> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) faults.push(message.text());
  });
  const hasScript = options.javaScriptEnabled !== false;
  const hasClock = hasScript && options.hasClock !== false;
  await page.goto(`${running.address}?token=${running.token}`);
  if (hasClock) {
    await page.clock.install({ time: '2027-01-01T00:00:00Z' });
    await page.clock.pauseAt('2027-01-01T01:00:00Z');
  }
  const ask = (id: string): Locator => page.locator(`.ask[data-key="${id}"]`);
  const at: Open = {
    page,
    ask,
    approve: (id) => ask(id).locator('.btn[value="approve"]'),
    pass: (ms) => page.clock.runFor(ms),
    state: (id) => ask(id).getAttribute('data-state'),
    says: (id) => ask(id).locator('[data-says]').textContent(),
    async go(to) {
      await page.goto(new URL(to, running.address).href);
      if (hasScript) await page.locator('#connection .good').waitFor();
    },
    close: () => context.close(),
  };
  await at.go(path);
  if (hasClock && !options.isFresh) await at.pass(1100);
  return at;
}

/** Until a button can be pressed. */
export async function ready(button: Locator): Promise<void> {
  await until(() => button.isEnabled());
}
