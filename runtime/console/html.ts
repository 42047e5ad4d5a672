// HTML as text. Every value put into a template is escaped, and characters that would hide or reorder text are replaced by visible ones:
// whatever an agent wrote can only be text in a page.

import { html as template, raw } from 'hono/html';

import { visible } from '../visible.ts';

export type Html = ReturnType<typeof raw>;
type Value = string | number | null | undefined | false | Html | readonly Value[];

/** Escapes every value, except what was made by html`…` itself or by `markup`. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return template(strings, ...values.map(shown)) as Html;
}

/** Markup made by this program from numbers and escaped text: pictures. */
export const markup = (text: string): Html => raw(text);

function shown(value: Value): unknown {
  if (typeof value === 'string') return 'isEscaped' in Object(value) ? value : visible(value);
  return Array.isArray(value) ? value.map((one) => shown(one as Value)) : value;
}

/** For text in a picture, whose markup is not made by html`…`. */
export const escaped = (text: string): string => String(html`${text}`);
