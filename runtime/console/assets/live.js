// What is live: versions of parts, words of agents as they stream, times that count on; and saying so when it is not.

import { $, $$, page } from './page.js';
import { compare } from './parts.js';

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

export function connect() {
  if (source || document.hidden) return;
  source = new EventSource(`/events?page=${encodeURIComponent(page())}`);
  const isBack = () => {
    say('●', 'good', 'live');
    lostSince = null;
  };
  source.addEventListener('parts', (event) => {
    isBack();
    void compare(JSON.parse(event.data).versions);
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

/** Listens for the page that is at this address now. */
export function reconnect() {
  disconnect();
  lostSince = null;
  connect();
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
