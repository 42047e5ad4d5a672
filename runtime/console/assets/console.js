// What the console adds to pages that work without it: it fetches the parts that changed and puts them in place, shows words as
// they stream, sends forms without leaving the page, and listens to keys. Text of agents is only ever set as text; markup comes
// from this server alone.

const page = () => location.pathname + location.search;
const partAddress = (name) => `${location.pathname === '/' ? '' : location.pathname}/part/${name}${location.search}`;
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

// putting parts in place ---------------------------------------------------------------------------------------------

/** A row that is pointed at, or holds the focus, is neither moved nor replaced. */
const isHeld = (node) => {
  if (node.nodeType !== 1 || !node.matches('[data-row], [data-key], form')) return false;
  return isForced ? isTypedIn(node) : node.contains(document.activeElement) || (node.dataset.key !== undefined && node.matches(':hover'));
};
let isForced = false; // after an action of the reader's own
const isTypedIn = (node) => node.nodeType === 1 && node.contains(document.activeElement) && document.activeElement.matches('input, textarea');
const keyOf = (node) => (node.nodeType === 1 ? node.dataset.key ?? node.dataset.part ?? (node.id || null) : null);
const isAlike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

function morph(now, next) {
  if (now.nodeType !== 1) {
    if (now.data !== next.data) now.data = next.data;
    return;
  }
  if (now.dataset.words !== undefined) return; // words come by themselves
  if (now.dataset.later !== undefined && next.dataset.later !== undefined) return;
  for (const name of now.getAttributeNames()) if (!next.hasAttribute(name) && !kept(now, name)) now.removeAttribute(name);
  for (const { name, value } of next.attributes) if (now.getAttribute(name) !== value && !kept(now, name)) now.setAttribute(name, value);
  if (now.matches('input, textarea, select')) return; // what was typed stays
  morphChildren(now, next);
}

/** What the reader has done to the page stays: what is open, where the focus rests. */
const kept = (node, name) => (node.nodeName === 'DETAILS' && name === 'open') || name === 'tabindex' || name === 'aria-selected' || name === 'hidden' || name === 'aria-busy';

function morphChildren(now, next) {
  const keyed = new Map([...now.childNodes].filter((child) => keyOf(child) !== null).map((child) => [keyOf(child), child]));
  let at = now.firstChild;
  for (const child of Array.from(next.childNodes)) {
    const key = keyOf(child);
    let match = key === null ? null : keyed.get(key) ?? null;
    if (match && !isAlike(match, child)) match = null;
    if (!match && key === null && at && keyOf(at) === null && isAlike(at, child)) match = at;
    if (match) {
      if (match !== at && !isHeld(match)) now.insertBefore(match, at);
      else if (match === at) at = at.nextSibling;
      if (!isHeld(match)) morph(match, child);
    } else now.insertBefore(child, at);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    if (!isTypedIn(gone)) gone.remove();
  }
}

const versions = new Map();

async function refresh(name, version = Date.now(), isOwn = false) {
  const place = $(`[data-part="${name}"]`);
  if (!place || (versions.get(name) ?? 0) >= version) return;
  versions.set(name, version);
  if (name === 'journal' && new URLSearchParams(location.search).has('before')) return; // a page of the past does not change
  const answer = await fetch(partAddress(name), { headers: { accept: 'text/html' } });
  if (!answer.ok) return;
  const made = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const next = $(`[data-part="${name}"]`, made);
  if (!next) return;
  if (name === 'nav') markCurrent(next);
  isForced = isOwn;
  if (!collects(place, next)) {
    morph(place, next);
    decorate(place);
  }
  isForced = false;
}

