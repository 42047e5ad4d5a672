// A ledger is read on a hot standby, where nothing can be written and nothing is notified: every function that reads, the views, the
// console, the commands that only read, and MCP's resources; by an address of its own, beside the one for writing.

import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { importFile } from '../../runtime/import/importFile.ts';
import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { connect, withConnection } from '../../runtime/ledger/connection.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { sqlState } from '../../runtime/ledger/errors.ts';
import { checkStandby } from '../../runtime/ledger/standby.ts';
import { cli as typed } from '../cli.ts';
import type { Ended } from '../cli.ts';
import { startCrew } from '../console/crew.ts';
import type { Crew } from '../console/crew.ts';
import { createDatabase } from '../database.ts';
import { longItem } from '../longItem.ts';
import { startStandby } from '../standby.ts';
import type { Standby } from '../standby.ts';
import { until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
const schema = 'work_ledger';
let dataDir: string;
let env: Record<string, string>;
let crew: Crew;
let primaryUrl: string;
let standby: Standby;
let running: Console;
let cookie: string;
let imported: string;
let long: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'wl-primary-'));
  await chmod(dataDir, 0o755);
  const primary = await ensureEmbedded({ dataDir, isDurable: false });
  primaryUrl = primary.url;
  await installLedger(primary.url, schema);
  crew = await startCrew(primary.url, schema);
  const report = await importFile(crew.db, fileURLToPath(new URL('../fixtures/claudeCode.jsonl', import.meta.url)));
  imported = 'sessions' in report ? (report.sessions[0]?.workItemId ?? '') : '';
  const client = new pg.Client(primary.url);
  await client.connect();
  long = await longItem(client, 400);
  await client.query(`select work_ledger._artifact_store(null, repeat('line of text ', 1000))`);
  await client.end();
  standby = await startStandby(primary);
  env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', DATABASE_URL: standby.url };
  await standby.caughtUp();
  running = await startConsole({ url: standby.url, schema, port: 0 });
  const entered = await fetch(`${running.address}?token=${running.token}`, { redirect: 'manual' });
  cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
});
afterAll(async () => {
  await running?.close();
  await standby?.stop();
  await crew?.close();
  await stopEmbedded(dataDir).catch(() => {});
  await rm(dataDir, { recursive: true, force: true });
});

const get = (path: string): Promise<Response> => fetch(new URL(path, running.address), { headers: { cookie } });
/** Its blocks have no numbers: it cannot be replayed under other policies. */
const isMade = (path: string): boolean => path.includes(long);
/** Ids and numbers aside: pages of one shape are made by the same queries. */
const shapeOf = (path: string): string => path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+|=[^&]*/g, '*');

test('it says how far it is behind, and all else as its primary does', async () => {
  const gauges = async (url: string): Promise<Map<string, number>> => {
    const db = await openDb(url, schema);
    try {
      return new Map((await db.workGauges()).map(({ metric, labels, value }) => [`${metric} ${JSON.stringify(labels)}`, value]));
    } finally {
      await db.close();
    }
  };
  const [here, there] = [await gauges(standby.url), await gauges(primaryUrl)];
  expect(here.get('work.standby.lag {"standby":"this"}')).toBeGreaterThanOrEqual(0);
  expect(there.has('work.standby.lag {"standby":"this"}')).toBe(false);
  const totals = (all: Map<string, number>): number => [...all.keys()].filter((key) => /^work\.(?:model|tool)\./.test(key)).length;
  expect(totals(here)).toBeGreaterThan(5);
  await standby.caughtUp();
  expect(totals(await gauges(standby.url))).toBe(totals(there));
});

