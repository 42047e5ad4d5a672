// The console over HTTP: who may read, who may change, what every form does, and that nothing that an agent wrote is more than text.

import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { run } from '../../runtime/console/pages/run.ts';
import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { contentPolicy } from '../../runtime/console/safety.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { longItem } from '../longItem.ts';
import { playedDatabase } from '../playedDatabase.ts';
import { until } from '../workerProcess.ts';
import { leadIsForked, startCrew } from './crew.ts';
import type { Crew } from './crew.ts';

let database: TestDatabase;
let crew: Crew;
let running: Console;
let cookie: string;

beforeAll(async () => {
  database = await createDatabase();
  crew = await startCrew(database.url);
  running = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
  const entered = await fetch(`${running.address}?token=${running.token}`, { redirect: 'manual' });
  cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
});
afterAll(async () => {
  await running?.close();
  await crew?.close();
  await database?.drop({ unchecked: 'turns put in by hand' });
});

const at = (path: string): string => new URL(path, running.address).href;
const get = (path: string, headers: Record<string, string> = { cookie }): Promise<Response> => fetch(at(path), { headers });
const text = async (path: string): Promise<string> => (await get(path)).text();
const formToken = async (): Promise<string> => /name="form_token" value="([^"]+)"/.exec(await text(`/work/${crew.ids.root}`))?.[1] ?? '';

/** As a browser sends a form of a page of the console. */
async function post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
  const { origin } = new URL(running.address);
  return fetch(at(path), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin, accept: 'application/json', ...headers },
    body: new URLSearchParams({ form_token: await formToken(), ...fields }),
  });
}
const says = async (answer: Response): Promise<string> => ((await answer.json()) as { says: string }).says;

/** Every page with its parts, each with words that it alone says there: what a part is for must not go unnoticed. */
const partsOf = (): Record<string, Record<string, string>> => {
  const { root, operate, paused, review, note } = crew.ids;
  const item = { head: 'Find why the nightly import takes five hours' };
  const context = {
    ...item,
    figures: 'Largest request',
    timeline: 'aria-label="Context timeline"',
    request: 'part by part',
    policies: 'cost of the input against never cutting',
  };
  const sessions = {
    resumable: 'until the freeze is over',
    imported: 'Drop a recorded session here',
    packet: 'Continue with: Compare the two reports',
  };
  const fleet = {
    figures: 'Ended well',
    spend: 'aria-label="Spend a',
    latency: 'p95',
    sums: 'claude-sonnet-5-5',
    tools: 'data-key="ledger_append"',
    failures: 'items by state',
    queue: '1 worker alive',
    budgets: 'until midnight UTC',
  };
  const knowledge = { results: 'Latest findings', digest: 'Recently completed:', told: 'operator at call 1' };
  return {
    '/': {
      figures: 'model calls under way',
      spent: 'title="since midnight, UTC"',
      approvals: 'vacuum (full, analyze) orders',
      underWay: 'waits for 2 of its children',
      lately: 'Moved without a pause',
      queue: 'waits for the slot of faculty',
      workers: '1 alive',
      slots: 'claude-sonnet-5-5',
      doctor: 'fsync is off',
    },
    '/work': { list: 'Which locks does the import hold' },
    [`/work/${root}`]: {
      ...item,
      approvals: '',
      run: 'Compare with a half-open range',
      marks: 'next error',
      budget: 'of 2.00',
      claims: '',
      children: '1 of 3 over',
    },
    [`/work/${operate}`]: {
      head: 'waits for approval',
      approvals: 'Approval is for these arguments only',
      run: 'waits for approval (dangerous) since',
      marks: 'operate: asked',
      budget: '',
      claims: '',
      children: '',
    },
    [`/work/${root}/journal`]: {
      ...item,
      approvals: '',
      turns: 'aria-label="Tree of turns: 10 turns, 0 forks"',
      journal: 'Only the statement of the nightly run',
      budget: 'of 2.00',
      claims: '',
      ledger: 'Compare with a half-open range',
      children: '1 of 3 over',
      told: ' of <a class="mono" href="/work/', // what of them it was told depends on who was first
    },
    [`/work/${operate}/journal`]: {
      head: 'waits for approval',
      approvals: 'Approval is for these arguments only',
      turns: 'aria-label="Tree of turns: 3 turns',
      journal: 'The whole call',
      budget: '',
      claims: '',
      ledger: 'Count dead rows',
      children: '',
      told: ' of <a class="mono" href="/work/',
    },
    [`/work/${root}/ledger`]: { ...item, ledger: 'The statement uses the index' },
    [`/work/${root}/turns`]: { ...item, turns: 'aria-label="Tree of turns: 10 turns, 0 forks"', list: 'Three parts go to colleagues' },
    [`/work/${root}/cost`]: { ...item, budget: 'of 2.00', use: 'Seconds per call', cuts: 'elision · blocks ', compactions: '' },
    [`/work/${root}/waterfall`]: { ...item, fall: 'data-kind="child"' },
    [`/work/${root}/context`]: context,
    [`/work/${root}/context?policy=never`]: context,
    '/fleet': fleet,
    '/fleet?days=1&by=faculty': { ...fleet, sums: 'data-key="analyst"' },
    '/sessions': { ...sessions, points: '' },
    [`/sessions?packet=${paused}`]: { ...sessions, points: '' },
    [`/sessions?packet=${root}`]: { ...sessions, points: 'turns worth going back to', packet: 'Find why the nightly import' },
    '/knowledge': knowledge,
    '/knowledge?q=import+lock': { ...knowledge, results: 'best first' },
    [`/knowledge?as=${review}`]: knowledge,
    '/notes': { list: '/memories/style.md', suggested: 'aria-label="Suggested"' },
    [`/note/${note}`]: {
      head: '/memories/import.md',
      says: 'It runs at one and must be over at six',
      history: 'asked twice in March',
      readers: 'night shift',
    },
    [`/note/${note}?version=1`]: {
      head: '/memories/import.md',
      says: 'Say this again',
      history: 'agreed on Monday',
      readers: 'night shift',
    },
    '/notes/edit': {},
    [`/notes/edit?note=${note}`]: {},
    '/keys': {},
  };
};
const pages = (): string[] => Object.keys(partsOf());

