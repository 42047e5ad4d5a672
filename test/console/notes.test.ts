// Notes of projects in the console: read, with who wrote each line and who was shown it; written, rolled back, pinned and erased by forms,
// by whoever may; no edit of others is lost, and nothing that was typed either.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console, ConsoleOptions } from '../../runtime/console/server.ts';
import { playedDatabase } from '../playedDatabase.ts';
import type { Played } from '../playedDatabase.ts';

let database: Played;
let running: Console;
let cookie: string;

beforeAll(async () => {
  database = await playedDatabase();
  await database.query(
    `select count(*) from work_submit('a', 'One', p_project => 'shop') a, work_submit('a', 'Two', p_project => 'bank') b`,
  );
  running = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
  cookie = await enter(running);
});
afterAll(async () => {
  await running?.close();
  await database?.drop();
});

const enter = async (console: Console): Promise<string> =>
  ((await fetch(`${console.address}?token=${console.token}`, { redirect: 'manual' })).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const text = async (path: string, console = running, own = cookie): Promise<string> =>
  (await fetch(new URL(path, console.address), { headers: { cookie: own } })).text();
/** A note of the project shop, by its id, with these texts one after the other. */
async function note(path: string, ...texts: string[]): Promise<string> {
  for (const [i, one] of texts.entries())
    await database.query(`select memory_write('/memories/${path}', ${quoted(one)}, 'shop', ${i === 0 ? 'null' : i})`);
  const [found] = await database.query<{ id: string }>(`select file_id as id from v_memory_files where path = '/memories/${path}'`);
  return found?.id ?? '';
}
const now = async (id: string): Promise<unknown> =>
  (await database.query(`select version, content from v_memory_files where file_id = '${id}'`))[0];

/** `accept` text/html: as a browser without a script. */
async function post(
  path: string,
  fields: Record<string, string>,
  options: { console?: Console; own?: string; accept?: string; back?: string; token?: string } = {},
): Promise<Response> {
  const { console = running, own = cookie, accept = 'application/json', back = '/notes' } = options;
  const token = options.token ?? /name="form_token" value="([^"]+)"/.exec(await text('/notes/edit', console, own))?.[1] ?? '';
  return fetch(new URL(path, console.address), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: own, origin: new URL(console.address).origin, accept },
    body: new URLSearchParams({ form_token: token, back, ...fields }),
  });
}
const says = async (answer: Response): Promise<string> => ((await answer.json()) as { says: string }).says;
/** What a browser would send again from the editor of a page, unchanged. */
const typedIn = (page: string): string | undefined =>
  /<textarea[^>]*>\n?([\s\S]*?)<\/textarea>/
    .exec(page)?.[1]
    ?.replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

test('the list has the notes of all projects, or of one with those in none', async () => {
  await note('list.md', 'of the shop');
  await database.query(
    `select memory_write('/memories/bank.md', 'of the bank', 'bank'), memory_write('/memories/none.md', 'of none'), memory_pin('/memories/bank.md', true, 'bank')`,
  );
  const of = async (path: string): Promise<string[]> =>
    [...(await text(path)).matchAll(/href="\/note\/[^"]*">([^<]*)</g)].map(([, one = '']) => one);
  expect(await of('/notes')).toEqual(['/memories/none.md', '/memories/bank.md', '/memories/list.md']);
  expect(await of('/notes?project=shop')).toEqual(['/memories/none.md', '/memories/list.md']);
  expect(await of('/notes?project=')).toEqual(['/memories/none.md']);
  expect(await text('/notes')).toMatch(/bank\.md<\/a> <span class="chip">pinned<\/span>/);
  const [last] = await database.query<{ id: string }>(`select file_id as id from v_memory_files where path = '/memories/bank.md'`);
  expect(await of(`/notes?after=${last?.id}`)).toEqual(['/memories/list.md']);
});

test('a note is text, with who wrote each line, how many were shown it since, and its history', async () => {
  const hostile = '"><script>alert(1)</script> \u202eturned';
  const id = await note('lines.md', `${hostile}\nkept`, 'kept\nlater');
  await database.query(
    `select memory_command('{"command": "view", "path": "/memories/lines.md"}', 'shop', p_reader => 'somebody <b>'), memory_write('/memories/lines.md', E'kept\\nlater\\nnewest', 'shop', 2, 'a <i>reason</i>')`,
  );
  const page = await text(`/note/${id}`);
  expect(page).not.toMatch(/<script>alert|<i>|<b>[^<]*<b>|\u202e/);
  expect(page).toMatch(/data-n="1">kept<[\s\S]*?version 1<\/a> [\s\S]*?shown to 1</);
  expect(page).toMatch(/data-n="3">newest<[\s\S]*?version 3<\/a> [\s\S]*?shown to nobody/);
  expect(page).toContain('somebody &lt;b&gt;');
  expect(page).toMatch(/version 3<\/a> · write · [\s\S]*?a &lt;i&gt;reason&lt;\/i&gt;[\s\S]*?<div class="add">\+ newest</);
  const old = await text(`/note/${id}?version=1`);
  expect(old).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt; ⟨U+202E⟩turned\nkept</pre>');
  expect(await text(`/note/${id}?version=9`)).toContain('There is no such version');
  expect((await fetch(new URL(`/note/01a202dc-0000-7000-8000-000000000000`, running.address))).status).toBe(404);
});

test('an open page of a note is told what is written, pinned and viewed', async () => {
  const id = await note('live.md', 'one');
  const version = async (): Promise<string | undefined> => /data-part="says" data-version="([^"]+)"/.exec(await text(`/note/${id}`))?.[1];
  const seen = new Set([await version(), await version()]);
  expect(seen.size).toBe(1);
  for (const change of [
    `memory_write('/memories/live.md', 'two', 'shop', 1)`,
    `memory_pin('/memories/live.md', true, 'shop')`,
    `memory_command('{"command": "view", "path": "/memories/live.md"}', 'shop', p_reader => 'r')`,
  ]) {
    await database.query(`select ${change}`);
    const next = await version();
    expect([change, seen.has(next)]).toEqual([change, false]);
    seen.add(next);
  }
});

