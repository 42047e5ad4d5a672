// Makes text from others safe to look at: characters that are invisible or that hide, join or reverse text are replaced by visible signs.
// The terminal and the console share this rule.

/** Persian, Urdu and the scripts of India use joiners in spelling: between two letters of these scripts a joiner has a visible effect. */
const scripts = ['Arabic', 'Syriac', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala'];
const joined = `[${scripts.map((name) => `\\p{scx=${name}}`).join('')}]`;

/** Exceptions that stay although they belong to the classes below: joiners within words and emoji, and the selector that makes an emoji. */
const harmless = [
  `(?<=(?=\\P{Cf})${joined})[\\u200c\\u200d](?=(?=\\P{Cf})${joined})`,
  '(?<=\\p{Extended_Pictographic}\\p{Emoji_Modifier}?\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})',
  '(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]',
  '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
].join('|');

/**
 * Control and format characters (bidi, zero width, tags), line and paragraph separators, lone surrogates, and characters that fonts skip.
 */
const unseen = '[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\u2800]';

const either = new RegExp(`(?<harmless>${harmless})|[\\t\\n]|(?<unseen>${unseen})`, 'gu');

function sign(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '␡' : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

const signed = (text: string): string =>
  text.replaceAll(either, (all, _, hidden: string | undefined) => (hidden === undefined ? all : sign(hidden)));

/** The text with each invisible character replaced by a sign: ␛, or its code in angle brackets. Tabs and line breaks stay. */
export const visible = (text: string): string => signed(text.replaceAll('\r\n', '\n'));

/** The same for text that a person approves: every carriage return is shown too, and marks stacked so high that they cover other lines. */
export const literal = (text: string): string => signed(text).replaceAll(/(?<=\p{M}{3})\p{M}/gu, sign);

/** A name on one line. */
export const literalName = (name: string): string => literal(name).replaceAll('\n', '␊').replaceAll('\t', '␉');
