// Dark or light, if the reader prefers another theme than the system's.

/** Cycles through dark, light and the system's theme. */
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
