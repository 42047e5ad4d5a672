// What led to an answer: the page and the command line show what work_because() says, with ways to where it is from, and a fork with a sentence changed.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { playedDatabase } from '../playedDatabase.ts';

let played: Awaited<ReturnType<typeof playedDatabase>>;
let running: Console;
let item: string;
let turn: string;
let call: string;
let cookie: string;

beforeAll(async () => {
  played = await playedDatabase();
  item =
    await played.play(`select agent('{"tools": ["read_file", "edit_file"]}', '{"awareness": {"enabled": false}}'), submit('Find why it is slow');
    select play('[[["read_file", {"path": "src/a.ts"}, "// <b>read</b> one after the other on purpose"]]]');
    select from work_message(item(), 'Please do not touch the retry logic at"');
    select play('[["I do not touch the retry logic at all.", ["edit_file", {"path": "src/a.ts", "old": "// <b>read</b> one after the other on purpose"}, "edited"]]]');
    select item()`);
  const [one] = await played.query<{ turn_id: string; id: string }>(
    `select turn_id, id from ledger.tool_calls where tool_name = 'edit_file'`,
  );
  [turn, call] = [one?.turn_id ?? '', one?.id ?? ''];
  running = await startConsole({ url: played.url, schema: 'ledger', port: 0 });
  const entered = await fetch(`${running.address}?token=${running.token}`, { redirect: 'manual' });
  cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
});
afterAll(async () => {
  await running?.close();
  await played?.drop();
});

const get = async (path: string): Promise<string> => (await fetch(new URL(path, running.address), { headers: { cookie } })).text();

test('each quote of the rows is on the page as text, with the way to the call that read it', async () => {
  const page = await get(`/because/${turn}?call=${call}`);
  const [quote] = await played.query<{ call_id: string; says: string }>(
    `select call_id, says from ledger.work_because('${turn}', '${call}') where kind = 'quote'`,
  );
  expect(page).toContain(`<a class="accent" href="/call/${quote?.call_id}">${quote?.says}</a>`);
  expect(page).toContain('// &lt;b&gt;read&lt;/b&gt; one after the other on purpose</q>');
  expect([...page.matchAll(/data-quote/g)]).toHaveLength(1);
  expect([...(await get(`/because/${turn}`)).matchAll(/data-quote/g)]).toHaveLength(2);
  expect(await get(`/work/${item}`)).toContain(`href="/because/${turn}?call=${call}"`);
  expect((await fetch(new URL(`/because/${item}`, running.address))).status).toBe(404);
});

test('a fork begins before what a person said, with the sentence changed', async () => {
  const page = await get(`/because/${turn}`);
  const [before] = await played.query<{ id: string }>(`select parent_turn_id as id from ledger.turns where id = '${turn}'`);
  expect(page).toContain(`action="/turn/${before?.id}/fork"`);
  expect(page).toMatch(/<textarea[^>]*>[^<]*not touch the retry logic at/);
  const token = /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const answer = await fetch(new URL(`/turn/${before?.id}/fork`, running.address), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: new URL(running.address).origin, accept: 'application/json' },
    body: new URLSearchParams({ form_token: token, message: 'Do touch the retry logic' }),
  });
  expect(answer.status).toBeLessThan(400);
  const [fork] = await played.query<{ turn: string; said: string }>(
    `select fork_turn_id as turn, (select content from ledger.inbox i where i.work_item_id = w.id) as said from ledger.work_items w where fork_turn_id is not null`,
  );
  expect(fork).toEqual({ turn: before?.id, said: 'Do touch the retry logic' });
});

test('the command line says the same', async () => {
  const { stdout } = await played.cli('trace', item, '--because', call);
  expect(stdout).toMatch(/^quote +"\/\/ <b>read<\/b> one after the other on purpose" \(result, call [0-9a-f-]+, read_file src\/a\.ts\)$/m);
  expect(stdout).toMatch(/^held +system: \d+, \d+ tokens, always there$/m);
  expect((await played.cli('trace', item, '--because', turn)).stdout).toContain('not touch the retry logic at"');
});