test('every page has its parts, each of them says what it is for and can be read alone, and none fails', async () => {
  for (const [path, parts] of Object.entries(partsOf())) {
    const answer = await get(path);
    const body = await answer.text();
    expect([path, answer.status]).toEqual([path, 200]);
    expect([path, /failed-part[\s\S]{0,400}/.exec(body)?.[0]]).toEqual([path, undefined]);
    expect(answer.headers.get('content-security-policy')).toBe(contentPolicy);
    expect(body).not.toMatch(/<script(?! src="\/assets\/console\.js" type="module"><\/script>)|\sstyle="|\son\w+="|javascript:/);
    expect([path, [...body.matchAll(/data-part="(\w+)"/g)].map(([, name = '']) => name).toSorted()]).toEqual([
      path,
      ['nav', ...Object.keys(parts)].toSorted(),
    ]);
    const [where = '', query = ''] = path.split('?');
    for (const [name, words] of Object.entries({ nav: 'href="/knowledge"', ...parts })) {
      const part = await get(`${where === '/' ? '' : where}/part/${name}?${query}`);
      expect([path, name, part.status]).toEqual([path, name, 200]);
      const said = await part.text();
      if (words === '')
        expect([path, name, said]).toEqual([
          path,
          name,
          expect.stringMatching(
            /^<div class="part" data-part="\w+" data-version="[^"]*">(?:<div[^>]*><\/div>\s*(?:<p class="newer" [^>]*hidden>.*<\/p>)?)?<\/div>$/,
          ),
        ]);
      else expect([path, name, said]).toEqual([path, name, expect.stringContaining(words)]);
    }
  }
});

test('what a compaction cost, and that an attempt follows another, is shown', async () => {
  const played = await playedDatabase();
  const console = await startConsole({ url: played.url, schema: 'ledger', port: 0 });
  try {
    const item = await played.play(`
      select agent('{"tools": ["look"], "compact_keep_recent": 2, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}'), submit('Look at all of it');
      select play(format('[[["look", "%s"], ["finding", "Row %s"]]]', repeat('seen ', 4000), n)::jsonb) from generate_series(1, 3) n;
      select context_compact(item());
      select play('[[["look"]]]'), give_up();
      select set_config('work_ledger.now', (clock_timestamp() + interval '1 hour')::text, true), play('[[["look"]]]');
      select item()`);
    const page = async (path: string): Promise<string> => (await fetch(new URL(path, console.address))).text();
    expect(await page(`/work/${item}/cost`)).toMatch(/<h2>Compactions<\/h2>[\s\S]*<td>ledger<\/td><td>manual<\/td>/);
    const tree = await page(`/work/${item}/turns`);
    for (const words of ['>compacted</text>', '>attempt 1</text>', '>attempt 2</text>', 'class="t">compaction</span>'])
      expect(tree).toContain(words);
    expect(await page(`/work/${item}/context`)).toMatch(/<circle class="cutdot"/);
  } finally {
    await console.close();
    await played.drop();
  }
});

test('what is not there is said so', async () => {
  for (const path of [
    '/nowhere',
    '/work/01a202dc-0000-7000-8000-000000000000',
    '/call/01a202dc-0000-7000-8000-000000000000',
    '/work/1',
    '/part/nothing',
    '/turn/1',
    '/work/1/export',
    '/sessions/compare',
    '/sessions/compare?a=%3Cscript%3E&b=x',
    '/turn/01a202dc-0000-7000-8000-000000000000/request',
    '/work/01a202dc-0000-7000-8000-000000000000/export',
  ]) {
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  }
});

