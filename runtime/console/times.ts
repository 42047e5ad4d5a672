// Times as the server writes them: the instant, in UTC. With a script, assets/times.js converts them to the browser's zone; the head of a
// page names the zone.

import { clock, day, exactly, moment } from './format.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';

type Shown = 'clock' | 'moment' | 'dated';
const words: Record<Shown, (at: string) => string> = {
  clock,
  moment,
  dated: (at) => (day(at) === '' ? clock(at) : `${day(at)} ${clock(at)}`),
};

const time = (at: string, shown: Shown): Html =>
  html`<time datetime="${at}" title="${exactly(at)}" data-as="${shown}">${words[shown](at)}</time>`;

/** 20:39:27. */
export const clockTime = (at: string): Html => time(at, 'clock');
/** 20:39 today, 22 Nov before. */
export const momentTime = (at: string): Html => time(at, 'moment');
/** 20:39:27 today, 22 Nov 20:39:27 before. */
export const exactTime = (at: string): Html => time(at, 'dated');

/** The zone of the page's times. */
export const zone = html`<span class="faint" data-zone>times in UTC</span>`;

/**
 * The position of a run at a moment, as work_run() expects it: before everything that happened then. Times of the ledger have microseconds.
 */
export function runPlace(at: string): string {
  const fraction = /\.(\d+)/.exec(at)?.[1] ?? '';
  return `${Math.floor(Date.parse(at.replace(/\.\d+/, '')) / 1000)}${fraction.padEnd(6, '0').slice(0, 6)}/-2/0/0/`;
}