test('every page that links lead to is read, with all its parts, and none has a form', async () => {
  const { ids } = crew;
  const root = `/work/${ids.root}`;
  const waiting = [
    '/',
    '/work',
    '/fleet',
    '/sessions',
    '/knowledge',
    '/keys',
    '/knowledge?q=import+lock',
    `/knowledge?as=${ids.review}`,
    `${root}/context?policy=never`,
    `/sessions?packet=${ids.paused}`,
    ...[root, `/work/${long}`, `/work/${imported}`, `/work/${ids.failed}`].flatMap((item) => [
      item,
      `${item}?q=lock`,
      `${item}/ledger`,
      `${item}/turns`,
      `${item}/cost`,
      `${item}/context`,
      `${item}/context?turn=2`,
    ]),
  ];
  const [named, seen, shapes] = [new Set(waiting), new Set<string>(), new Set<string>()];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const shape = shapeOf(path);
    if (seen.has(path) || (!named.has(path) && shapes.has(shape))) continue;
    seen.add(path);
    shapes.add(shape);
    const answer = await get(path);
    const body = await answer.text();
    expect([path, answer.status, body.includes('method="post"'), /failed-part[\s\S]{0,400}/.exec(body)?.[0]]).toEqual([
      path,
      200,
      false,
      undefined,
    ]);
    if (!answer.headers.get('content-type')?.startsWith('text/html')) continue;
    expect(body).toContain('read-only');
    const { pathname, search } = new URL(answer.url); // an address of a turn leads on to its request
    for (const [, name] of body.matchAll(/data-part="(\w+)"/g)) {
      if (name === 'policies' && isMade(path)) continue;
      const part = await get(`${pathname === '/' ? '' : pathname}/part/${name}${search}`);
      expect([path, name, part.status, /failed-part[\s\S]{0,400}/.exec(await part.text())?.[0]]).toEqual([path, name, 200, undefined]);
    }
    for (const [, href = ''] of body.matchAll(/href="(\/[^"#]*)/g))
      if (!href.startsWith('/assets/') && !(href.includes('policy=') && isMade(href))) waiting.push(href.replaceAll('&amp;', '&'));
  }
  expect([...shapes]).toEqual(expect.arrayContaining(['/call/*', '/work/*/block/*', '/turn/*/request', '/work/*/export']));
});

test('a page that is open follows what happens on the primary, though nothing notifies', async () => {
  const gone = new AbortController();
  const answer = await fetch(new URL(`/events?page=${encodeURIComponent(`/work/${crew.ids.review}/journal`)}`, running.address), {
    headers: { cookie },
    signal: gone.signal,
  });
  const versions: string[] = [];
  const reading = (async () => {
    let said = '';
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      said += new TextDecoder().decode(chunk);
      versions.splice(
        0,
        versions.length,
        ...[...said.matchAll(/event: parts\ndata: .*"journal":"([^"]+)"/g)].map(([, version = '']) => version),
      );
    }
  })().catch(() => {});
  await until(() => versions.length > 0);
  await crew.db.journal.log(crew.ids.review, 'user_feedback', { message: 'Seen from afar', isInterrupt: false }, 'high');
  await until(() => new Set(versions).size > 1);
  gone.abort();
  await reading;
  expect(await (await get(`/work/${crew.ids.review}/journal`)).text()).toContain('Seen from afar');
});

test('a form that comes nevertheless is refused before anything is tried', async () => {
  const { createHmac } = await import('node:crypto');
  const answer = await fetch(new URL(`/work/${crew.ids.paused}/resume`, running.address), {
    method: 'POST',
    headers: { cookie, origin: new URL(running.address).origin },
    body: new URLSearchParams({ form_token: createHmac('sha256', running.token).update('form').digest('base64url') }),
  });
  expect([answer.status, await answer.text()]).toEqual([403, 'This console is read-only.\n']);
});

/** Replays nothing meanwhile: the standby is behind by what is written on the primary. */
async function whileBehind(use: () => Promise<void>): Promise<void> {
  await standby.caughtUp();
  await withConnection({ connectionString: standby.url }, async (client) => {
    await client.query('select pg_wal_replay_pause()');
    await until(
      async () => (await client.query<{ state: string }>('select pg_get_wal_replay_pause_state() as state')).rows[0]?.state === 'paused',
    );
    try {
      await use();
    } finally {
      await client.query('select pg_wal_replay_resume()');
    }
  });
}

