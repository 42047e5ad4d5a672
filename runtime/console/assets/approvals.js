// How a person decides on a waiting call. An answer is accepted if the panel has not moved for a second and, to approve, if the end of the
// arguments was on screen; a key also requires that the panel has the focus and is entirely on screen. The answer is sent five seconds
// later, unless it is undone or the page is left. The server gets the hash of the arguments that were shown when the answer was given.

import { post } from './forms.js';
import { $, $$, onArrival } from './page.js';
import { refreshAll } from './parts.js';

const STILL_MS = 1000;
const ARMED_MS = 5000;
const UNDO_SECONDS = 5;
const UNREAD = 'Approve works once the end of the arguments was on screen.';

/** For each panel: its position, and since when it has been there unchanged. */
const standing = new WeakMap();
/** For each panel, the hash of the arguments whose end was on screen. */
const read = new WeakMap();
/** Answers that have not been sent yet. */
const pending = new Map();
/** A dangerous call whose first key was pressed. */
let armed = null;

const formOf = (ask) => $('form', ask);
const tell = (ask, text) => {
  const line = $('[data-says]', ask);
  if (line && line.textContent !== text) line.textContent = text;
};

// What moved, what changed, what was seen ---------------------------------------------------------------------------

/** The positions of the panel and its buttons in the document, independent of scrolling. */
function placeOf(ask) {
  const { top, left } = ask.getBoundingClientRect();
  const buttons = $('.decide', ask)?.getBoundingClientRect().top ?? top;
  return [top + scrollY, left + scrollX, buttons - top].map(Math.round).join();
}

const isStill = (ask) => standing.get(ask)?.place === placeOf(ask) && performance.now() - standing.get(ask).since >= STILL_MS;

/** From now on it has to be still for a second again. */
function unsettle(ask) {
  standing.set(ask, { place: placeOf(ask), since: performance.now() });
  if (armed?.ask === ask) disarm('');
  show(ask);
  setTimeout(() => show(ask), STILL_MS + 1);
}

function look() {
  for (const ask of $$('.ask')) if (standing.get(ask)?.place !== placeOf(ask)) unsettle(ask);
}

const ends = new IntersectionObserver(seen, { threshold: [0.9, 1] });
function seen(entries) {
  for (const { intersectionRatio, target } of entries) {
    const ask = target.closest('.ask');
    if (intersectionRatio < 0.9 || !ask) continue;
    read.set(ask, ask.dataset.hash);
    show(ask);
  }
}

/** The arguments have changed: whatever was seen or answered concerned the earlier ones. */
function renew(ask) {
  seen(ends.takeRecords().filter(({ target }) => !ask.contains(target)));
  read.delete(ask);
  for (const end of $$('[data-end]', ask)) {
    ends.unobserve(end);
    ends.observe(end);
  }
  drop(ask, 'It changed: nothing was sent.');
  unsettle(ask);
}

const elementOf = (node) => (node.nodeType === 1 ? node : node.parentElement);
new MutationObserver((records) => {
  const isContent = ({ target, attributeName }) =>
    attributeName === null ? elementOf(target)?.closest('[data-what]') : attributeName === 'data-hash';
  const changed = records.filter(isContent);
  for (const ask of new Set(changed.map(({ target }) => elementOf(target).closest('.ask')))) if (ask) renew(ask);
  look();
  for (const ask of pending.keys()) if (!ask.isConnected) drop(ask, '');
}).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
addEventListener('resize', look);

/** Shows what can be pressed now, and if not, why. */
function show(ask) {
  const isRead = read.get(ask) === ask.dataset.hash;
  for (const button of $$('button[name="decision"]', ask)) button.disabled = !isStill(ask) || (button.value === 'approve' && !isRead);
  const said = $('[data-says]', ask)?.textContent;
  if (isRead && said === UNREAD) tell(ask, '');
  else if (!isRead && said === '' && !ask.dataset.state && $('.btn[value="approve"]', ask)) tell(ask, UNREAD);
}

onArrival((within) => {
  for (const ask of $$('.ask', within)) {
    for (const end of $$('[data-end]', ask)) ends.observe(end);
    if (standing.has(ask)) show(ask);
    else unsettle(ask);
  }
});

// An answer ----------------------------------------------------------------------------------------------------------

function isOnScreen(ask) {
  const { top, left, bottom, right } = ask.getBoundingClientRect();
  return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
}

/** Why this answer is not accepted now; null: it is. */
function objection(ask, decision, isKey) {
  look();
  if (!isStill(ask)) return 'It changed or moved a moment ago: look again.';
  if (isKey && !isOnScreen(ask)) return 'A key takes effect when the whole of it is on screen.';
  if (decision === 'approve' && read.get(ask) !== ask.dataset.hash) return UNREAD;
  return null;
}

function answer(ask, decision, isKey, isConfirmed = false) {
  if (ask.dataset.state && ask.dataset.state !== 'armed') return;
  const objects = objection(ask, decision, isKey);
  disarm('');
  if (objects !== null) tell(ask, objects);
  else if (decision === 'approve' && isKey && ask.dataset.risk === 'dangerous' && !isConfirmed) arm(ask);
  else count(ask, decision);
}

function arm(ask) {
  ask.dataset.state = 'armed';
  armed = { ask, focus: document.activeElement, timer: setTimeout(() => disarm(''), ARMED_MS) };
  tell(ask, 'It is dangerous: Enter approves it, Esc leaves it.');
}

