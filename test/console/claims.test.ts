// What work holds for itself, on its page and on that of who waits for it; and a person who takes it away.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console, ConsoleOptions } from '../../runtime/console/server.ts';
import { playedDatabase } from '../playedDatabase.ts';
import type { Played } from '../playedDatabase.ts';

const keys = ['the staging server', '"><script>alert(1)</script>', "it's 100 % \u202eturned round\nin two lines", 'x'.repeat(1000)];
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

let database: Played;
let running: Console;
let cookie: string;
let holder: string;
let waiting: string;

beforeAll(async () => {
  database = await playedDatabase();
  holder = await database.play(
    `select agent('{"tools": ["look"]}'), submit('Moves the server'); select drive(); update foci set lease_expires_at = now() + interval '1 hour'; select item()`,
  );
  await take(...keys);
  waiting = await database.play(`
    select submit('Waits for the server'); select drive();
    select answer('[["wait_for", {"claim": "the staging server"}]]'); select run('[]'); select iteration_finish(item(), lease()); select item()`);
  running = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
  cookie = await enter(running);
});
afterAll(async () => {
  await running?.close();
  await database?.drop();
});

async function take(...all: string[]): Promise<void> {
  for (const key of all)
    await database.query(
      `select claim_take('${holder}', ${quoted(key)}, p_why => 'Not <b>during</b> the move', p_lease => (select lease from held where item = '${holder}'))`,
    );
}
const enter = async (console: Console): Promise<string> =>
  ((await fetch(`${console.address}?token=${console.token}`, { redirect: 'manual' })).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
const text = async (path: string, console = running, own = cookie): Promise<string> =>
  (await fetch(new URL(path, console.address), { headers: { cookie: own } })).text();
const held = async (): Promise<string[]> =>
  (await database.query<{ key: string }>('select key from claims order by key')).map(({ key }) => key);
const tokenOf = (body: string): string => /name="form_token" value="([^"]+)"/.exec(body)?.[1] ?? '';

async function release(
  fields: Record<string, string>,
  options: { console?: Console; own?: string; accept?: string; item?: string } = {},
): Promise<Response> {
  const { console = running, own = cookie, accept = 'application/json', item = holder } = options;
  return fetch(new URL(`/work/${item}/release`, console.address), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: own, origin: new URL(console.address).origin, accept },
    body: new URLSearchParams({
      form_token: tokenOf(await text(`/work/${holder}`, console, own)),
      back: `/work/${holder}?project=`,
      ...fields,
    }),
  });
}
const says = async (answer: Response): Promise<string> => ((await answer.json()) as { says: string }).says;

test('an item shows what it holds, and how much where it is one of many', async () => {
  const body = await text(`/work/${holder}/part/claims`);
  expect([...body.matchAll(/<li class="line"/g)].length).toBe(keys.length);
  expect(body).toContain('the staging server');
  expect(body).toMatch(/>exclusive<\/span>.*since .* until /s);
  expect(body).toContain('Not &lt;b&gt;during&lt;/b&gt; the move');
  expect(body).not.toMatch(/<script>|<b>during|\u202e/);
  expect(await text('/part/underWay')).toContain('holds 4 claims');
  expect(await text(`/work/${waiting}/part/claims`)).not.toContain('Claims');
});

test('what waits for a claim says for whose, and leads there', async () => {
  for (const path of [`/work/${waiting}`, '/']) {
    const body = await text(path);
    expect(body).toContain(`waits for the claim on the staging server, behind Worker/analyze (${holder.slice(-6)})`);
    expect(body).toContain(`<a class="accent" href="/work/${holder}">whose it is</a>`);
  }
});