test('what is typed is written as it was typed, over the version that was read', async () => {
  const id = await note('edit.md', '\n  first & "<last>"\n');
  const page = await text(`/notes/edit?note=${id}`);
  expect(typedIn(page)).toBe('\n  first & "<last>"\n');
  expect(page).toMatch(/name="version" min="1" required value="1"/);
  const done = await post(
    `/note/${id}/write`,
    { version: '1', content: '\r\n  first\r\nsecond\r\n', why: 'because' },
    { accept: 'text/html' },
  );
  expect([done.status, done.headers.get('location')]).toEqual([303, `/note/${id}`]);
  expect(await now(id)).toEqual({ version: 2, content: '\n  first\nsecond\n' });
  expect(await database.query(`select why, person from memory_versions where file_id = '${id}' and version = 2`)).toEqual([
    { why: 'because', person: running.osUser },
  ]);
});

test('an edit that others overtook is refused with what they changed, and keeps what was typed', async () => {
  const id = await note('race.md', 'one', 'one\ntheirs');
  const mine = { version: '1', content: 'one\r\n"mine" & <more>', why: 'my reason' };
  const refused = await post(`/note/${id}/write`, mine, { accept: 'text/html', back: `/notes/edit?note=${id}` });
  const page = await refused.text();
  expect(refused.status).toBe(409);
  expect(page).toMatch(/<p class="refused bad" role="alert">[^<]*was changed since you viewed it[^<]*\n\+ theirs\n[^<]*WL008/);
  expect(typedIn(page)).toBe('one\r\n"mine" & <more>'.replaceAll('\r\n', '\n'));
  expect(page).toMatch(/name="version" min="1" required value="1"/); // not the newest by itself: that would overwrite it
  expect(page).toContain('value="my reason"');
  expect(await now(id)).toEqual({ version: 2, content: 'one\ntheirs' });
  expect((await post(`/note/${id}/write`, { ...mine, version: '2' })).status).toBe(200);
  expect(await now(id)).toEqual({ version: 3, content: 'one\n"mine" & <more>' });
  for (const version of ['', 'x', '9'])
    expect([version, (await post(`/note/${id}/write`, { ...mine, content: 'other', version })).status]).toEqual([version, 409]);
});

test('what a page could not show as it is, it does not offer to edit', async () => {
  const id = await note('hidden.md', 'a\u200bb');
  const page = await text(`/notes/edit?note=${id}`);
  expect(page).not.toContain('<textarea');
  expect(page).toContain('characters that a page cannot show');
});

test('a new note is written where it is said, and never over another', async () => {
  const fields = { path: 'new/style.md', of: encodeURIComponent('shop'), content: 'Tabs.' };
  const answer = await post('/notes/write', fields);
  const { to } = (await answer.json()) as { to: string };
  expect(await text(to)).toContain('<h1 dir="auto">/memories/new/style.md</h1>');
  const again = await post('/notes/write', { ...fields, content: 'Blanks.' }, { accept: 'text/html', back: '/notes/edit' });
  const page = await again.text();
  expect(page).toMatch(/role="alert">[^<]*already exists[^<]*WL006/);
  expect([typedIn(page), page.includes('value="new/style.md"'), /value="shop" selected/.test(page)]).toEqual(['Blanks.', true, true]);
  for (const [wrong, words] of [
    [{ path: ' ' }, 'a note needs a path (WL002).'],
    [{ path: '../x' }, expect.stringContaining('WL002')],
    [{ of: '%' }, 'that is not the name of a project (WL002).'],
    [{ path: 'long.md', content: 'x'.repeat(70_000) }, expect.stringContaining('WL009')],
  ] as const) {
    const refused = await post('/notes/write', { ...fields, ...wrong });
    expect([wrong.path, refused.status, await says(refused)]).toEqual([wrong.path, 409, words]);
  }
});