function disarm(text) {
  if (!armed) return;
  clearTimeout(armed.timer);
  delete armed.ask.dataset.state;
  tell(armed.ask, text);
  armed = null;
}

function count(ask, decision) {
  const body = new FormData(formOf(ask));
  body.set('decision', decision);
  $('.refused', ask).textContent = '';
  tell(ask, '');
  ask.dataset.state = 'counting';
  const left = document.createElement('b');
  left.className = 'num';
  left.textContent = String(UNDO_SECONDS);
  const undoes = document.createElement('button');
  Object.assign(undoes, { type: 'button', className: 'btn', textContent: 'Undo ' });
  undoes.append(Object.assign(document.createElement('kbd'), { textContent: 'u' }));
  undoes.addEventListener('click', () => drop(ask, 'Undone: nothing was sent.'));
  const words = document.createElement('span');
  words.append(decision === 'approve' ? 'Approving in ' : 'Rejecting in ', left, ' s');
  words.className = 'grow';
  $('[data-pending]', ask).replaceChildren(words, undoes);
  if (ask.contains(document.activeElement)) ask.focus({ preventScroll: true }); // its buttons are hidden now
  const one = {
    body,
    timer: setInterval(() => {
      left.textContent = String(Number(left.textContent) - 1);
      if (left.textContent === '0') void conclude(ask, decision);
    }, 1000),
  };
  pending.set(ask, one);
}

/** Takes an answer back before it was sent. */
function drop(ask, text) {
  const one = pending.get(ask);
  if (!one) return false;
  clearInterval(one.timer);
  pending.delete(ask);
  idle(ask, text);
  return true;
}

function idle(ask, text) {
  delete ask.dataset.state;
  const hadFocus = $('[data-pending]', ask).contains(document.activeElement);
  $('[data-pending]', ask).replaceChildren();
  tell(ask, text);
  if (hadFocus) ask.focus({ preventScroll: true });
}

async function conclude(ask, decision) {
  const { body, timer } = pending.get(ask);
  clearInterval(timer);
  pending.delete(ask);
  ask.dataset.state = 'sending';
  $('[data-pending]', ask).replaceChildren('Sending…');
  const { isTaken, says } = await post(formOf(ask).action, new URLSearchParams(body));
  if (!isTaken) {
    idle(ask, '');
    $('.refused', ask).textContent = says;
    return;
  }
  ask.dataset.state = 'decided';
  $('[data-pending]', ask).replaceChildren(decision === 'approve' ? 'Approved.' : 'Rejected.');
  if (ask.contains(document.activeElement)) document.activeElement.blur();
  void refreshAll();
}

function leave() {
  disarm('');
  for (const ask of pending.keys()) drop(ask, 'The page was left: nothing was sent.');
}
addEventListener('pagehide', leave);
document.addEventListener('visibilitychange', () => document.hidden && leave());

// Keys and buttons ---------------------------------------------------------------------------------------------------

let isKeyClick = false;
document.addEventListener('click', (event) => (isKeyClick = event.detail === 0), true); // includes buttons pressed by a key
document.addEventListener('submit', (event) => {
  const ask = event.target.closest('.ask');
  if (!ask) return;
  event.preventDefault();
  answer(ask, event.submitter?.value ?? 'reject', isKeyClick);
});
document.addEventListener('focusin', () => armed && document.activeElement !== armed.focus && disarm(''));

/** A key that is held down decides nothing, whatever has the focus; in a field it types. */
export function isHeldDown({ repeat, key, target }, inField) {
  if (!repeat) return false;
  if (['a', 'x', 'u'].includes(key)) return !inField;
  return Boolean(target.closest?.('.ask')) && (key === 'Enter' || (key === ' ' && target.matches('button')));
}

/** Takes back an answer that was not sent yet, on the approval that has the focus or else the newest; returns whether there was one. */
export function undo() {
  if (armed) {
    disarm('');
    return true;
  }
  const ask = document.activeElement?.closest('.ask');
  const last = pending.has(ask) ? ask : [...pending.keys()].at(-1);
  return last !== undefined && drop(last, 'Undone: nothing was sent.');
}

/** What a key does to approvals; returns whether it did anything. */
export function onApprovals(key) {
  if (key === 'u') return undo();
  if (key === 'Enter') {
    if (!armed || armed.focus !== document.activeElement) return false;
    answer(armed.ask, 'approve', true, true);
    return true;
  }
  if (key !== 'a' && key !== 'x') return false;
  const ask = document.activeElement?.closest('.ask');
  if (!ask) return goToFirst();
  const reason = $('input[name="reason"]', ask);
  if (!reason) return false; // nothing can be changed from here
  if (key === 'x' && reason.value === '') reason.focus();
  else if (key === 'a' && !$('.btn[value="approve"]', ask)) $('[data-whole]', ask)?.focus();
  else answer(ask, key === 'a' ? 'approve' : 'reject', true);
  return true;
}

/** If nothing has the focus, moves it to the first approval; nothing else happens. */
function goToFirst() {
  const ask = document.activeElement === document.body ? $('.ask') : null;
  ask?.focus({ preventScroll: true });
  ask?.scrollIntoView({ block: 'nearest' });
  return ask !== null;
}