/** What functions that read are given: each argument, or that of one function, where it wants something else. */
function argumentsFor(item: string, known: Record<string, string | null>): Record<string, string | null> {
  return {
    p_work_item_id: item,
    p_session: item,
    p_format: 'claude-code',
    p_cwd: '/work',
    p_name: item,
    p_a: item,
    p_b: crew.ids.paused,
    p_turn_id: known['turn'] ?? null,
    p_focus_id: known['focus'] ?? null,
    p_handle: known['handle'] ?? null,
    p_at: 'now',
    p_query: 'lock',
    p_config: '{"name": "x"}',
    p_from: '-infinity',
    p_until: 'now',
    p_by: 'child',
    p_block: '1',
    p_directory: '/x',
    p_path: 'src/a.ts',
    p_of: 'shop',
    p_project: 'shop',
    p_work_item_ids: known['children'] ?? null,
    p_work_items: `{${item}}`,
    p_conversation_id: 'conversation',
    p_project_key: '-home',
    p_session_id: 'kept',
    p_after: null,
    p_content: '{}',
    p_text: '```js\n1\n```',
    p_schema: '{"type": "object"}',
    p_value: '{}',
    p_version: '0.2.0',
    p_seconds: '10',
    p_call: '1',
    p_policy: '{"elide_budget": 1000}',
    p_limit: '5',
    p_last_n: '3',
    p_with_content: 'true',
    p_is_everything: 'true',
    p_target_tokens: '2000',
    p_around: known['turn'] ?? null,
    p_from_turn_id: known['turn'] ?? null,
  };
}

