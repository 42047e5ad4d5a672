// One project of several in the console: its address holds which, every way on keeps it, and nothing of another is shown.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { playedDatabase } from '../playedDatabase.ts';
import type { Played } from '../playedDatabase.ts';

const hostile = [`"><script>alert(1)</script><a href="/work`, `it's & "quoted"`, `лавка/日本 <i>`, `/srv/${'x'.repeat(490)}/end`];
/** Each with the word that all of its work has, and nobody else's; '': none. */
const projects: readonly (readonly [name: string, word: string])[] = [
  ['acme/shop', 'heron'],
  ['acme/bank', 'osprey'],
  ['', 'wagtail'],
  ...hostile.map((name, i) => [name, ['curlew', 'dunlin', 'godwit', 'avocet'][i] ?? ''] as const),
];
const words = projects.map(([, word]) => word);

let database: Played;
let running: Console;
let cookie: string;

beforeAll(async () => {
  database = await playedDatabase();
  await database.play(`select agent()`);
  for (const [name, word] of projects) {
    const project = name === '' ? 'null' : `'${name.replaceAll("'", "''")}'`;
    const submit = (says: string, type = 'analyze'): string => `work_submit('${type}', '${says} ${word}', p_project => ${project})`;
    await database.query(`
      select count(*) from (select claim(id, 'w-${word}') from ${submit('Under way', 'analyze')}) c;
      select count(*) from ${submit('Queued', 'analyze')};
      select count(*) from (select work_pause(id, 'until ${word} sings') from ${submit('Paused')}) p;
      select count(*) from (select work_complete(id, 'Counted by ${word}') from ${submit('Done')}) c;
      select count(*) from (select ledger_append(id, 'finding', 'Seen by ${word}') from ${submit('Found', 'untaken')}) f;
      select memory_write('/memories/${word}.md', 'Noted', ${project});
      select count(*) from (select ledger_append(id, 'decision', 'Decided by ${word}') from ${submit('Decided', 'untaken')}) f`);
  }
  running = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
  const entered = await fetch(`${running.address}?token=${running.token}`, { redirect: 'manual' });
  cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
});
afterAll(async () => {
  await running?.close();
  await database?.drop();
});

const at = (path: string): URL => new URL(path, running.address);
const get = (path: string): Promise<Response> => fetch(at(path), { headers: { cookie }, redirect: 'manual' });
const text = async (path: string): Promise<string> => (await get(path)).text();
const of = (name: string): string => `project=${encodeURIComponent(name)}`;
/** The words of projects that a page says. */
const said = (body: string): string[] => words.filter((word) => body.includes(word));
const pages = ['/', '/work', '/work?state=open', '/sessions', '/knowledge', '/knowledge?kind=decision', '/knowledge?q=by', '/notes'];
const into = (path: string, query: string): string => `${path}${path.includes('?') ? '&' : '?'}${query}`;

test('every list shows all projects, or of one its work and that of none, or that of none alone', async () => {
  for (const path of pages) {
    const all = await text(path);
    expect([path, said(all)]).toEqual([
      path,
      path === '/sessions' || path === '/' ? expect.arrayContaining(['heron', 'osprey', 'wagtail']) : words,
    ]);
    for (const [name, word] of projects) {
      const body = await text(into(path, of(name)));
      expect([path, name, said(body)]).toEqual([
        path,
        name,
        name === '' ? ['wagtail'] : words.filter((one) => one === word || one === 'wagtail'),
      ]);
      expect([path, name, /failed-part|<script>|<i>/.exec(body)?.[0]]).toEqual([path, name, undefined]);
    }
  }
});

test('so does each part that is fetched alone, what stands in the sidebar, and an open page', async () => {
  for (const name of ['acme/shop', '']) {
    for (const part of [
      '/part/figures,underWay,lately,queue,workers,slots,nav',
      '/work/part/list',
      '/sessions/part/resumable',
      '/knowledge/part/results,digest',
      '/notes/part/list',
    ])
      expect([part, said(await text(into(part, of(name))))]).toEqual([part, name === '' ? ['wagtail'] : ['heron', 'wagtail']]);
  }
  const open = async (query: string): Promise<string | undefined> =>
    /<span>Work<\/span><span class="n">(\d+)</.exec(await text(into('/', query)))?.[1];
  expect([await open(''), await open(of('acme/shop')), await open(of(''))]).toEqual([String(5 * words.length), '10', '5']);
  const shown = /data-part="nav" data-version="([^"]+)"/.exec(await text(into('/', of('acme/shop'))))?.[1];
  const versions = async (page: string): Promise<Record<string, string>> => {
    const gone = new AbortController();
    const events = await fetch(at(`/events?page=${encodeURIComponent(page)}`), { headers: { cookie }, signal: gone.signal });
    const { value } = await (events.body as ReadableStream<Uint8Array>).getReader().read();
    gone.abort();
    return (JSON.parse(/data: (.*)/.exec(new TextDecoder().decode(value))?.[1] ?? '{}') as { versions: Record<string, string> }).versions;
  };
  expect((await versions(into('/', of('acme/shop'))))['nav']).toBe(shown);
  expect((await versions('/'))['nav']).not.toBe(shown);
  expect(Object.keys(await versions(into('/', of('nowhere'))))).toEqual(['nav']);
});

