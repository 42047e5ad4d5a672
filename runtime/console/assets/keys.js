// The keys of the console. They do nothing while a field has the focus.

import { isHeldDown, onApprovals, undo } from './approvals.js';
import { step, toEnd } from './lists.js';
import { $, inProject } from './page.js';
import { onRun } from './run.js';
import { theme } from './theme.js';
import { onTimeline } from './timeline.js';

const openLine = (name) => {
  const act = $(`[data-action="${name}"]`);
  if (!act) return false;
  if (!act.matches('details')) {
    $('button', act)?.focus();
    return true;
  }
  act.open = true;
  $('textarea, input:not([type=hidden]), button', act)?.focus();
  return true;
};

let isGoing = false;

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const inField = event.target.matches?.('input, textarea, select, [contenteditable]');
  if (isHeldDown(event, inField)) {
    event.preventDefault();
    return;
  }
  if (event.key === 'Escape') {
    backOut(event, inField);
    return;
  }
  if (inField) return;
  if (press(event.key)) event.preventDefault();
});

function backOut(event, inField) {
  if (!inField && undo()) return;
  const open = event.target.closest?.('details.act[open], details[open]');
  if (open) {
    open.open = false;
    $('summary', open)?.focus();
  } else if (inField) event.target.blur();
  else document.activeElement?.blur();
}

function press(key) {
  if (isGoing) {
    isGoing = false;
    const to = { n: '/', w: '/work', f: '/fleet', s: '/sessions', k: '/knowledge', m: '/notes' }[key];
    if (to) location.assign(inProject(to));
    return true;
  }
  const picture =
    document.activeElement?.closest('[data-timeline]') ?? (document.activeElement === document.body ? $('[data-timeline]') : null);
  if (picture && onTimeline(picture, key)) return true;
  if (onApprovals(key)) return true;
  if (onRun(key)) return true;
  if (onFall(key)) return true;
  switch (key) {
    case '/':
      return focusSearch();
    case '?':
      location.assign(inProject('/keys'));
      return true;
    case 'g':
      isGoing = true;
      setTimeout(() => (isGoing = false), 1500);
      return true;
    case 'd':
      theme();
      return true;
    case 'j':
    case 'ArrowDown':
      if (key !== 'j' && !document.activeElement?.closest('[data-list], [data-roving]')) return false;
      void step(1);
      return true;
    case 'k':
    case 'ArrowUp':
      if (key !== 'k' && !document.activeElement?.closest('[data-list], [data-roving]')) return false;
      void step(-1);
      return true;
    case 'ArrowRight':
    case 'ArrowLeft':
      if (!document.activeElement?.closest('[data-roving]')) return false;
      void step(key === 'ArrowRight' ? 1 : -1);
      return true;
    case 'Home':
    case 'End':
      return toEnd(key === 'End');
    case 'o': {
      const fold = document.activeElement?.closest('details');
      if (fold) fold.open = !fold.open;
      return Boolean(fold);
    }
    case 'm':
      return openLine('message');
    case 'p':
      return openLine('resume') || openLine('pause');
    case 'f':
      return forkHere();
    default:
      return false;
  }
}

/** The waterfall's controls for other periods are links, which the keys follow. */
function onFall(key) {
  const name = { '+': 'in', '-': 'out', 0: 'all', ArrowLeft: 'before', ArrowRight: 'after' }[key];
  const link = name && $(`[data-zoom="${name}"]`);
  link?.click();
  return Boolean(link);
}

function focusSearch() {
  const field = $('main input[type=search]');
  if (!field) location.assign(inProject('/knowledge'));
  else {
    field.focus();
    field.select();
  }
  return true;
}

function forkHere() {
  const row = document.activeElement?.closest('li');
  const act = (row && $('[data-action="fork"]', row)) ?? $('#request [data-action="fork"]');
  if (!act) return false;
  const fold = row && $('details', row);
  if (fold) fold.open = true;
  act.open = true;
  $('input:not([type=hidden])', act)?.focus();
  return true;
}
