// Times in the browser's zone. The server writes each time as an instant in UTC; here it is replaced by local time.

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' });

function day(date, now = new Date()) {
  if (date.toDateString() === now.toDateString()) return '';
  const year = date.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' };
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...year });
}

const words = {
  clock: (date) => clock.format(date),
  moment: (date) => day(date) || clock.format(date).slice(0, 5),
  dated: (date) => `${day(date)} ${clock.format(date)}`.trim(),
};

function say(within) {
  for (const time of within.querySelectorAll('time[data-as]')) {
    const date = new Date(time.dateTime);
    const text = words[time.dataset.as]?.(date);
    if (text === undefined || Number.isNaN(date.getTime())) continue;
    if (time.textContent !== text) time.textContent = text;
    const title = exact.format(date);
    if (time.title !== title) time.title = title;
  }
  const text = `times in ${zone}`;
  for (const place of within.querySelectorAll('[data-zone]')) if (place.textContent !== text) place.textContent = text;
}

say(document);
// However new times get into the page, they are converted before it is drawn.
new MutationObserver(() => say(document)).observe(document.body, { childList: true, subtree: true, characterData: true });
// Today is over at midnight, also on a page where nothing changes.
setInterval(() => say(document), 60_000);
