// Dark or light, where the reader wants another than the system's.

/** Dark, light, as the system has it. */
export function theme() {
  const next = { '': 'dark', dark: 'light', light: '' }[document.documentElement.dataset.theme ?? ''];
  if (next) localStorage.setItem('theme', next);
  else localStorage.removeItem('theme');
  applyTheme();
}

export function applyTheme() {
  const wanted = localStorage.getItem('theme');
  if (wanted === 'dark' || wanted === 'light') document.documentElement.dataset.theme = wanted;
  else delete document.documentElement.dataset.theme;
}