test('every function that reads does so, and takes no lock that others wait for', async () => {
  const client = await connect({ connectionString: standby.url });
  const { rows: functions } = await client.query<{ oid: number; name: string; needs: string[]; takes: string[] }>(`
    select p.oid, p.proname as name, coalesce(p.proargnames[1:p.pronargs - p.pronargdefaults], '{}') as needs, coalesce(p.proargnames[1:p.pronargs], '{}') as takes
      from work_ledger._public_functions() f
      join pg_proc p on p.pronamespace = 'work_ledger'::regnamespace and p.proname = f.name
     where p.provolatile <> 'v' or 'reader' = any (f.roles)
     order by p.proname`);
  expect(functions.length).toBeGreaterThan(50);
  const { ids } = crew;
  const answered = new Map<string, string | null>(functions.map(({ name }) => [name, 'never asked']));
  for (const item of [ids.root, ids.done, imported]) {
    const {
      rows: [known],
    } = await client.query<Record<string, string | null>>(
      `
      select (select t.id from work_ledger.turns t where t.work_item_id = $1 and t.status = 'completed' order by t.depth desc limit 1) as turn,
             (select f.id from work_ledger.foci f where f.work_item_id = $1 order by f.attempt desc limit 1) as focus,
             array(select c.id from work_ledger.work_items c where c.parent_id = $1)::text as children, (select left(a.content_hash, 16) from work_ledger.artifacts a limit 1) as handle`,
      [item],
    );
    const given = argumentsFor(item, known ?? {});
    for (const { name, needs, takes } of functions) {
      for (const names of [needs, takes.filter((one) => needs.includes(one) || one in given)]) {
        const unknown = names.filter((one) => one !== 'p_item' && !(one in given));
        expect([name, unknown]).toEqual([name, []]);
        const values = names.map(
          (one) =>
            `${one} => ${one === 'p_item' ? `(select w from work_ledger.work_items w where w.id = '${item}')` : given[one] === null ? 'null' : client.escapeLiteral(given[one] ?? '')}`,
        );
        await client.query('begin');
        // What is not for a standby: to ask for notifications; no ledger is linked here; and what needs a JavaScript engine is nowhere
        // here.
        const apart = { ledger_watch: '25006', awareness_digest_linked: 'WL002' }[name] ?? '0A000';
        try {
          await client.query(`select * from work_ledger.${name}(${values.join(', ')})`);
          answered.set(name, null);
          expect([
            name,
            (await client.query(`select from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'`)).rowCount,
          ]).toEqual([name, 0]);
        } catch (error) {
          expect([name, item, sqlState(error), String(error)]).toEqual([
            name,
            item,
            expect.stringMatching(`^(WL0..|${apart})$`),
            expect.any(String),
          ]);
          if (answered.get(name) !== null) answered.set(name, sqlState(error) === apart ? null : String(error));
        }
        await client.query('rollback');
      }
    }
  }
  expect([...answered].filter(([, error]) => error !== null)).toEqual([]);
  const { rows: views } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'work_ledger'::regnamespace and relkind = 'v'`,
  );
  expect(views.length).toBeGreaterThan(20);
  for (const { name } of views) await client.query(`select * from work_ledger.${client.escapeIdentifier(name)} limit 100`);
  await client.end();
});

const cliIn = (own: Record<string, string>, ...args: string[]): Promise<Ended> => typed(args, { env: { ...env, ...own } });
const nowhere = 'postgresql://127.0.0.1:1/x';

test('what reads goes to WORK_LEDGER_READ_URL, what writes does not, and a database that is named nearer has none', async () => {
  const { ids } = crew;
  const apart = { DATABASE_URL: nowhere, WORK_LEDGER_READ_URL: standby.url };
  const forReading = [
    ['show', ids.root],
    ['list'],
    ['sessions'],
    ['logs', ids.root],
    ['cost', ids.root],
    ['trace', ids.root],
    ['top', '--all'],
    ['logs', ids.done, '--follow'],
    ['ledger', ids.root],
    ['digest'],
    ['approve'],
    ['export', ids.done],
    ['verify', '--heads', ids.root],
  ];
  const outcomes = await Promise.all(forReading.map((args) => cliIn(apart, ...args)));
  for (const [i, { code, stderr }] of outcomes.entries())
    expect([forReading[i], code, stderr]).toEqual([forReading[i], 0, expect.not.stringContaining('error')]);
  for (const args of [
    ['cancel', ids.root],
    ['ledger', 'append', ids.untaken, 'note', 'x'],
    ['budget', ids.root],
  ])
    expect(await cliIn(apart, ...args)).toMatchObject({ code: 1, stderr: expect.stringContaining('127.0.0.1:1/x cannot be reached') });
  expect(await cliIn({ DATABASE_URL: primaryUrl, WORK_LEDGER_READ_URL: nowhere }, 'list')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('correct DATABASE_URL or WORK_LEDGER_READ_URL'),
  });
  expect(await cliIn({ WORK_LEDGER_READ_URL: nowhere }, 'list', '--database-url', primaryUrl)).toMatchObject({ code: 0 });
  expect(await cliIn({ DATABASE_URL: nowhere }, 'list', '--read-url', standby.url)).toMatchObject({ code: 0 });

  const home = await mkdtemp(join(tmpdir(), 'wl-read-url-'));
  await mkdir(join(home, 'work-ledger'));
  await writeFile(join(home, 'work-ledger', 'work-ledger.toml'), `database_url = "${nowhere}"\nread_url = "${standby.url}"\n`);
  const ofFile = { DATABASE_URL: '', XDG_CONFIG_HOME: home };
  expect(await cliIn(ofFile, 'show', ids.root)).toMatchObject({ code: 0 });
  expect(await cliIn({ ...ofFile, DATABASE_URL: nowhere }, 'show', ids.root)).toMatchObject({ code: 1 });
  await rm(home, { recursive: true });
});

test('a standby that is behind is said to be', async () => {
  const apart = { DATABASE_URL: primaryUrl, WORK_LEDGER_READ_URL: standby.url };
  await until(async () => (await cliIn(apart, 'ledger', crew.ids.untaken)).stderr === '');
  await whileBehind(async () => {
    await crew.db.ledgerAppend(crew.ids.untaken, 'note', 'Not there yet');
    const read = await until(async () => {
      const found = await cliIn(apart, 'ledger', crew.ids.untaken);
      return found.stderr === '' ? null : found;
    });
    expect(read).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('Not there yet'),
      stderr: expect.stringMatching(/^read on a standby: this is the ledger as it was up to \d+s ago\n$/),
    });
    expect(await (await get('/')).text()).toMatch(/read on a standby, up to \d+ s behind/);
  });
  await standby.caughtUp();
  expect((await cliIn(apart, 'ledger', crew.ids.untaken)).stdout).toContain('Not there yet');
  expect(await (await get('/')).text()).not.toContain('read on a standby');
});

test('the doctor looks at the standby, too', async () => {
  const doctor = async (own: Record<string, string>): Promise<string> => (await cliIn(own, 'doctor')).stdout;
  expect(await doctor({ DATABASE_URL: primaryUrl, WORK_LEDGER_READ_URL: standby.url })).toMatch(
    /ok .* reading .*a standby, which has what the primary sent/,
  );
  expect(await doctor({ DATABASE_URL: primaryUrl, WORK_LEDGER_READ_URL: primaryUrl })).toMatch(/note .* reading .*no standby/);
  expect(await doctor({ DATABASE_URL: primaryUrl, WORK_LEDGER_READ_URL: nowhere })).toMatch(/look .* reading .*cannot be reached/);
  expect(await doctor({ DATABASE_URL: standby.url })).toMatch(/look .* writable .*this node accepts no writes: it is a standby/);
});

test('a console that reads on the standby acts on the primary, and then shows what was done', async () => {
  const apart = await startConsole({ url: standby.url, primaryUrl, schema, port: 0 });
  try {
    const entered = await fetch(`${apart.address}?token=${apart.token}`, { redirect: 'manual' });
    const own = { cookie: (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
    const page = async (): Promise<string> => (await fetch(new URL(`/work/${crew.ids.untaken}`, apart.address), { headers: own })).text();
    const say = async (message: string): Promise<Response> => {
      const body = await page();
      const action = /action="([^"]*\/feedback)"/.exec(body)?.[1] ?? '';
      const token = /name="form_token" value="([^"]*)"/.exec(body)?.[1] ?? '';
      return fetch(new URL(action, apart.address), {
        method: 'POST',
        redirect: 'manual',
        headers: { ...own, origin: new URL(apart.address).origin },
        body: new URLSearchParams({ form_token: token, message }),
      });
    };
    await withConnection({ connectionString: standby.url }, async (client) => {
      for (let n = 1; n <= 10; n++) {
        expect((await say(`Said from afar ${n}`)).status).toBe(303);
        expect(
          (await client.query(`select from work_ledger.journal_entries where content ->> 'message' = $1`, [`Said from afar ${n}`]))
            .rowCount,
        ).toBe(1);
      }
    });
    expect(await page()).toContain('Said from afar 10');
    await whileBehind(async () => {
      expect((await say('Said while it was behind')).status).toBe(303);
      await until(async () => (await page()).includes('read on a standby, up to'));
      expect(await page()).not.toContain('Said while it was behind');
    });
  } finally {
    await apart.close();
  }
});

test('a console or a server for agents that is given two databases does not take them for one', async () => {
  const other = await createDatabase();
  const [one, two] = [await openDb(primaryUrl, schema), await openDb(other.url, 'ledger')];
  await expect(checkStandby(two, one)).rejects.toThrow('leads to another server than a standby');
  await checkStandby(one, one);
  for (const db of [one, two]) await db.close();
  await other.drop();
});

test('an address that names both servers leads to the one that is wanted', async () => {
  const hosts = [standby.url, primaryUrl].map((url) => /@([^/]+)\//.exec(url)?.[1]).join(',');
  const at = async (attribute: string): Promise<boolean> =>
    withConnection(
      { connectionString: `postgresql://postgres@${hosts}/work_ledger?target_session_attrs=${attribute}` },
      async (client) => (await client.query<{ is: boolean }>('select pg_is_in_recovery() as is')).rows[0]?.is ?? false,
    );
  expect(await Promise.all(['read-write', 'primary', 'standby', 'read-only', 'prefer-standby', 'any'].map(at))).toEqual([
    false,
    false,
    true,
    true,
    true,
    true,
  ]);
});

