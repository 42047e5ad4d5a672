// Two pictures of a period, as pure functions from figures to SVG: what was spent in each step of it, and how long things took.

import { nice, r } from './draw.ts';
import { escaped, markup } from './html.ts';
import type { Html } from './html.ts';

const WIDTH = 640;
const HEIGHT = 180;
const LEFT = 58;
const BOTTOM = 156;
const TOP = 12;

/** A step of the period, by its label. */
export type Column = { label: string; values: readonly number[] };

/**
 * A bar for each step, stacked from its values in their order; the first four have distinct colours. `says`: formats a value for the axis.
 */
export function drawBars(columns: readonly Column[], names: readonly string[], says: (value: number) => string, title: string): Html {
  const most = Math.max(...columns.map(({ values }) => values.reduce((sum, one) => sum + one, 0)), 0);
  const { axis, y } = scaleOf(most, says);
  const step = (WIDTH - LEFT - 4) / Math.max(columns.length, 1);
  const width = Math.max(Math.min(step * 0.7, 36), 1);
  const bars = columns.flatMap(({ values, label }, n) => {
    let upTo = 0;
    const x = r(LEFT + n * step + (step - width) / 2);
    return values.map((value, i) => {
      const top = y((upTo += value));
      const bottom = y(upTo - value);
      return value > 0
        ? `<rect class="a${Math.min(i + 1, 4)}" x="${x}" y="${r(top)}" width="${r(width)}" height="${r(Math.max(bottom - top, 0.5))}"><title>${escaped(`${label} · ${names[i] ?? ''} · ${says(value)}`)}</title></rect>`
        : '';
    });
  });
  return chart(title, axis + bars.join('') + labels(columns, step));
}

/** A line for each value; gaps where there was nothing to measure. `lines`: the class and the name of each. */
export function drawLines(
  columns: readonly { label: string; values: readonly (number | null)[] }[],
  lines: readonly [className: string, name: string][],
  says: (value: number) => string,
  title: string,
): Html {
  const { axis, y } = scaleOf(Math.max(...columns.flatMap(({ values }) => values.map((value) => value ?? 0)), 0), says);
  const step = (WIDTH - LEFT - 4) / Math.max(columns.length, 1);
  const drawn = lines.map(([className, name], i) => {
    let isDrawn = false;
    const points = columns.map(({ values }, n) => {
      const value = values[i] ?? null;
      const move = isDrawn ? 'L' : 'M';
      isDrawn = value !== null;
      return value === null ? '' : `${move}${r(LEFT + (n + 0.5) * step)} ${r(y(value))}`;
    });
    const dots = columns.map(({ label, values }, n) => {
      const value = values[i] ?? null;
      return value === null
        ? ''
        : `<circle class="${className}" cx="${r(LEFT + (n + 0.5) * step)}" cy="${r(y(value))}" r="2.5"><title>${escaped(`${label} · ${name} · ${says(value)}`)}</title></circle>`;
    });
    return `<path class="${className}" d="${points.join('') || 'M0 0'}"/>${dots.join('')}`;
  });
  return chart(title, axis + drawn.join('') + labels(columns, step));
}

const chart = (title: string, inner: string): Html =>
  markup(`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">${inner}</svg>`);

function scaleOf(most: number, says: (value: number) => string): { axis: string; y: (value: number) => number } {
  const small = most > 0 && most < 1 ? 10 ** Math.ceil(-Math.log10(most)) : 1;
  const unit = nice((most * small) / 3) / small;
  const steps = Math.max(Math.ceil(most / unit), 1);
  const y = (value: number): number => BOTTOM - (value / (steps * unit)) * (BOTTOM - TOP);
  const axis = Array.from({ length: steps + 1 }, (_, n) => {
    const at = r(y(n * unit));
    return `<line x1="${LEFT}" x2="${WIDTH - 4}" y1="${at}" y2="${at}"/><text x="${LEFT - 6}" y="${r(at + 4)}" text-anchor="end">${escaped(says(n * unit))}</text>`;
  });
  return { axis: axis.join(''), y };
}

/** As many labels as there is room for. */
function labels(columns: readonly { label: string }[], step: number): string {
  const every = Math.ceil(66 / step);
  return columns
    .map(({ label }, n) =>
      n % every === 0 ? `<text x="${r(LEFT + (n + 0.5) * step)}" y="172" text-anchor="middle">${escaped(label)}</text>` : '',
    )
    .join('');
}