function markCurrent(nav) {
  const current = $('[data-part="nav"] [aria-current]')?.getAttribute('href');
  for (const link of $$('a', nav)) {
    if (link.getAttribute('href') === current) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

/** New entries of the journal wait behind a line, unless the reader is at the top of it; older pages that were fetched stay. */
function collects(place, next) {
  const list = $('[data-entries]', place);
  const newer = $('[data-newer]', place);
  const fresh = $('[data-entries]', next);
  if (!list || !newer || !fresh) return false;
  const known = new Set([...$$('[data-key]', list), ...(list.stowed ?? [])].map((one) => one.dataset.key));
  const added = $$(':scope > [data-key]', fresh).filter((one) => !known.has(one.dataset.key));
  const put = () => {
    for (const one of added.toReversed()) list.prepend(document.adoptNode(one));
    newer.hidden = true;
  };
  for (const one of $$(':scope > [data-key]', fresh)) {
    const same = known.has(one.dataset.key) && list.querySelector(`:scope > [data-key="${CSS.escape(one.dataset.key)}"]`);
    if (same && !isHeld(same)) morph(same, one);
  }
  // What is gone from the page that was fetched is gone from the list; what is older than that page stays.
  const still = new Set($$(':scope > [data-key]', fresh).map((one) => one.dataset.key));
  const oldest = $('[data-more]', next) ? fresh.lastElementChild?.dataset.key : undefined;
  for (const one of $$(':scope > [data-key]', list)) {
    if (oldest !== undefined && one.dataset.key === oldest) break;
    if (!still.has(one.dataset.key) && !isTypedIn(one)) one.remove();
  }
  if (added.length === 0) return true;
  if (list.getBoundingClientRect().top >= 0 && !list.contains(document.activeElement)) put();
  else {
    const button = $('button', newer);
    button.textContent = added.length === 1 ? '1 new entry' : `${added.length} new entries`;
    newer.put = () => {
      put();
      list.firstElementChild?.scrollIntoView({ block: 'center' });
    };
    newer.hidden = false;
  }
  return true;
}

document.addEventListener('click', (event) => event.target.closest('[data-newer]')?.put?.());

// what is live --------------------------------------------------------------------------------------------------------

let source = null;
let lostSince = null;

function say(sign, className, text) {
  const place = $('#connection');
  if (!place || place.dataset.says === text) return;
  place.dataset.says = text;
  const dot = document.createElement('span');
  dot.className = className;
  dot.textContent = sign;
  place.replaceChildren(dot, ` ${text}`);
  document.documentElement.toggleAttribute('data-stale', sign === '○');
}

const clock = () => new Date().toTimeString().slice(0, 5);

function connect() {
  if (source || document.hidden) return;
  source = new EventSource(`/events?page=${encodeURIComponent(page())}`);
  const isBack = () => {
    say('●', 'good', 'live');
    if (lostSince !== null) for (const part of $$('[data-part]:not([data-later])')) void refresh(part.dataset.part).catch(() => {});
    lostSince = null;
  };
  source.addEventListener('parts', (event) => {
    isBack();
    const { version, parts } = JSON.parse(event.data);
    for (const name of parts) void refresh(name, version).catch(() => {});
  });
  source.addEventListener('alive', (event) => (JSON.parse(event.data).isBroken ? lost() : isBack()));
  source.addEventListener('words', (event) => {
    const { item, text } = JSON.parse(event.data);
    for (const place of $$(`[data-words="${CSS.escape(item)}"] .said`)) {
      const before = place.textContent;
      if (text.startsWith(before) && place.firstChild) place.append(text.slice(before.length));
      else place.textContent = text;
      place.normalize();
      place.parentElement.scrollTop = place.parentElement.scrollHeight;
    }
  });
  source.addEventListener('error', () => {
    lost();
    if (source?.readyState !== EventSource.CLOSED) return; // it tries again by itself
    source = null;
    setTimeout(connect, 2000);
  });
}

function lost() {
  lostSince ??= clock();
  say('○', 'warn', `not live since ${lostSince}, trying again`);
}

function disconnect() {
  source?.close();
  source = null;
  lostSince ??= clock();
}

// A browser opens few connections to one server: a page that nobody sees gives its own back.
document.addEventListener('visibilitychange', () => (document.hidden ? disconnect() : connect()));
addEventListener('pagehide', disconnect);
addEventListener('pageshow', connect);

const lasting = (s) => (s < 90 ? `${s} s` : s < 5400 ? `${Math.round(s / 60)} min` : s < 172800 ? `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min` : `${Math.round(s / 86400)} d`);
setInterval(() => {
  if (lostSince !== null) return; // what is not live does not count on
  for (const one of $$('time[data-since]')) {
    const text = lasting(Math.max(0, Math.round((Date.now() - Date.parse(one.dataset.since)) / 1000)));
    if (one.textContent !== text) one.textContent = text;
  }
}, 1000);

// forms -----------------------------------------------------------------------------------------------------------------

document.addEventListener('submit', (event) => {
  if (!event.target.matches('[data-act]')) return;
  event.preventDefault();
  void send(event.target, event.submitter);
});

async function send(form, submitter) {
  const button = submitter ?? $('button', form);
  const body = new FormData(form, submitter?.name ? submitter : undefined);
  const refused = $('.refused', form);
  refused.textContent = '';
  button?.setAttribute('aria-busy', 'true');
  try {
    const isFile = [...body.values()].some((value) => value instanceof File);
    const answer = await fetch(form.action, { method: 'POST', headers: { accept: 'application/json' }, body: isFile ? body : new URLSearchParams(body) });
    const { to, says } = await answer.json();
    if (!answer.ok) {
      refused.textContent = says;
      return;
    }
    const here = new URL(to, location.href);
    if (here.pathname + here.search !== page()) {
      location.assign(to);
      return;
    }
    form.reset();
    for (const open of [form.closest('details.act'), form.closest('details.more')]) if (open) open.open = false;
    document.activeElement?.blur();
    for (const part of $$('[data-part]:not([data-later])')) void refresh(part.dataset.part, Date.now(), true).catch(() => {});
  } catch {
    refused.textContent = 'The console does not answer; nothing is known to have changed. It can be sent again.';
  } finally {
    button?.removeAttribute('aria-busy');
  }
}

document.addEventListener('change', (event) => {
  if (event.target.matches('select[data-submit]')) event.target.form.requestSubmit();
  if (event.target.matches('input[type=file]')) {
    chosen(event.target);
    event.target.form.requestSubmit();
  }
});

function chosen(input) {
  const place = $('[data-chosen]', input.form);
  if (place) place.textContent = [...input.files].map((file) => file.name).join(', ');
}

for (const kind of ['dragover', 'drop']) {
  document.addEventListener(kind, (event) => {
    const input = $('[data-drop] input[type=file]');
    if (!input || !event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    if (kind !== 'drop') return;
    input.files = event.dataTransfer.files;
    chosen(input);
    input.form.requestSubmit();
  });
}

// long lists ------------------------------------------------------------------------------------------------------------

const MOST_ROWS = 200;

/** Older rows are fetched when the end comes near; beyond 200 the first ones are put aside, and come back on the way up. */
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) void more(target);
}, { rootMargin: '600px' });

