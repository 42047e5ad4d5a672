// HTML as text. Whatever is put into a template is escaped, and what would hide or turn text around is shown as signs:
// nothing that an agent wrote can be anything but text in a page.

import { html as template, raw } from 'hono/html';

export type Html = ReturnType<typeof raw>;
type Value = string | number | null | undefined | false | Html | readonly Value[];

/** Escapes every value; what was made by html`…` itself, or by `markup`, is put in as it is. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return template(strings, ...values.map(shown)) as Html;
}

/** Markup made by this program from numbers and escaped text: pictures. */
export const markup = (text: string): Html => raw(text);

function shown(value: Value): unknown {
  if (typeof value === 'string') return 'isEscaped' in Object(value) ? value : visible(value);
  return Array.isArray(value) ? value.map((one) => shown(one as Value)) : value;
}

// Control characters except tab and line feed; what joins, hides or reverses text; tags; variation selectors beyond the common ones.
// oxlint-disable-next-line no-control-regex, no-misleading-character-class
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** The same text, with each character that cannot be seen as a sign: ␛, or its code between angle brackets. */
export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(invisible, (c) => {
    const code = c.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? '␡' : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

/** For text in a picture, whose markup is not made by html`…`. */
export const escaped = (text: string): string => String(html`${text}`);
