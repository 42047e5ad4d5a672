// Text that others wrote, made safe to look at: what cannot be seen, hides, joins or reverses text becomes a sign. The terminal and the
// pages of the console share this one rule.

/** Persian, Urdu and the scripts of India are spelled with joiners: between two of their letters one can be seen by its effect. */
const scripts = ['Arabic', 'Syriac', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala'];
const joined = `[${scripts.map((name) => `\\p{scx=${name}}`).join('')}]`;

/** What stays, though it is of the kinds below: joiners within words and emoji, and the selector that makes a sign an emoji. */
const harmless = [
  `(?<=(?=\\P{Cf})${joined})[\\u200c\\u200d](?=(?=\\P{Cf})${joined})`,
  '(?<=\\p{Extended_Pictographic}\\p{Emoji_Modifier}?\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})',
  '(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]',
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
].join('|');

/** Control characters, formats (bidi, zero width, tags), line and paragraph separators, halves of characters, what a font leaves out. */
const unseen = '[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\u2800]';

const either = new RegExp(`(?<harmless>${harmless})|[\\t\\n]|(?<unseen>${unseen})`, 'gu');

function sign(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '␡' : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

const signed = (text: string): string =>
  text.replaceAll(either, (all, _, hidden: string | undefined) => (hidden === undefined ? all : sign(hidden)));

/** The same text, with each character that cannot be seen as a sign: ␛, or its code between angle brackets. Tabs and lines stay. */
export const visible = (text: string): string => signed(text.replaceAll('\r\n', '\n'));

/** The same for what a person approves: there each carriage return counts, and marks stacked so high that they paint over other lines. */
export const literal = (text: string): string => signed(text).replaceAll(/(?<=\p{M}{3})\p{M}/gu, sign);

/** A name on one line. */
export const literalName = (name: string): string => literal(name).replaceAll('\n', '␊').replaceAll('\t', '␉');