test('the commands that only read work', async () => {
  const { ids } = crew;
  const cli = (...args: string[]): ReturnType<typeof cliIn> => cliIn({}, ...args);
  const forReading = [
    ['show', ids.root],
    ['list'],
    ['sessions'],
    ['logs', ids.root],
    ['cost', ids.root],
    ['cost'],
    ['trace', ids.root],
    ['top', '--all'],
    ['logs', ids.done, '--follow'],
    ['ledger', ids.root],
    ['digest'],
    ['digest', ids.root],
    ['approve'],
    ['budget', ids.root],
  ];
  const outcomes = await Promise.all(forReading.map(async (args) => ({ args, ...(await cli(...args)) })));
  for (const { args, code, stdout, stderr } of outcomes)
    expect([args, code, stdout !== '', stderr]).toEqual([args, 0, true, expect.not.stringMatching(/read-only|recovery/)]);
  expect(await cli('doctor')).toMatchObject({ code: 1, stdout: expect.stringContaining('this node accepts no writes') });
  expect(await cli('cancel', ids.root)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /read-only transaction: this server only reads \(a standby, or set so\)\. Let DATABASE_URL name the primary/,
    ),
  });
});

test('resources are read and watched over MCP', async () => {
  const client = new Client({ name: 'test', version: '1' });
  const told: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => void told.push(uri));
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [main, 'mcp', '--work-item', crew.ids.untaken], env, stderr: 'inherit' }),
  );
  for (const uri of ['work-ledger://digest', 'work-ledger://ledger']) {
    await client.readResource({ uri });
    await client.subscribeResource({ uri });
  }
  await crew.db.ledgerAppend(crew.ids.untaken, 'note', 'Written on the primary');
  await until(() => told.includes('work-ledger://ledger'));
  expect(JSON.stringify(await client.readResource({ uri: 'work-ledger://ledger' }))).toContain('Written on the primary');
  expect(JSON.stringify(await client.callTool({ name: 'ledger_append', arguments: { entry_type: 'note', content: 'x' } }))).toContain(
    'this server only reads',
  );
  await client.close();
});

