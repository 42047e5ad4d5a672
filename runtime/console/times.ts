// Times as the server writes them: the instant, in UTC. With a script, assets/times.js says them in the zone of the browser; which zone
// it is stands in the head of a page.

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

/** Which zone the times of the page are in. */
export const zone = html`<span class="faint" data-zone>times in UTC</span>`;

/** Where a run is at a moment, as work_run() takes it: before all that happened then. Times of the ledger have microseconds. */
export function runPlace(at: string): string {
  const fraction = /\.(\d+)/.exec(at)?.[1] ?? '';
  return `${Math.floor(Date.parse(at.replace(/\.\d+/, '')) / 1000)}${fraction.padEnd(6, '0').slice(0, 6)}/-2/0/0/`;
}
