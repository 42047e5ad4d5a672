// When an answer of a person is taken, in a real browser: by which key, after which look, and until when it can be undone.

import { describe, expect, test } from 'vitest';

import { until } from '../workerProcess.ts';
import { approving, asked, change, database, decisionOn, faults, open, ready } from './approving.ts';
import { missing } from './browser.ts';

approving();

describe.skipIf(missing !== null)('in a browser', () => {
  describe('keys', () => {
    test('a key that is held down decides nothing, wherever the page is scrolled and whatever has the focus', async () => {
      const ids = [
        await asked({ target: 'staging' }),
        ...(await Promise.all([1, 2, 3].map((n) => asked({ target: `production ${n}` }, 'dangerous')))),
      ];
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
      await at.close();
    });

    test('without the focus on an approval, a key goes to it and does nothing else', async () => {
      const id = await asked({ target: 'staging' });
      const at = await open('/');
      await ready(at.approve(id));
      await at.page.keyboard.press('a');
      await at.pass(10_000);
      expect([await at.state(id), await at.page.evaluate<string>('document.activeElement.dataset.key'), await decisionOn(id)]).toEqual([
        null,
        id,
        null,
      ]);
      await at.page.keyboard.press('a');
      expect(await at.state(id)).toBe('counting');
      await at.close();
    });

    test('a key acts on an approval that is wholly on screen, and says so where it is not', async () => {
      const id = await asked({ target: 'staging' });
      const at = await open('/', { viewport: { width: 1440, height: 420 } });
      await ready(at.approve(id));
      await at.ask(id).focus();
      await at.page.evaluate(`scrollTo(0, document.querySelector('.ask').getBoundingClientRect().top + 5)`);
      await at.page.keyboard.press('a');
      expect([await at.state(id), await at.says(id)]).toEqual([null, 'A key takes effect when the whole of it is on screen.']);
      await at.page.evaluate('scrollTo(0, 0)');
      await at.page.keyboard.press('a');
      expect(await at.state(id)).toBe('counting');
      await at.close();
    });

    test('nothing is decided within a second of a change under it', async () => {
      const id = await asked({ target: 'staging' });
      const at = await open('/', { isFresh: true });
      await at.ask(id).focus();
      expect(await at.approve(id).isDisabled()).toBe(true);
      await at.page.keyboard.press('a');
      expect([await at.state(id), await at.says(id)]).toEqual([null, 'It changed or moved a moment ago: look again.']);
      await at.pass(1100);
      await ready(at.approve(id));
      await at.page.evaluate(
        `document.querySelector('main .head').style.paddingBottom = '10px'; document.querySelector('main .head').classList.add('grown')`,
      );
      await at.page.keyboard.press('a'); // it has moved by ten pixels
      expect([await at.state(id), await at.approve(id).isDisabled()]).toEqual([null, true]);
      await at.pass(900);
      await at.page.keyboard.press('a');
      expect(await at.state(id)).toBe(null);
      await at.pass(200);
      await at.page.keyboard.press('a');
      expect(await at.state(id)).toBe('counting');
      await at.close();
    });

    test('a dangerous call takes Enter after a, soon, and on the same approval', async () => {
      const id = await asked({ target: 'production' }, 'dangerous');
      const at = await open('/');
      await ready(at.approve(id));
      await at.ask(id).focus();
      await at.page.keyboard.press('Enter');
      expect(await at.state(id)).toBe(null);
      await at.page.keyboard.press('a');
      expect([await at.state(id), await at.says(id)]).toEqual(['armed', 'It is dangerous: Enter approves it, Esc leaves it.']);
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
      await at.close();
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
      expect([await at.state(id), await at.says(id)]).toEqual([null, 'Undone: nothing was sent.']);
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
      await at.close();
    });

    test('whoever leaves the page in them has decided nothing', async () => {
      const id = await asked({ target: 'staging' });
      const at = await open('/');
      await ready(at.approve(id));
      await at.approve(id).click();
      await at.page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
      );
      expect([await at.state(id), await at.says(id)]).toEqual([null, 'The page was left: nothing was sent.']);
      await at.pass(10_000);
      await at.page.evaluate(`Object.defineProperty(document, 'hidden', { value: false, configurable: true })`);
      await at.approve(id).click();
      await at.go('/work');
      await at.pass(10_000);
      expect(await decisionOn(id)).toBe(null);
      await at.close();
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
      await database().query(`select pg_notify('work_approval_requested', 'x')`);
      await asked({ target: 'another' }); // so that the list comes anew
      await at.ask(id).locator('.arg', { hasText: 'production' }).waitFor();
      expect([await at.state(id), await at.says(id)]).toEqual([null, 'It changed: nothing was sent.']);
      await direct.pass(5000); // this page did not see it: the hash of what stood there is refused
      await direct.ask(id).locator('.refused', { hasText: 'its arguments are not those that were reviewed (WL008)' }).waitFor();
      expect(await decisionOn(id)).toBe(null);
      for (const one of [at, direct]) await one.close();
    });
  });

  test.each(['/', '/call/'])('whoever answers a call that somebody else decides meanwhile is told so, at %s', async (path) => {
    const id = await asked({ target: 'staging' });
    const at = await open(path === '/' ? path : path + id);
    await ready(at.approve(id));
    await at.approve(id).click();
    await at.page.mouse.move(0, 0);
    await at.page.evaluate('document.activeElement.blur()'); // the reader looks elsewhere
    await at.pass(20);
    await database().query(`select tool_call_reject('${id}')`);
    const line = at.page.locator('[data-waits]').getByRole('button', { name: '1 gone; show' });
    await line.waitFor();
    expect(await at.state(id)).toBe('counting');
    await at.pass(5000);
    await at.ask(id).locator('.refused', { hasText: 'cannot be approved: it is already rejected (WL008)' }).waitFor();
    await at.page.mouse.move(5, 5);
    await at.pass(20);
    expect(await at.ask(id).count()).toBe(1);
    await line.click();
    await at.ask(id).waitFor({ state: 'detached' });
    await at.close();
  });

  test('no list moves under a pointer: what comes waits behind a line', async () => {
    const [first, second] = [await asked({ target: 'first' }), await asked({ target: 'second' })];
    const at = await open('/');
    await ready(at.approve(second));
    await at.ask(second).locator('.risk').hover();
    const before = await at.ask(second).boundingBox();
    await database().query(`select tool_call_reject('${first}')`); // by somebody else
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
    await at.close();
  });

  test('nothing went wrong in the page meanwhile', () => {
    expect(faults).toEqual([]);
  });
});