test('resources come from the standby, and show what its client has just written on the primary', async () => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [main, 'mcp', '--work-item', crew.ids.untaken],
      env: { ...env, DATABASE_URL: primaryUrl, WORK_LEDGER_READ_URL: standby.url },
      stderr: 'inherit',
    }),
  );
  const read = async (): Promise<string> => JSON.stringify(await client.readResource({ uri: 'work-ledger://ledger' }));
  for (let n = 1; n <= 10; n++) {
    await client.callTool({ name: 'ledger_append', arguments: { entry_type: 'note', content: `By the client ${n}` } });
    expect(await read()).toContain(`By the client ${n}`);
  }
  expect(await read()).not.toContain('Read on a standby');
  await whileBehind(async () => {
    await client.callTool({ name: 'ledger_append', arguments: { entry_type: 'note', content: 'Behind its back' } });
    expect(await read()).toMatch(/^(?!.*Behind its back).*Read on a standby that is behind/);
  });
  await client.close();
});

test('once it is promoted, pages have their forms, and its notifications are heard', async () => {
  const db = await openDb(standby.url, schema);
  await standby.promote();
  expect(await (await get('/')).text()).toContain('method="post"');
  const listening = async (): Promise<boolean> =>
    (
      await db.ask(
        () => sql.type(z.object({ query: z.string() }))`select query from pg_stat_activity where application_name = 'work-ledger listener'`,
      )
    ).some(({ query }) => query.startsWith('listen'));
  await until(listening);
  await db.close();
});