test("it answers to no other name than this machine's own", async () => {
  const { request } = await import('node:http');
  const statusFor = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request({ port: running.port, host: '127.0.0.1', path: '/', headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });
  expect(await statusFor(`localhost:${running.port}`)).toBe(200);
  expect(await statusFor('[::1]:1')).toBe(200);
  for (const host of [`evil.example:${running.port}`, '127.0.0.1.evil.example', 'localhost.evil.example', '127.0.0.2'])
    expect([host, await statusFor(host)]).toEqual([host, 403]);
});

test('where others can reach it, reading takes the token, too', async () => {
  const open = await startConsole({ url: database.url, schema: 'ledger', port: 0, host: '0.0.0.0' });
  try {
    for (const path of ['', 'work', 'assets/uplot.js', 'events?page=/'])
      expect([path, (await fetch(open.address + path)).status]).toEqual([path, 403]);
    expect((await fetch(`${open.address}?token=wrong`, { redirect: 'manual' })).headers.get('set-cookie')).toBeNull();
    const entered = await fetch(`${open.address}?token=${open.token}`, { redirect: 'manual' });
    expect((await fetch(open.address, { headers: { cookie: (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '' } })).status).toBe(
      200,
    );
  } finally {
    await open.close();
  }
});

test('the token is exchanged for a cookie that no script can read, and leaves the address', async () => {
  const entered = await fetch(at(`/work?state=open&token=${running.token}`), { redirect: 'manual' });
  expect([entered.status, entered.headers.get('location')]).toEqual([303, '/work?state=open']);
  expect(entered.headers.get('set-cookie')).toMatch(/HttpOnly/);
  expect(entered.headers.get('set-cookie')).toMatch(/SameSite=Strict/);
  const wrong = await fetch(at('/?token=wrong'), { redirect: 'manual' });
  expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([303, null]);
});

test('without the token there is not one form, and none is taken', async () => {
  for (const path of pages()) expect(await (await get(path, {})).text()).not.toContain('method="post"');
  expect(await (await get('/', {})).text()).toContain('read-only');
  const before = await crew.db.workItem(crew.ids.root);
  const { origin } = new URL(running.address);
  const token = await formToken();
  const path = `/work/${crew.ids.root}/cancel`;
  const body = (): URLSearchParams => new URLSearchParams({ form_token: token });
  const tries: Record<string, string>[] = [
    { origin },
    { origin, cookie: `${cookie.split('=')[0]}=wrong` },
    { cookie },
    { cookie, origin: 'null' },
    { cookie, origin: 'http://evil.example' },
    { cookie, origin: `https://127.0.0.1:${running.port}` },
    { cookie, origin: `http://127.0.0.1:${running.port + 1}` },
  ];
  for (const headers of tries)
    expect([headers, (await fetch(at(path), { method: 'POST', headers, body: body() })).status]).toEqual([headers, 403]);
  for (const wrong of ['', 'wrong', running.token])
    expect(
      (await fetch(at(path), { method: 'POST', headers: { cookie, origin }, body: new URLSearchParams({ form_token: wrong }) })).status,
    ).toBe(403);
  expect((await crew.db.workItem(crew.ids.root))?.state).toBe(before?.state);
  expect((await get(path)).status).toBe(404); // nothing is changed by being looked at
});

test('a read-only console has no forms and takes none, whatever the token', async () => {
  const standby = await startConsole({ url: database.url, schema: 'ledger', port: 0, isReadOnly: true });
  try {
    const entered = await fetch(`${standby.address}?token=${standby.token}`, { redirect: 'manual' });
    const own = { cookie: (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
    expect(await (await fetch(standby.address, { headers: own })).text()).not.toContain('method="post"');
    const { createHmac } = await import('node:crypto');
    const answer = await fetch(new URL(`/work/${crew.ids.paused}/resume`, standby.address), {
      method: 'POST',
      headers: { ...own, origin: new URL(standby.address).origin },
      body: new URLSearchParams({ form_token: createHmac('sha256', standby.token).update('form').digest('base64url') }),
    });
    expect([answer.status, await answer.text()]).toEqual([403, 'This console is read-only.\n']);
  } finally {
    await standby.close();
  }
});

test('a form from no page that can be read leads to the first one, and so do its changes', async () => {
  const answer = await post(`/work/${crew.ids.root}/message`, { content: 'From nowhere', back: 'http://[' });
  expect([answer.status, await answer.json()]).toEqual([200, { to: '/' }]);
  const gone = new AbortController();
  const events = await fetch(at('/events?page=http://['), { headers: { cookie }, signal: gone.signal });
  expect(events.status).toBe(200);
  gone.abort();
});

test('an approval is for the arguments that were seen, and is told with what was said', async () => {
  const [ask] = await crew.db.console.approvals(null);
  const path = `/call/${ask?.tool_call_id}/decide`;
  expect(await text('/')).toContain('A full vacuum locks the table');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 });
  const left = /Expires in ([^.]*)\./.exec(await text('/'))?.[1];
  vi.useRealTimers();
  expect(left).toMatch(/^(23 h 59|24 h 0) min$/); // by the database's clock, which decides
  const other = await post(path, { decision: 'approve', input_hash: '0'.repeat(64) });
  expect([other.status, await says(other)]).toEqual([409, expect.stringMatching(/arguments.*\(WL008\)/)]);
  expect((await post(path, { decision: 'maybe' })).status).toBe(409);
  expect((await post(path, { decision: 'approve', input_hash: ask?.input_hash ?? '', back: '/' })).status).toBe(200);
  await until(async () => (await crew.db.workItem(crew.ids.operate))?.state === 'completed');
  const [decided] = await database.query<{ decision: string; decided_by: string }>(
    `select decision, decided_by from ledger.approvals where tool_call_id = '${ask?.tool_call_id}'`,
  );
  expect(decided).toEqual({ decision: 'approved', decided_by: 'postgres' });
});

test('people speak, interrupt, note, checkpoint, compact; what the database refuses is said in its words', async () => {
  const { root, failed } = crew.ids;
  expect((await post(`/work/${root}/message`, { content: 'Keep the weekly run out of it', back: `/work/${root}` })).status).toBe(200);
  expect(await text(`/work/${root}`)).toContain('Keep the weekly run out of it');
  const over = await post(`/work/${failed}/message`, { content: 'Too late' });
  expect([over.status, await says(over)]).toEqual([409, expect.stringMatching(/is failed.*\(WL003\)/)]);
  expect(await says(await post(`/work/${root}/message`, { content: '  ' }))).toBe('there is nothing to say (WL002).');
  expect((await post(`/work/${root}/feedback`, { message: 'Well measured' })).status).toBe(200);
  expect(await text(`/work/${root}/journal?type=user_feedback`)).toContain('Well measured');
  expect((await post(`/work/${root}/checkpoint`, {})).status).toBe(200);
  expect(await text(`/work/${root}/journal?type=checkpoint`)).toContain('manual');
  const compacted = await post(`/work/${root}/compact`, { instructions: '' });
  expect([compacted.status, await says(compacted)]).toEqual([409, expect.stringMatching(/^Nothing .* checks again\.$/)]);
  expect(await says(await post(`/work/${root}/complete`, { summary: 'By hand' }))).toMatch(/\(WL005\)/);
});

test('what failed is tried again: a new item goes on where it ended', async () => {
  const { failed } = crew.ids;
  expect(await text(`/work/${failed}`)).toContain(`action="/work/${failed}/retry"`);
  const tried = await post(`/work/${failed}/retry`, { content: 'With a smaller picture' });
  const { to } = (await tried.json()) as { to: string };
  expect([tried.status, to]).toEqual([200, expect.stringMatching(/^\/work\/[0-9a-f-]{36}$/)]);
  expect(to).not.toContain(failed);
  expect(await says(await post(`/work/${crew.ids.root}/retry`, {}))).toMatch(/\(WL\d{3}\)/);
});

test('a form without a script: the page comes back, with what was refused beside the control', async () => {
  const { failed } = crew.ids;
  const refused = await post(
    `/work/${failed}/message`,
    { content: 'x', back: `/work/${failed}/journal?type=error` },
    { accept: 'text/html' },
  );
  expect(refused.status).toBe(409);
  expect(await refused.text()).toMatch(/role="alert">[^<]*is failed[^<]*\(WL003\)/);
  const done = await post(
    `/work/${crew.ids.root}/feedback`,
    { message: 'y', back: `/work/${crew.ids.root}/journal?type=error` },
    { accept: 'text/html' },
  );
  expect([done.status, done.headers.get('location')]).toEqual([303, `/work/${crew.ids.root}/journal?type=error`]);
  const elsewhere = await post(`/work/${crew.ids.root}/feedback`, { message: 'z', back: '//evil.example/x' }, { accept: 'text/html' });
  expect(elsewhere.headers.get('location')).toBe('/x');
});

test('an entry that was logged is deleted, and one from the ledger is not', async () => {
  const { root } = crew.ids;
  await post(`/work/${root}/feedback`, { message: 'a secret, by mistake' });
  const [entry] = await database.query<{ id: string }>(
    `select id from ledger.journal_entries where content ->> 'message' = 'a secret, by mistake'`,
  );
  expect((await post(`/entry/${entry?.id}/delete`, { reason: 'not meant for here' })).status).toBe(200);
  expect(await text(`/work/${root}/journal?type=user_feedback`)).not.toContain('a secret, by mistake');
  const [recorded] = await database.query<{ id: string }>(`select id from ledger.work_ledger where work_item_id = '${root}' limit 1`);
  expect(await says(await post(`/entry/${recorded?.id}/delete`, {}))).toMatch(/\(WL001\)/);
});

test('an entry is taken back, and stays in the log with its mark', async () => {
  const { done } = crew.ids;
  const [entry] = await crew.db.ledgerRead(done, null, 1);
  expect((await post(`/work/${done}/retract`, { seq: String(entry?.seq), reason: '' })).status).toBe(409);
  expect((await post(`/work/${done}/retract`, { seq: String(entry?.seq), reason: '<b>Not so</b>' })).status).toBe(200);
  expect(await text(`/work/${done}/ledger`)).toMatch(/<s>[^<]+<\/s> <span class="warn">taken back: &lt;b&gt;Not so/);
});

test('a journal is exported whole', async () => {
  const answer = await get(`/work/${crew.ids.done}/export`);
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="journal-${crew.ids.done}.json"`);
  expect(Object.keys((await answer.json()) as object).toSorted()).toEqual(['checkpoints', 'entries', 'rows', 'session']);
});

test('a turn is forked, and the two ways are compared', async () => {
  const { root } = crew.ids;
  const [point] = await crew.db.console.forkPoints(root, 5);
  leadIsForked();
  const answer = await post(`/turn/${point?.turn_id}/fork`, { message: 'Try an index on the expression instead of a range' });
  const { to } = (await answer.json()) as { to: string };
  const fork = to.split('/').at(-1) ?? '';
  await until(async () => (await crew.db.workItem(fork))?.state === 'completed');
  const [listed] = await crew.db.console.forks(root);
  const page = await text(
    `/sessions/compare?a=${encodeURIComponent(listed?.own_session ?? '')}&b=${encodeURIComponent(listed?.session ?? '')}`,
  );
  expect(page).toContain('Two ways from turn');
  expect(page).toContain('9 % slower');
  expect(page).toMatch(/the first difference is turn \d/);
  expect(await text(`/work/${root}/turns`)).toContain('fork: Try an index');
});

test('a paused item is resumed here, or in another conversation', async () => {
  const { paused } = crew.ids;
  const elsewhere = await post(`/work/${paused}/elsewhere`, { conversation: 'my other shell', tokens: '2000' });
  const { to } = (await elsewhere.json()) as { to: string };
  expect(await text(to)).toContain('Why do two stores');
  expect((await post(`/work/${paused}/resume`, {})).status).toBe(200);
  await until(async () => !['paused'].includes((await crew.db.workItem(paused))?.state ?? ''));
  expect((await post(`/work/${paused}/pause`, { reason: 'once more' })).status).toBe(200);
  await until(async () => (await crew.db.workItem(paused))?.state === 'paused');
});

test('cancelling says how many it takes along, and takes them along', async () => {
  const { root, review } = crew.ids;
  expect(await text(`/work/${root}`)).toMatch(/Cancels this work item and the (?:child|\d+) below it that (?:is|are) not over/);
  expect((await post(`/work/${review}/cancel`, { reason: 'not needed' })).status).toBe(200);
  expect(await crew.db.workItem(review)).toMatchObject({ state: 'cancelled', state_reason: expect.stringContaining('not needed') });
});

test('a recorded session is imported by its file, and shown as a timeline; one that is none is refused', async () => {
  const { readFile } = await import('node:fs/promises');
  const send = async (name: string, content: string | Buffer): Promise<Response> => {
    const body = new FormData();
    body.set('form_token', await formToken());
    body.append('file', new File([new Uint8Array(Buffer.from(content))], name));
    return fetch(at('/import'), {
      method: 'POST',
      headers: { cookie, origin: new URL(running.address).origin, accept: 'application/json' },
      body,
    });
  };
  const answer = await send('session.jsonl', await readFile(new URL('../fixtures/claudeCode.jsonl', import.meta.url)));
  const { to } = (await answer.json()) as { to: string };
  expect(to).toMatch(/^\/work\/[0-9a-f-]+\/context$/);
  expect(await text(to)).toContain('What was in the context');
  expect(await text('/sessions')).toContain('timeline</a>');
  expect(await database.query(`select params ->> 'file' as file from ledger.work_items where id = '${to.split('/')[2]}'`)).toEqual([
    { file: 'session.jsonl' },
  ]);
  const refused = await send('notes.txt', 'nothing recorded');
  expect([refused.status, await says(refused)]).toEqual([409, expect.stringMatching(/^notes\.txt: .*\(WL002\)/)]);
});

test('all work is looked through and put in another order, by an address', async () => {
  const ids = async (query: string): Promise<string[]> =>
    [...(await text(`/work?${query}`)).matchAll(/data-key="([^"]+)"/g)].map(([, id]) => id ?? '');
  const ask = { project: null, state: null, type: null, faculty: null, origin: null, words: null, before: null } as const;
  const all = await ids('');
  expect(all).toHaveLength((await crew.db.console.workPage({ ...ask, order: 'newest' }, 100)).length);
  for (const [order, of] of [
    ['dearest', 'cost'],
    ['longest', 'seconds'],
  ] as const) {
    const listed = await crew.db.console.workPage({ ...ask, order }, 100);
    const figures = listed.map((one) => one[of] ?? -1);
    expect([order, figures]).toEqual([order, figures.toSorted((a, b) => b - a)]);
    expect((await ids(`order=${order}`)).toSorted()).toEqual(all.toSorted());
  }
  expect(await ids('q=WHICH%20LOCKS%20does')).toHaveLength(1);
  expect(await ids('q=of%20which%20nobody%20spoke')).toEqual([]);
  const foreign = (await crew.db.console.workPage({ ...ask, order: 'newest' }, 100)).filter(({ origin }) => origin === 'claude-code');
  expect(await ids('source=claude-code')).toEqual(foreign.map(({ id }) => id));
  expect(foreign.length).toBeGreaterThan(0);
  expect(await ids('order=nonsense')).toEqual(all);
});

test('another policy stands beside the timeline, by part and with its cuts', async () => {
  const beside = await text(`/work/${crew.ids.root}/context/part/policies?policy=never`);
  expect(beside.match(/data-beside/g)).toHaveLength(2);
  expect(beside).toMatch(
    /aria-label="As it ran".*Blocks 1–2 left, [\d,]+ tokens: they were closed.*It pays after \d+ requests?\..*aria-label="Never cut".*no request changed what had been sent before/s,
  );
});

test('whatever an agent wrote is text: no markup, no hidden direction, no weight', async () => {
  const hostile =
    '<script>alert(1)</script><img src=x onerror=alert(2)>"\'><a href="javascript:alert(3)">\u202Eevil\u2066\u0007\u001b[31m https://evil.example';
  const item = await crew.db.workSubmit({ workType: 'untaken', description: hostile });
  for (const type of ['plan', 'finding', 'decision', 'error', 'note', 'step']) await crew.db.ledgerAppend(item.id, type, hostile);
  await crew.db.journal.log(item.id, 'tool_result', { toolName: hostile, output: hostile, success: true, truncated: false }, 'high');
  const large = await crew.db.journal.log(
    item.id,
    'user_feedback',
    { message: `${'x'.repeat(1_000_000)}</div><script>alert(4)</script>`, isInterrupt: false },
    'high',
  );
  expect(large.id).toContain('user_feedback');
  for (const path of [
    '/',
    '/work',
    `/work/${item.id}`,
    `/work/${item.id}/ledger`,
    `/sessions?packet=${item.id}`,
    '/knowledge',
    '/knowledge?kind=note',
    '/knowledge?q=evil',
    `/knowledge?q=${encodeURIComponent(hostile)}&as=${item.id}`,
    `/work?type=${encodeURIComponent(hostile)}&q=${encodeURIComponent(hostile)}&order=${encodeURIComponent(hostile)}`,
    `/work/${item.id}/journal?q=${encodeURIComponent(hostile)}`,
  ]) {
    const body = await text(path);
    expect([path, body.length < 400_000]).toEqual([path, true]);
    expect(body).not.toMatch(/<script>|<img|href="javascript|href="https:|onerror=alert\(2\)>"/);
    // oxlint-disable-next-line no-control-regex
    expect([path, /[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2066-\u2069]/.exec(body)?.[0]]).toEqual([path, undefined]);
  }
  expect(await text(`/work/${item.id}/ledger`)).toContain('⟨U+202E⟩evil');
});

test('a call result of a megabyte and text that turns round are shown in part, as signs', async () => {
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query('set search_path = ledger');
  const item = await longItem(client, 3);
  const hostile = `\\u202E</pre><script>alert(5)</script>${'x'.repeat(1_000_000)}`;
  await client.query(
    `alter table tool_calls disable trigger refuse_rewrite; update tool_calls set result = to_json('${hostile.replace('\\u202E', '\u202E')}'::text) where work_item_id = '${item}'; alter table tool_calls enable always trigger refuse_rewrite`,
  );
  const {
    rows: [call],
  } = await client.query<{ id: string }>(`select id from tool_calls where work_item_id = '${item}' limit 1`);
  await client.end();
  for (const path of [
    `/work/${item}`,
    `/work/${item}/turns`,
    `/work/${item}/context`,
    `/work/${item}/context?turn=2`,
    `/call/${call?.id}`,
  ]) {
    const body = await text(path);
    expect([path, body.length < 400_000]).toEqual([path, true]);
    expect([path, /<script>|[\u202a-\u202e\u2066-\u2069]|failed-part/.exec(body)?.[0]]).toEqual([path, undefined]);
  }
  expect(await text(`/call/${call?.id}`)).toContain('⟨U+202E⟩&lt;/pre&gt;');
});

test('where the database takes no writes, pages are read and have no forms', async () => {
  const [name] = await database.query<{ name: string }>('select current_database() as name');
  await database.query(`alter database ${name?.name} set default_transaction_read_only = on`);
  const standby = await startConsole({ url: database.url, schema: 'ledger', port: 0 });
  try {
    const entered = await fetch(`${standby.address}?token=${standby.token}`, { redirect: 'manual' });
    const own = { cookie: (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
    for (const path of pages()) {
      const answer = await fetch(new URL(path, standby.address), { headers: own });
      const body = await answer.text();
      expect([path, answer.status, body.includes('method="post"'), /failed-part[\s\S]{0,300}/.exec(body)?.[0]]).toEqual([
        path,
        200,
        false,
        undefined,
      ]);
      expect(body).toContain('read-only');
    }
    const gone = new AbortController();
    const events = await fetch(new URL('/events?page=/', standby.address), { headers: own, signal: gone.signal });
    const { value } = await (events.body as ReadableStream<Uint8Array>).getReader().read();
    expect(new TextDecoder().decode(value)).toContain('"versions"');
    gone.abort();
  } finally {
    await standby.close();
    await database
      .query(`set transaction_read_only = off; alter database ${name?.name} reset default_transaction_read_only`)
      .catch(() => {});
  }
});

test('an open page is told of the parts that changed, and of no others', async () => {
  const { failed } = crew.ids;
  const versions = async (): Promise<Record<string, string>> => {
    const answer = await get(`/events?page=${encodeURIComponent(`/work/${failed}`)}`);
    let said = '';
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      said += new TextDecoder().decode(chunk);
      const data = /event: parts\ndata: (.*)\n\n/.exec(said)?.[1];
      if (data !== undefined) return (JSON.parse(data) as { versions: Record<string, string> }).versions;
    }
    throw new Error('it said nothing');
  };
  const body = await text(`/work/${failed}`);
  const before = await versions();
  const timed = ['nav', ...Object.entries(run.inputs).flatMap(([name, inputs]) => (inputs?.includes('every 30 s') ? [name] : []))];
  for (const [, name = '', version] of body.matchAll(/data-part="(\w+)" data-version="([^"]+)"/g))
    if (!timed.includes(name)) expect([name, before[name]]).toEqual([name, version]);
  await crew.db.journal.log(failed, 'user_feedback', { message: 'Seen', isInterrupt: false }, 'high');
  const after = await versions();
  expect(Object.keys(after).filter((name) => after[name] !== before[name] && !timed.includes(name))).toEqual(['run', 'marks']);
});

test('a search that is open is run again when what it finds was written, and not otherwise', async () => {
  const versionOf = async (path: string): Promise<string | undefined> =>
    /data-part="results" data-version="([^"]+)"/.exec(await text(path))?.[1];
  const before = await versionOf('/knowledge?q=marmot');
  await crew.db.ledgerAppend(crew.ids.untaken, 'note', 'A hedgehog crossed the road');
  expect(await versionOf('/knowledge?q=marmot')).toBe(before);
  await crew.db.ledgerAppend(crew.ids.untaken, 'note', 'The marmot is awake');
  expect(await versionOf('/knowledge?q=marmot')).not.toBe(before);
  const item = await crew.db.workSubmit({ workType: 'untaken', description: 'To be completed' });
  const between = await versionOf('/knowledge?q=marmot');
  await crew.db.console.complete(item.id, 'Two marmots were counted');
  expect(await versionOf('/knowledge?q=marmot')).not.toBe(between);
});

test('knowledge is filtered by faculty and by time', async () => {
  const { ids } = crew;
  const results = (query: string): Promise<string> => text(`/knowledge/part/results?${query}`);
  expect(await results('faculty=reviewer')).toContain('toCents() in src/money.js truncates');
  expect(await results('faculty=operator')).not.toContain('toCents() in src/money.js truncates');
  const old = await crew.db.workSubmit({ workType: 'untaken', description: 'An old one' });
  await database.query(
    `set session_replication_role = replica; update fences set ledger_count = 1 where work_item_id = '${old.id}'; insert into work_ledger (work_item_id, seq, entry_type, content, created_at) values ('${old.id}', 1, 'decision', 'Never paint the lighthouse', now() - interval '3 days'); insert into search_entries select 'ledger', id, work_item_id, 'lighthouse'::tsvector, created_at from work_ledger where work_item_id = '${old.id}'; reset session_replication_role`,
  );
  for (const [path, isThere] of [
    ['kind=decision', true],
    ['kind=decision&since=7d', true],
    ['kind=decision&since=1d', false],
    ['kind=decision&since=7d&faculty=engineer', false],
  ] as const) {
    expect([path, (await results(path)).includes('paint the lighthouse')]).toEqual([path, isThere]);
  }
  for (const [path, isThere] of [
    ['q=lighthouse', true],
    ['q=lighthouse&since=1d', false],
    ['q=toCents&faculty=reviewer', true],
    ['q=toCents&faculty=operator', false],
  ] as const) {
    expect([path, (await results(path)).includes('class="hit"')]).toEqual([path, isThere]);
  }
  expect(await text(`/knowledge?faculty=reviewer&since=7d&as=${ids.review}`)).toMatch(/<option value="reviewer" selected>/);
});

test('the types of a journal are offered with how many entries they have', async () => {
  const item = await crew.db.workSubmit({ workType: 'untaken', description: 'Counted' });
  for (let n = 0; n < 3; n++) await crew.db.journal.log(item.id, 'user_feedback', { message: `Word ${n}`, isInterrupt: false }, 'high');
  const page = await text(`/work/${item.id}/journal`);
  expect(page).toMatch(/type=user_feedback">[\w ]+<span class="n">3<\/span>/);
  expect(page).not.toContain('type=tool_rejected');
});

test('a page of an item is not larger because the item is', async () => {
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query('set search_path = ledger');
  const [small, large] = [await longItem(client, 100), await longItem(client, 2000)];
  await client.end();
  for (const tab of ['', '/journal', '/turns', '/ledger', '/context', '/waterfall', '/cost']) {
    const [few, many] = [await text(`/work/${small}${tab}`), await text(`/work/${large}${tab}`)];
    expect([tab, many.length / few.length < 2]).toEqual([tab, true]);
  }
  expect(await text(`/work/${large}/context`)).toContain('1,841 to 2,000 of 2,000 model calls');
  // A replay would begin with the first call.
  const policies = await text(`/work/${large}/context/part/policies`);
  expect(policies).toContain('takes minutes for more than 1,000 of them');
  expect(policies).not.toContain('data-beside');
});

test('a long request is shown from its beginning and its end, and what is between them by pages', async () => {
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query('set search_path = ledger');
  const item = await longItem(client, 200);
  await client.end();
  const calls = async (query: string): Promise<number[]> => [
    ...new Set([...(await text(`/work/${item}/context?${query}`)).matchAll(/<\/svg>call (\d+), model/g)].map(([, n]) => Number(n))),
  ];
  const page = await text(`/work/${item}/context?turn=200`);
  expect(page).toContain('calls 16 to 175');
  expect((await calls('turn=200')).length).toBeLessThan(50);
  const seen = await calls('turn=200');
  for (let after = 15; after < 175; after += 40) seen.push(...(await calls(`turn=200&after=${after}`)));
  expect([...new Set(seen)].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 199 }, (_, i) => i + 1));
});

type Told = { event: string; data: { versions?: Record<string, string>; text?: string } };

/** Reads the events of a page until `gone`; what has come is in `told`. */
async function toldOf(page: string, gone: AbortSignal): Promise<{ told: Told[]; reading: Promise<void> }> {
  const answer = await fetch(at(`/events?page=${encodeURIComponent(page)}`), { headers: { cookie }, signal: gone });
  const told: Told[] = [];
  const reading = (async () => {
    let rest = '';
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      rest += new TextDecoder().decode(chunk);
      const messages = rest.split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) {
        const { event, data } = Object.fromEntries(
          message.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
        );
        told.push({ event: event ?? '', data: JSON.parse(data ?? '{}') as Told['data'] });
      }
    }
  })().catch(() => {});
  return { told, reading };
}

test('a page is live while an open transaction holds its items, and a watch does not wait for it', async () => {
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query('begin');
  await client.query('select from ledger.fences where work_item_id = any ($1) for update', [[crew.ids.measure, crew.ids.review]]);
  const gone = new AbortController();
  const open = await Promise.all(['/', '/', `/work/${crew.ids.measure}`].map((page) => toldOf(page, gone.signal)));
  for (const { told } of open) await until(() => told.some(({ event }) => event === 'parts'));
  await expect(database.query(`select ledger.ledger_watch('${crew.ids.measure}')`)).rejects.toMatchObject({ code: '55P03' });
  expect(await crew.db.ledgerWatch(crew.ids.measure, 60)).toBeNull();
  await client.query('rollback');
  expect(await crew.db.ledgerWatch(crew.ids.measure, 60)).not.toBeNull();
  await client.end();
  gone.abort();
  for (const { reading } of open) await reading;
});

test('a page is told which of its parts changed, and the words of an agent while they stream', async () => {
  const { measure } = crew.ids;
  const gone = new AbortController();
  const { told, reading } = await toldOf(`/work/${measure}`, gone.signal);
  await until(() => told.some(({ event }) => event === 'parts'));
  await until(() => told.some(({ event, data }) => event === 'words' && /Sixteen writers/.test(data.text ?? '')));
  await crew.db.ledgerAppend(crew.ids.untaken, 'note', 'something else');
  crew.goOn();
  const begun = told.find(({ data }) => data.versions)?.data.versions ?? {};
  await until(() => told.some(({ data: { versions = begun } }) => versions['run'] !== begun['run'] && versions['head'] !== begun['head']));
  gone.abort();
  await reading;
});
