// Every page of the console in a real browser: axe finds nothing, in both modes, also at 400 px; and all of it reads, and takes
// what people send, without JavaScript.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { beforeAll, describe, expect, test } from 'vitest';

import { until } from '../workerProcess.ts';
import { missing } from './browser.ts';
import { leadIsForked } from './crew.ts';
import { look } from './look.ts';

const looking = await look();
const { browser, crew, database, stateOf } = looking;

describe.skipIf(missing !== null)('in a browser', () => {
  /** Every page, and what it is there to say. */
  let pages: [path: string, says: string | RegExp][];

  beforeAll(async () => {
    const { root, paused, review, note } = crew.ids;
    const [point] = await crew.db.console.forkPoints(root, 1);
    leadIsForked();
    const fork = await crew.db.console.fork(point?.turn_id ?? '', 'Try an index on the expression', null);
    await until(async () => (await stateOf(fork.id)) === 'completed');
    const [branch] = await crew.db.console.forks(root);
    const [call] = await database.query<{ id: string; turn_id: string }>(
      `select id, turn_id from tool_calls where work_item_id = '${root}' and tool_name = 'read_file' limit 1`,
    );
    pages = [
      ['/', 'vacuum (full, analyze) orders'],
      ['/work', 'Move the session table to the new key'],
      ['/work?state=failed', 'The test "retries are spread" fails'],
      [`/work/${root}`, 'Compare with a half-open range instead of a cast'],
      [`/work/${crew.ids.failed}`, 'messages.4: the image is larger than 5 MB'],
      [`/work/${root}?q=half-open`, 'Compare with a half-open range instead of a cast'],
      [`/work/${root}/journal`, 'Compare with a half-open range instead of a cast'],
      [`/work/${root}/journal?type=decision`, 'Compare with a half-open range instead of a cast'],
      [`/work/${root}/ledger`, 'Nights with a clock change have 276 or 300 chunks'],
      [`/work/${root}/turns`, 'I begin with the import itself.'],
      [`/work/${root}/context`, /Request \d+, part by part/],
      [`/work/${root}/context?policy=clear`, 'beyond 60k, the newest 3 kept'],
      [`/work/${root}/waterfall`, 'execute_tool await_child_work'],
      [`/work/${root}/cost`, 'claude-sonnet-5-5'],
      [`/work/${root}/block/1`, 'what recall_block() gives the agent'],
      [`/call/${call?.id}`, 'src/import.js'],
      [`/because/${call?.turn_id}?call=${call?.id}`, 'What led to this call'],
      [`/sessions?packet=${paused}`, 'Why do two stores send their counts twice?'],
      [`/sessions/compare?a=${encodeURIComponent(branch?.own_session ?? '')}&b=${encodeURIComponent(branch?.session ?? '')}`, '9 % slower'],
      ['/fleet', 'Requests that failed'],
      ['/fleet?days=1&by=faculty', 'Queue and slots'],
      ['/knowledge', 'Sixteen writers are slower than four'],
      ['/knowledge?q=import', 'The import holds a row lock'],
      [`/knowledge?as=${review}`, 'Findings'],
      ['/notes', '/memories/import.md'],
      [`/note/${note}`, 'Nights with a clock change have 276'],
      [`/note/${note}?version=1`, 'Measure on the copy'],
      [`/notes/edit?note=${note}`, 'replaces version'],
      ['/notes/edit', 'at most 64 KB'],
      ['/keys', 'fork from the selected turn'],
      ['/nowhere', 'There is nothing here'],
    ];
  });
  const at = (path: string): string => new URL(path, looking.running.address).href;

  test('axe finds nothing on any page, dark and light, wide and at 400 px', async () => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const found: unknown[] = [];
    for (const width of [1280, 400]) {
      const context = await browser.newContext({
        viewport: { width, height: 860 },
        bypassCSP: true,
        reducedMotion: 'reduce',
        storageState: await looking.context.storageState(),
      });
      const page = await context.newPage();
      for (const [path] of pages) {
        await page.goto(at(path));
        await page.locator('#connection .good').waitFor();
        await page.locator('[data-later]').waitFor({ state: 'detached' });
        await page.evaluate(axe);
        for (const mode of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme: mode });
          expect(await page.evaluate<boolean>(`matchMedia('(prefers-color-scheme: ${mode})').matches`)).toBe(true);
          const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
          for (const { id, nodes } of violations)
            found.push({ path, width, mode, id, nodes: nodes.slice(0, 3).map((node) => node.html.slice(0, 200)) });
        }
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        if (overflow > 0) found.push({ path, width, overflow });
      }
      await context.close();
    }
    expect(found).toEqual([]);
  });

  test('a word without end, and a name of a project, make no page wider', async () => {
    const { id } = await crew.db.workSubmit({ workType: 'untaken', description: 'x'.repeat(3000), project: 'p'.repeat(400) });
    await crew.db.workMessage(id, 'm'.repeat(3000), false);
    const found: unknown[] = [];
    for (const width of [1400, 400]) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, storageState: await looking.context.storageState() });
      const page = await context.newPage();
      for (const path of ['/', '/work', '/fleet?by=project', `/work/${id}`, `/work/${id}/journal`]) {
        await page.goto(at(path));
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        if (overflow > 0) found.push({ path, width, overflow });
      }
      await context.close();
    }
    expect(found).toEqual([]);
  });

  describe('without JavaScript', () => {
    test('every page reads: what it is there to say can be seen, and no control needs a script', async () => {
      const context = await browser.newContext({ javaScriptEnabled: false, storageState: await looking.context.storageState() });
      const page = await context.newPage();
      for (const [path, says] of pages) {
        await page.goto(at(path));
        expect([path, (await page.getByText(says).locator('visible=true').count()) > 0]).toEqual([path, true]);
        expect([path, await page.locator('h1').count(), await page.locator('.failed-part').count()]).toEqual([path, 1, 0]);
        expect([path, await page.locator('button[type="button"]').locator('visible=true').count()]).toEqual([path, 0]);
      }
      await context.close();
    });

    test('what comes later where there is a script is a link, and a choice has a button beside it', async () => {
      const { root, paused, review } = crew.ids;
      const context = await browser.newContext({ javaScriptEnabled: false, storageState: await looking.context.storageState() });
      const page = await context.newPage();
      await page.goto(at(`/work/${root}/context`));
      await page.getByRole('link', { name: 'replay it under other policies' }).click();
      await page.getByText('beyond 60k, the newest 3 kept').waitFor();
      await page.goto(at(`/work/${root}/journal`));
      await page.getByLabel('Search this journal').fill('half-open');
      await page.getByLabel('Search this journal').press('Enter');
      await page.waitForURL((url) => url.searchParams.get('q') === 'half-open');
      await page.locator('[data-entries] > li', { hasText: 'half-open range' }).first().waitFor();
      await page.goto(at('/knowledge'));
      await page.getByLabel('Seen by').selectOption(review);
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      await page.waitForURL((url) => url.searchParams.get('as') === review);
      await page.getByLabel('Of which faculty').selectOption('analyst');
      await page.getByRole('button', { name: 'Filter' }).click();
      await page.waitForURL((url) => url.searchParams.get('faculty') === 'analyst');
      await page.locator('.hit', { hasText: 'Sixteen writers are slower than four' }).first().waitFor();
      expect(await page.locator('.hit', { hasText: 'The index on orders(created_at) is never used' }).count()).toBe(0);
      await page.goto(at(`/sessions?packet=${paused}`));
      await page.getByLabel('Tokens at most').selectOption('1000');
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      await page.getByText(/of 1,000 tokens/).waitFor();
      await context.close();
    });

    test('what people send is taken: words, a refusal with its reason, a recorded session', async () => {
      const { untaken, operate } = crew.ids;
      const context = await browser.newContext({ javaScriptEnabled: false, storageState: await looking.context.storageState() });
      const page = await context.newPage();
      await page.goto(at(`/work/${untaken}`));
      await page.getByText('Say something').click();
      await page.locator('[data-action="message"] textarea').fill('Said without a script');
      await page.getByRole('button', { name: 'Say it' }).click();
      await page.locator('.turn.person', { hasText: 'Said without a script' }).waitFor();
      expect(await database.query(`select content from inbox where work_item_id = '${untaken}'`)).toEqual([
        { content: 'Said without a script' },
      ]);
      await page.goto(at('/'));
      await page.getByLabel('Reason').fill('Not before six');
      await page.getByLabel('Reason').press('Enter');
      await until(async () => (await stateOf(operate)) === 'completed');
      expect(await database.query(`select decision, reason from approvals where work_item_id = '${operate}'`)).toEqual([
        { decision: 'rejected', reason: 'Not before six' },
      ]);
      await page.goto(at('/sessions'));
      await page.locator('input[type=file]').setInputFiles(fileURLToPath(new URL('../fixtures/claudeCode.jsonl', import.meta.url)));
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      await page.waitForURL(/\/context/);
      expect(await database.query(`select params ->> 'file' as file from work_items where work_type = 'import'`)).toEqual([
        { file: 'claudeCode.jsonl' },
      ]);
      await context.close();
    });
  });
});
