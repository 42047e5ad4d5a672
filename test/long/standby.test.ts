// A ledger is read on a hot standby, where nothing can be written and nothing is notified: the console, the commands that only
// read, and MCP's resources.

import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { importFile } from '../../runtime/commands/import.ts';
import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { ensureEmbedded, stopEmbedded } from '../../runtime/install/embedded.ts';
import { installLedger } from '../../runtime/install/installLedger.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import { startCrew } from '../console/crew.ts';
import type { Crew } from '../console/crew.ts';
import { longItem } from '../longItem.ts';
import { startStandby } from '../standby.ts';
import type { Standby } from '../standby.ts';
import { until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
const schema = 'work_ledger';
let dataDir: string;
let env: Record<string, string>;
let crew: Crew;
let standby: Standby;
let running: Console;
let cookie: string;
let imported: string;
let long: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'wl-primary-'));
  await chmod(dataDir, 0o755);
  const primary = await ensureEmbedded({ dataDir, isDurable: false });
  await installLedger(primary.url, schema);
  crew = await startCrew(primary.url, schema);
  const report = await importFile(crew.db, fileURLToPath(new URL('../fixtures/claudeCode.jsonl', import.meta.url)));
  imported = 'sessions' in report ? report.sessions[0]?.workItemId ?? '' : '';
  const client = new pg.Client(primary.url);
  await client.connect();
  long = await longItem(client, 400);
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

test('every page that links lead to is read, with all its parts, and none has a form', async () => {
  const { ids } = crew;
  const root = `/work/${ids.root}`;
  const waiting = ['/', '/work', '/sessions', '/knowledge', '/keys', '/knowledge?q=import+lock', `/knowledge?as=${ids.review}`, `${root}/context?policy=never`, `/sessions?packet=${ids.paused}`,
    ...[root, `/work/${long}`, `/work/${imported}`, `/work/${ids.failed}`].flatMap((item) => [item, `${item}?q=lock`, `${item}/ledger`, `${item}/turns`, `${item}/cost`, `${item}/context`, `${item}/context?turn=2`])];
  const [named, seen, shapes] = [new Set(waiting), new Set<string>(), new Set<string>()];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const shape = shapeOf(path);
    if (seen.has(path) || (!named.has(path) && shapes.has(shape))) continue;
    seen.add(path);
    shapes.add(shape);
    const answer = await get(path);
    const body = await answer.text();
    expect([path, answer.status, body.includes('method="post"'), /failed-part[\s\S]{0,400}/.exec(body)?.[0]]).toEqual([path, 200, false, undefined]);
    if (!answer.headers.get('content-type')?.startsWith('text/html')) continue;
    expect(body).toContain('read-only');
    const { pathname, search } = new URL(answer.url); // an address of a turn leads on to its request
    for (const [, name] of body.matchAll(/data-part="(\w+)"/g)) {
      if (name === 'policies' && isMade(path)) continue;
      const part = await get(`${pathname === '/' ? '' : pathname}/part/${name}${search}`);
      expect([path, name, part.status, /failed-part[\s\S]{0,400}/.exec(await part.text())?.[0]]).toEqual([path, name, 200, undefined]);
    }
    for (const [, href = ''] of body.matchAll(/href="(\/[^"#]*)/g)) if (!href.startsWith('/assets/') && !(href.includes('policy=') && isMade(href))) waiting.push(href.replaceAll('&amp;', '&'));
  }
  expect([...shapes]).toEqual(expect.arrayContaining(['/call/*', '/work/*/block/*', '/turn/*/request', '/work/*/export']));
});

test('a page that is open follows what happens on the primary, though nothing notifies', async () => {
  const gone = new AbortController();
  const answer = await fetch(new URL(`/events?page=${encodeURIComponent(`/work/${crew.ids.review}`)}`, running.address), { headers: { cookie }, signal: gone.signal });
  const versions: string[] = [];
  const reading = (async () => {
    let said = '';
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      said += new TextDecoder().decode(chunk);
      versions.splice(0, versions.length, ...[...said.matchAll(/event: parts\ndata: .*"journal":"([^"]+)"/g)].map(([, version = '']) => version));
    }
  })().catch(() => {});
  await until(() => versions.length > 0);
  await crew.db.journal.log(crew.ids.review, 'user_feedback', { message: 'Seen from afar', isInterrupt: false }, 'high');
  await until(() => new Set(versions).size > 1);
  gone.abort();
  await reading;
  expect(await (await get(`/work/${crew.ids.review}`)).text()).toContain('Seen from afar');
});

test('a form that comes nevertheless is refused before anything is tried', async () => {
  const { createHmac } = await import('node:crypto');
  const answer = await fetch(new URL(`/work/${crew.ids.paused}/resume`, running.address), {
    method: 'POST', headers: { cookie, origin: new URL(running.address).origin }, body: new URLSearchParams({ form_token: createHmac('sha256', running.token).update('form').digest('base64url') }),
  });
  expect([answer.status, await answer.text()]).toEqual([403, 'This console is read-only.\n']);
});

test('the commands that only read work', async () => {
  const { ids } = crew;
  const cli = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env }, (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }));
  });
  const forReading = [['show', ids.root], ['list'], ['logs', ids.root], ['cost', ids.root], ['cost'], ['trace', ids.root], ['tail', ids.failed], ['ledger', ids.root], ['digest'], ['digest', ids.root], ['approvals'], ['budget', ids.root]];
  const outcomes = await Promise.all(forReading.map(async (args) => ({ args, ...(await cli(...args)) })));
  for (const { args, code, stdout, stderr } of outcomes) expect([args, code, stdout !== '', stderr]).toEqual([args, 0, true, expect.not.stringMatching(/read-only|recovery/)]);
  expect(await cli('doctor')).toMatchObject({ code: 1, stdout: expect.stringContaining('this node takes no writes') });
  expect(await cli('cancel', ids.root)).toMatchObject({ code: 1, stderr: expect.stringContaining('read-only transaction') });
});

test('resources are read and watched over MCP', async () => {
  const client = new Client({ name: 'test', version: '1' });
  const told: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => void told.push(uri));
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [main, 'mcp', '--work-item', crew.ids.untaken], env, stderr: 'inherit' }));
  for (const uri of ['work-ledger://digest', 'work-ledger://ledger']) {
    await client.readResource({ uri });
    await client.subscribeResource({ uri });
  }
  await crew.db.ledgerAppend(crew.ids.untaken, 'note', 'Written on the primary');
  await until(() => told.includes('work-ledger://ledger'));
  expect(JSON.stringify(await client.readResource({ uri: 'work-ledger://ledger' }))).toContain('Written on the primary');
  expect(JSON.stringify(await client.callTool({ name: 'ledger_append', arguments: { entry_type: 'note', content: 'x' } }))).toContain('read-only transaction');
  await client.close();
});

test('once it is promoted, pages have their forms, and its notifications are heard', async () => {
  const db = await openDb(standby.url, schema);
  await standby.promote();
  expect(await (await get('/')).text()).toContain('method="post"');
  const listening = async (): Promise<boolean> => (await db.pool.any(sql.type(z.object({ query: z.string() }))`select query from pg_stat_activity where application_name = 'work-ledger listener'`)).some(({ query }) => query.startsWith('listen'));
  await until(listening);
  await db.close();
});