test('whoever may not, takes nothing away', async () => {
  const [prefix, login] = [`claims${process.pid}_`, `claims${process.pid}_login`];
  await database.query(`select ledger.work_roles_create('${prefix}'); create role ${login} login; grant ${prefix}reader to ${login}`);
  const on = async (options: Partial<ConsoleOptions>, use: (console: Console, own: string) => Promise<void>): Promise<void> => {
    const console = await startConsole({ url: database.url, schema: 'ledger', port: 0, ...options });
    try {
      await use(console, await enter(console));
    } finally {
      await console.close();
    }
  };
  const claim = encodeURIComponent('the staging server');
  try {
    await on({ url: database.url.replace('postgres@', `${login}@`) }, async (console, own) => {
      const answer = await release({ claim }, { console, own });
      expect([answer.status, await says(answer)]).toEqual([409, expect.stringMatching(/permission denied.*42501/)]);
      expect(await (await release({ claim }, { console, own, accept: 'text/html' })).text()).toMatch(
        /<p class="refused bad pad" role="alert">[^<]*42501/,
      );
    });
    await on({ isReadOnly: true }, async (console, own) => {
      expect(await text(`/work/${holder}`, console, own)).toContain('the staging server');
      expect(await text(`/work/${holder}`, console, own)).not.toContain('Take away');
      expect((await release({ claim }, { console, own })).status).toBe(403);
    });
    expect((await release({ claim }, { own: '' })).status).toBe(403);
    expect((await release({ claim, form_token: 'wrong' })).status).toBe(403);
    expect(await text(`/work/${holder}`, running, '')).not.toContain('Take away');
  } finally {
    await database.query(`drop role ${login}`);
    await database.query('select ledger.work_roles_drop()');
  }
  expect(await held()).toEqual(keys.toSorted());
});

test('what is no claim of it is refused, and nothing is lost', async () => {
  for (const [fields, status, words] of [
    [{}, 409, 'which of its claims is missing (WL002).'],
    [{ claim: ' ' }, 409, 'which of its claims is missing (WL002).'],
    [{ claim: '%' }, 409, 'that is not the key of a claim (WL002).'],
    [{ claim: 'nothing' }, 409, 'it no longer holds that claim.'],
    [{ claim: "'; delete from claims; --" }, 409, 'it no longer holds that claim.'],
    [{ claim: 'x'.repeat(100_000) }, 409, 'it no longer holds that claim.'],
    [{ claim: '%00' }, 409, 'it no longer holds that claim.'],
  ] as const) {
    const answer = await release(fields);
    expect([fields, answer.status, await says(answer)]).toEqual([fields, status, words]);
  }
  expect((await release({ claim: 'x' }, { item: '01a202dc-0000-7000-8000-000000000000' })).status).toBe(409);
  expect(await held()).toEqual(keys.toSorted());
});

test('a person takes each away, once, by the form that the page has; its agent and its journal are told', async () => {
  const version = async (): Promise<string | undefined> =>
    /data-part="claims" data-version="([^"]+)"/.exec(await text(`/work/${holder}`))?.[1];
  const before = await version();
  const forms = [...(await text(`/work/${holder}`)).matchAll(/name="claim" value="([^"]+)"/g)].map(([, claim = '']) =>
    claim.replaceAll('&#39;', "'"),
  );
  expect(forms.map((claim) => decodeURIComponent(claim)).toSorted()).toEqual(keys.toSorted());
  for (const [i, claim] of forms.entries()) {
    const done = await release({ claim, reason: `Urgent <i>${i}</i>` }, { accept: 'text/html' });
    expect([done.status, done.headers.get('location')]).toEqual([303, `/work/${holder}?project=`]);
    expect((await release({ claim })).status).toBe(409);
    expect((await held()).length).toBe(keys.length - i - 1);
  }
  expect(await version()).not.toBe(before);
  expect(await text(`/work/${holder}/part/claims`)).not.toContain('Claims');
  const page = await text(`/work/${holder}`);
  expect(page).toContain('the staging server&quot; was broken by a person: Urgent &lt;i&gt;');
  const messages = await database.query<{ person: string | null }>(`select person from inbox where work_item_id = '${holder}'`);
  expect(messages.map(({ person }) => person)).toEqual(keys.map(() => running.osUser));
  const gone = await (await release({ claim: 'gone' }, { accept: 'text/html' })).text();
  expect(gone).toMatch(/<p class="bad" role="alert">it no longer holds that claim\.<\/p>/);
});
