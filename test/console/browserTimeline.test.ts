// The context timeline and the plots in a real browser: by pointer and by key, as the rows say.

import pg from 'pg';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';

import { longItem } from '../longItem.ts';
import { until } from '../workerProcess.ts';
import { missing } from './browser.ts';
import { look } from './look.ts';

const { crew, database, faults, go, page } = await look({ unchecked: 'turns put in by hand' });

describe.skipIf(missing !== null)('in a browser', () => {
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

  /** What the rows say of one call of a timeline, as its picture should. */
  const figuresOf = async (session: string, policy: string | null, kind: string | null): Promise<Record<string, string>> => {
    const rows = await database.query<Record<string, string>>(`
      select c.n::text, to_char(c.sent, 'FM999,999,999') as sent, to_char(c.results, 'FM999,999,999') as results, to_char(c.closed + c.kept, 'FM999,999,999') as closed,
             to_char(c.cached_tokens, 'FM999,999,999') as cached, to_char(c.written_tokens, 'FM999,999,999') as written, to_char(c.new_tokens, 'FM999,999,999') as new,
             to_char((c.marks -> 0 ->> 'tokens_elided')::integer, 'FM999,999,999') as elided, to_char((c.marks -> 0 ->> 'stub_tokens')::integer, 'FM999,999,999') as stub,
             replace(c.marks -> 0 ->> 'blocks', '-', '–') as blocks, c.marks -> 0 ->> 'breaks_even_after' as pays
        from ledger.context_timeline('${session}', ${policy === null ? 'null' : `'${policy}'`}) c
       where ${kind === null ? "c.marks = '[]' and c.n = 2" : `c.marks -> 0 ->> 'kind' = '${kind}'`} order by c.n limit 1`);
    return rows[0] ?? {};
  };

  /** Where a call stands in a picture, in the page. */
  const placeOf = (picture: string, n: string): Promise<{ x: number; y: number }> =>
    page.evaluate(`(() => {
    const figure = document.querySelector('${picture}').closest('[data-figure]');
    const at = [...figure.querySelectorAll('[data-columns] tbody tr')].findIndex((row) => row.dataset.n === '${n}');
    const svg = [...figure.querySelectorAll('svg.tl')].find((one) => one.getBoundingClientRect().width > 0);
    svg.scrollIntoView({ block: 'center' });
    const box = svg.getBoundingClientRect();
    return { x: box.left + (Number(svg.dataset.left) + (at + 0.5) * Number(svg.dataset.step)) * box.width / Number(svg.dataset.width), y: box.top + box.height / 2 };
  })()`);

  test('the timeline says of the call under the pointer what it held, what the cache gave, and why blocks left', async () => {
    const { root } = crew.ids;
    const [cut, other] = [await figuresOf(root, null, 'elision'), await figuresOf(root, null, null)];
    await go(`/work/${root}/context?turn=1`);
    const told = page.locator('[data-figure]:has([data-timeline]) [data-told]');
    await told.getByText('Call 1', { exact: true }).waitFor(); // where it stands, before anything is pointed at
    const at = await placeOf('[data-timeline]', cut.n ?? '');
    await page.mouse.move(at.x, at.y);
    const says = (await told.innerText()).replaceAll(/\s+/g, ' ');
    expect(says).toContain(`Call ${cut.n} ${cut.sent} tokens`);
    expect(says).toContain(`Closed blocks, still whole ${cut.closed}`);
    expect(says).toContain('Closed blocks are still whole: under elide_budget, not worth a cut yet, or kept word for word.');
    expect(says).toContain(`Open block: results ${cut.results}`);
    expect(says).toContain(`Read from it ${cut.cached} Written to it ${cut.written} New ${cut.new}`);
    expect(says).toMatch(
      new RegExp(
        `Blocks? ${cut.blocks} left, ${cut.elided} tokens: (?:it was|they were) closed, .* ${cut.stub} tokens stand for (?:it|them).* It pays after ${cut.pays} requests?\\. Up to the next cut, .* tokens at full price\\.`,
      ),
    );
    const beside = await placeOf('[data-timeline]', other.n ?? '');
    await page.mouse.move(beside.x, beside.y);
    await told.getByText('none before this request').waitFor();
    expect((await told.innerText()).replaceAll(/\s+/g, ' ')).toContain(`Call ${other.n} ${other.sent} tokens`);
    await page.mouse.move(1, 1);
    await told.getByText('Call 1', { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('turn')).toBe('1'); // pointing goes nowhere
  });

  test('by key it says the same, also to whoever only hears it', async () => {
    const { root } = crew.ids;
    const cut = await figuresOf(root, null, 'elision');
    await go(`/work/${root}/context?turn=1`);
    const picture = page.locator('[data-timeline]');
    await picture.focus();
    await page.keyboard.press('c');
    const heard = (await picture.getAttribute('aria-valuetext')) ?? '';
    expect(heard).toMatch(new RegExp(`^call ${cut.n}: ${cut.sent} tokens\\. Blocks? ${cut.blocks} left, ${cut.elided} tokens`));
    expect(heard).toContain(`Open block: results ${cut.results}`);
    expect(heard).toContain(`Read from it ${cut.cached}, Written to it ${cut.written}`);
    const told = page.locator('[data-figure]:has([data-timeline]) [data-told]');
    expect(await told.locator('dt').first().textContent()).toBe(`Call ${cut.n}`);
    expect(await told.locator('dd').last().textContent()).toContain(`${cut.elided} tokens`);
    await page.keyboard.press('ArrowLeft');
    expect(await picture.getAttribute('aria-valuetext')).toContain(`call ${Number(cut.n) - 1}: `);
    expect(await told.locator('dd').last().textContent()).toBe('none before this request');
    await page.getByText(`Request ${Number(cut.n) - 1}, part by part`).waitFor();
  });

  test('another policy stands below it, by part and on one scale; a call is pointed at in all pictures', async () => {
    const { root } = crew.ids;
    const [own, never] = [
      await figuresOf(root, '{}', 'elision'),
      await database.query<{ n: string; sent: string; closed: string }>(`
      select n::text, to_char(sent, 'FM999,999') as sent, to_char(closed + kept, 'FM999,999') as closed from ledger.context_timeline('${root}', '{"truncate_closed_blocks": false, "context_window": 2000000000}')`),
    ];
    const same = never.find(({ n }) => n === own.n);
    await go(`/work/${root}/context?turn=1`); // they come when the page stands
    const [ran, other] = ['As it ran', 'Never cut'].map((name) => page.getByRole('region', { name, exact: true })) as [
      ReturnType<Page['locator']>,
      ReturnType<Page['locator']>,
    ];
    await other.locator('svg.tl').first().waitFor();
    await other.getByText('Call 1', { exact: true }).waitFor();
    for (const one of [ran, other]) expect(await one.locator('svg.tl.w1120 path.f-results').count()).toBe(1);
    const scales = await Promise.all(
      [ran, other].map((one) =>
        one
          .locator('svg.tl.w1120 text[text-anchor="end"]')
          .evaluateAll((all) => all.map((text) => `${text.textContent} ${text.getAttribute('y')}`)),
      ),
    );
    expect(scales[0]?.length).toBeGreaterThan(2);
    expect(scales[0]?.filter((label) => !label.includes('−'))).toEqual(scales[1]);
    const at = await placeOf('[data-beside]', own.n ?? '');
    await page.mouse.move(at.x, at.y);
    const says = await Promise.all([ran, other].map(async (one) => (await one.locator('[data-told]').innerText()).replaceAll(/\s+/g, ' ')));
    expect(says[0]).toContain(`Call ${own.n} ${own.sent} tokens`);
    expect(says[0]).toContain(`${own.elided} tokens`);
    expect(says[1]).toContain(`Call ${same?.n} ${same?.sent} tokens`);
    expect(says[1]).toContain(`Closed blocks, still whole ${same?.closed}`);
    expect(says[1]).toContain('Closed blocks are still whole: nothing is cut.');
    expect(says[1]).toContain('none before this request');
    expect(await page.locator('.hoverband').count()).toBe(9); // three pictures, each drawn for three widths
    await page.mouse.down();
    await page.mouse.up();
    await page.getByText(`Request ${own.n}, part by part`).waitFor();
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
    await client.query(
      `alter table turns disable trigger refuse_rewrite; update turns set started_at = date_trunc('day', now()) - interval '1 day' * (depth % 3) - interval '12 hours', model = 'claude-sonnet-5-5', duration_ms = 1000 + depth, input_tokens = 10, output_tokens = 10, call_count = 1 where work_item_id = '${item}'; alter table turns enable always trigger refuse_rewrite`,
    );
    await go(`/work/${item}/cost`);
    await page.locator('[data-plot="latency"] canvas').waitFor();
    expect(await page.locator('[data-plot="cost"]').isVisible()).toBe(false); // these turns have no price
    await client.query(`select from model_price_save('claude-opus-4-5', 5, 25)`);
    await client.end();
    await go(`/work/${item}/cost`);
    await page.locator('[data-plot="cost"] canvas').waitFor();
    expect(await page.locator('[data-plot="latency"] canvas').isVisible()).toBe(true);
    // Ten turns a day, each of ten tokens in and ten out.
    expect(
      await page.evaluate<number[]>(`[...document.querySelectorAll('[data-days] tbody tr')].map((row) => Number(row.dataset.cost))`),
    ).toEqual([0.003, 0.003, 0.003]);
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

  test('nothing went wrong in the page meanwhile', () => {
    expect(faults).toEqual([]);
  });
});
