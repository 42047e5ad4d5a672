// Formats figures, times and ids.

/** 950, 12.3k, 280k, 1.23M. */
export function k(n: number): string {
  if (n >= 1e6) return `${(n / 1e6).toFixed(2)}M`;
  if (n >= 99_500) return `${Math.round(n / 1000)}k`;
  return n >= 1000 ? `${(n / 1000).toFixed(1).replace(/\.0$/, '')}k` : String(Math.round(n));
}

/** 28,307. */
export const num = (n: number): string => n.toLocaleString('en-US');

export const percent = (part: number, whole: number, digits = 0): string =>
  whole > 0 ? `${((100 * part) / whole).toFixed(digits)} %` : '–';

/** 20:39:27 in UTC; times.ts says why. */
export const clock = (at: string): string => new Date(at).toISOString().slice(11, 19);

// Making a formatter takes a thousand times as long as using it, and a page has hundreds of times.
const format = (how: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...how });
const dayFormat = format({ day: 'numeric', month: 'short' });
const dayOfYearFormat = format({ day: 'numeric', month: 'short', year: 'numeric' });
const exactFormat = format({ dateStyle: 'long', timeStyle: 'medium' });

/** 22 Nov, with the year if it is not this year; today: empty. */
export function day(at: string, now = new Date()): string {
  const iso = new Date(at).toISOString();
  if (iso.slice(0, 10) === now.toISOString().slice(0, 10)) return '';
  return (iso.slice(0, 4) === String(now.getUTCFullYear()) ? dayFormat : dayOfYearFormat).format(new Date(at));
}

/** 20:39 today, 22 Nov before. */
export const moment = (at: string): string => day(at) || clock(at).slice(0, 5);

/** 22 November 2026 at 20:39:27 UTC: for the tooltip of a short time. */
export const exactly = (at: string): string => `${exactFormat.format(new Date(at))} UTC`;

/** 14 s, 5 min, 2 h 59 min, 3 d. */
export function lasting(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  if (s < 172_800) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.round(s / 86_400)} d`;
}

export const since = (at: string): number => (Date.now() - Date.parse(at)) / 1000;

/** An id by its last six characters. */
export const short = (id: string): string => id.slice(-6);

/** The first words of a text, on one line. */
export function brief(text: string, length: number): string {
  return shortened(text.slice(0, length * 4).replaceAll(/\s+/g, ' '), length);
}

/** A text with its line breaks, cut to what can be viewed at once. */
export function inLines(text: string, length: number): string {
  const all = text
    .slice(0, length * 4)
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
  return `${shortened(all.slice(0, MOST_LINES).join('\n'), length)}${all.length > MOST_LINES ? '…' : ''}`;
}

const MOST_LINES = 30;
const shortened = (text: string, length: number): string =>
  text.trim().length > length
    ? `${text
        .trim()
        .slice(0, length - 1)
        .trimEnd()}…`
    : text.trim();

/** 1 child, 3 children. */
export const count = (n: number, one: string, many = `${one}s`): string => `${num(n)} ${n === 1 ? one : many}`;

/** A text with the ids in it cut to their last six characters. */
export const withShortIds = (text: string): string => text.replaceAll(/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{6}([0-9a-f]{6})\b/g, '$1');

const sources: Record<string, string> = {
  user: 'from its task',
  own_test: 'own test',
  file: 'from files',
  other_agent: 'from another agent',
  web: 'from outside',
};

/** The source of an entry (its `trust`), in the digest's words. */
export const trustWords = (trust: string): string => sources[trust] ?? trust;
