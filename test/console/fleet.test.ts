// The fleet page: each of its figures is what SQL says of the rows themselves, whatever was added up by then.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { k, num, percent } from '../../runtime/console/format.ts';
import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { money } from '../../runtime/money.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

let database: TestDatabase;
let running: Console;

type Rows = Record<string, number>;

beforeAll(async () => {
  database = await createDatabase();
  // Two models, one without a price; a tool that fails, requests that fail, an item that ends well and one that does not.
  await database.query(`do $do$
    declare v_item uuid; v_lease uuid; v_turn uuid; v_model text;
    begin
      perform ledger.model_price_save('claude-sonnet-5-5', 3, 15), ledger.ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe');
      for n in 1..6 loop
        v_model := case when n % 3 = 0 then 'claude-opus-5' else 'claude-sonnet-5-5' end;
        perform ledger.faculty_save(jsonb_build_object('name', case when n % 3 = 0 then 'thinker' else 'worker' end, 'accepts', case when n % 3 = 0 then '["type0"]' else '["type1", "type2"]' end::jsonb,
          'max_concurrent', 2, 'engage', jsonb_build_object('model', v_model, 'tools', '["look"]'::jsonb)));
        v_item := (ledger.work_submit('type' || n % 3, 'Do it', p_project => case when n = 6 then 'github.com/acme/shop' end)).id;
        v_lease := (ledger.focus_claim(v_item, 'worker-1') ->> 'lease')::uuid;
        v_turn := (ledger.iteration_begin(v_item, v_lease) ->> 'turn_id')::uuid;
        perform ledger.turn_record(v_item, v_lease, v_turn, format('{"content": [{"type": "tool_use", "id": "a%s", "name": "look", "input": {}}],
          "stop_reason": "tool_use", "usage": {"input_tokens": %s, "cached_input_tokens": 3000, "output_tokens": 70}, "duration_ms": %s, "first_token_ms": 300}', n, 1000 * n, 1000 * n)::json);
        perform ledger.tool_call_settle(v_item, v_lease, k.id, 'seen', p_is_error => n = 2) from ledger.tool_calls k where k.turn_id = v_turn;
        perform ledger.iteration_finish(v_item, v_lease);
        if n = 5 then perform ledger.work_cancel(v_item); end if;
        if n < 5 then
          perform ledger.work_complete(v_item, 'Done', p_lease => (ledger.focus_claim(v_item, 'worker-1') ->> 'lease')::uuid);
        end if;
      end loop;
      perform ledger.work_submit('type1', 'It is due'), ledger.work_submit('type1', 'It is due, too');
    end $do$`);
  running = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
});
afterAll(async () => {
  await running?.close();
  await database?.drop();
});

const part = async (name: string, query = ''): Promise<string> => (await fetch(`${running.address}fleet/part/${name}${query}`)).text();
const words = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const row = (html: string, key: string): string => words(new RegExp(`<tr data-key="${key}">.*?</tr>`, 's').exec(html)?.[0] ?? '');
const one = async (query: string): Promise<Rows> => {
  const [found] = await database.query<Rows>(query);
  return found ?? {};
};

