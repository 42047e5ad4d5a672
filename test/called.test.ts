// What programs call is kept by version, and what a newer ledger would lack for them is told.

import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { calledOf, missingFor } from './called.ts';
import type { Called } from './called.ts';
import { version } from '../sql/extensionSource.ts';

const lists = JSON.parse(readFileSync(new URL('../sql/upgrades/called.json', import.meta.url), 'utf8')) as Record<string, Called>;
const present = lists[version()] as Called;
const changed = (change: (all: Called) => void): string[] => {
  const all = structuredClone(present);
  change(all);
  return missingFor(present, all);
};

test('the list has what a worker, a client and the console call, with arguments and columns', () => {
  expect(Object.keys(present.functions)).toEqual(
    expect.arrayContaining(['focus_claim', 'worker_warm_up', 'work_submit', 'ledger_append', 'work_changes', 'ledger_search']),
  );
  expect(Object.keys(present.views)).toEqual(
    expect.arrayContaining(['v_work_list', 'v_work_log', 'v_failed_calls', 'v_now', 'work_sessions']),
  );
  expect(present.functions['ledger_append']?.arguments[0]).toEqual({ name: 'p_work_item_id', type: 'uuid', has_default: false });
  expect(present.views['v_work_list']?.map(({ name }) => name)).toContain('ledger_count');
  expect(calledOf(present)).toEqual(present);
});

test('a ledger that has more serves the programs of this version', () => {
  expect(
    changed((all) => {
      all.functions['work_pause']?.arguments.push({ name: 'p_new', type: 'text', has_default: true });
      all.views['v_now']?.push({ name: 'new', type: 'text' });
      all.functions['another'] = { arguments: [], returns: 'void', columns: [] };
    }),
  ).toEqual([]);
});

test('a ledger that lacks something is told of', () => {
  expect(
    changed((all) => {
      delete all.functions['work_pause'];
      delete all.views['v_now'];
    }),
  ).toEqual(['there is no function work_pause()', 'there is no view v_now']);
  expect(
    changed((all) => {
      all.functions['work_pause']?.arguments.push({ name: 'p_new', type: 'text', has_default: false });
    }),
  ).toEqual(['p_new of work_pause() is new and has no default']);
  expect(
    changed((all) => {
      all.functions['work_pause']?.arguments.reverse();
    }),
  ).toHaveLength(2);
  expect(
    changed((all) => {
      for (const one of all.functions['work_pause']?.arguments ?? []) one.has_default = false;
    }),
  ).toEqual(['p_reason of work_pause() could be left out']);
  expect(
    changed((all) => {
      (all.functions['work_metrics_take'] as { columns: unknown[] }).columns = [];
    })[0],
  ).toMatch(/^work_metrics_take\(\) has no column /);
  expect(
    changed((all) => {
      (all.functions['work_ledger_version'] as { returns: string }).returns = 'integer';
    }),
  ).toEqual(['work_ledger_version() returns integer, and returned text']);
  expect(
    changed((all) => {
      (all.views['v_workers'] as { type: string }[])[0]!.type = 'integer';
    }),
  ).toEqual(['column id of v_workers is integer, and was text']);
});
