// The keys of the console.

import { html } from '../html.ts';
import { panel } from '../page.ts';
import type { Page } from '../page.ts';

const groups: [string, [string[], string][]][] = [
  [
    'Everywhere',
    [
      [['/'], 'search'],
      [['?'], 'this list'],
      [['g n'], 'now'],
      [['g w'], 'work'],
      [['g f'], 'fleet'],
      [['g s'], 'sessions'],
      [['g k'], 'knowledge'],
      [['g m'], 'notes'],
      [['j', '↓'], 'next row'],
      [['k', '↑'], 'row before'],
      [['Home', 'End'], 'first row, last row'],
      [['Enter'], 'open'],
      [['o'], 'fold'],
      [['Esc'], 'back out'],
      [['d'], 'dark, light, as the system'],
    ],
  ],
  [
    'On an approval',
    [
      [['a'], 'approve, once it has the focus: before that, go to it'],
      [['Enter'], 'after a: approve a dangerous one'],
      [['x'], 'reject: asks for the reason'],
      [['u', 'Esc'], 'undo, for five seconds'],
    ],
  ],
  [
    'On an item',
    [
      [['m'], 'say something'],
      [['p'], 'pause or resume'],
      [['f'], 'fork from the selected turn'],
    ],
  ],
  [
    'In a run',
    [
      [['e', 'E'], 'next error, error before'],
      [['s', 'S'], 'next decision, decision before'],
      [['c', 'C'], 'next cut, cut before'],
      [['h', 'H'], 'next word of a person, word before'],
    ],
  ],
  [
    'In the timeline',
    [
      [['←', '→'], 'call before, next call'],
      [['c'], 'next cut'],
      [['C'], 'cut before'],
      [['+', '-', '0'], 'zoom in, out, all'],
      [['Home', 'End'], 'first call, last call'],
      [['Enter'], 'the request part by part'],
    ],
  ],
  [
    'In the waterfall',
    [
      [['+', '-', '0'], 'closer, wider, all of the time'],
      [['←', '→'], 'earlier, later'],
    ],
  ],
];

export const keys: Page = {
  pattern: /^\/keys$/,
  section: 'keys',
  parts: {},
  inputs: {},
  whole: async () => ({
    title: 'Keys',
    body: html`<header class="head"><h1>Keys</h1><p class="quiet">Keys do nothing while a field has the focus. Those that decide on an approval are ignored while held down, and until the whole of it has been on screen, unmoved, for a second.</p></header><div class="cols even">${groups.map(([title, some]) => panel(title, null, html`<div class="body"><dl class="kv keys">${some.map(([names, says]) => html`<dt>${names.map((name) => html`<kbd>${name}</kbd> `)}</dt><dd>${says}</dd>`)}</dl></div>`))}</div>`,
  }),
};
