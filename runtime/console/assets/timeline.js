// The context timeline: a single Tab stop that announces its current call; hovering, dragging and keys.

import { $, $$, onArrival } from './page.js';
import { refresh } from './parts.js';
import { reconnect } from './live.js';

const SVG = 'http://www.w3.org/2000/svg';

/** Makes a picture react to the pointer; the timeline itself becomes a single Tab stop that announces its current call. */
function begin(picture) {
  if (!picture.dataset.ready) {
    picture.dataset.ready = 'yes';
    picture.addEventListener('pointermove', (event) => {
      const row = rowAt(picture, event);
      if (row) point(row.dataset.n);
    });
    picture.addEventListener('pointerleave', rest);
    picture.addEventListener('pointerdown', (event) => (picture.from = rowAt(picture, event)));
    picture.addEventListener('pointerup', (event) => {
      const [one, two] = [picture.from, rowAt(picture, event)];
      if (!one || !two) return;
      const [from, to] = [one, two].toSorted((a, b) => a.dataset.n - b.dataset.n);
      if (to.rowIndex - from.rowIndex < 3) select(two.dataset.n);
      else go({ from: from.dataset.n, to: to.dataset.last });
    });
    if (picture === timeline()) {
      picture.tabIndex = 0;
      picture.setAttribute('role', 'slider');
      picture.setAttribute('aria-label', 'Model calls of the context timeline');
    }
  }
  rest();
}

const timeline = () => $('[data-timeline]');
const pictures = () => $$('[data-timeline], [data-beside]');
const rowsOf = (picture) => $$('[data-columns] tbody tr', picture.closest('[data-figure]'));
/** The row with call n: a column may cover several calls. */
const rowOf = (picture, n) => rowsOf(picture).find((row) => Number(row.dataset.n) <= Number(n) && Number(n) <= Number(row.dataset.last));
const standing = () => rowOf(timeline(), timeline().dataset.selected) ?? rowsOf(timeline())[0];

function rowAt(picture, event) {
  const svg = $$('svg', picture).find((one) => one.getBoundingClientRect().width > 0);
  if (!svg) return undefined;
  const box = svg.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * Number(svg.dataset.width) - Number(svg.dataset.left);
  return rowsOf(picture)[Math.floor(x / Number(svg.dataset.step))];
}

/** The table's description of a column: the whole request, what it held, what the cache gave, what left before it. */
function said(row) {
  const heads = row.closest('table').tHead.rows[0].cells;
  const cells = [...row.cells].map((cell, i) => ({
    ...heads[i].dataset,
    label: heads[i].textContent.trim(),
    swatch: $('svg', heads[i]),
    says: cell.textContent.trim(),
  }));
  return Object.fromEntries(
    ['whole', 'held', 'cache', 'cut'].map((name) => [name, cells.filter(({ of, says }) => of === name && says !== '')]),
  );
}

const isMany = (row) => row.dataset.last !== row.dataset.n;
const callOf = (row) => (isMany(row) ? `calls ${row.dataset.n} to ${row.dataset.last}` : `call ${row.dataset.n}`);
const sentBy = (row) => `${isMany(row) ? 'at most ' : ''}${Number(row.dataset.sent).toLocaleString('en-US')} tokens`;

const reasons = (held) => held.filter(({ why, says }) => why && says !== '0').map(({ why }) => why);
const recorded = (row) => ('recorded' in row.dataset ? ['Counted for the request as it was recorded, from which nothing had left.'] : []);

/** The same for screen readers: what left comes before what stayed. */
function words(row) {
  const { whole, held, cache, cut } = said(row);
  const list = (some) =>
    some
      .filter(({ says }) => says !== '0')
      .map(({ label, says }) => `${label} ${says}`)
      .join(', ');
  return [
    `${callOf(row)}: ${sentBy(row)}`,
    ...cut.map(({ says }) => says),
    list(held),
    ...reasons(held),
    list(cache),
    ...recorded(row),
    list(whole),
  ]
    .filter((some) => some !== '')
    .map((some) => some.replace(/\.$/, ''))
    .join('. ');
}

function made(name, className, ...inside) {
  const node = document.createElement(name);
  node.className = className;
  node.append(...inside);
  return node;
}

