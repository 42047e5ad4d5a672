// Replaces the parts of a page that changed, except what the reader is using. Text from agents is only ever set as text; markup comes only
// from this server.

import { $, $$, decorate, fetched, page } from './page.js';

/** A row under the pointer or with the focus is neither moved nor replaced. */
const isHeld = (node) => {
  if (node.nodeType !== 1 || !node.matches('[data-row], [data-key], form')) return false;
  return isForced ? isTypedIn(node) : node.contains(document.activeElement) || (node.dataset.key !== undefined && node.matches(':hover'));
};
let isForced = false; // after an action of the reader
const isTypedIn = (node) =>
  node.nodeType === 1 && node.contains(document.activeElement) && document.activeElement.matches('input, textarea');
/** What an element is: what was opened or typed in one action never becomes another one's. */
const keyOf = (node) => (node.nodeType === 1 ? (node.dataset.key ?? node.dataset.action ?? node.dataset.part ?? (node.id || null)) : null);
/** An action that is gone stays while the reader is in it: the ledger says why it is refused. */
const isUsed = (node) => isTypedIn(node) || (node.nodeType === 1 && node.matches('.act') && node.contains(document.activeElement));

/** Updates of nodes that are held (null: the node is gone), applied when the node is released. */
const behind = new Map();

function put(node, next) {
  if (next === null ? isUsed(node) : isHeld(node)) {
    behind.set(node, next);
    return;
  }
  behind.delete(node);
  if (next === null) node.remove();
  else morph(node, next);
}

function catchUp() {
  for (const [node, next] of behind) {
    put(node, next);
    if (!behind.has(node)) decorate(node);
  }
  for (const [place, next] of lists) if (!isInHand(place) && !owesReason(place, next)) bring(place, next);
}
for (const kind of ['focusout', 'pointerout'])
  document.addEventListener(kind, () => behind.size + lists.size > 0 && requestAnimationFrame(catchUp));

/**
 * Lists of approvals that the reader is using, by their part, with the updates for them: nothing moves where an answer may be about to be
 * given.
 */
const lists = new Map();
const isInHand = (place) => place.matches(':hover') || place.contains(document.activeElement);

/** A call that goes while the reader's answer is on its way, decided by somebody else, stays until they have read why theirs was refused. */
function owesReason(place, next) {
  const still = new Set($$('.ask', next).map((ask) => ask.dataset.key));
  const isAnswered = (ask) => ['counting', 'sending'].includes(ask.dataset.state) || $('.refused', ask)?.textContent;
  return $$('.ask', place).some((ask) => !still.has(ask.dataset.key) && isAnswered(ask));
}

/** Whether an update of a list has to wait; if so, a line says it. */
function waits(place, next) {
  const line = $('[data-waits]', place);
  if (!line) return false;
  const keysOf = (within) => new Set($$('.ask:not([data-state="decided"])', within).map((ask) => ask.dataset.key));
  const [now, coming] = [keysOf(place), keysOf(next)];
  const isBeingRead = $('[data-asks]', next) && isInHand(place) && now.size + coming.size > 0;
  if (!isBeingRead && !owesReason(place, next)) return false;
  lists.set(place, next);
  const says = [
    [coming.difference(now).size, 'new'],
    [now.difference(coming).size, 'gone'],
  ]
    .filter(([n]) => n > 0)
    .map(([n, what]) => `${n} ${what}`)
    .join(', ');
  line.hidden = says === '';
  $('button', line).textContent = `${says}; show`;
  return true;
}

function bring(place, next) {
  lists.delete(place);
  const line = $('[data-waits]', place);
  if (line) line.hidden = true;
  morph(place, next);
  decorate(place);
}
document.addEventListener('click', (event) => {
  const place = event.target.closest('[data-waits]')?.closest('[data-part]');
  if (lists.has(place)) bring(place, lists.get(place));
});

const isAlike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

function morph(now, next) {
  if (now.nodeType !== 1) {
    if (now.data !== next.data) now.data = next.data;
    return;
  }
  if (now.dataset.words !== undefined || now.dataset.plot !== undefined) return; // text streams in, plots are drawn here
  // an answer that has not been sent yet, or the reason why one was not accepted
  if (now.dataset.pending !== undefined || now.dataset.says !== undefined || now.matches('.ask .refused')) return;
  if (now.dataset.later !== undefined && next.dataset.later !== undefined) return;
  for (const name of now.getAttributeNames()) if (!next.hasAttribute(name) && !kept(now, name)) now.removeAttribute(name);
  for (const { name, value } of next.attributes) if (now.getAttribute(name) !== value && !kept(now, name)) now.setAttribute(name, value);
  if (now.matches('input, textarea, select')) return; // what was typed stays
  morphChildren(now, next);
}

/** What the reader has done to the page stays: what is open, where the focus is. */
const kept = (node, name) =>
  (node.nodeName === 'DETAILS' && name === 'open') ||
  name === 'tabindex' ||
  name === 'aria-selected' ||
  name === 'hidden' ||
  name === 'aria-busy' ||
  name === 'data-state' ||
  ('moving' in node.dataset && (name === 'data-moving' || name === 'data-selected'));