const checked = async (): Promise<void> => {
  const all =
    await one(`select sum(input_tokens + cached_input_tokens + coalesce(cache_write_tokens, 0))::int as input, sum(cached_input_tokens)::int as cached,
      sum(output_tokens)::int as output, count(*)::int as requests, sum(ledger._turn_cost(t))::float8 as cost from ledger.turns t where t.total_tokens > 0`);
  const ends = await one(
    `select count(*)::int as ended, count(*) filter (where state = 'completed')::int as well from ledger.work_items where resolved_at is not null`,
  );
  const figures = words(await part('figures'));
  expect(figures).toContain(`Today ${money(all['cost'] ?? 0)} all: ${money(all['cost'] ?? 0)}`); // 1, 2
  expect(figures).toContain(`From the cache ${percent(all['cached'] ?? 0, all['input'] ?? 0)}`); // 3
  expect(figures).toContain('Due now 3 oldest'); // 4: two, and the sixth, which goes on
  expect(figures).toContain(`Ended well ${percent(ends['well'] ?? 0, ends['ended'] ?? 0)} ${ends['well']} of ${ends['ended']}`); // 5
  const opus =
    await one(`select count(*)::int as requests, sum(input_tokens + cached_input_tokens)::int as input, sum(output_tokens)::int as output
      from ledger.turns t join ledger.turn_configs c on c.content_hash = t.config_hash where total_tokens > 0 and c.model = 'claude-opus-5'`);
  const models = await part('sums');
  expect(row(models, 'claude-opus-5')).toContain(` ${opus['requests']} ${opus['requests']} 0 ${k(opus['input'] ?? 0)} `); // 6, 7
  expect(row(models, 'claude-opus-5')).toMatch(new RegExp(` ${k(opus['output'] ?? 0)} .*–`)); // 8; it has no price
  expect(words(models)).toContain(`${opus['requests']} requests are of models without a price`);
  const tool = await one(
    `select count(*)::int as calls, count(*) filter (where is_error)::int as failed from ledger.tool_calls where tool_name = 'look'`,
  );
  expect(row(await part('tools'), 'look')).toContain(`look ${num(tool['calls'] ?? 0)} ${percent(tool['failed'] ?? 0, tool['calls'] ?? 0)}`); // 9
  expect(words(await part('failures'))).toContain('cancelled 1 '); // 10
  expect(row(await part('queue'), 'worker')).toMatch(/worker 2 \d+ (?:s|min) \d of 2/);
  const faculties = await part('sums', '?by=faculty&days=1');
  expect(row(faculties, 'thinker')).toMatch(/thinker 1 100 % 2 2 0 /);
  const [took] = await database.query<{
    half: number;
    most: number;
  }>(`select percentile_cont(0.5) within group (order by duration_ms) / 1000 as half,
      percentile_cont(0.95) within group (order by duration_ms) / 1000 as most from ledger.turns where total_tokens > 0`);
  const [told] = await database.query<{ request_p50: number; request_p95: number }>(
    'select request_p50, request_p95 from ledger.work_totals()',
  );
  for (const [near, exact] of [
    [told?.request_p50 ?? 0, took?.half ?? 0],
    [told?.request_p95 ?? 0, took?.most ?? 0],
  ] as const)
    expect(Math.max(near / exact, exact / near)).toBeLessThan(Math.SQRT2);
};

test('ten figures are what the rows say, before they are added up and after', async () => {
  await checked();
  await database.query(
    `begin; select set_config('work_ledger.now', (now() + interval '5 minutes')::text, true); select ledger.work_hours_sum(); commit`,
  );
  expect(await one(`select count(*)::int as n from ledger.work_hours where kind = 'model'`)).toEqual({ n: 3 });
  await checked();
});

test('of a project it says what is of it and of none', async () => {
  const shop = await one(
    `select count(*)::int as n from ledger.turns t join ledger.work_items w on w.id = t.work_item_id where t.total_tokens > 0`,
  );
  expect(row(await part('sums', '?by=project'), 'github.com/acme/shop')).toContain('github.com/acme/shop 0 – 1 1 0 ');
  expect(shop['n']).toBe(6);
  expect(words(await part('sums', '?by=project&project=github.com/acme/other'))).not.toContain('acme/shop');
});

test('what is chosen is in the address, and pictures have words', async () => {
  const page = await (await fetch(`${running.address}fleet?days=1&by=faculty`)).text();
  expect(page).toMatch(/aria-current="true">1 day</);
  expect(page).toMatch(/aria-current="true">by faculty</);
  expect(page).toMatch(/href="\/fleet\?days=90&amp;by=faculty"/);
  expect(page).toMatch(/role="img" aria-label="Spend an hour, the last 24 hours, by faculty"/);
  expect(await (await fetch(`${running.address}fleet?days=1000&by=colour`)).text()).toMatch(/aria-current="true">14 days</);
});

const entered = async (console: Console): Promise<string> =>
  ((await fetch(`${console.address}?token=${console.token}`, { redirect: 'manual' })).headers.get('set-cookie') ?? '').split(';')[0] ?? '';

