// Every key that the page of keys names, pressed in a real browser.

import { userInfo } from 'node:os';

import { describe, expect, test } from 'vitest';

import { until } from '../workerProcess.ts';
import { missing } from './browser.ts';
import { leadIsForked } from './crew.ts';
import { look } from './look.ts';

const { crew, database, faults, go, page, stateOf } = await look();

describe.skipIf(missing !== null)('in a browser', () => {
  const pressed = new Set<string>();
  const named: Record<string, string> = { '↓': 'ArrowDown', '↑': 'ArrowUp', '←': 'ArrowLeft', '→': 'ArrowRight', Esc: 'Escape' };
  /** Presses what the page of keys calls so. */
  async function press(name: string): Promise<void> {
    pressed.add(name);
    for (const key of name.split(' ')) await page.keyboard.press(named[key] ?? key);
  }
  const focused = (of: string): Promise<string> => page.evaluate<string>(`String(document.activeElement.${of} ?? '')`);
  const arrivesAt = (path: string): Promise<void> => page.waitForURL((url) => url.pathname === path);

  test('g and a letter go to the pages of the sidebar, ? to the keys, / to the search', async () => {
    await go('/keys');
    for (const [name, path] of [
      ['g w', '/work'],
      ['g f', '/fleet'],
      ['g s', '/sessions'],
      ['g k', '/knowledge'],
      ['g m', '/notes'],
      ['g n', '/'],
    ] as const) {
      await press(name);
      await arrivesAt(path);
      await page.locator('#connection .good').waitFor();
    }
    await press('/'); // a page without a field to search in
    await arrivesAt('/knowledge');
    await page.locator('#connection .good').waitFor();
    await press('/');
    expect(await focused('name')).toBe('q');
    await page.keyboard.type('g w? d/');
    expect(await page.locator('input[name="q"]').inputValue()).toBe('g w? d/'); // in a field they are letters
    await press('Esc');
    await page.keyboard.press('g');
    await page.keyboard.press('z');
    await press('?');
    await arrivesAt('/keys');
  });

  test('d turns from dark to light to what the system has, and it stays so', async () => {
    await go('/work');
    const theme = (): Promise<string> => page.evaluate<string>(`document.documentElement.dataset.theme ?? 'as the system'`);
    const ground = (): Promise<string> => page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`);
    const before = await ground();
    await press('d');
    expect(await theme()).toBe('dark');
    expect(await ground()).not.toBe(before);
    await go('/work');
    expect(await theme()).toBe('dark');
    await press('d');
    expect([await theme(), await ground()]).toEqual(['light', before]);
    await press('d');
    expect(await theme()).toBe('as the system');
  });

  test('rows are walked, and Enter opens the one that has the focus', async () => {
    await go('/work');
    const rows = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main [data-list] > li:not(.colhead) a')].map((a) => a.getAttribute('href'))`,
    );
    const here = async (): Promise<number> => rows.indexOf(await focused(`getAttribute('href')`));
    const walk: [name: string, to: number][] = [
      ['j', 0],
      ['j', 1],
      ['↓', 2],
      ['k', 1],
      ['↑', 0],
      ['k', 0],
      ['End', rows.length - 1],
      ['j', rows.length - 1],
      ['Home', 0],
      ['↓', 1],
    ];
    for (const [name, to] of walk) {
      await press(name);
      await until(async () => (await here()) === to);
    }
    expect(await page.locator('main [data-list] [tabindex="0"]').count()).toBe(1);
    await press('Enter');
    await arrivesAt(rows[1] ?? '');
  });

  test('an entry is folded out and in by o and by Enter, and Esc backs out of it', async () => {
    await go(`/work/${crew.ids.root}/journal?type=decision`);
    const isOpen = (): Promise<boolean> =>
      page
        .locator('[data-entries] > li > details')
        .first()
        .evaluate<boolean, { open: boolean }>((details) => details.open);
    await press('j');
    await until(async () => (await focused('className')).includes('entry'));
    await press('o');
    expect(await isOpen()).toBe(true);
    await press('o');
    expect(await isOpen()).toBe(false);
    await press('Enter');
    await until(isOpen);
    await press('Esc');
    expect([await isOpen(), (await focused('className')).includes('entry')]).toEqual([false, true]);
    await press('Esc');
    expect(await focused('tagName')).toBe('BODY');
  });

  test('e, s, c and h go through a run, with Shift back', async () => {
    await go(`/work/${crew.ids.root}`);
    const at = (): Promise<string> => page.evaluate<string>(`document.activeElement.closest('[data-mark]')?.dataset.mark ?? ''`);
    for (const [key, mark] of [
      ['s', 'decision'],
      ['e', 'error'],
      ['e', 'error'],
      ['E', 'error'],
      ['S', 'decision'],
      ['c', 'cut'],
      ['h', 'person'],
      ['C', 'cut'],
      ['h', 'person'],
      ['H', 'person'],
    ] as const) {
      await press(key);
      expect([key, await at()]).toEqual([key, mark]);
    }
  });

  test('m says something, p pauses and resumes', async () => {
    const { paused } = crew.ids;
    await go(`/work/${paused}`);
    await press('m');
    expect(await focused('name')).toBe('content');
    await press('Esc');
    expect(await page.locator('[data-action="message"]').evaluate<boolean, { open: boolean }>((line) => line.open)).toBe(false);
    await press('m');
    await page.keyboard.type('Both stores are in Ulm');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await until(
      async () =>
        (await database.query(`select from inbox where work_item_id = '${paused}' and content = 'Both stores are in Ulm'`)).length === 1,
    );
    await until(async () => !(await page.locator('[data-action="message"]').evaluate<boolean, { open: boolean }>((line) => line.open)));
    await press('p');
    await page.keyboard.press('Enter');
    await until(async () => (await stateOf(paused)) !== 'paused');
    await page.locator('details[data-action="pause"]').waitFor();
    await press('p');
    await page.keyboard.type('by key');
    await page.keyboard.press('Enter');
    await until(async () => (await stateOf(paused)) === 'paused');
    expect(await database.query(`select state_reason from work_items where id = '${paused}'`)).toEqual([
      { state_reason: `by key (${userInfo().username})` },
    ]);
  });

  test('f forks from the selected turn', async () => {
    const { root } = crew.ids;
    await go(`/work/${root}/turns`);
    for (let i = 0; i < 4; i++) await press('j');
    await until(async () => (await focused('dataset.row')) === 'turn');
    const turn = await focused('dataset.turn');
    await press('f');
    expect(await focused('name')).toBe('message');
    leadIsForked();
    await page.keyboard.type('Index the expression instead');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => /^\/work\/[^/]+$/.test(url.pathname) && !url.pathname.includes(root));
    const fork = page.url().split('/').at(-1) ?? '';
    expect(
      await database.query(
        `select w.fork_turn_id::text as turn, i.content from work_items w join inbox i on i.work_item_id = w.id where w.id = '${fork}'`,
      ),
    ).toEqual([{ turn, content: 'Index the expression instead' }]);
  });

  test('the timeline is walked, cut by cut too, and zoomed', async () => {
    const { root } = crew.ids;
    await go(`/work/${root}/context?turn=1`);
    const picture = page.locator('[data-timeline]');
    await picture.focus();
    const stands = async (): Promise<number> => Number(await picture.getAttribute('aria-valuenow'));
    const columns = (): Promise<number[]> =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll('[data-part="timeline"] [data-columns] tbody tr')].map((row) => Number(row.dataset.n))`,
      );
    const all = await columns();
    const cuts = await page.evaluate<number[]>(
      `[...document.querySelectorAll('[data-part="timeline"] [data-columns] tbody tr')].filter((row) => Number(row.dataset.out) > 0).map((row) => Number(row.dataset.n))`,
    );
    const cut = cuts.findLast((n) => n < all.length) ?? 0;
    expect(cut).toBeGreaterThan(1);
    const walk: [name: string, to: number][] = [
      ['→', 2],
      ['←', 1],
      ['End', all.length],
      ['C', cut],
      ['Home', 1],
      ['c', cuts[0] ?? 0],
    ];
    for (const [name, to] of walk) {
      await press(name);
      await until(async () => (await stands()) === to);
    }
    await page.getByText(`Request ${cuts[0]}, part by part`).waitFor();
    await page.getByText('The cut before it').waitFor();
    await page.evaluate('scrollTo(0, 0)');
    await press('Enter');
    await until(() =>
      page.evaluate<boolean>(
        `document.querySelector('#request').getBoundingClientRect().top < 60 || Math.ceil(scrollY + innerHeight) >= document.documentElement.scrollHeight`,
      ),
    );
    expect(await page.evaluate<number>('scrollY')).toBeGreaterThan(0);
    await press('+');
    await until(async () => (await columns()).length < all.length);
    expect(await columns()).toContain(cuts[0]);
    expect(await stands()).toBe(cuts[0]);
    await press('-');
    await until(async () => (await columns()).length > all.length / 2);
    await press('+');
    await until(async () => (await columns()).length < all.length);
    await press('0');
    await until(async () => (await columns()).length === all.length);
    expect(await stands()).toBe(cuts[0]);
  });

  test('on an approval x asks for the reason, a and Enter approve, u and Esc undo', async () => {
    await page.clock.install({ time: '2027-01-01T00:00:00Z' }); // what is to be undone within five seconds is, however long a key takes
    await page.clock.pauseAt('2027-01-01T01:00:00Z');
    await go('/');
    const ask = page.locator('.ask');
    await page.clock.runFor(1100);
    await ask.locator('.btn[value="approve"]:enabled').waitFor();
    await press('a'); // without the focus it only goes there
    expect([await focused('dataset.row'), await ask.getAttribute('data-state')]).toEqual(['approval', null]);
    await press('x');
    expect(await focused('name')).toBe('reason');
    await press('Esc');
    await ask.focus();
    for (const undo of ['u', 'Esc']) {
      await press('a');
      expect(await ask.getAttribute('data-state')).toBe('armed');
      await press('Enter');
      expect(await ask.getAttribute('data-state')).toBe('counting');
      await press(undo);
      expect([undo, await ask.getAttribute('data-state')]).toEqual([undo, null]);
    }
    await press('a');
    await press('Enter');
    await page.clock.resume();
    await until(async () => (await stateOf(crew.ids.operate)) === 'completed');
    expect(await database.query(`select decision from approvals where work_item_id = '${crew.ids.operate}'`)).toEqual([
      { decision: 'approved' },
    ]);
  });

  test('no key of the page of keys was left out, and nothing went wrong in the page meanwhile', async () => {
    await go('/keys');
    expect([...pressed].toSorted()).toEqual([...new Set(await page.locator('main kbd').allTextContents())].toSorted());
    expect(faults).toEqual([]);
  });
});
