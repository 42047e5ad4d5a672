// Draws flat.csv: four curves, each as a share of its median around iteration 50, so that a flat cost is a line at 1.
// `node test/bench/plotFlat.ts --verify` fails where flat.svg is not what flat.csv says.

import { readFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

const width = 900;
const height = 360;
const margin = { left: 50, right: 20, top: 40, bottom: 40 };
const maxRatio = 2;
const curves = [
  { column: 'wal_bytes', label: 'bytes of WAL', color: '#b45309' },
  { column: 'rows_read', label: 'rows read', color: '#0f766e' },
  { column: 'begin_ms', label: 'iteration_begin()', color: '#4338ca' },
  { column: 'rebuild_ms', label: 'context_at()', color: '#a3a3a3' },
] as const;

/** The plot as SVG. Each point is the median of twenty iterations, so that the closing of blocks does not show as a saw. */
export function plotFlat(csv: string): string {
  const [header = '', ...lines] = csv.trim().split('\n');
  const names = header.split(',');
  const rows = lines.map((line) => line.split(',').map(Number));
  const last = rows.at(-1)?.[0] ?? 1;
  const x = (iteration: number): number => margin.left + ((width - margin.left - margin.right) * iteration) / last;
  const y = (ratio: number): number => height - margin.bottom - ((height - margin.top - margin.bottom) * Math.min(ratio, maxRatio)) / maxRatio;
  const paths = curves.map(({ column, color }) => {
    const at = names.indexOf(column);
    const median = (from: number, to: number): number => {
      const values = rows.filter(([n = 0]) => n > from && n <= to).map((row) => row[at] ?? 0).toSorted((a, b) => a - b);
      return values[Math.floor(values.length / 2)] ?? 0;
    };
    const unit = median(30, 70) || 1;
    const points = Array.from({ length: Math.floor(last / 20) }, (_, i) => `${x(i * 20 + 10).toFixed(1)},${y(median(i * 20, i * 20 + 20) / unit).toFixed(1)}`);
    return `<polyline fill="none" stroke="${color}" stroke-width="2" points="${points.join(' ')}"/>`;
  });
  const legend = curves.map(({ label, color }, i) => `<text x="${margin.left + 10 + i * 150}" y="24" fill="${color}">${label}</text>`);
  const grid = [0.5, 1, 1.2, 1.5, 2].map((ratio) =>
    `<line x1="${margin.left}" x2="${width - margin.right}" y1="${y(ratio)}" y2="${y(ratio)}" stroke="${ratio === 1.2 ? '#dc2626' : '#d4d4d4'}"${ratio === 1.2 ? ' stroke-dasharray="6 4"' : ''}/><text x="${margin.left - 8}" y="${y(ratio) + 4}" text-anchor="end" fill="#525252">${ratio}</text>`);
  const ticks = Array.from({ length: 5 }, (_, i) => Math.round((last * (i + 1)) / 5 / 50) * 50).map((n) => `<text x="${x(n)}" y="${height - 16}" text-anchor="middle" fill="#525252">${n}</text>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    '<!-- Drawn from flat.csv by plotFlat.ts; make verify checks it. -->',
    `<title>Cost of an iteration, as a share of the cost around iteration 50</title>`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...grid, ...ticks, ...legend, ...paths,
    `<text x="${width / 2}" y="${height - 2}" text-anchor="middle" fill="#525252">iteration</text>`,
    '</svg>', '',
  ].join('\n');
}

if (argv[1] === fileURLToPath(import.meta.url) && argv.includes('--verify')) {
  const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
  if (plotFlat(read('flat.csv')) !== read('flat.svg')) {
    console.error('test/bench/flat.svg is not what flat.csv says: npm run bench -- flat');
    process.exit(1);
  }
}
