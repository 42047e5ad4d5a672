// `work-ledger top` in a terminal: what it shows, what its keys decide, and that the terminal is as it was when it is over.

import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { startCrew } from '../console/crew.ts';
import type { Crew } from '../console/crew.ts';
import { cli } from '../cli.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { inTerminal } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';
import { until } from '../workerProcess.ts';

const main = fileURLToPath(new URL('../../runtime/start.ts', import.meta.url));
const [DOWN, ESCAPE, ENTER] = ['\u001b[B', '\u001b', '\r'];
let database: TestDatabase;
let crew: Crew;
const open: Terminal[] = [];
beforeAll(async () => {
  database = await createDatabase();
  crew = await startCrew(database.url);
});
afterEach(async () => {
  for (const one of open.splice(0)) {
    one.signal('SIGTERM');
    await one.ended;
  }
});
afterAll(async () => {
  await crew?.close();
  await database?.drop();
});

const environment = (): NodeJS.ProcessEnv => ({ PATH: process.env['PATH'], HOME: process.env['HOME'], DATABASE_URL: database.url });
async function start(size = { columns: 80, rows: 40 }): Promise<Terminal> {
  const made = await inTerminal([process.execPath, main, 'top', '--all'], size, environment());
  open.push(made);
  await until(() => made.screen().some((line) => line.includes('q quit')));
  return made;
}
const text = (terminal: Terminal): string => terminal.screen().join('\n');
const shows = (terminal: Terminal, words: string): Promise<unknown> => until(() => text(terminal).includes(words));
const rowOf = (terminal: Terminal, words: string): string => terminal.screen().find((line) => line.includes(words)) ?? '';
/** A key decides once it was let go for a second, about what has stood still for one: both were seen to begin. */
async function decide(terminal: Terminal, key: string, words: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1100));
  terminal.type(key);
  await shows(terminal, words);
}
/** Where it is; what else changes on the screen is not the key's doing. */
const cursor = (terminal: Terminal): number => terminal.screen().findIndex((line) => line.startsWith('>'));
/** With the cursor on the row that has these words. */
async function select(terminal: Terminal, words: string): Promise<void> {
  for (let rows = 0; rows < 20; rows++) {
    if (rowOf(terminal, words).startsWith('>')) return;
    const before = cursor(terminal);
    terminal.type(DOWN);
    await until(() => cursor(terminal) !== before);
  }
}
const decisions = (): Promise<{ decision: string | null }[]> => database.query('select decision from ledger.approvals');

test.each([80, 200])('trees, what each item does, the words of agents, tokens, cost and the queue fit %i columns', async (columns) => {
  const top = await start({ columns, rows: 50 });
  await shows(top, 'Translate the runbook');
  expect(rowOf(top, 'Find why the nightly')).toMatch(/^ {2}◌ Find why .* engineer +\d\S*k +0\.\d{4} +\d+ (?:s|min)$/);
  expect(rowOf(top, 'Clear the dead rows')).toMatch(/^ {4}▲ Clear .* operator /);
  for (const words of [
    'waits for 2 of its children',
    'waits for approval on operate',
    'paused · until the freeze is over',
    'model call 6 · claude-sonnet-5-5',
    'Sixteen writers take 41 minutes where four take 38', // what has arrived of a response
    'no faculty accepts work type "translate"',
    '1 call waits for approval: a',
    '5 under way, 2 with the model, 2 wait',
    '● live',
  ])
    await shows(top, words);
  expect(top.beyond()).toBe(0);
  await top.resize(60, 12);
  await until(() => top.screen().length === 12 && top.screen()[11]?.includes('↑↓ select'));
  top.type(DOWN.repeat(12));
  await until(() => rowOf(top, 'Translate').startsWith('> ')); // the list goes along
  await top.resize(40, 8);
  await shows(top, 'top needs 60 × 10');
  expect(top.beyond()).toBe(0);
});

test.each([
  ['q', 'q', 0],
  ['^C', '\u0003', 130],
  ['SIGTERM', null, 130],
] as const)('after %s the terminal is as it was, and the exit code is the one that is documented', async (_, key, code) => {
  const top = await start();
  if (key === null) top.signal('SIGTERM');
  else top.type(key);
  const over = await top.ended;
  open.splice(0);
  expect(over.code).toBe(code);
  expect(over.after).toBe(over.before);
  expect(over.written.trimEnd().endsWith('\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l')).toBe(true);
});

test('while ^Z holds it up the terminal is the shell’s', async () => {
  const top = await start();
  const before = await top.settings();
  expect(before).toContain('-icanon');
  top.type('\u001a');
  await until(async () => / icanon/.test(await top.settings()));
  top.signal('SIGCONT');
  await until(async () => (await top.settings()) === before);
  await shows(top, 'q quit');
});