test('what a project or a faculty may use in a day is seen, set, changed and removed', async () => {
  const cookie = await entered(running);
  const page = async (query = ''): Promise<string> =>
    (await fetch(new URL(`fleet${query}`, running.address), { headers: { cookie } })).text();
  const section = (html: string): string => /<section class="panel" aria-label="Budgets by day">.*?<\/section>/s.exec(html)?.[0] ?? '';
  const token = /name="form_token" value="([^"]+)"/.exec(section(await page()))?.[1] ?? '';
  const post = (fields: Record<string, string>, accept = 'text/html'): Promise<Response> =>
    fetch(new URL('fleet/budget', running.address), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin: new URL(running.address).origin, accept },
      body: new URLSearchParams({ form_token: token, back: '/fleet?days=90', ...fields }),
    });
  const shop = `project:${encodeURIComponent('github.com/acme/shop')}`;
  expect(section(await page())).toContain('No project or faculty has one.');
  expect(section(await page())).toContain(`<option value="${shop}">project github.com/acme/shop</option>`);
  // As a browser without a script.
  const answer = await post({ of: shop, resource: 'tokens', amount: '20000' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/fleet?days=90']);
  expect((await post({ of: 'faculty:worker', resource: 'money', amount: '2.5' })).status).toBe(303);
  const [used] = await database.query<{ spent: number }>(`select spent::float8 from ledger.v_daily_budgets where scope = 'project'`);
  expect(used?.spent).toBe(9070);
  expect(words(section(await page()))).toMatch(
    /tokens of project github\.com\/acme\/shop 9\.1k of 20k money of faculty worker 0\.04\d+ of 2\.50/,
  );
  expect(words(section(await page('?project=github.com/acme/other')))).not.toMatch(/of project github\.com\/acme\/shop/);
  for (const [wrong, why] of [
    [{ amount: '-1' }, 'an amount is a number, such as 20 or 2.5 (WL002).'],
    [{ amount: 'NaN' }, 'an amount is a number, such as 20 or 2.5 (WL002).'],
    [{ of: 'faculty:nobody' }, 'there is no faculty &quot;nobody&quot;'],
    [{ of: 'faculty:%' }, 'that is not a name (WL002).'],
    [{ of: 'ledger:all' }, 'that is neither a project nor a faculty (WL002).'],
    [{ resource: 'children' }, 'is not a resource of a daily budget'],
  ] as const) {
    const refused = await post({ of: shop, resource: 'calls', amount: '7', ...wrong });
    const html = await refused.text();
    expect([wrong, refused.status, section(html)]).toEqual([wrong, 409, expect.stringContaining(why)]);
    expect(section(html)).toContain(`name="amount" inputmode="decimal" value="${'amount' in wrong ? wrong.amount : '7'}"`);
  }
  expect((await post({ form_token: 'x', of: shop, resource: 'calls', amount: '7' })).status).toBe(403);
  expect((await post({ of: shop, resource: 'tokens', amount: '' })).status).toBe(303);
  expect(await database.query('select scope, resource from ledger.v_daily_budgets')).toEqual([{ scope: 'faculty', resource: 'money' }]);
  expect((await post({ of: 'faculty:worker', resource: 'money', amount: '' })).status).toBe(303);
});

test('whoever may not, sets no budget and is shown no form', async () => {
  const looked = await startConsole({ url: database.url, schema: 'ledger', port: 0, isReadOnly: true });
  try {
    const cookie = await entered(looked);
    const page = await (await fetch(new URL('fleet', looked.address), { headers: { cookie } })).text();
    expect(page).toContain('Budgets by day');
    expect(page).not.toContain('action="/fleet/budget"');
    const answer = await fetch(new URL('fleet/budget', looked.address), {
      method: 'POST',
      headers: { cookie, origin: new URL(looked.address).origin, accept: 'application/json' },
      body: new URLSearchParams({ of: 'faculty:worker', resource: 'calls', amount: '7' }),
    });
    expect(answer.status).toBe(403);
  } finally {
    await looked.close();
  }
});

test("today and the last days are those of the database, whatever this machine's clock says", async () => {
  const shown = async (): Promise<unknown[]> => [
    /Today .*? all/.exec(words(await part('figures')))?.[0],
    words(await part('sums')),
    words(await (await fetch(`${running.address}part/spent`)).text()),
  ];
  const right = await shown();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 });
  try {
    expect(await shown()).toEqual(right);
  } finally {
    vi.useRealTimers();
  }
});
