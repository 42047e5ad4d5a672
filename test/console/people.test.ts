// In whose name people act on the console: each with a token, whom a proxy names, or who started it.

import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { userInfo } from 'node:os';

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console, ConsoleOptions } from '../../runtime/console/server.ts';
import { isProxyAt } from '../../runtime/console/visitors.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

const secret = 'a secret of the proxy'.replaceAll(' ', '-');
let database: TestDatabase;
let db: Db;
let item: string;

beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
  item = (await db.workSubmit({ workType: 'analyze', description: 'Find why the nightly import is slow' })).id;
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

async function on(options: Partial<ConsoleOptions>, use: (console: Console) => Promise<void>): Promise<void> {
  const running = await startConsole({ url: database.url, schema: 'ledger', port: 0, ...options });
  try {
    await use(running);
  } finally {
    await running.close();
  }
}

type Sent = { status: number; text: string; cookie: string };
/** fetch() would not send every header. */
function send(
  { port }: Console,
  path: string,
  headers: Record<string, string | string[]> = {},
  fields?: Record<string, string>,
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const body = fields && new URLSearchParams(fields).toString();
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          origin: `http://127.0.0.1:${port}`,
          ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
      },
      (answer) => {
        let text = '';
        answer
          .setEncoding('utf8')
          .on('data', (part) => (text += part))
          .on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              text,
              cookie: (answer.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; '),
            }),
          );
      },
    );
    asked.on('error', reject).end(body === undefined ? undefined : Buffer.from(body)); // a text would change how the headers are encoded
  });
}
const formToken = (text: string): string => /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
const says = async (running: Console, headers: Record<string, string | string[]>, content: string): Promise<Sent> =>
  send(running, `/work/${item}/message`, headers, {
    form_token: formToken((await send(running, `/work/${item}`, headers)).text),
    content,
    back: `/work/${item}`,
  });
const signed = async (content: string): Promise<unknown> =>
  (await database.query(`select person from ledger.inbox where content = '${content}'`)).map(({ person }) => person);

test('each acts in their own name, by a token of their own, which is nowhere else', async () => {
  const [ann, bob] = [await db.personAdd('Ann Lee'), await db.personAdd('Bob')];
  await on({ hasPeople: true }, async (running) => {
    expect(running.token).toBe('');
    for (const path of ['/', '/work', '/assets/style.css', '/events?page=/', `/work/${item}/export`])
      expect([path, (await send(running, path)).status]).toEqual([path, 403]);
    expect((await send(running, '/', { accept: 'text/html' })).text).toContain('action="/login"');
    const entered = await send(running, '/login', {}, { token: ann.token, back: '//evil.example/work' });
    expect([entered.status, entered.cookie]).toEqual([303, expect.stringMatching(/^work_ledger_console_\d+=[\w-]{32}$/)]);
    expect(entered.cookie).not.toContain(ann.token);
    const asAnn = { cookie: entered.cookie };
    const asBob = { cookie: (await send(running, `/?token=${bob.token}`)).cookie };
    expect((await send(running, '/', asAnn)).text).toMatch(/class="who">.*Ann Lee/);
    expect((await says(running, asAnn, 'by Ann')).status).toBe(303);
    expect((await says(running, asBob, 'by Bob')).status).toBe(303);
    expect([await signed('by Ann'), await signed('by Bob')]).toEqual([['Ann Lee'], ['Bob']]);
    // A form is made for one person, and from a page of the console.
    const ofBob = formToken((await send(running, `/work/${item}`, asBob)).text);
    expect((await send(running, `/work/${item}/message`, asAnn, { form_token: ofBob, content: 'x' })).status).toBe(403);
    expect((await send(running, '/login', { origin: 'http://evil.example' }, { token: ann.token })).status).toBe(403);
    for (const wrong of ['', 'wrong', `${ann.token}x`, `wlp_${'A'.repeat(43)}`, entered.cookie]) {
      const refused = await send(running, '/login', {}, { token: wrong });
      expect([wrong, refused.status, refused.cookie]).toEqual([wrong, 403, '']);
    }
    expect(
      (await send(running, `/work/${item}/pause`, asAnn, { form_token: formToken((await send(running, `/work/${item}`, asAnn)).text) }))
        .status,
    ).toBe(303);
    expect((await db.workItem(item))?.state_reason).toBe('paused by hand (Ann Lee)');
    expect((await send(running, `/work/${item}`, asAnn)).text).toContain('paused by hand (Ann Lee)');
    await db.workResume(item);
    expect((await send(running, '/logout', asBob, { form_token: ofBob })).status).toBe(303);
    expect((await send(running, '/', asBob)).status).toBe(403);
  });
});

test('a revoked token decides nothing, also on a page that is open', async () => {
  const { token } = await db.personAdd('Carl');
  await on({ hasPeople: true }, async (running) => {
    const own = { cookie: (await send(running, `/?token=${token}`)).cookie };
    const form = formToken((await send(running, `/work/${item}`, own)).text);
    await db.personRevoke('Carl');
    const refused = await send(
      running,
      `/work/${item}/message`,
      { ...own, accept: 'application/json' },
      { form_token: form, content: 'too late' },
    );
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('wrong or was revoked')]);
    expect(await signed('too late')).toEqual([]);
    expect((await send(running, `/?token=${token}`)).cookie).toBe('');
  });
});

