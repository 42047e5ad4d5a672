// The run of an item: jumps to the next mark, and shows in the index where the reader is.

import { $, $$, onArrival } from './page.js';

/** By key; with Shift to the previous one. */
const jumps = { e: 'error', s: 'decision', c: 'cut', h: 'person' };

export function onRun(key) {
  const mark = jumps[key.toLowerCase()];
  if (!mark || !$('.talk')) return false;
  const isBack = key !== key.toLowerCase();
  const marked = $$(`.talk [data-mark="${mark}"]`);
  const current = document.activeElement?.closest('.talk [data-mark]') ?? null;
  const line = innerHeight / 3;
  const isPast = (one) =>
    current && document.activeElement !== document.body
      ? Boolean(current.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING)
      : one.getBoundingClientRect().top > line;
  const isEarlier = (one) =>
    current ? Boolean(current.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING) : one.getBoundingClientRect().top < 0;
  const to = isBack ? marked.findLast(isEarlier) : marked.find(isPast);
  if (to) goTo(to);
  else if (!isBack) beyond(mark);
  return true;
}

function goTo(block) {
  if (block.matches('details')) block.open = true;
  const stop = block.matches('details') ? $('summary', block) : block;
  if (!stop.hasAttribute('tabindex') && !stop.matches('summary')) stop.tabIndex = -1;
  stop.focus({ preventScroll: true });
  block.scrollIntoView({ block: 'center' });
}

/** The next mark is in a later window. */
function beyond(mark) {
  const link = $(`[data-jump="${mark}"]`);
  if (!link) return;
  const address = new URL(link.href);
  address.searchParams.set('after', link.dataset.last);
  location.assign(address.href);
}

onArrival(opened);

/** Opens what the address names. */
function opened() {
  const named = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named && named.matches?.('details.call')) named.open = true;
}
addEventListener('hashchange', opened);

let isDue = false;
addEventListener(
  'scroll',
  () => {
    if (isDue || !$('.index ol')) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      follow();
    });
  },
  { passive: true },
);

function follow() {
  const lines = $$('.index li[data-key]');
  const at = lines.findLast((line) => {
    const block = document.getElementById(line.dataset.key);
    return block && block.getBoundingClientRect().top < innerHeight / 3;
  });
  for (const line of lines) {
    if (line === at) line.setAttribute('aria-current', 'true');
    else line.removeAttribute('aria-current');
  }
}