test('an earlier version is said again, unless the note changed meanwhile; so is one that was deleted', async () => {
  const id = await note('back.md', 'old', 'new');
  const page = await text(`/note/${id}?version=1`);
  expect(page).toContain('name="replaces" value="2"');
  expect(await says(await post(`/note/${id}/rollback`, { version: '1', replaces: '1' }))).toMatch(/was changed.*WL008/s);
  expect((await post(`/note/${id}/rollback`, { version: '1', replaces: '2', why: 'it was better' })).status).toBe(200);
  expect(await now(id)).toEqual({ version: 3, content: 'old' });
  await database.query(`select memory_command('{"command": "delete", "path": "/memories/back.md"}', 'shop')`);
  expect(await text(`/note/${id}`)).toMatch(/deleted<\/span> as version[\s\S]*An earlier version can be brought back/);
  expect(await text(`/notes/edit?note=${id}`)).toContain('There is nothing here');
  expect((await post(`/note/${id}/rollback`, { version: '2', replaces: '4' })).status).toBe(200);
  expect(await now(id)).toEqual({ version: 5, content: 'new' });
  await database.query(
    `select memory_command('{"command": "delete", "path": "/memories/back.md"}', 'shop'), memory_write('/memories/other.md', 'another', 'shop')`,
  );
  await database.query(
    `select memory_command('{"command": "rename", "old_path": "/memories/other.md", "new_path": "/memories/back.md"}', 'shop')`,
  );
  expect(await says(await post(`/note/${id}/rollback`, { version: '1', replaces: '6' }))).toBe(
    'another note is /memories/back.md by now (WL006).',
  );
});

test('a note is pinned as it was looked at, and what is too long for every first message is refused beside the button', async () => {
  const id = await note('pin.md', 'short');
  const pinned = (version?: string): Promise<Response> => post(`/note/${id}/pin`, version === undefined ? {} : { version });
  expect((await pinned('1')).status).toBe(200);
  await database.query(`select memory_write('/memories/pin.md', 'another', 'shop', 1)`);
  const page = await text(`/note/${id}`);
  await database.query(`select memory_write('/memories/pin.md', 'written meanwhile', 'shop', 2)`);
  const seen = /pin"[^>]*>(?:(?!<\/form>).)*name="version" value="(\d)"/s.exec(page)?.[1];
  expect(seen).toBe('2');
  expect(await says(await pinned(seen))).toMatch(/WL008/);
  expect((await pinned()).status).toBe(409);
  expect(await text(`/note/${id}`)).toMatch(/agents are told version 1</);
  expect(page).toMatch(/agents are told version 1</);
  expect(page).toContain('Pin version 2');
  const long = await note('pinned-long.md', 'word '.repeat(1000));
  const refused = await (await post(`/note/${long}/pin`, { version: '1' }, { accept: 'text/html', back: `/note/${long}` })).text();
  expect(refused).toMatch(/<p class="refused bad" role="alert">[^<]*of at most 500[^<]*WL009/);
  expect((await post(`/note/${id}/unpin`, {})).status).toBe(200);
  expect(await text(`/note/${id}`)).not.toContain('agents are told');
});

test('a note is erased with a reason, whole or but for its newest words', async () => {
  const id = await note('erase.md', 'first secret', 'second');
  expect(await says(await post(`/note/${id}/erase`, { reason: ' ' }))).toMatch(/needs a reason.*WL002/);
  expect((await post(`/note/${id}/erase`, { reason: 'asked for', keep: 'newest' })).status).toBe(200);
  expect(await now(id)).toEqual({ version: 2, content: 'second' });
  const old = await text(`/note/${id}?version=1`);
  expect(old).not.toContain('first secret');
  expect(old).not.toContain('Say this again');
  expect((await post(`/note/${id}/erase`, { reason: 'asked for' })).status).toBe(200);
  expect(await now(id)).toBeUndefined();
});