function morphChildren(now, next) {
  const keyed = new Map([...now.childNodes].filter((child) => keyOf(child) !== null).map((child) => [keyOf(child), child]));
  const still = new Set([...next.childNodes].map(keyOf));
  for (const [key, child] of keyed) if (!still.has(key)) put(child, null); // first, so that the others need not move
  const stays = new Set();
  let at = now.firstChild;
  for (const child of Array.from(next.childNodes)) {
    const key = keyOf(child);
    let match = key === null ? null : (keyed.get(key) ?? null);
    if (match && !isAlike(match, child)) match = null;
    if (!match && key === null && at && keyOf(at) === null && !stays.has(at) && isAlike(at, child)) match = at;
    stays.add(match ?? child);
    if (!match) now.insertBefore(child, at);
    else {
      if (match === at || isHeld(match)) at = match.nextSibling; // a held node is not moved; others move around it
      else now.insertBefore(match, at);
      put(match, child);
    }
  }
  for (const one of Array.from(now.childNodes)) if (!stays.has(one)) put(one, null);
}

let isFetching = false;
let wanted = new Set();
let isOwn = false;

/** Fetches parts and updates them; parts requested meanwhile follow in the next round. `force`: after an action of the reader. */
export async function refresh(names, force = false) {
  for (const name of names) {
    const place = $(`[data-part="${name}"]`);
    if (place && (!('later' in place.dataset) || name === 'request')) wanted.add(name);
  }
  isOwn ||= force;
  if (isFetching) return;
  isFetching = true;
  try {
    while (wanted.size > 0) {
      const [some, asOwn, here] = [[...wanted], isOwn, page()];
      [wanted, isOwn] = [new Set(), false];
      const made = await fetched(some);
      if (here === page()) some.forEach((name) => swap(name, made, asOwn));
      else some.forEach((name) => wanted.add(name)); // the reader has left the page meanwhile
    }
  } catch {
    wanted = new Set(); // the server's next message compares them again
  } finally {
    isFetching = false;
  }
}

export const refreshAll = (force = false) =>
  refresh(
    $$('[data-part]').map((part) => part.dataset.part),
    force,
  );

/** Compares the versions from the server with this page's, and fetches the parts that differ. */
export function compare(versions) {
  const isPast = new URLSearchParams(location.search).has('before'); // a page of the past does not change
  return refresh(
    Object.keys(versions).filter((name) => {
      const place = $(`[data-part="${name}"]`);
      return place && place.dataset.version !== versions[name] && !(isPast && name === 'journal');
    }),
  );
}

function swap(name, made, asOwn) {
  const [place, next] = [$(`[data-part="${name}"]`), $(`[data-part="${name}"]`, made)];
  if (!place || !next) return;
  if (name === 'nav') markCurrent(next);
  isForced = asOwn;
  place.dataset.version = next.dataset.version ?? '';
  if (!collects(place, next) && !waits(place, next)) bring(place, next);
  isForced = false;
}

function markCurrent(nav) {
  const current = $('[data-part="nav"] [aria-current]')?.getAttribute('href');
  for (const link of $$('a', nav)) {
    if (link.getAttribute('href') === current) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

/** New entries of the journal are held back behind a line, unless the reader is at its top; older pages that were fetched stay. */
function collects(place, next) {
  const list = $('[data-entries]', place);
  const newer = $('[data-newer]', place);
  const fresh = $('[data-entries]', next);
  if (!list || !newer || !fresh) return false;
  const known = new Set([...$$('[data-key]', list), ...(list.stowed ?? [])].map((one) => one.dataset.key));
  const added = $$(':scope > [data-key]', fresh).filter((one) => !known.has(one.dataset.key));
  const prepend = () => {
    for (const one of added.toReversed()) list.prepend(document.adoptNode(one));
    newer.hidden = true;
  };
  for (const one of $$(':scope > [data-key]', fresh)) {
    const same = known.has(one.dataset.key) && list.querySelector(`:scope > [data-key="${CSS.escape(one.dataset.key)}"]`);
    if (same) put(same, one);
  }
  // Entries that are missing from the fetched page are removed from the list; entries older than that page stay.
  const still = new Set($$(':scope > [data-key]', fresh).map((one) => one.dataset.key));
  const oldest = $('[data-more]', next) ? fresh.lastElementChild?.dataset.key : undefined;
  for (const one of $$(':scope > [data-key]', list)) {
    if (oldest !== undefined && one.dataset.key === oldest) break;
    if (!still.has(one.dataset.key)) put(one, null);
  }
  if (added.length === 0) return true;
  if (list.getBoundingClientRect().top >= 0 && !list.contains(document.activeElement)) prepend();
  else {
    const button = $('button', newer);
    button.textContent = added.length === 1 ? '1 new entry' : `${added.length} new entries`;
    newer.put = () => {
      prepend();
      list.firstElementChild?.scrollIntoView({ block: 'center' });
    };
    newer.hidden = false;
  }
  return true;
}

document.addEventListener('click', (event) => event.target.closest('[data-newer]')?.put?.());
