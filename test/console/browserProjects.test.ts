// One project of several, and claims, in a real browser: with and without JavaScript, by keys, live, narrow and dark.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { afterAll, describe, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { playedDatabase } from '../playedDatabase.ts';
import { launch, missing } from './browser.ts';

const names = ['github.com/acme/shop', 'github.com/acme/bank', `/srv/${'deep/'.repeat(60)}end`, `"><b>it's</b> лавка`];

describe.skipIf(missing !== null)('in a browser', async () => {
  if (missing !== null) return;
  const database = await playedDatabase();
  afterAll(() => database.drop());
  const holder = await database.play(`
    select agent('{"tools": ["look"]}'), take((work_submit('analyze', 'Moves the server of the shop', p_project => 'github.com/acme/shop')).id);
    select drive(); update foci set lease_expires_at = now() + interval '1 hour'; select item()`);
  const held = `p_lease => (select lease from held where item = '${holder}')`;
  const take = (key: string): Promise<unknown> =>
    database.query(`select claim_take('${holder}', '${key}', p_why => 'It moves tonight', ${held})`);
  for (const name of names)
    for (const n of Array.from({ length: name === 'github.com/acme/shop' ? 120 : 2 }, (_, i) => i + 1))
      await database.query(
        `select count(*) from work_submit('analyze', 'Task ${n} of project ${names.indexOf(name)}', p_project => '${name.replaceAll("'", "''")}')`,
      );
  await database.query(`select count(*) from work_submit('analyze', 'A task of no project')`);
  const running: Console = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
  afterAll(() => running.close());
  const browser = await launch();
  afterAll(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${running.address}?token=${running.token}`);
  const at = (path: string): string => new URL(path, running.address).href;
  const project = (): string | null => new URL(page.url()).searchParams.get('project');
  const live = (): Promise<unknown> => page.locator('#connection .good').waitFor();

  test('a project is chosen, and stays through links, keys, filters, older pages and what is written meanwhile', async () => {
    await page.goto(at('/work'));
    await page.locator('.projects > summary').click();
    await page
      .locator('.projects')
      .getByRole('link', { name: names[0] ?? '' })
      .click();
    expect(project()).toBe(names[0]);
    await live();
    await page.locator('[data-more]').scrollIntoViewIfNeeded();
    await page.locator('li.work', { hasText: 'Task 1 of project 0' }).waitFor();
    expect(await page.locator('li.work', { hasText: /of project [123]/ }).count()).toBe(0);
    await page.getByLabel('Work type').fill('analyze');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/type=analyze/);
    expect(project()).toBe(names[0]);
    for (const [keys, path] of [
      ['gn', '/'],
      ['gs', '/sessions'],
      ['gk', '/knowledge'],
      ['?', '/keys'],
      ['gw', '/work'],
    ] as const) {
      await live();
      for (const key of keys) await page.keyboard.press(key);
      await page.waitForURL((url) => url.pathname === path);
      expect([path, project()]).toEqual([path, names[0]]);
    }
    await live();
    await database.query(`select count(*) from work_submit('analyze', 'New in the bank', p_project => '${names[1]}')`);
    await database.query(`select count(*) from work_submit('analyze', 'New in the shop', p_project => '${names[0]}')`);
    await page.locator('li.work', { hasText: 'New in the shop' }).waitFor();
    expect(await page.locator('li.work', { hasText: 'New in the bank' }).count()).toBe(0);
    await page.getByRole('link', { name: 'New in the shop' }).click();
    await page.waitForURL(/\/work\/[0-9a-f-]{36}\?project=/);
    await page.locator('.side').getByRole('link', { name: 'Work', exact: false }).nth(1).click();
    await page.waitForURL((url) => url.pathname === '/work');
    expect(project()).toBe(names[0]);
    await page.locator('.projects > summary').click();
    await page.locator('.projects').getByRole('link', { name: 'in no project' }).click();
    await page.waitForURL(/project=$/);
    expect(await page.locator('li.work:not(.colhead)').allTextContents()).toEqual([expect.stringContaining('A task of no project')]);
  });

  test('without JavaScript as well, whatever a project is called', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const still = await plain.newPage();
    for (const [i, name] of names.entries()) {
      await still.goto(at('/work'));
      await still.locator('.projects > summary').click();
      await still
        .locator('.projects a', { has: still.locator(`[title]`) })
        .nth([...names].toSorted().indexOf(name))
        .click();
      expect(new URL(still.url()).searchParams.get('project')).toBe(name);
      expect(await still.locator('li.work', { hasText: `of project ${i}` }).count()).toBeGreaterThan(0);
      expect(await still.locator('li.work', { hasText: new RegExp(`of project [^${i}]`) }).count()).toBe(0);
      await still.getByRole('button', { name: 'Filter' }).click();
      expect(new URL(still.url()).searchParams.get('project')).toBe(name);
      expect(await still.locator('.projects [aria-current]').count()).toBe(await still.locator('.projects').count());
    }
    await plain.close();
  });

  test('a claim comes into the open page, is taken away there, and is gone', async () => {
    await page.goto(at(`/work/${holder}?project=${encodeURIComponent(names[0] ?? '')}`));
    await live();
    expect(await page.getByText('what it holds for itself').count()).toBe(0);
    await take('the staging server');
    await take('file:src/money.js');
    const row = page.locator('[data-part="claims"] li', { hasText: 'the staging server' });
    await row.waitFor();
    await row.locator('summary').click();
    await row.getByLabel('Reason').fill('It is urgent');
    await row.getByRole('button', { name: 'Take it away' }).click();
    await row.waitFor({ state: 'detached' });
    expect(project()).toBe(names[0]);
    expect(await database.query('select key from claims')).toEqual([{ key: 'file:src/money.js' }]);
    await page.locator('.talk', { hasText: 'was broken by a person: It is urgent' }).waitFor();
    const other = page.locator('[data-part="claims"] li', { hasText: 'money.js' });
    await other.locator('summary').click();
    await database.query(`select claim_release('${holder}', 'file:src/money.js', (select lease from held where item = '${holder}'))`);
    await other.getByRole('button', { name: 'Take it away' }).click();
    await page.getByText('it no longer holds that claim').or(other).first().waitFor();
    await take('the staging server');
  });

  test('axe finds nothing, nothing is wider than the page, and all is there to see, dark and light, wide and narrow', async () => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const found: unknown[] = [];
    for (const width of [1280, 400])
      for (const colorScheme of ['light', 'dark'] as const) {
        const look = await browser.newContext({
          viewport: { width, height: 900 },
          colorScheme,
          bypassCSP: true,
          storageState: await context.storageState(),
        });
        const one = await look.newPage();
        for (const path of [
          '/',
          '/work',
          `/work?project=${encodeURIComponent(names[2] ?? '')}`,
          '/sessions?project=',
          '/knowledge',
          '/work?project=nowhere',
          `/work/${holder}`,
        ]) {
          await one.goto(at(path));
          for (const opened of ['.projects > summary', '[data-action="release"] > summary'])
            if ((await one.locator(opened).count()) > 0) await one.locator(opened).first().click();
          await one.evaluate(axe);
          const { violations } = await one.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
          found.push(...violations.map(({ id, nodes }) => [path, width, colorScheme, id, nodes[0]?.html]));
          expect([path, width, await one.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')]).toEqual([
            path,
            width,
            true,
          ]);
          const shots = process.env['SHOTS'];
          if (shots !== undefined)
            await one.screenshot({
              path: `${shots}/${path.replaceAll(/\W+/g, '_').slice(0, 40)}-${width}-${colorScheme}.png`,
              fullPage: true,
            });
        }
        await look.close();
      }
    expect(found).toEqual([]);
  });
});
