// Long lists: older rows are fetched near the end, at most 200 stay in the document, and each list is one Tab stop.

import { $, $$, decorate, fetched, onArrival } from './page.js';

const MOST_ROWS = 200;

/** Older rows are fetched when the end comes near; beyond 200 the first ones are removed, and restored when scrolling up. */
const seen = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) void more(target);
  },
  { rootMargin: '600px' },
);

async function more(link) {
  if (link.dataset.busy) return;
  link.dataset.busy = 'yes';
  const part = link.closest('[data-part]');
  const list = $('[data-list]', part);
  try {
    const made = await fetched([part.dataset.part], new URL(link.href));
    const rows = $$('[data-list] > [data-key]', made);
    list.append(...rows.map((row) => document.adoptNode(row)));
    const next = $('[data-more]', made);
    seen.unobserve(link);
    if (next) {
      link.href = next.href;
      delete link.dataset.busy;
      seen.observe(link);
    } else link.closest('p').remove();
    stow(list);
    decorate(part);
  } catch {
    delete link.dataset.busy;
  }
}

function stow(list) {
  list.stowed ??= [];
  const rows = [...list.children].filter((row) => !row.classList.contains('spacer') && !row.classList.contains('colhead'));
  let height = 0;
  for (const row of rows.slice(0, Math.max(0, rows.length - MOST_ROWS))) {
    if (row.contains(document.activeElement) || row.getBoundingClientRect().bottom > -1600) break;
    height += row.getBoundingClientRect().height;
    list.stowed.push(row);
    row.remove();
  }
  if (height === 0) return;
  let spacer = $('.spacer', list);
  if (!spacer) {
    spacer = document.createElement('li');
    spacer.className = 'spacer';
    spacer.setAttribute('aria-hidden', 'true');
    list.prepend(spacer);
    new IntersectionObserver(([entry]) => entry.isIntersecting && unstow(list), { rootMargin: '800px' }).observe(spacer);
  }
  spacer.style.height = `${(spacer.offsetHeight || 0) + height}px`;
}

function unstow(list, everything = false) {
  const spacer = $('.spacer', list);
  if (!spacer || !list.stowed?.length) return;
  const back = list.stowed.splice(everything ? 0 : -60);
  spacer.after(...back);
  const height = back.reduce((sum, row) => sum + row.getBoundingClientRect().height, 0);
  spacer.style.height = `${list.stowed.length === 0 ? 0 : Math.max(0, spacer.offsetHeight - height)}px`;
}

const rowsOf = (list) => $$(':scope > li:not(.colhead):not(.spacer)', list);
const focusOf = (row) => (row.matches('[data-row], a') ? row : $('summary, a', row));

/** Each list is one Tab stop: the row where the reader is. */
function rove(list) {
  const targets = list.matches('[data-roving]') ? $$('a', list) : rowsOf(list).map(focusOf).filter(Boolean);
  const current =
    targets.find((one) => one === document.activeElement) ?? targets.find((one) => one.getAttribute('tabindex') === '0') ?? targets[0];
  for (const one of targets) {
    const stop = one === current ? '0' : '-1';
    if (one.getAttribute('tabindex') !== stop) one.setAttribute('tabindex', stop);
  }
  return { targets, current };
}

document.addEventListener('focusin', (event) => {
  const list = event.target.closest('[data-list], [data-roving]');
  if (list) rove(list);
});

export async function step(by) {
  const list = document.activeElement?.closest('[data-list], [data-roving]') ?? $('main [data-list]');
  if (!list) return;
  const { targets, current } = rove(list);
  const isInside = list.contains(document.activeElement);
  const at = isInside ? targets.indexOf(current) + by : 0;
  if (at < 0 && list.stowed?.length) {
    unstow(list);
    const { targets: restored } = rove(list);
    goTo(restored, Math.max(0, restored.indexOf(current) + by));
    return;
  }
  const link = $('[data-more]', list.closest('[data-part]') ?? document.body);
  if (at >= targets.length && link && list.matches('[data-list]')) await more(link);
  const fresh = rove(list).targets;
  goTo(fresh, isInside ? fresh.indexOf(current) + by : 0);
}

function goTo(targets, at) {
  const target = targets[Math.max(0, Math.min(at, targets.length - 1))];
  target?.focus();
  target?.scrollIntoView({ block: 'nearest' });
}

export function toEnd(isLast) {
  const list = document.activeElement?.closest('[data-list], [data-roving]');
  if (!list) return false;
  if (!isLast && list.stowed?.length) unstow(list, true);
  const { targets } = rove(list);
  goTo(targets, isLast ? targets.length - 1 : 0);
  return true;
}

onArrival((within) => {
  for (const list of $$('[data-list], [data-roving]', within)) rove(list);
  for (const link of $$('[data-more]', within)) seen.observe(link);
});