async function more(link) {
  if (link.dataset.busy) return;
  link.dataset.busy = 'yes';
  const part = link.closest('[data-part]');
  const list = $('[data-list]', part);
  const address = new URL(link.href);
  try {
    const answer = await fetch(`${address.pathname === '/' ? '' : address.pathname}/part/${part.dataset.part}${address.search}`);
    const made = new DOMParser().parseFromString(await answer.text(), 'text/html');
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

// keys ------------------------------------------------------------------------------------------------------------------

const rowsOf = (list) => $$(':scope > li:not(.colhead):not(.spacer)', list);
const focusOf = (row) => (row.matches('[data-row], a') ? row : $('summary, a', row));

/** One stop for Tab in each list: the row where the reader is. */
function rove(list) {
  const targets = list.matches('[data-roving]') ? $$('a', list) : rowsOf(list).map(focusOf).filter(Boolean);
  const current = targets.find((one) => one === document.activeElement) ?? targets.find((one) => one.getAttribute('tabindex') === '0') ?? targets[0];
  for (const one of targets) {
    const stop = one === current ? '0' : '-1';
    if (one.getAttribute('tabindex') !== stop) one.setAttribute('tabindex', stop);
  }
  return { targets, current };
}

function decorate(within) {
  for (const list of $$('[data-list], [data-roving]', within)) rove(list);
  for (const link of $$('[data-more]', within)) seen.observe(link);
  for (const picture of $$('[data-timeline]', within)) beginTimeline(picture);
  for (const button of $$('[data-noscript]', within)) button.hidden = true;
}

document.addEventListener('focusin', (event) => {
  const list = event.target.closest('[data-list], [data-roving]');
  if (list) rove(list);
});

async function step(by) {
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

function toEnd(isLast) {
  const list = document.activeElement?.closest('[data-list], [data-roving]');
  if (!list) return false;
  if (!isLast && list.stowed?.length) unstow(list, true);
  const { targets } = rove(list);
  goTo(targets, isLast ? targets.length - 1 : 0);
  return true;
}

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
  if (event.key === 'Escape') {
    backOut(event, inField);
    return;
  }
  if (inField) return;
  if (press(event.key)) event.preventDefault();
});

function backOut(event, inField) {
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
    const to = { n: '/', w: '/work', s: '/sessions', k: '/knowledge' }[key];
    if (to) location.assign(to);
    return true;
  }
  const picture = document.activeElement?.closest('[data-timeline]') ?? (document.activeElement === document.body ? $('[data-timeline]') : null);
  if (picture && onTimeline(picture, key)) return true;
  const ask = document.activeElement?.closest('.ask') ?? (document.activeElement === document.body ? $('.ask') : null);
  if (ask && (key === 'a' || key === 'x')) return decide(ask, key);
  switch (key) {
    case '/':
      return focusSearch();
    case '?':
      location.assign('/keys');
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

function decide(ask, key) {
  const reason = $('input[name="reason"]', ask);
  if (key === 'x' && reason && reason.value === '') {
    reason.focus();
    return true;
  }
  $(`button[value="${key === 'a' ? 'approve' : 'reject'}"]`, ask)?.click();
  return true;
}

function focusSearch() {
  const field = $('main input[type=search]');
  if (!field) location.assign('/knowledge');
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

function theme() {
  const next = { '': 'dark', dark: 'light', light: '' }[document.documentElement.dataset.theme ?? ''];
  if (next) localStorage.setItem('theme', next);
  else localStorage.removeItem('theme');
  applyTheme();
}
function applyTheme() {
  const wanted = localStorage.getItem('theme');
  if (wanted === 'dark' || wanted === 'light') document.documentElement.dataset.theme = wanted;
  else delete document.documentElement.dataset.theme;
}

// the timeline ------------------------------------------------------------------------------------------------------------

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
  picture.setAttribute('aria-valuenow', row.dataset.n);
  picture.setAttribute('aria-valuetext', words(row));
  point(picture, at);
  clearTimeout(pending);
  pending = setTimeout(() => go({ turn: row.dataset.n }), 120);
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
  for (const name of ['timeline', 'request']) void refresh(name, Date.now()).catch(() => {});
  disconnect();
  lostSince = null;
  connect();
}

function onTimeline(picture, key) {
  const rows = columnsOf();
  const at = selectedAt(picture);
  const cuts = rows.map((row, i) => (Number(row.dataset.out) > 0 ? i : -1)).filter((i) => i >= 0);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: rows.length - 1, c: cuts.find((i) => i > at), C: cuts.findLast((i) => i < at) }[key];
  if (to !== undefined && to >= 0 && to < rows.length) {
    select(picture, to);
    return true;
  }
  if (key === 'Enter' && document.activeElement === picture) {
    $('#request')?.scrollIntoView();
    return true;
  }
  const [first, last, all] = [Number(picture.dataset.first), Number(picture.dataset.last), Number(picture.dataset.all)];
  const middle = Number(picture.dataset.selected) || (first + last) / 2;
  const half = (last - first + 1) / 2;
  if (key === '0') go({ from: null, to: null });
  else if (key === '+' && half > 4) go({ from: Math.max(1, Math.round(middle - half / 2)), to: Math.min(all, Math.round(middle + half / 2)) });
  else if (key === '-') go({ from: Math.max(1, Math.round(middle - half * 2)), to: Math.min(all, Math.round(middle + half * 2)) });
  else return ['ArrowLeft', 'ArrowRight', 'c', 'C', 'Home', 'End'].includes(key) && document.activeElement === picture;
  return true;
}

// begin -------------------------------------------------------------------------------------------------------------------

applyTheme();
document.documentElement.dataset.script = 'yes';
decorate(document);
connect();
for (const later of $$('[data-later]')) void bring(later).catch(() => {});

async function bring(later) {
  const wanted = new URL($('a', later).href);
  const answer = await fetch(`${location.pathname}/part/${later.dataset.part}${wanted.search}`);
  const made = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const brought = $(`[data-part="${later.dataset.part}"]`, made);
  if (brought) later.replaceWith(document.adoptNode(brought));
}