test('links, filters, pages and what is done on them keep the project', async () => {
  const [item] = await database.query<{ id: string }>(`select id from work_items where description = 'Paused wagtail'`);
  const [ofShop] = await database.query<{ id: string }>(`select id from work_items where description = 'Paused heron'`);
  expect(await text(`/work/${ofShop?.id}?project=`)).toMatch(/<span>project <a [^>]*href="\/work\?project=acme%2Fshop">acme\/shop<\/a>/);
  for (const name of ['acme/shop', '', ...hostile]) {
    for (const path of [...pages, `/work/${item?.id}`, `/work/${item?.id}/cost`, '/keys', '/work/01a202dc-0000-7000-8000-000000000000']) {
      const body = await text(into(path, of(name)));
      const links = [...body.matchAll(/<a\b[^>]* href="(\/[^"]*)"/g)].map(([, to = '']) => at(to.replaceAll('&amp;', '&')));
      expect(links.length).toBeGreaterThan(5);
      for (const { href, searchParams } of links) expect([path, href, searchParams.getAll('project')]).toEqual([path, href, [name]]);
      for (const [form] of body.matchAll(/<form\b[^>]*method="get"[\s\S]*?<\/form>/g))
        expect([path, [...form.matchAll(/<input type="hidden" name="project" value="([^"]*)">/g)].length]).toEqual([path, 1]);
    }
  }
  const form = await text(into(`/work/${item?.id}`, of('acme/shop')));
  const send = (back: string): Promise<Response> =>
    fetch(at(`/work/${item?.id}/checkpoint`), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin: new URL(running.address).origin },
      body: new URLSearchParams({ form_token: /name="form_token" value="([^"]+)"/.exec(form)?.[1] ?? '', back }),
    });
  expect(/name="back" value="([^"]+)"/.exec(form)?.[1]).toBe(`/work/${item?.id}?project=acme%2Fshop`);
  expect((await send(`/work/${item?.id}?project=acme%2Fshop`)).headers.get('location')).toBe(`/work/${item?.id}?project=acme%2Fshop`);
  expect((await send(`/work/${item?.id}`)).headers.get('location')).toBe(`/work/${item?.id}`);
});

test('the switch names all projects, without a script, and says which is chosen', async () => {
  const switchOf = (body: string): string => /<details class="projects">[\s\S]*?<\/details>/.exec(body)?.[0] ?? '';
  for (const path of ['/', '/work?type=analyze&before=01a202dc-0000-7000-8000-000000000000', '/sessions', '/knowledge?q=heron']) {
    const made = switchOf(await text(into(path, of('acme/shop'))));
    const links = [...made.matchAll(/href="(\?[^"]*)"( aria-current="true")?/g)].map(([, to = '', current]) => ({
      to: new URL(to.replaceAll('&amp;', '&'), at(path)),
      current: current !== undefined,
    }));
    expect(links.map(({ to }) => to.searchParams.get('project'))).toEqual([
      null,
      '',
      ...projects
        .map(([name]) => name)
        .filter((name) => name !== '')
        .toSorted(),
    ]);
    expect(links.filter(({ current }) => current).map(({ to }) => to.searchParams.get('project'))).toEqual(['acme/shop']);
    for (const { to } of links) {
      expect(to.pathname).toBe(at(path).pathname);
      expect([...to.searchParams.keys()].filter((key) => key !== 'project')).toEqual(
        [...at(path).searchParams.keys()].filter((key) => key !== 'before'),
      );
    }
  }
  expect(switchOf(await text('/'))).toContain('All projects');
  expect(switchOf(await text(into('/', of(''))))).toContain('In no project');
});

test('a project is there under an earlier name', async () => {
  await database.query(`select project_rename('acme/bank', 'acme/savings')`);
  for (const name of ['acme/bank', 'acme/savings']) {
    const body = await text(into('/work', of(name)));
    expect([name, said(body)]).toEqual([name, ['osprey', 'wagtail']]);
    expect(body).toMatch(/aria-current="true"><span title="acme\/savings">/);
  }
});

test('a project that is not there is said so, and nothing is shown', async () => {
  for (const name of [
    'nowhere',
    'acme',
    "'; drop table work_items; --",
    '<script>alert(1)</script>',
    '\0',
    'x'.repeat(5000),
    'acme/shop ',
    '‮',
    '%',
    '*',
  ]) {
    for (const path of ['/', '/work', '/sessions', '/knowledge?q=by', '/notes']) {
      const answer = await get(into(path, of(name)));
      const body = await answer.text();
      expect([name, path, answer.status, said(body)]).toEqual([name, path, 404, []]);
      expect(body).toContain('There is no such project');
      expect(body).not.toMatch(/<script>|\u202e/);
      expect(body).toContain('<a class="btn" href="?">All projects</a>');
    }
    for (const part of ['/part/underWay', '/work/part/list']) expect([name, (await get(into(part, of(name)))).status]).toEqual([name, 404]);
  }
});

test('where there is one project, there is no switch unless it is chosen', async () => {
  const other = await playedDatabase();
  const console = await startConsole({ url: other.url, schema: 'ledger', port: 0 });
  try {
    await other.query(`select count(*) from work_submit('a', 'One', p_project => 'only')`);
    const page = async (path: string): Promise<string> => (await fetch(new URL(path, console.address))).text();
    expect(await page('/work')).not.toContain('class="projects"');
    expect(await page('/work?project=only')).toContain('class="projects"');
    expect(await page('/work?project=')).toContain('class="projects"');
  } finally {
    await console.close();
    await other.drop();
  }
});