test('without a terminal it is told once how things stand', async () => {
  const told = await cli(['top', '--all'], { env: environment() });
  expect(told).toMatchObject({ code: 0, stderr: 'top updates live in a terminal; this is a snapshot:\n' });
  expect(told.stdout).toContain('▲ Clear the dead rows of orders');
  expect(told.stdout).not.toContain('\u001b');
  const { under_way: rows } = JSON.parse((await cli(['top', '--all', '--json'], { env: environment() })).stdout) as { under_way: object[] };
  expect(rows).toHaveLength(5);
});

test('what is said to an agent is told to the one that was selected, and nothing is said without Enter', async () => {
  const top = await start();
  await select(top, 'Review how amounts');
  top.type('m');
  await shows(top, 'Say, with its next request:');
  top.type('nonsense\u0015qa x\u007fand\u001b[200~ the\ntests\u001b[201~');
  await shows(top, 'qa and the tests█');
  top.type(ENTER);
  await shows(top, 'Said.');
  const said = (): Promise<object[]> =>
    database.query(`select content from ledger.inbox where work_item_id = '${crew.ids.review}' order by id`);
  expect(await said()).toEqual([{ content: 'qa and the tests' }]);
  top.type('m');
  await shows(top, 'Say, with its next request:');
  top.type(`never${ESCAPE}`);
  await until(() => !text(top).includes('never'));
  expect(await said()).toHaveLength(1);
});

test('p lets a paused item go on and pauses one that runs, each after Enter', async () => {
  const top = await start();
  const stateOf = async (id: string): Promise<object[]> =>
    database.query(`select state, state_reason from ledger.work_items where id = '${id}'`);
  await select(top, 'Why do two stores');
  top.type('p');
  await shows(top, 'Resume it?');
  expect(await stateOf(crew.ids.paused)).toMatchObject([{ state: 'paused' }]);
  top.type(ENTER);
  await shows(top, 'It goes on.');
  await until(async () => JSON.stringify(await stateOf(crew.ids.paused)).includes('running'));
  top.type('p');
  await shows(top, 'Pause it between two iterations');
  top.type('the freeze again');
  await shows(top, 'the freeze again█');
  top.type(ENTER);
  await until(async () => JSON.stringify(await stateOf(crew.ids.paused)).includes('"paused","state_reason":"the freeze again"'));
  await shows(top, 'paused · the freeze again');
});

test('a call is approved after all of it was on screen, Enter, and five seconds in which it can be undone', async () => {
  const top = await start({ columns: 80, rows: 12 });
  top.type('a');
  await shows(top, '1 of 1 that wait for approval');
  expect(text(top)).toContain('lines more');
  await decide(top, 'a', 'Approve works once the end of the arguments was on screen.');
  top.type(' ');
  await shows(top, 'end of 3 arguments');
  expect(text(top)).toContain('│ 15');
  await decide(top, 'a', 'It is dangerous: Enter approves it');
  // What is to come within five seconds comes at once.
  await decide(top, `a${ENTER}u`, 'Undone: nothing was sent.');
  expect(await decisions()).toEqual([{ decision: null }]);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  top.type(`a${ENTER}q`); // it was not sent yet
  expect((await top.ended).code).toBe(0);
  open.splice(0);
  expect(await decisions()).toEqual([{ decision: null }]);

  const again = await start();
  again.type('a');
  await shows(again, 'end of 3 arguments');
  await decide(again, `a${ENTER}`, 'Approved.');
  expect(await decisions()).toEqual([{ decision: 'approved' }]);
  again.type('a');
  await shows(again, 'Nothing waits for an approval.');
  again.type('q');
  expect((await again.ended).written).toContain('Approving in');
  open.splice(0);
});

test('whoever answers a call that somebody else decides meanwhile is told so', async () => {
  await crew.db.workSubmit({ workType: 'operate', description: 'Clear the dead rows once more.' });
  await until(async () => (await database.query('select from ledger.v_approvals')).length === 1);
  const top = await start();
  top.type('a');
  await shows(top, 'end of 3 arguments');
  await decide(top, `a${ENTER}`, 'Approving in');
  await database.query('select ledger.tool_call_reject(tool_call_id) from ledger.v_approvals');
  // Only a machine that is too slow to see it within five seconds sends the answer, and is refused.
  await until(() => /It does not wait any more\. Your answer was not sent\.|it is already rejected/.test(text(top)));
});

test('words stream as agents say them', async () => {
  const top = await start();
  await shows(top, 'It takes the net amount in');
  crew.goOn();
  await until(() => !text(top).includes('Review how amounts')); // it is over
});
