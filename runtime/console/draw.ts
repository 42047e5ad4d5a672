// Small pictures, as pure functions from figures to SVG. Colours come from classes and sizes are attributes, so that light and dark themes
// and a strict content security policy need nothing else.

import { markup } from './html.ts';
import type { Html } from './html.ts';

export const r = (n: number): number => Math.round(n * 10) / 10;

/** A round step for an axis. */
export function nice(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [10, 5, 2.5, 2, 1].map((m) => m * power).find((m) => m <= value * 1.1) ?? power;
}

/** A bar of what is used, what is reserved for running calls, and what is left; as fractions of 1. */
export function bar(used: number, held = 0): Html {
  const at = (v: number): number => r(Math.min(Math.max(v, 0), 1) * 200);
  const width = at(used);
  return markup(
    `<svg class="bar" viewBox="0 0 200 6" preserveAspectRatio="none" aria-hidden="true"><rect class="${used + held > 0.9 ? 'high' : 'use'}" width="${width}" height="6"/><rect class="held" x="${width}" width="${Math.min(at(held), r(200 - width))}" height="6"/></svg>`,
  );
}

/** Sizes as an area, all on one scale. */
export function spark(values: readonly number[], max: number): Html {
  const d = values.map((v, i) => `${r((i / Math.max(values.length - 1, 1)) * 200)} ${r(54 - (v / Math.max(max, 1)) * 52)}`).join('L');
  return markup(
    `<svg viewBox="0 0 200 56" preserveAspectRatio="none" aria-hidden="true"><path class="f-spark" d="M0 55L${d}L200 55Z"/><path class="l-spark" d="M${d}"/></svg>`,
  );
}

const shapes: Record<string, string> = {
  running: '<g class="turn-dot"><path class="g" d="M6 1.2A4.8 4.8 0 1 1 1.2 6"/></g><circle class="gf" cx="6" cy="6" r="1.8"/>',
  waiting: '<circle class="g" cx="6" cy="6" r="4.8"/><path class="g" d="M6 3.2V6l2 1.4"/>',
  approval: '<path class="gf" d="M6 .8 11.4 11H.6z"/>',
  paused: '<path class="gf" d="M3 2h2v8H3zM7 2h2v8H7z"/>',
  queued: '<circle class="g" cx="6" cy="6" r="4.8" stroke-dasharray="2 2"/>',
  completed: '<path class="g" d="M2 6.4 4.8 9 10 3.2"/>',
  failed: '<path class="g" d="M2.6 2.6l6.8 6.8M9.4 2.6 2.6 9.4"/>',
  crashed: '<path class="g" d="M1 6h2.5L5 2.5 7 9.5 8.5 6H11"/>',
  cancelled: '<circle class="g" cx="6" cy="6" r="4.8"/><path class="g" d="M3 9 9 3"/>',
};
const alike: Record<string, string> = { claimed: 'running', dead: 'failed', created: 'queued', active: 'running' };
export const shapeOf = (state: string): string => alike[state] ?? state;

/** The sign of a state: each has a different shape, so that colour is never the only difference. */
export const sign = (state: string): Html =>
  markup(`<svg class="sign" viewBox="0 0 12 12" aria-hidden="true">${shapes[shapeOf(state)] ?? shapes['queued']}</svg>`);

export const swatch = (layer: string): Html =>
  markup(`<svg class="sw" viewBox="0 0 10 10" aria-hidden="true"><rect class="f-${layer}" width="10" height="10"/></svg>`);
