// The rooms of sql/api, read from the sources: who calls whom, and what lives where.

import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { functions, isPublic, root, sources, statements, withoutComments } from './sqlSources.ts';

const homes = new Map(functions.map(({ name, file }) => [name, file]));
const folder = (file: string): string => file.split('/')[0] ?? '';

/** Calls of a later folder, and why. Everything else goes from later stages to earlier ones. */
const back = {
  // Whatever ends a lease or a focus ends what hangs on it: a response that is arriving, open calls, the wait of a parent.
  _lease_lost: '_stream_break',
  iteration_release: '_stream_break',
  _turns_abandon: '_stream_break',
  _focus_close: '_calls_stop _child_ended',
  // Whether a wait is over is seen under the item's lock, and that is the claim's.
  _claim: '_waits_settle',
  // A session that edits is at work, whatever was thought of it; its claim would hold nobody else.
  claim_check: 'journal_session_status',
  // The sweep asks the same of what it finds.
  _has_come: '_claim_held_by',
  // What is said of a wait for a claim says for whose, as the wait itself finds it.
  _why_waiting: '_claim_awaited',
  // A fork begins with what a person says.
  work_fork: 'work_message',
  // What is written is a heartbeat, and makes checkpoints, of sessions that other programs drive and of our own.
  ledger_append: '_journal_alive _journal_written',
  ledger_append_batch: '_journal_alive _journal_written',
  _iteration_finish: '_checkpoint_due',
  // A session that another program keeps has its plan in its journal or its recording.
  _plan_logged: '_recorded_entries',
  // A database may have a JavaScript engine.
  _schema_check: 'json_schema_errors',
  session_import: 'recorded_runs_parse',
};

test('sql/README.md names every folder', () => {
  const folders = readFileSync(`${root}../README.md`, 'utf8')
    .split('\n')
    .filter((line) => /^\| `\d\d_/.test(line))
    .flatMap((line) => line.split('|')[1]?.match(/\w+/g) ?? []);
  expect(folders).toEqual([...new Set([...sources.keys()].map(folder))].toSorted());
});

test('stages call earlier stages', () => {
  const found = functions.flatMap(({ name, file, calls }) =>
    [...calls].filter((called) => folder(homes.get(called) ?? '') > folder(file)).map((called) => `${name} calls ${called}`),
  );
  const expected = Object.entries(back).flatMap(([name, called]) => called.split(' ').map((each) => `${name} calls ${each}`));
  expect(found.toSorted()).toEqual(expected.toSorted());
});

test('a helper lives where it is used', () => {
  // A file without a public function serves others; one that has a public function keeps its own helpers.
  const faces = new Set(functions.filter(isPublic).map(({ file }) => file));
  const astray = functions.filter((helper) => {
    if (isPublic(helper) || !faces.has(helper.file)) return false;
    const callers = new Set(functions.filter(({ name, calls }) => name !== helper.name && calls.has(helper.name)).map(({ file }) => file));
    for (const [file, calls] of statements) if (calls.has(helper.name)) callers.add(file);
    return !callers.has(helper.file) && callers.size < 2;
  });
  expect(astray.map(({ name }) => name).toSorted()).toEqual([
    // The whole life of an approval is in one file, and that of a budget beside it.
    '_approval_settle',
    '_budget_child',
    '_budgets_by_default',
    // Both end what a later stage knows of: see `back`.
    '_checkpoint_due',
    '_child_ended',
  ]);
});

test('every file opens with its sentence', () => {
  const silent = [...sources]
    .filter(([, sql]) => !/^-- [A-Z](?:.*\n-- )*?.*[.:]/.test(sql) || !/^(?:--.*\n)+\n/.test(sql))
    .map(([file]) => file);
  expect(silent).toEqual([]);
});

test('no function of sql/api has more than 80 lines', () => {
  // _faculty_keys is a table, a line a key.
  const long = functions
    .map(({ name, text }) => ({ name, lines: text.split('\n').length }))
    .filter(({ name, lines }) => lines > 80 && name !== '_faculty_keys');
  expect(long.map(({ name, lines }) => `${name}: ${lines}`)).toEqual([]);
});

test('no line has more than 160 characters, but in comments on things and rows of tables', () => {
  const long = [...sources].flatMap(([file, sql]) =>
    sql
      .replaceAll(/^comment on [\s\S]*?;$/gm, '')
      .split('\n')
      .filter((line) => line.length > 160 && !/^ *\('/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(long).toEqual([]);
});

test('what the planner may do is set in one place', () => {
  const elsewhere = [...sources].filter(([file, sql]) => file !== '97_planner/planner.sql' && /\bset enable_/.test(withoutComments(sql)));
  expect(elsewhere.map(([file]) => file)).toEqual([]);
});

test('one function changes the state of a work item, for those that it knows by name', () => {
  const changing = functions.filter(({ text }) =>
    [...text.matchAll(/\bupdate work_items\b([\s\S]*?)(?:\bwhere\b|;)/g)].some(([, set = '']) => /\bstate =/.test(set)),
  );
  expect(changing.map(({ name }) => name)).toEqual(['_work_move']);
  const says = functions.find(({ name }) => name === '_work_transitions')?.text ?? '';
  const ways = [...says.matchAll(/^    \('(\w+)', '(\{.*?\})'/gm)].map(([, mover = '', from = '']) => ({ mover, isMaking: from === '{}' }));
  const movers = (isMaking: boolean): string[] =>
    [...new Set(ways.filter((way) => way.isMaking === isMaking).map(({ mover }) => mover))].toSorted();
  const moving = functions.flatMap(({ name, text }) =>
    [...text.matchAll(/\b_work_move\(\w+, '(\w+)'\)/g)].map(([, as = '']) => ({ name, as })),
  );
  expect(moving.filter(({ name, as }) => name !== as)).toEqual([]);
  expect([...new Set(moving.map(({ name }) => name))].toSorted()).toEqual(movers(false));
  const calling = functions.filter(({ name, calls }) => name !== '_work_move' && calls.has('_work_move')).map(({ name }) => name);
  expect(calling.toSorted()).toEqual(movers(false));
  const making = functions.filter(({ text }) => /\binsert into work_items\b/.test(text)).map(({ name }) => name);
  expect(making.toSorted()).toEqual(movers(true));
});
