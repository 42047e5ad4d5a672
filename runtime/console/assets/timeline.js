// The context timeline: one stop for Tab that says the call it stands at; hovering, dragging and keys.

import { $, $$, onArrival } from './page.js';
import { refresh } from './parts.js';
import { reconnect } from './live.js';

const SVG = 'http://www.w3.org/2000/svg';

/** The picture becomes one stop for Tab that says the call it stands at. */
function beginTimeline(picture) {
  if (picture.dataset.ready) return say1(picture);
  picture.dataset.ready = 'yes';
  picture.tabIndex = 0;
  picture.setAttribute('role', 'slider');
  picture.setAttribute('aria-label', 'Model calls of the context timeline');
  picture.addEventListener('pointermove', (event) => {
    const at = columnAt(picture, event);
    if (at !== null) point(picture, at);
  });
  picture.addEventListener('pointerleave', () => say1(picture));
  picture.addEventListener('pointerdown', (event) => (picture.from = columnAt(picture, event)));
  picture.addEventListener('pointerup', (event) => {
    const [from, to] = [picture.from, columnAt(picture, event)].toSorted((a, b) => a - b);
    if (from === null || to === null || from === undefined) return;
    const rows = columnsOf();
    if (to - from < 3) select(picture, to);
    else go({ from: rows[from].dataset.n, to: rows[to].dataset.n });
  });
  say1(picture);
}

const columnsOf = () => $$('[data-columns] tbody tr');
const selectedAt = (picture) => Math.max(0, columnsOf().findIndex((row) => row.dataset.n === picture.dataset.selected));
const shownSvg = (picture) => $$('svg', picture).find((svg) => svg.getBoundingClientRect().width > 0);

function columnAt(picture, event) {
  const svg = shownSvg(picture);
  if (!svg) return null;
  const box = svg.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * Number(svg.dataset.width) - Number(svg.dataset.left);
  const at = Math.floor(x / Number(svg.dataset.step));
  return at < 0 || at >= columnsOf().length ? null : at;
}

const words = (row) => `call ${row.dataset.n}: ${Number(row.dataset.sent).toLocaleString('en-US')} tokens${Number(row.dataset.out) > 0 ? `, ${Number(row.dataset.out).toLocaleString('en-US')} cut` : ''}`;

/** Shows a column without going to it. */
function point(picture, at) {
  const row = columnsOf()[at];
  if (!row) return;
  for (const svg of $$('svg.tl', picture)) {
    let band = $('.hoverband', svg);
    if (!band) {
      band = document.createElementNS(SVG, 'rect');
      band.setAttribute('class', 'selband hoverband');
      band.setAttribute('y', '8');
      band.setAttribute('height', '544');
      svg.append(band);
    }
    band.setAttribute('x', String(Number(svg.dataset.left) + at * Number(svg.dataset.step)));
    band.setAttribute('width', String(Math.max(Number(svg.dataset.step), 1.5)));
  }
  const told = $('[data-told]', picture.closest('section'));
  if (told) told.textContent = words(row);
}

/** Says where it stands. */
function say1(picture) {
  const rows = columnsOf();
  const at = selectedAt(picture);
  if (!rows[at]) return;
  picture.setAttribute('aria-valuemin', rows[0].dataset.n);
  picture.setAttribute('aria-valuemax', rows.at(-1).dataset.n);
  picture.setAttribute('aria-valuenow', rows[at].dataset.n);
  picture.setAttribute('aria-valuetext', words(rows[at]));
  const told = $('[data-told]', picture.closest('section'));
  if (told) told.textContent = '';
  for (const band of $$('.hoverband', picture)) band.remove();
}

let pending = null;

function select(picture, at) {
  const row = columnsOf()[at];
  if (!row) return;
  picture.dataset.selected = row.dataset.n;
  picture.dataset.moving = 'yes';
  picture.setAttribute('aria-valuenow', row.dataset.n);
  picture.setAttribute('aria-valuetext', words(row));
  point(picture, at);
  clearTimeout(pending);
  pending = setTimeout(() => {
    delete picture.dataset.moving;
    go({ turn: row.dataset.n });
  }, 120);
}

/** The same page at another place: only what depends on it is fetched. */
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
  const rows = columnsOf();
  const at = selectedAt(picture);
  const cuts = rows.map((row, i) => (Number(row.dataset.out) > 0 ? i : -1)).filter((i) => i >= 0);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: rows.length - 1, c: cuts.find((i) => i > at), C: cuts.findLast((i) => i < at) }[key];
  const [first, last, all] = [Number(picture.dataset.first), Number(picture.dataset.last), Number(picture.dataset.all)];
  const beyond = key === 'ArrowLeft' && at === 0 ? first - 1 : key === 'ArrowRight' && at === rows.length - 1 ? last + 1 : key === 'Home' ? 1 : key === 'End' ? all : 0;
  if (beyond >= 1 && beyond <= all && (beyond < first || beyond > last)) {
    clearTimeout(pending);
    delete picture.dataset.moving;
    go({ turn: beyond, from: null, to: null });
    return true;
  }
  if (to !== undefined && to >= 0 && to < rows.length) {
    select(picture, to);
    return true;
  }
  if (key === 'Enter' && document.activeElement === picture) {
    $('#request')?.scrollIntoView();
    return true;
  }
  const middle = Number(picture.dataset.selected) || (first + last) / 2;
  const half = (last - first + 1) / 2;
  if (key === '0') go({ from: 1, to: null });
  else if (key === '+' && half > 4) go({ from: Math.max(1, Math.round(middle - half / 2)), to: Math.min(all, Math.round(middle + half / 2)) });
  else if (key === '-') go({ from: Math.max(1, Math.round(middle - half * 2)), to: Math.min(all, Math.round(middle + half * 2)) });
  else return ['ArrowLeft', 'ArrowRight', 'c', 'C', 'Home', 'End'].includes(key) && document.activeElement === picture;
  return true;
}

onArrival((within) => $$('[data-timeline]', within).forEach(beginTimeline));