test('what several agents were told of is suggested, and put into a note by hand', async () => {
  const hostile = 'Redis <b>first</b> \u202e';
  const item = await database.play(`
    create temporary table source as select id from work_submit('untaken', 'Looks', p_project => 'told');
    select ledger_append(id, 'finding', E${quoted(`${hostile}\\nthen the tests`)}) from source;
    select agent('{"tools": ["look"]}');
    select take((work_submit('analyze', 'Reads', p_project => 'told')).id), play('[[["look"]]]') from generate_series(1, 2);
    select id from source`);
  await database.query(`select memory_write('/memories/told.md', 'First', 'told')`);
  const id =
    (await database.query<{ id: string }>(`select file_id as id from v_memory_files where path = '/memories/told.md'`))[0]?.id ?? '';
  expect(await text('/notes/part/suggested')).toContain('Choose a project above');
  const page = await text('/notes/part/suggested?project=told');
  expect(page).toMatch(/>finding<\/a> · told to 2 since/);
  expect(page).toContain('Redis &lt;b&gt;first&lt;/b&gt; ⟨U+202E⟩ then the tests');
  expect(page).toContain(`<option value="${id}">/memories/told.md</option>`);
  expect(await text('/notes/part/suggested?project=told', running, '')).not.toContain('<form');
  expect(await text('/notes?project=shop')).toContain('No suggestions');
  const add = encodeURIComponent(`${item}/1`);
  expect(/name="add" value="([^"]+)"/.exec(page)?.[1]).toBe(`${item}/1`);
  expect(await text(`/notes/edit?of=told&note=&add=${add}`)).toMatch(/value="told" selected[\s\S]*- Redis/);
  const editor = await text(`/notes/edit?of=told&note=${id}&add=${add}`);
  expect(typedIn(editor)).toBe('First\n- Redis <b>first</b> ⟨U+202E⟩ then the tests\n');
  const why = /name="why" value="([^"]*)"/.exec(editor)?.[1] ?? '';
  expect(why).toBe(`finding ${item}/1`);
  expect((await post(`/note/${id}/write`, { version: '1', content: 'First\n- Start Redis.\n', why })).status).toBe(200);
  expect(await text('/notes/part/suggested?project=told')).toContain('No suggestions');
  for (const wrong of ['x', `${item}/9`, `${item}/x`, '01a202dc-0000-7000-8000-000000000000/1'])
    expect(typedIn(await text(`/notes/edit?note=&add=${encodeURIComponent(wrong)}`))).toBe('');
});

test('whoever may not, changes nothing', async () => {
  const id = await note('kept.md', 'as it is', 'as it is now');
  const forms: [string, Record<string, string>][] = [
    [`/note/${id}/write`, { version: '2', content: 'x' }],
    [`/note/${id}/rollback`, { version: '1', replaces: '2' }],
    [`/note/${id}/pin`, { version: '2' }],
    [`/note/${id}/erase`, { reason: 'x' }],
    ['/notes/write', { path: 'x.md', of: 'shop', content: 'x' }],
  ];
  const [prefix, login] = [`notes${process.pid}_`, `notes${process.pid}_login`];
  await database.query(`select ledger.work_roles_create('${prefix}'); create role ${login} login; grant ${prefix}reader to ${login}`);
  const on = async (options: Partial<ConsoleOptions>, use: (console: Console, own: string) => Promise<void>): Promise<void> => {
    const console = await startConsole({ url: database.url, schema: 'ledger', port: 0, ...options });
    try {
      await use(console, await enter(console));
    } finally {
      await console.close();
    }
  };
  try {
    await on({ url: database.url.replace('postgres@', `${login}@`) }, async (console, own) => {
      expect(await text(`/note/${id}`, console, own)).toMatch(/data-n="1">as it is now</);
      for (const [path, fields] of forms) {
        const answer = await post(path, fields, { console, own });
        expect([path, answer.status, await says(answer)]).toEqual([path, 409, expect.stringMatching(/permission denied.*42501/)]);
      }
    });
    await on({ isReadOnly: true }, async (console, own) => {
      for (const path of ['/notes', `/note/${id}`, `/note/${id}?version=1`, `/notes/edit?note=${id}`])
        expect([path, /method="post"|New note|>Edit</.exec(await text(path, console, own))?.[0]]).toEqual([path, undefined]);
      for (const [path, fields] of forms) expect([path, (await post(path, fields, { console, own })).status]).toEqual([path, 403]);
    });
    for (const [path, fields] of forms) {
      expect([path, (await post(path, fields, { own: '', token: 'x' })).status]).toEqual([path, 403]);
      expect([path, (await post(path, fields, { token: 'wrong' })).status]).toEqual([path, 403]);
    }
    expect(await text(`/note/${id}`, running, '')).not.toContain('method="post"');
  } finally {
    await database.query(`drop role ${login}`);
    await database.query('select ledger.work_roles_drop()');
  }
  expect(await now(id)).toEqual({ version: 2, content: 'as it is now' });
});
