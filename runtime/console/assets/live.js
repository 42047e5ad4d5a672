// Live updates: versions of parts, agents' text as it streams, durations that keep counting; and a notice when the page is not live.

import { $, $$, onArrival, page } from './page.js';
import { compare } from './parts.js';

/** The console says something every few seconds. When it has been silent for this long, its database hangs, or the network in between. */
const SILENT_MS = 20_000;

let source = null;
let heardAt = 0;
let lostSince = null;
/** The versions of this page's parts, as last received from the server. */
let versions = {};
/** The last text of each agent: its row may arrive later. */
const words = new Map();

function say(sign, className, text, why = '') {
  const place = $('#connection');
  if (!place) return;
  place.title = why;
  if (place.dataset.says === text) return;
  place.dataset.says = text;
  const dot = document.createElement('span');
  dot.className = className;
  dot.textContent = sign;
  place.replaceChildren(dot, ` ${text}`);
  document.documentElement.toggleAttribute('data-stale', sign === '○');
}

const clock = () => new Date().toTimeString().slice(0, 5);

export function connect() {
  if (source || document.hidden) return;
  source = new EventSource(`/events?page=${encodeURIComponent(page())}`);
  heardAt = performance.now();
  for (const kind of ['parts', 'alive', 'words']) source.addEventListener(kind, () => (heardAt = performance.now()));
  const isBack = () => {
    say('●', 'good', 'live');
    lostSince = null;
  };
  source.addEventListener('parts', (event) => {
    isBack();
    ({ versions } = JSON.parse(event.data));
    void compare(versions);
  });
  source.addEventListener('alive', (event) => {
    const { isBroken, why } = JSON.parse(event.data);
    if (isBroken) {
      lost(why);
      return;
    }
    isBack();
    void compare(versions); // what could not be fetched before
  });
  source.addEventListener('words', (event) => {
    const { item, text } = JSON.parse(event.data);
    words.set(item, text);
    for (const place of $$(`[data-words="${CSS.escape(item)}"]`)) tell(place, text);
  });
  source.addEventListener('error', () => {
    lost();
    if (source?.readyState !== EventSource.CLOSED) return; // EventSource retries
    source = null;
    setTimeout(connect, 2000);
  });
}

function tell(place, text) {
  const said = $('.said', place);
  const before = said.textContent;
  if (text === before) return;
  if (text.startsWith(before) && said.firstChild) said.append(text.slice(before.length));
  else said.textContent = text;
  said.normalize();
  place.scrollTop = place.scrollHeight;
}

onArrival((within) => {
  for (const place of $$('[data-words]', within)) if (words.has(place.dataset.words)) tell(place, words.get(place.dataset.words));
});

function lost(why = '') {
  lostSince ??= clock();
  say('○', 'warn', `not live since ${lostSince}, trying again`, why);
}

function disconnect() {
  source?.close();
  source = null;
  lostSince ??= clock();
}

/** Connects for the page that is at this address now. */
export function reconnect() {
  disconnect();
  lostSince = null;
  versions = {};
  connect();
}

// A browser opens few connections to one server, so a page that is not visible closes its own.
document.addEventListener('visibilitychange', () => (document.hidden ? disconnect() : connect()));
addEventListener('pagehide', disconnect);
addEventListener('pageshow', connect);

const lasting = (s) =>
  s < 90
    ? `${s} s`
    : s < 5400
      ? `${Math.round(s / 60)} min`
      : s < 172800
        ? `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
        : `${Math.round(s / 86400)} d`;
setInterval(() => {
  if (source && performance.now() - heardAt > SILENT_MS) {
    lost('nothing was heard of the console or its database');
    disconnect();
    connect(); // a connection that broke without a sign never says anything again
  }
  if (lostSince !== null) return; // durations do not count while the page is not live
  for (const one of $$('time[data-since]')) {
    const text = lasting(Math.max(0, Math.round((Date.now() - Date.parse(one.dataset.since)) / 1000)));
    if (one.textContent !== text) one.textContent = text;
  }
}, 1000);
