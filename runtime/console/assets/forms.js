// Sends forms without leaving the page, and shows rejections next to them.

import { $, $$, onArrival, page } from './page.js';
import { refreshAll } from './parts.js';

onArrival((within) => $$('[data-noscript]', within).forEach((button) => (button.hidden = true)));

document.addEventListener('submit', (event) => {
  if (!event.target.matches('[data-act]') || event.target.closest('.ask')) return; // approvals.js
  event.preventDefault();
  void send(event.target, event.submitter);
});

/** Sends fields to an address; `to`: the address to go to afterwards. */
export async function post(address, body) {
  try {
    const answer = await fetch(address, { method: 'POST', headers: { accept: 'application/json' }, body });
    return { isTaken: answer.ok, ...(await answer.json()) };
  } catch {
    return { isTaken: false, says: 'The console does not answer; nothing is known to have changed. It can be sent again.' };
  }
}

/** Forms that are being sent: a double click sends once. One that leads to another page stays here until the reader comes back. */
const sending = new Set();
addEventListener('pageshow', () => sending.clear());

async function send(form, submitter) {
  if (sending.has(form)) return;
  sending.add(form);
  const button = submitter ?? $('button', form);
  const body = new FormData(form, submitter?.name ? submitter : undefined);
  const refused = $('.refused', form);
  refused.textContent = '';
  button?.setAttribute('aria-busy', 'true');
  const isFile = [...body.values()].some((value) => value instanceof File);
  const { isTaken, to, says } = await post(form.action, isFile ? body : new URLSearchParams(body));
  button?.removeAttribute('aria-busy');
  if (!isTaken) {
    sending.delete(form);
    refused.textContent = says;
    return;
  }
  const here = new URL(to, location.href);
  if (here.pathname + here.search !== page()) {
    location.assign(to);
    return;
  }
  sending.delete(form);
  form.reset();
  for (const open of [form.closest('details.act'), form.closest('details.more')]) if (open) open.open = false;
  if (form.contains(document.activeElement)) document.activeElement.blur(); // not an element focused in the meantime
  void refreshAll(true);
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
