// Plots of cost and latency over days, drawn by uPlot from the table below them; a single day is not plotted. uPlot sets sizes through the
// DOM, which the content security policy allows; no markup has a style.

import { $$, onArrival } from './page.js';

const colours = ['--c-words', '--c-results', '--c-people', '--c-stubs', '--c-task'];
const kinds = { cost: { factor: 1, unit: '$' }, latency: { factor: 0.001, unit: ' s' } };
let uplot = null;

async function draw(place) {
  const rows = $$('[data-days] tbody tr', place.closest('section'));
  const days = [...new Set(rows.map((row) => row.dataset.day))].toReversed(); // the newest comes first
  if (days.length < 2) return;
  place.hidden = false;
  uplot ??= load();
  const { default: Plot } = await uplot;
  const models = [...new Set(rows.map((row) => row.dataset.model))];
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour('--text-2'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
  for (const one of $$('[data-plot]', place)) {
    const { factor, unit } = kinds[one.dataset.plot];
    const figure = (day, model) => {
      const told = rows.find((row) => row.dataset.day === day && row.dataset.model === model)?.dataset[one.dataset.plot];
      return told === undefined || told === '' ? null : Number(told) * factor;
    };
    const data = [days.map((day) => Date.parse(`${day}T12:00:00`) / 1000), ...models.map((model) => days.map((day) => figure(day, model)))];
    one.closest('figure').hidden = data
      .slice(1)
      .flat()
      .every((v) => v === null); // without prices there is no cost
    const series = models.map((label, i) => ({
      label,
      stroke: colour(colours[i % colours.length]),
      width: 2,
      spanGaps: true,
      points: { size: 6 },
    }));
    const said = (v) => (unit === '$' ? `$${Number(v.toPrecision(3))}` : `${v}${unit}`);
    const plot = new Plot(
      {
        width: Math.max(240, one.clientWidth),
        height: 160,
        legend: { show: models.length > 1, live: false },
        cursor: { drag: { x: false, y: false } },
        scales: { y: { range: (_, __, most) => [0, (most || 1) * 1.1] } },
        axes: [
          { ...axis, grid: { show: false } },
          { ...axis, size: 52, values: (_, ticks) => ticks.map(said) },
        ],
        series: [{}, ...series],
      },
      data,
    );
    one.replaceChildren(plot.root);
  }
}

function load() {
  const sheet = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: '/assets/uplot.css' });
  document.head.append(sheet);
  return import('./uplot.js');
}

const drawAll = (within) => $$('[data-plots]', within).forEach((place) => void draw(place).catch(() => (place.hidden = true)));
onArrival(drawAll);
for (const query of ['(prefers-color-scheme: dark)', '(max-width: 820px)'])
  matchMedia(query).addEventListener('change', () => drawAll(document));