function tell(picture, row) {
  const { whole, held, cache, cut } = said(row);
  const one = ({ label, swatch, says }) =>
    made('span', says === '0' ? 'faint' : '', ...(swatch ? [swatch.cloneNode(true)] : []), `${label} `, made('b', '', says));
  const note = (text) => made('span', 'faint', text);
  const list = (some, none) => (some.length > 0 ? some.map(one) : [note(none)]);
  const call = callOf(row);
  $('[data-told]', picture.closest('[data-figure]')).replaceChildren(
    made('dt', 'strong', `${call[0].toUpperCase()}${call.slice(1)}`),
    made('dd', '', made('span', '', made('b', '', sentBy(row))), ...whole.map(one)),
    made('dt', '', 'Held'),
    made('dd', '', ...held.map(one), ...reasons(held).map(note)),
    made('dt', '', 'Cache'),
    made('dd', '', ...list(cache, 'not counted'), ...recorded(row).map(note)),
    made('dt', '', 'Cut'),
    made('dd', 'why-cut', ...(cut.length > 0 ? cut.map(({ says }) => says) : [note('none before this request')])),
  );
}

/** Shows a call in every picture without going to it. `isBare`: the server has drawn it already, so it is only described. */
function point(n, isBare = false) {
  for (const picture of pictures()) {
    for (const band of $$('.hoverband', picture)) band.remove();
    const row = rowOf(picture, n);
    if (!row) continue;
    tell(picture, row);
    if (isBare && picture === timeline()) continue;
    for (const svg of $$('svg.tl', picture)) {
      const step = Number(svg.dataset.step);
      const band = document.createElementNS(SVG, 'rect');
      const at = {
        class: 'selband hoverband',
        x: Number(svg.dataset.left) + row.sectionRowIndex * step,
        y: 8,
        width: Math.max(step, 1.5),
        height: 544,
      };
      for (const [name, value] of Object.entries(at)) band.setAttribute(name, String(value));
      svg.append(band);
    }
  }
}

/** Describes the current call. */
function rest() {
  const picture = timeline();
  const row = picture && standing();
  if (!row) return;
  picture.setAttribute('aria-valuemin', rowsOf(picture)[0].dataset.n);
  picture.setAttribute('aria-valuemax', rowsOf(picture).at(-1).dataset.n);
  say(row);
  point(row.dataset.n, true);
}

function say(row) {
  timeline().setAttribute('aria-valuenow', row.dataset.n);
  timeline().setAttribute('aria-valuetext', words(row));
}

let pending = null;

function select(n) {
  const row = rowOf(timeline(), n);
  if (!row) {
    go({ turn: n, from: null, to: null });
    return;
  }
  timeline().dataset.selected = row.dataset.n;
  timeline().dataset.moving = 'yes';
  say(row);
  point(row.dataset.n);
  clearTimeout(pending);
  pending = setTimeout(() => {
    delete timeline().dataset.moving;
    go({ turn: row.dataset.n });
  }, 120);
}

/** Goes to another place of the same page: fetches only the parts that depend on it. */
function go(changes) {
  const address = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  address.hash = '';
  history.replaceState(null, '', address);
  void refresh(['figures', 'timeline', 'request']);
  reconnect();
}

export function onTimeline(picture, key) {
  const rows = rowsOf(picture);
  const at = rows.indexOf(standing());
  const cuts = rows.map((row, i) => (Number(row.dataset.cuts) > 0 ? i : -1)).filter((i) => i >= 0);
  const to = {
    ArrowLeft: at - 1,
    ArrowRight: at + 1,
    Home: 0,
    End: rows.length - 1,
    c: cuts.find((i) => i > at),
    C: cuts.findLast((i) => i < at),
  }[key];
  const [first, last, all] = [Number(picture.dataset.first), Number(picture.dataset.last), Number(picture.dataset.all)];
  const beyond =
    key === 'ArrowLeft' && at === 0
      ? first - 1
      : key === 'ArrowRight' && at === rows.length - 1
        ? last + 1
        : key === 'Home'
          ? 1
          : key === 'End'
            ? all
            : 0;
  if (beyond >= 1 && beyond <= all && (beyond < first || beyond > last)) {
    clearTimeout(pending);
    delete picture.dataset.moving;
    go({ turn: beyond, from: null, to: null });
    return true;
  }
  if (to !== undefined && to >= 0 && to < rows.length) {
    select(rows[to].dataset.n);
    return true;
  }
  if (key === 'Enter' && document.activeElement === picture) {
    $('#request')?.scrollIntoView();
    return true;
  }
  const middle = Number(picture.dataset.selected) || (first + last) / 2;
  const half = (last - first + 1) / 2;
  if (key === '0') go({ from: 1, to: null });
  else if (key === '+' && half > 4)
    go({ from: Math.max(1, Math.round(middle - half / 2)), to: Math.min(all, Math.round(middle + half / 2)) });
  else if (key === '-') go({ from: Math.max(1, Math.round(middle - half * 2)), to: Math.min(all, Math.round(middle + half * 2)) });
  else return ['ArrowLeft', 'ArrowRight', 'c', 'C', 'Home', 'End'].includes(key) && document.activeElement === picture;
  return true;
}

onArrival((within) => $$('[data-timeline], [data-beside]', within).forEach(begin));
