// The run of an item over HTTP: what is in it, that it looks like what it is, that nothing in it is more than text, and its windows.

import { createHash } from 'node:crypto';

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { differenceOf, jsonOf } from '../../runtime/console/code.ts';
import { markdown } from '../../runtime/console/markdown.ts';
import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { longItem } from '../longItem.ts';
import { playedDatabase } from '../playedDatabase.ts';

const agent = `select agent('{"tools": ["look", "bash", "edit_file"], "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}')`;
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

let database: TestDatabase;
let running: Console;
beforeAll(async () => {
  database = await createDatabase();
  running = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
});
afterAll(async () => {
  await running?.close();
  await database?.drop({ unchecked: 'turns put in by hand' });
});

/** What is played is shown by a console of its own. */
async function shown(statements: string, looks: (page: (path: string) => Promise<Response>, item: string) => Promise<void>): Promise<void> {
  const played = await playedDatabase();
  const item = await played.play(`${agent}, submit('Find **why** it is slow'); ${statements}; select item()`);
  const console = await startConsole({ url: played.url, schema: 'ledger', port: 0 });
  try {
    await looks((path) => fetch(new URL(path, console.address), { redirect: 'manual' }), item);
  } finally {
    await console.close();
    await played.drop();
  }
}

test('words are Markdown, and what is HTML in them stays text', () => {
  const made = (text: string): string => String(markdown(text));
  expect(made('# Big\n\n**bold** `code`\n\n| a | b |\n|-|-|\n| 1 | 2 |')).toMatch(
    /<p class="heading">Big<\/p>[\s\S]*<strong>bold<\/strong> <code>code<\/code>[\s\S]*<th>a<\/th>[\s\S]*<td>2<\/td>/,
  );
  for (const text of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'a <b onclick="x">b</b>',
    '[x](javascript:alert(1))',
    '[x](data:text/html,y)',
    '![x](https://evil.example/p.png)',
    '[a](https://evil.example/"onmouseover="x)',
    '```"><script>\nx\n```',
    '<https://evil.example/<script>>',
    '[<img src=x>](https://evil.example)',
    '<style>*{display:none}</style>',
    '&lt;script&gt;',
    '- [ ] <input type=image src=x>',
  ]) {
    const html = made(text);
    expect([text, html]).toEqual([text, expect.not.stringMatching(/<(?:script|img|b|style|input|svg|iframe)\b/i)]);
    for (const [, attributes = ''] of html.matchAll(/<[a-z]+((?:\s[^<>]*)?)>/gi))
      expect([text, attributes]).toEqual([text, expect.not.stringMatching(/\son\w+=|href="(?!https?:|mailto:)/i)]);
  }
  expect(made('\u202Eabc')).toContain('⟨U+202E⟩abc');
  expect(made('[here](https://a.example/b)')).toContain('href="https://a.example/b" rel="noopener noreferrer nofollow">here</a>');
});

test('a difference shows what came, what went, and three lines around it; JSON folds by its keys', () => {
  const html = String(differenceOf('a\nb\nc\nd\ne\nold\nf', 'a\nb\nc\nd\ne\nnew\nf', 'x.ts'));
  expect([...html.matchAll(/class="ln([^"]*)"[^>]*>([^<]*)</g)].map(([, kind, text]) => [kind?.trim(), text])).toEqual([
    ['hunk', '@@ x.ts @@'],
    ['', ' c'],
    ['', ' d'],
    ['', ' e'],
    ['del', '-old'],
    ['add', '+new'],
    ['', ' f'],
  ]);
  const json = String(jsonOf(JSON.stringify({ a: 1, b: { c: 'x'.repeat(300), d: [1, 2] }, e: '<b>' })));
  expect(json).toMatch(/<dt>a<\/dt>[\s\S]*<details><summary>2 keys[\s\S]*<dt>c<\/dt>[\s\S]*300 characters[\s\S]*&lt;b&gt;/);
  expect(jsonOf('no JSON')).toBeNull();
});

test('a call and its result are one box that shows what it is; a cut, a person and the end stand between', async () => {
  await shown(
    `select play('[["I *begin*", ["edit_file", {"path": "src/a.ts", "old_string": "one", "new_string": "two"}, "Replaced"], ["bash", {"command": "npm test"}, "3 failed\\n[exit code 1]"], ["finding", "It is a cast"]], [["look", {"at": "b"}, "{\\"deep\\": {\\"key\\": \\"value\\"}}"], ["step", "Looked"]]]');
     select from work_message(item(), 'Only the tests');
     select play('[[["look", {}, "x"]], ["**Done**"]]')`,
    async (page, item) => {
      const html = await (await page(`/work/${item}`)).text();
      for (const says of [
        /<b>Task<\/b>[\s\S]*Find <strong>why<\/strong> it is slow/,
        /I <em>begin<\/em>/,
        /<span class="name">edit_file<\/span>[\s\S]*class="ln hunk"[^>]*>@@ src\/a\.ts @@[\s\S]*ln del"[^>]*>-one[\s\S]*ln add"[^>]*>\+two/,
        /class="code shell"[^>]*>\$ npm test<\/pre>[\s\S]*3 failed/,
        /exit 1/,
        /<dt>deep<\/dt>/,
        /<span class="kind">finding<\/span>[\s\S]*It is a cast/,
        /<li class="turn person"[\s\S]*Only the tests/,
        /left the context here: [\d.k]+ tokens as [\d,]+ of stubs/,
        /<b>Completed<\/b>[\s\S]*<strong>Done<\/strong>/,
        /times in UTC/,
      ])
        expect(html).toMatch(says);
      const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
      expect(ids.length).toBe(new Set(ids).size);
      const next = await page(`/work/${item}/next/person?after=`);
      expect([next.status, next.headers.get('location')]).toEqual([303, expect.stringMatching(/\?at=.*#person\//)]);
      expect(await (await page(next.headers.get('location') ?? '')).text()).toContain('Only the tests');
      const none = await page(`/work/${item}/next/error?after=`);
      expect(await (await page(none.headers.get('location') ?? '')).text()).toContain('There is no further error');
      expect(await (await page(`/work/${item}?q=it+is+a+CAST`)).text()).toMatch(/class="hit"[\s\S]*It is a cast/);
    },
  );
});

test('what its project and its faculty may use in a day stands below its own budget, and how today stands', async () => {
  const set = `daily_budget_set('calls', 20, p_faculty => 'worker')`;
  await shown(`select budget_set(item(), 'calls', 5), ${set}, drive(), answer('[["look"]]'), run()`, async (page, item) => {
    const panels = async (path = ''): Promise<string[]> =>
      [
        ...(await (await page(`/work/${item}${path}`)).text()).matchAll(/<section class="panel" aria-label="(Budget.*?)".*?<\/section>/gs),
      ].map(([panel]) =>
        panel
          .replaceAll(/<[^>]*>/g, ' ')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      );
    for (const path of ['', '/journal', '/cost'])
      expect(await panels(path)).toEqual([
        expect.stringMatching(/^Budget with its children calls 1 of 5\b/),
        expect.stringMatching(/^Budgets by day until midnight UTC calls of faculty worker 1 of 20\b/),
      ]);
  });
});

test('what a client put around the words of a person in a recorded session is folded away behind them', async () => {
  const played = await playedDatabase();
  const item =
    await played.play(`select session_import('{"format": "claude-code", "sessionId": "s", "prompt": "Fix it", "task": "Fix it", "model": "m", "exchanges": [
    {"id": "a", "text": "I look.", "calls": [], "followUp": "<system-reminder>It is late</system-reminder>The **tests**, too"},
    {"id": "b", "text": "Done.", "calls": []}]}') ->> 'work_item_id'`);
  const console = await startConsole({ url: played.url, schema: 'ledger', port: 0 });
  try {
    const html = await (await fetch(new URL(`/work/${item}`, console.address))).text();
    const block = /<li class="turn person".*?<\/li>/s.exec(html)?.[0] ?? '';
    const [said, folded = ''] = block.split('<details class="thought"><summary>as its client sent it</summary>');
    expect(said).toContain('The <strong>tests</strong>, too');
    expect(said).not.toContain('It is late');
    expect(folded).toContain('&lt;system-reminder&gt;It is late&lt;/system-reminder&gt;');
    expect(html.match(/as its client sent it/g)).toHaveLength(1);
  } finally {
    await console.close();
    await played.drop();
  }
});

test('a request that failed is red in every picture, and its page is the request with what the provider said', async () => {
  await shown(
    `select play('[["I begin", ["look"]]]'), drive();
     select iteration_fail(item(), lease(), '{"class": "invalid_request", "status": 400, "message": "prompt is too long", "request_id": "req_7"}')`,
    async (page, item) => {
      const run = await (await page(`/work/${item}`)).text();
      expect(run).toMatch(/<li class="rule hard"[\s\S]*request 2 failed with 400: <q dir="auto">invalid_request: prompt is too long<\/q>/);
      const [, turn = ''] = /href="(\/turn\/[0-9a-f-]+)"><u>the request, part by part/.exec(run) ?? [];
      const there = await page(turn);
      const request = await (await page(there.headers.get('location') ?? '')).text();
      for (const says of [
        '<span class="bad">Request 2 failed</span>',
        'prompt is too long',
        'req_7',
        'always there',
        'Find **why** it is slow',
        '<g class="fail"><title>request 2 failed</title>',
      ])
        expect(request).toContain(says);
      expect(await (await page(`/work/${item}/turns`)).text()).toMatch(/class="node err"[\s\S]*request failed/);
    },
  );
});

test('a first request that failed has its page, too', async () => {
  await shown(
    `select drive();
     select iteration_fail(item(), lease(), '{"class": "invalid_request", "status": 404, "message": "no such model"}')`,
    async (page, item) => {
      const [, turn = ''] = /href="(\/turn\/[0-9a-f-]+)"><u>the request/.exec(await (await page(`/work/${item}`)).text()) ?? [];
      const request = await (await page((await page(turn)).headers.get('location') ?? '')).text();
      expect(request).toMatch(/Request 1 failed<\/span>[\s\S]*no such model/);
    },
  );
});

test('the page of a request has its answer', async () => {
  await shown(`select play('[["I **begin**", ["look", {"at": "b"}, "saw it"]], ["Done"]]')`, async (page, item) => {
    const context = await (await page(`/work/${item}/context?turn=1`)).text();
    expect(context).toMatch(/<h2>What it answered<\/h2>[\s\S]*I <strong>begin<\/strong>[\s\S]*saw it/);
    expect(await (await page(`/work/${item}/context?turn=2`)).text()).toMatch(/<h2>What it answered<\/h2>[\s\S]*Done/);
  });
});

test('an image that a tool returned is shown, and nothing else is served as one', async () => {
  await shown(
    `select drive(), answer('[["look"]]');
     select tool_call_settle(item(), lease(), (select id from tool_calls), 'a picture', p_images => '[{"media_type": "image/png", "data": "${pixel}"}]');
     select _artifact_store(item(), '<svg/>', 'image/svg+xml');
     select iteration_finish(item(), lease());
     select play('[["Done"]]')`,
    async (page, item) => {
      const [, hash = ''] = /<img class="shown" src="\/image\/([0-9a-f]{64})"/.exec(await (await page(`/work/${item}`)).text()) ?? [];
      const image = await page(`/image/${hash}`);
      expect([image.status, image.headers.get('content-type'), image.headers.get('x-content-type-options')]).toEqual([
        200,
        'image/png',
        'nosniff',
      ]);
      expect(Buffer.from(await image.arrayBuffer()).toString('base64')).toBe(pixel);
      expect((await page(`/image/${'0'.repeat(64)}`)).status).toBe(404);
      expect((await page(`/image/${createHash('sha256').update('<svg/>').digest('hex')}`)).status).toBe(404);
    },
  );
});

test('what lost its worker is shown so, on Now and in its head, and says when it came', async () => {
  await shown(`select drive(); update foci set lease_expires_at = now() - interval '26 seconds'`, async (page, item) => {
    for (const path of ['/', `/work/${item}`])
      expect(await (await page(path)).text()).toMatch(
        /is-crashed[\s\S]*lost its worker \d+ seconds ago: no other worker is alive to recover it/,
      );
    expect(await (await page(`/work/${item}`)).text()).toMatch(/submitted <time[^>]*data-as="dated"[\s\S]*began <time/);
  });
});

test('a long one is read in windows of 200 blocks, from either end and around an address', async () => {
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query('set search_path = ledger');
  await client.query(`select from faculty_save('{"name": "worker", "accepts": ["analyze"]}')`);
  const item = await longItem(client, 1000);
  await client.end();
  const page = async (query = ''): Promise<string> => (await fetch(new URL(`/work/${item}${query}`, running.address))).text();
  const callsOf = (html: string): number[] =>
    [...html.matchAll(/title="The request, part by part">([\d,]+)</g)].map(([, n = '']) => Number(n.replace(',', '')));
  const first = await page();
  const calls = callsOf(first);
  expect([calls[0], calls.length > 40, calls.length <= 200]).toEqual([1, true, true]);
  const later = (html: string): string => (/href="\/work\/[^"?]+(\?from=[^"]+)">later/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&');
  const second = await page(later(first));
  expect(callsOf(second)[0]).toBeGreaterThanOrEqual(calls.at(-1) ?? 0);
  expect(callsOf(second)[0]).toBeLessThanOrEqual((calls.at(-1) ?? 0) + 1);
  const [, back = ''] = /href="\/work\/[^"?]+(\?to=[^"]+)">earlier/.exec(second) ?? [];
  expect(callsOf(await page(back.replaceAll('&amp;', '&'))).at(-1)).toBe(calls.at(-1));
  expect(await page('?to=end')).toContain('The needle in src/large.ts');
  const [, link = ''] = /<a href="(\/work\/[^"]+)">link<\/a>/.exec(second) ?? [];
  const around = await page(link.slice(link.indexOf('?')).replaceAll('&amp;', '&'));
  expect(around).toContain(`id="${link.slice(link.indexOf('#') + 1)}"`);
});
