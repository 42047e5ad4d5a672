// Pages that stay open in a real browser: what comes while somebody looks, a server that was away, a long journal by keyboard, hostile
// words.

import { describe, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import { startProxy } from '../faults/proxy.ts';
import { until } from '../workerProcess.ts';
import { missing } from './browser.ts';
import { look } from './look.ts';

const looking = await look();
const { context, crew, database, faults, go, page } = looking;

describe.skipIf(missing !== null)('in a browser', () => {
  test('a thousand entries are walked by keyboard, and at most 300 rows are in the page', async () => {
    const item = await crew.db.workSubmit({ workType: 'untaken', description: 'A long one' });
    await database.query(`select count(ledger.ledger_append('${item.id}', 'note', 'note ' || n)) from generate_series(1, 1000) n`);
    const rows = (): Promise<number> => page.locator('[data-list] > li').count();
    await go(`/work/${item.id}/journal`);
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
    const item = await crew.db.workSubmit({
      workType: 'untaken',
      description: '<script>document.title = "owned"</script><img src=x onerror="document.title=1">\u202E',
    });
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

  test('a console that falls silent, as when its database or the network hangs, is not said to be live', async () => {
    const proxy = await startProxy({ host: '127.0.0.1', port: looking.running.port });
    try {
      const apart = await looking.browser.newContext();
      const other = await apart.newPage();
      const address = `http://127.0.0.1:${proxy.port}/`;
      await other.goto(address);
      await other.locator('#connection .good').waitFor();
      proxy.silence();
      await other.locator('#connection', { hasText: /not live since \d\d:\d\d, trying again/ }).waitFor();
      proxy.cutAll();
      await other.locator('#connection .good').waitFor();
      await apart.close();
    } finally {
      await proxy.close();
    }
  });

  test('words that come before their row is in the page are in the row when it comes', async () => {
    await go('/');
    const events = await context.newCDPSession(page);
    await events.send('Network.enable');
    const heard = new Set<string>();
    events.on('Network.eventSourceMessageReceived', ({ eventName, data }) => {
      if (eventName === 'words') heard.add((JSON.parse(data) as { item: string }).item);
    });
    const { promise: isHeard, resolve: goOn } = Promise.withResolvers<void>();
    await page.route('**/part/**', async (route) => {
      await isHeard;
      await route.continue();
    });
    const { id } = await crew.db.workSubmit({ workType: 'analyze', description: 'Tell what is known of the lock.' });
    await until(() => heard.has(id));
    expect(await page.locator(`[data-key="${id}"]`).count()).toBe(0);
    goOn();
    await page.locator(`[data-words="${id}"]`, { hasText: 'The lock is held' }).waitFor();
    await page.unroute('**/part/**');
    await events.detach();
    await crew.db.workCancel(id, null);
  });

  test('a part that could not be fetched is fetched again, though nothing else changes', async () => {
    await go(`/work/${crew.ids.done}/ledger`);
    let failures = 0;
    await page.route('**/part/**', async (route) => {
      failures++;
      await (failures === 1 ? route.abort() : route.continue());
    });
    await database.query(`select ledger.ledger_retract('${crew.ids.done}', 1, 'Measured again')`);
    await page.getByText('taken back: Measured again').waitFor();
    expect(failures).toBeGreaterThan(1);
    await page.unroute('**/part/**');
  });

  test('a row under the pointer stays as it is while others go, and catches up when the pointer leaves', async () => {
    const [first, second] = [
      await crew.db.workSubmit({ workType: 'untaken', description: 'Goes first' }),
      await crew.db.workSubmit({ workType: 'untaken', description: 'Is pointed at' }),
    ];
    for (const { id } of [first, second]) await crew.db.workPause(id, 'for now');
    await go('/sessions');
    const list = page.locator('[data-part="resumable"]');
    const row = list.locator(`[data-key="${second.id}"]`);
    const version = await list.getAttribute('data-version');
    await row.hover();
    await crew.db.workPause(second.id, 'for longer');
    await crew.db.workCancel(first.id, null);
    await list.locator(`[data-key="${first.id}"]`).waitFor({ state: 'detached' });
    expect(await list.getAttribute('data-version')).not.toBe(version);
    expect(await row.innerText()).toContain('for now');
    await page.mouse.move(0, 0);
    await row.getByText('for longer').waitFor();
    await row.hover();
    await crew.db.workCancel(second.id, null);
    await row.waitFor({ state: 'detached' });
    await page.mouse.move(0, 0);
  });

  test('nothing went wrong in the page meanwhile', () => {
    expect(faults).toEqual([]);
  });
});