test('a proxy is believed by its secret, from where it is, and no browser is', async () => {
  await on({ proxy: { header: 'X-Forwarded-User', secret, addresses: [] } }, async (running) => {
    expect(running.token).toBe('');
    const proxied = (name: string | string[]): Record<string, string | string[]> => ({
      'x-work-ledger-proxy': secret,
      'x-forwarded-user': name,
    });
    expect((await send(running, '/', proxied('zoe@example.org'))).text).toMatch(/class="who">.*zoe@example\.org/);
    expect((await says(running, proxied('zoe@example.org'), 'by Zoe')).status).toBe(303);
    expect((await says(running, proxied(Buffer.from('Zoë').toString('latin1')), 'by Zoë')).status).toBe(303);
    expect([await signed('by Zoe'), await signed('by Zoë')]).toEqual([['zoe@example.org'], ['Zoë']]);
    for (const forged of [
      { 'x-forwarded-user': 'zoe@example.org' },
      { 'x-forwarded-user': 'zoe@example.org', 'x-work-ledger-proxy': 'wrong' },
      { 'x-work-ledger-proxy': secret },
      proxied(''),
      proxied(['admin', 'zoe@example.org']),
      proxied('admin, zoe@example.org'),
    ])
      expect([forged, (await send(running, '/', forged)).status]).toEqual([forged, 403]);
    // Another origin, another person's form.
    const ofZoe = formToken((await send(running, `/work/${item}`, proxied('zoe@example.org'))).text);
    expect(
      (
        await send(
          running,
          `/work/${item}/message`,
          { ...proxied('zoe@example.org'), origin: 'http://evil.example' },
          { form_token: ofZoe, content: 'x' },
        )
      ).status,
    ).toBe(403);
    expect((await send(running, `/work/${item}/message`, proxied('bob'), { form_token: ofZoe, content: 'x' })).status).toBe(403);
    const { token } = await db.personAdd('Dora');
    expect((await send(running, `/?token=${token}`)).cookie).toBe('');
  });
  await on({ proxy: { header: 'x-user', secret, addresses: [] } }, async (running) => {
    expect((await send(running, '/', { 'x-user': 'ann', 'x-work-ledger-proxy': secret })).status).toBe(200);
    expect((await send(running, '/', { 'x-forwarded-user': 'ann', 'x-work-ledger-proxy': secret })).status).toBe(403);
  });
});

test('a proxy is where it was said to be: on this machine, or at an address that is named', () => {
  for (const [peer, is] of [
    ['127.0.0.1', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.7', true],
    ['::ffff:10.0.0.7', true],
    ['fd00::7', true],
    ['10.0.0.70', false],
    ['192.168.0.1', false],
    ['', false],
  ] as const) {
    expect([peer, isProxyAt(peer, ['10.0.0.7', 'fd00::7'])]).toEqual([peer, is]);
    expect([peer, isProxyAt(peer, [])]).toEqual([peer, is && /127|^::1$/.test(peer)]);
  }
});

test('without a proxy its headers say nothing, and who started the console is named', async () => {
  await on({}, async (running) => {
    const own = {
      cookie: (await send(running, `/?token=${running.token}`)).cookie,
      'x-forwarded-user': 'admin',
      'x-work-ledger-proxy': secret,
    };
    expect((await says(running, own, 'by me')).status).toBe(303);
    expect([running.osUser, await signed('by me')]).toEqual([userInfo().username, [userInfo().username]]);
    expect((await send(running, '/', { 'x-forwarded-user': 'admin' })).text).not.toContain('admin');
  });
  await on({ host: '0.0.0.0' }, async (running) => {
    const own = { cookie: (await send(running, `/?token=${running.token}`)).cookie };
    expect((await says(running, own, 'by whoever')).status).toBe(303);
    expect([running.osUser, await signed('by whoever')]).toEqual([null, [null]]);
  });
});

test('a role that may not vouch names nobody, and serves no proxy', async () => {
  const prefix = `people${process.pid}_`;
  const login = `${prefix}login`;
  await database.query(`select ledger.work_roles_create('${prefix}')`);
  await database.query(`create role ${login} login; grant ${prefix}admin to ${login}`);
  const url = database.url.replace('postgres@', `${login}@`);
  try {
    await on({ url }, async (running) => {
      const own = { cookie: (await send(running, `/?token=${running.token}`)).cookie };
      expect((await says(running, own, 'by a role')).status).toBe(303);
      expect([running.osUser, await signed('by a role')]).toEqual([null, [null]]);
    });
    await expect(startConsole({ url, schema: 'ledger', port: 0, proxy: { header: 'x-user', secret, addresses: [] } })).rejects.toThrow(
      'may not vouch for people',
    );
    const { token } = await db.personAdd('Eve');
    await on({ url, hasPeople: true }, async (running) => {
      expect((await says(running, { cookie: (await send(running, `/?token=${token}`)).cookie }, 'by Eve')).status).toBe(303);
      expect(await signed('by Eve')).toEqual(['Eve']);
    });
    await database.query(`grant ${prefix}console to ${login}`);
    await on({ url, proxy: { header: 'x-user', secret, addresses: [] } }, async (running) => {
      expect((await says(running, { 'x-user': 'Fay', 'x-work-ledger-proxy': secret }, 'by Fay')).status).toBe(303);
      expect(await signed('by Fay')).toEqual(['Fay']);
    });
    const reader = new pg.Client({ connectionString: url });
    await reader.connect();
    try {
      await expect(reader.query('select token_hash from ledger.people')).rejects.toMatchObject({ code: '42501' });
    } finally {
      await reader.end();
    }
  } finally {
    await database.query(`drop role ${login}`);
    await database.query('select ledger.work_roles_drop()');
  }
});

test('the form token of one run is that of no other', async () => {
  await on({}, async (running) => {
    const own = { cookie: (await send(running, `/?token=${running.token}`)).cookie };
    const forged = createHmac('sha256', 'another').update('form').digest('base64url');
    expect((await send(running, `/work/${item}/message`, own, { form_token: forged, content: 'x' })).status).toBe(403);
  });
});
