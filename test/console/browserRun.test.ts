// The run of an item in a real browser: from a red mark to the cause in a few steps, keys, deep links, live, in the browser's own zone.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { describe, expect, test } from 'vitest';

import { missing } from './browser.ts';
import { look } from './look.ts';

const looking = await look();
const { browser, crew, database, faults, go, page } = looking;

/** Where the focus is. */
const focused = (): Promise<string> => page.evaluate<string>(`document.activeElement.closest('[data-mark]')?.id ?? ''`);

describe.skipIf(missing !== null)('in a browser', () => {
  test('at three in the morning: from a red mark on Now to the failed request and its cause in three steps', async () => {
    await go('/');
    await page.locator('li.work.is-failed a', { hasText: 'The test "retries are spread" fails' }).click(); // 1
    await page.locator('.talk').waitFor();
    await page.locator('#connection .good').waitFor(); // keys act from then on
    await page.keyboard.press('e'); // 2: to the error
    expect(await focused()).toMatch(/^request\//);
    await page
      .locator('.rule.hard', { hasText: 'failed with 400: invalid_request' })
      .getByRole('link', { name: 'the request, part by part' })
      .click(); // 3
    await page.getByRole('heading', { name: /Request 2 failed/ }).waitFor();
    await page.getByText('messages.4: the image is larger than 5 MB').first().waitFor();
    await page.locator('.parts td', { hasText: 'The test "retries are spread" fails' }).first().waitFor();
  });

  test('keys go to the next error, decision, cut and person, and back; a chip does it without a script', async () => {
    await go(`/work/${crew.ids.root}`);
    for (const [key, of] of [
      ['s', /^entry\//],
      ['e', /^call\//],
      ['e', /^entry\//],
      ['E', /^call\//],
      ['c', /^cut\//],
      ['h', /^person\//],
    ] as const) {
      await page.keyboard.press(key);
      expect([key, await focused()]).toEqual([key, expect.stringMatching(of)]);
    }
    const context = await browser.newContext({ javaScriptEnabled: false, storageState: await looking.context.storageState() });
    const plain = await context.newPage();
    await plain.goto(new URL(`/work/${crew.ids.root}`, looking.running.address).href);
    await plain.getByText('times in UTC').first().waitFor();
    await plain.getByRole('link', { name: /next decision/ }).click();
    await plain.waitForURL(/#entry\//);
    await plain.getByText('Compare with a half-open range instead of a cast').first().waitFor();
    await context.close();
  });

  test('a link names a block, which is open there; what was said is copied', async () => {
    await looking.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await go(`/work/${crew.ids.root}`);
    const call = page.locator('details.call', { hasText: 'read_file' }).first();
    await call.locator('summary').click();
    const href = await call.getByRole('link', { name: 'link', exact: true }).getAttribute('href');
    await go(href ?? '');
    expect(await page.locator(`[id="${href?.split('#')[1]}"]`).evaluate<boolean, { open: boolean }>((one) => one.open)).toBe(true);
    const task = page.locator('.talk > li').first();
    await task.hover();
    await task.getByRole('button', { name: 'copy' }).click();
    await task.getByRole('button', { name: 'copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain('Find why the nightly import takes five hours');
  });

  test('what happens comes into the open run, and what is open in it stays open', async () => {
    const { root } = crew.ids;
    await go(`/work/${root}`);
    const call = page.locator('details.call', { hasText: 'read_file' }).first();
    await call.locator('summary').click();
    await crew.db.workMessage(root, 'Not the weekly one, please', false);
    await page.locator('.turn.person', { hasText: 'Not the weekly one, please' }).waitFor();
    await page.locator('.index a', { hasText: 'Not the weekly one' }).waitFor();
    expect(await call.evaluate<boolean, { open: boolean }>((one) => one.open)).toBe(true);
  });

  test('times are those of the browser, which says its zone; parts that come later, too', async () => {
    const context = await browser.newContext({ timezoneId: 'Asia/Kolkata', storageState: await looking.context.storageState() });
    const there = await context.newPage();
    await there.goto(new URL(`/work/${crew.ids.root}`, looking.running.address).href);
    await there.getByText('times in Asia/Calcutta').or(there.getByText('times in Asia/Kolkata')).first().waitFor();
    const wrong = `[...document.querySelectorAll('time[data-as="clock"]')].filter((time) => time.textContent !== new Date(time.dateTime).toTimeString().slice(0, 8)).length`;
    expect(await there.evaluate<number>(wrong)).toBe(0);
    await there.locator('#connection .good').waitFor();
    await crew.db.workMessage(crew.ids.root, 'Said in another zone', false);
    await there.locator('.turn.person', { hasText: 'Said in another zone' }).waitFor();
    expect(await there.evaluate<number>(wrong)).toBe(0);
    await context.close();
  });

  test('at midnight what was today gets its day, also on a page where nothing changes', async () => {
    const submitted = Date.parse((await crew.db.workItem(crew.ids.done))?.created_at ?? '');
    const midnight = new Date(submitted + 86_400_000).toISOString().slice(0, 10);
    const context = await browser.newContext({ timezoneId: 'UTC', storageState: await looking.context.storageState() });
    const there = await context.newPage();
    await there.clock.install({ time: Date.parse(midnight) - 90_000 });
    await there.goto(new URL(`/work/${crew.ids.done}`, looking.running.address).href);
    const time = there.locator('time[data-as="dated"]').first();
    expect(await time.textContent()).toMatch(/^\d\d:\d\d:\d\d$/);
    await there.clock.runFor(180_000);
    expect(await time.textContent()).toMatch(/^\d{1,2} \p{L}+ \d\d:\d\d:\d\d$/u);
    await context.close();
  });

  test('axe finds nothing where all is open, and nothing is wider than 390 px, light and dark', async () => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const [turn] = await database.query<{ id: string }>(`select id from turns where status = 'failed' limit 1`);
    const found: unknown[] = [];
    for (const width of [1280, 390]) {
      const context = await browser.newContext({
        viewport: { width, height: 860 },
        bypassCSP: true,
        reducedMotion: 'reduce',
        storageState: await looking.context.storageState(),
      });
      const one = await context.newPage();
      for (const path of [`/work/${crew.ids.root}`, `/work/${crew.ids.failed}`, `/work/${crew.ids.failed}/turns`, `/turn/${turn?.id}`]) {
        await one.goto(new URL(path, looking.running.address).href);
        await one.locator('#connection .good').waitFor();
        await one.evaluate(`document.querySelectorAll('.talk details.call, .said details').forEach((fold) => (fold.open = true))`);
        await one.evaluate(axe);
        for (const colorScheme of ['light', 'dark'] as const) {
          await one.emulateMedia({ colorScheme });
          const { violations } = await one.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
          found.push(...violations.map(({ id, nodes }) => [path, width, colorScheme, id, nodes[0]?.html.slice(0, 200)]));
        }
        const overflow = await one.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        if (overflow > 0) found.push({ path, width, overflow });
      }
      await context.close();
    }
    expect(found.map((one) => JSON.stringify(one))).toEqual([]);
  });

  test('nothing went wrong in the page meanwhile', () => {
    expect(faults).toEqual([]);
  });
});
