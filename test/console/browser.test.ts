// The console in a real browser, against a real worker: what people do with an item, live words and parts, a server that was away, a long
// journal by keyboard. browserActions has the other actions, browserKeys the keys, browserReading all pages with axe and without JavaScript.

import pg from 'pg';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { longItem } from '../longItem.ts';
import { until } from '../workerProcess.ts';
import { look, missing } from './browser.ts';
import type { Looking } from './browser.ts';
import { leadIsForked } from './crew.ts';
import type { Crew } from './crew.ts';

if (missing !== null) process.stderr.write(`test/console/browser.test.ts is skipped: ${missing}\n`);

describe.skipIf(missing !== null)('in a browser', () => {
  let database: TestDatabase;
  let looking: Looking;
  let crew: Crew;
  let page: Page;

  beforeAll(async () => {
    database = await createDatabase();
    looking = await look(database);
    ({ crew, page } = looking);
  });
  afterAll(async () => {
    await looking?.close();
    await database?.drop();
  });

  const go = (path: string): Promise<void> => looking.go(path);
  const stateOf = (id: string): Promise<string | undefined> => looking.stateOf(id);

  test('words of two agents stream into the page, and an approval given by key ends the wait', async () => {
    await go('/');
    await page.locator('.stream', { hasText: 'The rounding of the tax line' }).waitFor();
    await page.locator('.ask').focus();
    await page.keyboard.press('x');
    expect(await page.evaluate<string>('document.activeElement.name')).toBe('reason');
    await page.keyboard.press('Escape');
    await page.locator('.ask').focus();
    await page.keyboard.press('a');
    await page.locator('.ask').waitFor({ state: 'detached' });
    await until(async () => (await stateOf(crew.ids.operate)) === 'completed');
    await page.locator(`[data-key="${crew.ids.operate}"].is-approval`).waitFor({ state: 'detached' });
  });

  test('every action of an item, with what the ledger says when it refuses', async () => {
    const { root } = crew.ids;
    await go(`/work/${root}`);
    await page.keyboard.press('m');
    await page.keyboard.type('Look at the index first');
    await page.getByRole('button', { name: 'Say it' }).click();
    await page.getByText('“Look at the index first”').waitFor();
    await page.getByRole('button', { name: 'Checkpoint' }).click();
    await page.getByText('More', { exact: true }).click();
    await page.getByText('Feedback…').click();
    await page.getByLabel('Feedback', { exact: true }).fill('Well measured');
    await page.getByRole('button', { name: 'Note it' }).click();
    await page.locator('[data-entries]', { hasText: 'Well measured' }).waitFor();
    await page.getByText('More', { exact: true }).click();
    await page.getByText('Compact…').click();
    await page.getByRole('button', { name: 'Compact', exact: true }).click();
    await until(async () => (await database.query(`select 1 from ledger.foci where work_item_id = '${root}' and compaction_trigger = 'manual'`)).length === 1);
    await page.getByText('More', { exact: true }).click();
    await page.getByText('Complete…').click();
    await page.getByLabel('Summary').fill('By hand');
    await page.getByRole('button', { name: 'Complete', exact: true }).click();
    await page.locator('.refused', { hasText: 'WL005' }).waitFor();
  });

  test('an entry is deleted, a turn is forked, and a fork is compared', async () => {
    const { root, paused } = crew.ids;
    await go(`/work/${root}?type=user_feedback`);
    const row = page.locator('.fold', { hasText: 'Well measured' });
    await row.locator('summary').first().click();
    await row.getByText('Delete…').click();
    await row.getByRole('button', { name: 'Delete the content' }).click();
    await page.locator('.fold', { hasText: 'Well measured' }).waitFor({ state: 'detached' });
    await go(`/sessions?packet=${root}`);
    leadIsForked();
    await page.locator('[data-part="points"] .act > summary').first().click();
    await page.locator('[data-part="points"] input[name="message"]').first().fill('Try an index on the expression');
    await page.locator('[data-part="points"] .act[open] button').click();
    await page.waitForURL(/\/work\//);
    const fork = page.url().split('/').at(-1) ?? '';
    await until(async () => (await stateOf(fork)) === 'completed');
    await go(`/sessions?packet=${root}`);
    await page.getByRole('link', { name: 'compare', exact: true }).first().click();
    await page.getByText('Two ways from turn').waitFor();
    await go(`/sessions?packet=${paused}`);
    await page.getByText('In another conversation…').click();
    await page.getByLabel('Conversation', { exact: true }).fill('my other shell');
    await page.getByRole('button', { name: 'Resume there' }).click();
    await page.waitForURL(/\/work\//);
  });

  test('a paused item is resumed, paused again and cancelled; the line says what cancelling does', async () => {
    const { paused } = crew.ids;
    await go(`/work/${paused}`);
    await page.keyboard.press('p');
    await page.keyboard.press('Enter');
    await until(async () => (await stateOf(paused)) !== 'paused');
    await page.getByRole('button', { name: 'Resume' }).waitFor({ state: 'detached' });
    await page.keyboard.press('p');
    await page.keyboard.type('once more');
    await page.keyboard.press('Enter');
    await until(async () => (await stateOf(paused)) === 'paused');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByText('More', { exact: true }).click();
    await page.getByText('Cancel…').click();
    await page.getByText('Cancels this work item. That is final.').waitFor();
    await page.getByRole('button', { name: 'Cancel it' }).click();
    await until(async () => (await stateOf(paused)) === 'cancelled');
    await page.locator('.is-cancelled').first().waitFor();
  });

  test('an interruption is heard at once', async () => {
    const { root } = crew.ids;
    await go(`/work/${root}`);
    await page.getByText('Interrupt', { exact: true }).first().click();
    await page.locator('[data-action="interrupt"] textarea').fill('What do you have?');
    await page.locator('[data-action="interrupt"] button').click();
    await page.locator('[data-entries]', { hasText: 'What do you have?' }).waitFor();
  });

  test('a recorded session is imported by choosing its file', async () => {
    await go('/sessions');
    await page.locator('input[type=file]').setInputFiles(new URL('../fixtures/claudeCode.jsonl', import.meta.url).pathname);
    await page.waitForURL(/\/context/);
    await page.locator('svg.tl').first().waitFor();
  });

  test('the timeline is walked by key: the request below it follows', async () => {
    const { root } = crew.ids;
    await go(`/work/${root}/context?turn=1`);
    await page.locator('[data-timeline]').focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText('Request 2, part by part').waitFor();
    expect(await page.locator('[data-timeline]').getAttribute('aria-valuetext')).toMatch(/^call 2: [\d,]+ tokens/);
    await page.keyboard.press('c');
    await page.getByText('The cut before it').waitFor();
    await page.keyboard.press('Home');
    await page.getByText('Request 1, part by part').waitFor();
  });

  test('a thousand model calls are walked by keyboard, page by page', async () => {
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query('set search_path = ledger');
    const item = await longItem(client, 1000);
    await client.end();
    await go(`/work/${item}/context`);
    const picture = page.locator('[data-timeline]');
    const stands = async (): Promise<number> => Number(await picture.getAttribute('aria-valuenow'));
    expect(await page.locator('[data-columns] tbody tr').count()).toBe(160);
    await picture.focus();
    expect(await stands()).toBe(1000);
    for (let n = 999; n >= 1; n--) {
      await page.keyboard.press('ArrowLeft');
      await until(async () => (await stands()) === n); // beyond the first column another page comes
    }
    await page.getByText('Request 1, part by part').waitFor();
    await page.keyboard.press('0');
    await page.getByText('4 a column').waitFor();
    await page.keyboard.press('End');
    await page.getByText('Request 997, part by part').waitFor();
  });

  test('latency over days is plotted beside its table, and cost where there are figures of it', async () => {
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query('set search_path = ledger');
    const item = await longItem(client, 30);
    await client.query(`alter table turns disable trigger refuse_rewrite; update turns set started_at = started_at - interval '1 day' * (depth % 3), model = 'claude-sonnet-5-5', duration_ms = 1000 + depth, input_tokens = 10, output_tokens = 10, call_count = 1 where work_item_id = '${item}'; alter table turns enable always trigger refuse_rewrite`);
    await go(`/work/${item}/cost`);
    await page.locator('[data-plot="latency"] canvas').waitFor();
    expect(await page.locator('[data-plot="cost"]').isVisible()).toBe(false); // these turns have no price
    await client.query(`select from model_price_save('claude-opus-4-5', 5, 25)`);
    await client.end();
    await go(`/work/${item}/cost`);
    await page.locator('[data-plot="cost"] canvas').waitFor();
    expect(await page.locator('[data-plot="latency"] canvas').isVisible()).toBe(true);
    // Ten turns a day, each of ten tokens in and ten out.
    expect(await page.evaluate<number[]>(`[...document.querySelectorAll('[data-days] tbody tr')].map((row) => Number(row.dataset.cost))`)).toEqual([0.003, 0.003, 0.003]);
    // Something other than the grid is drawn, in the colour of the first model.
    const drawn = await page.evaluate<number>(`(() => {
      const canvas = document.querySelector('[data-plot="cost"] canvas');
      const probe = document.createElement('canvas').getContext('2d');
      probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--c-words').trim();
      probe.fillRect(0, 0, 1, 1);
      const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255) count++;
      return count;
    })()`);
    expect(drawn).toBeGreaterThan(100);
  });

  test('a thousand entries are walked by keyboard, and at most 300 rows are in the page', async () => {
    const item = await crew.db.workSubmit({ workType: 'untaken', description: 'A long one' });
    await database.query(`select count(ledger.ledger_append('${item.id}', 'note', 'note ' || n)) from generate_series(1, 1000) n`);
    const rows = (): Promise<number> => page.locator('[data-list] > li').count();
    await go(`/work/${item.id}`);
    const here = (): Promise<string> => page.evaluate<string>(`document.activeElement.closest('li')?.textContent ?? ''`);
    await until(async () => {
      for (let i = 0; i < 20; i++) await page.keyboard.press('j');
      return (await here()).includes('A long one');
    });
    expect(await rows()).toBeLessThan(320);
    await page.keyboard.press('Home');
    expect(await here()).toContain('note 1000');
  });

  test('what an agent wrote does not run, and its page says what it cannot show', async () => {
    const item = await crew.db.workSubmit({ workType: 'untaken', description: '<script>document.title = "owned"</script><img src=x onerror="document.title=1">\u202E' });
    await crew.db.ledgerAppend(item.id, 'finding', '<svg onload="document.title=2"><a href="javascript:document.title=3">x</a>');
    await go(`/work/${item.id}`);
    await page.locator('h1', { hasText: '⟨U+202E⟩' }).waitFor();
    await go('/knowledge');
    await page.locator('.hit', { hasText: '<svg onload' }).waitFor();
    expect(await page.title()).toBe('Knowledge · Work Ledger');
    expect(await page.locator('main img, main script, main [onload], main a[href^="javascript"]').count()).toBe(0);
  });

  test('a server that was away is said to be away, and everything is looked at again when it is back', async () => {
    await go('/knowledge?kind=note');
    const { port, token } = looking.running;
    await looking.running.close();
    await page.locator('#connection', { hasText: /not live since \d\d:\d\d, trying again/ }).waitFor();
    await crew.db.ledgerAppend(crew.ids.untaken, 'note', 'Written while nobody looked');
    looking.running = await startConsole({ url: database.url, schema: 'ledger', port });
    expect(looking.running.token).not.toBe(token);
    await page.locator('#connection .good').waitFor();
    await page.locator('.hit', { hasText: 'Written while nobody looked' }).waitFor();
  });

  test('nothing went wrong in the page meanwhile', () => {
    expect(looking.faults).toEqual([]);
  });
});
