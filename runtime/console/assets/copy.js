// Buttons that copy a text: their own, or that of the block around them.

import { $, $$, onArrival } from './page.js';

document.addEventListener('click', (event) => {
  const button = event.target.closest?.('[data-copy]');
  if (!button) return;
  const text = button.dataset.copy || ($('.said', button.closest('li'))?.innerText ?? '');
  void navigator.clipboard?.writeText(text).then(
    () => (button.textContent = 'copied'),
    () => (button.textContent = 'not copied'),
  );
});

onArrival((within) => {
  for (const button of $$('[data-copy]', within)) button.hidden = false;
});
