// Where the agent stands, as each cut says it: once, and with the plan, the files and the failures of this conversation.

import { expect } from './expect.ts';
import { chainOf } from './world.ts';
import type { Call, Item, Sent } from './world.ts';

export function checkStood(item: Item, sent: Sent, texts: readonly string[]): void {
  if (sent.elisionId === null || sent.elisionId === item.head?.sent.elisionId || sent.cut.kind === 'selective') return;
  const blocks = texts.filter((text) => text.startsWith('=== WHERE YOU STAND ==='));
  expect(blocks.length === 1, () => `a cut says ${blocks.length} times where ${item.name} stands`);
  const [stood = ''] = blocks;
  // One that was compacted just before it ended has left the cut to whoever goes on from there.
  if (item.from !== null && item.head?.item !== item && stood.includes(`\nWork item ${item.from.id}: `)) return;
  expect(stood.includes(`\nWork item ${item.id}: `), () => `${item.name} is told of another item: ${stood.slice(0, 200)}`);
  const isAfresh = item.policy === 'fresh' || item.features.has('hook recover');
  const plan = isAfresh ? undefined : item.entries.findLast((entry) => entry.type === 'plan');
  for (const mark of plan?.content.split('\n\n')[0]?.match(/e\d+z/g) ?? [])
    expect(stood.includes(mark) || /\d+ more: ledger_read/.test(stood), () => `the plan "${plan?.content}" is not in ${stood}`);
  const isFull = (heading: string): boolean => !new RegExp(`^${heading}.*(?: and |\\()\\d+ before`, 'ms').test(stood);
  const newest = newestOf(item);
  for (const [label, call] of newest) {
    if (call.result === null || call.result === 'stopped') continue;
    const path = String(call.input['path']).replace('src/', '');
    if (call.name === 'edit_file' && !call.result.isError && isFull('Changed'))
      expect(new RegExp(`^Changed.*${path}`, 'm').test(stood), () => `${path} was changed, and ${item.name} is told: ${stood}`);
    // What only looks and finds nothing is nothing to mend.
    if (call.result.isError && call.name === 'edit_file' && isFull('Still failing'))
      expect(stood.includes(`\n- ${label}`), () => `${label} fails, and ${item.name} is told: ${stood}`);
    else if (!call.result.isError || call.name === 'read_file')
      expect(!stood.includes(`\n- ${label}`), () => `${label} passed or only looked, and ${item.name} is told: ${stood}`);
  }
}

/** Of each thing that was called in this conversation the newest call, where the order of all of them is known. */
function newestOf(item: Item): Map<string, Call> {
  const newest = new Map<string, Call>();
  for (const { calls } of chainOf(item.head)) {
    for (const call of calls) for (const inner of call.nested) newest.delete(labelOf(inner));
    const labels = calls.map(labelOf);
    for (const call of calls)
      if (['read_file', 'edit_file'].includes(call.name)) {
        if (labels.filter((label) => label === labelOf(call)).length > 1 || calls.some((one) => one.nested.length > 0))
          newest.delete(labelOf(call));
        else newest.set(labelOf(call), call);
      }
  }
  return newest;
}

const labelOf = ({ name, input }: Call): string => `${name} ${String(input['path'])}`;
