// A result as SVG: curves where its lines grow along an axis, else bars with the middle half of their values. Both scales are
// logarithmic, so that the same ratio is the same distance everywhere; a unit has a plot of its own below the one before.

import { shown } from './question.ts';
import type { Line, Result } from './question.ts';

const width = 900;
const colors = ['#b45309', '#0f766e', '#4338ca', '#be185d', '#4d7c0f', '#737373', '#0369a1', '#7c2d12', '#a21caf', '#1e293b'];

export function plot(result: Result): string {
  const units = [...new Set(result.lines.map(({ unit }) => unit))];
  let top = 34;
  const parts = units.map((unit) => {
    const all = result.lines.filter((line) => line.unit === unit && line.median > 0);
    const places = new Set(all.flatMap(({ at }) => at ?? []));
    const isMuch = new Set(all.map(({ name }) => name)).size > colors.length; // then the last place tells most
    const lines = isMuch && places.size > 1 ? all.filter(({ at }) => at === Math.max(...places)) : all;
    const grows = places.size > 2 && !isMuch;
    const { svg, height } = grows ? curves(lines, unit, result.axis ?? '') : bars(lines, unit);
    const placed = `<g transform="translate(0 ${top})">${svg}</g>`;
    top += height + 24;
    return placed;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" font-family="sans-serif" font-size="13">`,
    `<!-- Drawn from ${result.question}.json by harness/plot.ts; make verify checks it. -->`,
    `<title>${escaped(result.asks)}</title>`,
    `<rect width="${width}" height="${top}" fill="white"/>`,
    `<text x="10" y="22" font-size="15" fill="#171717">${escaped(result.asks)}</text><text x="${width - 10}" y="22" text-anchor="end" fill="#525252">${result.date}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const place = (n: number): string => n.toFixed(1);

/** A logarithmic scale from `from` to `to` places, and the round values to mark on it. */
function scale(values: readonly number[], from: number, to: number): { at: (value: number) => number; marks: number[] } {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const [low, high] = [
    Math.floor(Math.log10(least) * 3) / 3,
    Math.max(Math.ceil(Math.log10(most) * 3), Math.floor(Math.log10(least) * 3) + 1) / 3,
  ];
  const at = (value: number): number => from + ((to - from) * (Math.log10(value) - low)) / (high - low);
  const decades = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, n) => 10 ** (Math.floor(low) + n));
  const marks = decades
    .flatMap((decade) => (high - low > 4 ? [decade] : [decade, 2 * decade, 5 * decade]))
    .filter((value) => Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9);
  return { at, marks };
}

function bars(lines: readonly Line[], unit: string): { svg: string; height: number } {
  const [left, right, step] = [330, width - 90, 20];
  const { at, marks } = scale(
    lines.flatMap(({ low, median, high }) => [low, median, high].filter((value) => value > 0)),
    left,
    right,
  );
  const bottom = 20 + lines.length * step;
  const grid = marks.map(
    (mark) =>
      `<line x1="${place(at(mark))}" x2="${place(at(mark))}" y1="18" y2="${bottom}" stroke="#e5e5e5"/><text x="${place(at(mark))}" y="14" text-anchor="middle" fill="#737373" font-size="11">${shown(mark)}</text>`,
  );
  const drawn = lines.map((line, n) => {
    const y = 20 + n * step;
    const color = colors[[...new Set(lines.map(({ name }) => name))].indexOf(line.name) % colors.length];
    const label = escaped(`${line.name}${line.at === undefined ? '' : ` (${shown(line.at)})`}`);
    return (
      `<text x="${left - 8}" y="${y + 13}" text-anchor="end" fill="#404040" font-size="12">${label}</text>` +
      `<rect x="${left}" y="${y + 3}" width="${place(Math.max(at(line.median) - left, 1))}" height="${step - 7}" fill="${color}" fill-opacity="0.75"/>` +
      (line.low > 0 && line.low < line.high
        ? `<line x1="${place(at(line.low))}" x2="${place(at(line.high))}" y1="${y + 9.5}" y2="${y + 9.5}" stroke="#171717" stroke-width="2"/>`
        : '') +
      `<text x="${place(Math.max(at(line.high), at(line.median)) + 6)}" y="${y + 13}" fill="#404040" font-size="12">${shown(line.median)}</text>`
    );
  });
  return { svg: [...grid, `<text x="10" y="14" fill="#525252">${escaped(unit)}</text>`, ...drawn].join('\n'), height: bottom };
}

function curves(lines: readonly Line[], unit: string, axis: string): { svg: string; height: number } {
  const [left, right, top, bottom] = [70, width - 270, 20, 260];
  const names = [...new Set(lines.map(({ name }) => name))];
  const x = scale(
    lines.flatMap(({ at }) => at ?? []),
    left,
    right,
  );
  const y = scale(
    lines.flatMap(({ low, median, high }) => [low, median, high].filter((value) => value > 0)),
    bottom,
    top,
  );
  const grid = [
    ...y.marks.map(
      (mark) =>
        `<line x1="${left}" x2="${right}" y1="${place(y.at(mark))}" y2="${place(y.at(mark))}" stroke="#e5e5e5"/><text x="${left - 6}" y="${place(y.at(mark) + 4)}" text-anchor="end" fill="#737373" font-size="11">${shown(mark)}</text>`,
    ),
    ...x.marks.map(
      (mark) =>
        `<line x1="${place(x.at(mark))}" x2="${place(x.at(mark))}" y1="${top}" y2="${bottom}" stroke="#f5f5f5"/><text x="${place(x.at(mark))}" y="${bottom + 15}" text-anchor="middle" fill="#737373" font-size="11">${shown(mark)}</text>`,
    ),
  ];
  const drawn = names.map((name, n) => {
    const color = colors[n % colors.length];
    const points = lines.filter((line) => line.name === name && line.at !== undefined).toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
    const spread = points
      .filter(({ low, high }) => low > 0 && low < high)
      .map(
        (one) =>
          `<line x1="${place(x.at(one.at ?? 1))}" x2="${place(x.at(one.at ?? 1))}" y1="${place(y.at(one.low))}" y2="${place(y.at(one.high))}" stroke="${color}"/>`,
      );
    return (
      `<polyline fill="none" stroke="${color}" stroke-width="2" points="${points.map((one) => `${place(x.at(one.at ?? 1))},${place(y.at(one.median))}`).join(' ')}"/>${spread.join('')}` +
      `<text x="${right + 12}" y="${top + 14 + n * 17}" fill="${color}" font-size="12">${escaped(name)}</text>`
    );
  });
  const height = Math.max(bottom + 34, top + 20 + names.length * 17);
  return {
    svg: [
      ...grid,
      `<text x="10" y="12" fill="#525252">${escaped(unit)}</text><text x="${(left + right) / 2}" y="${bottom + 31}" text-anchor="middle" fill="#525252">${escaped(axis)}</text>`,
      ...drawn,
    ].join('\n'),
    height,
  };
}
