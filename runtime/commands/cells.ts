// The width of text on a terminal, in cells. Text measured too wide leaves a gap; text measured too narrow would be cut off.

/** Characters that a terminal draws two cells wide. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
export const cells = (character: string): number => (wide.test(character) ? 2 : 1);

export const widthOf = (text: string): number =>
  /^[ -~]*$/.test(text) ? text.length : Array.from(text, cells).reduce((sum, n) => sum + n, 0);

export const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** Splits a line into pieces that fit; an empty line is one piece. */
export function pieces(line: string, width: number): string[] {
  if (/^[ -~]*$/.test(line)) return line.match(new RegExp(`.{1,${width}}`, 'g')) ?? [''];
  const all: string[] = [];
  let [piece, used] = ['', 0];
  for (const character of line) {
    const n = cells(character);
    if (used + n > width) {
      all.push(piece);
      [piece, used] = ['', 0];
    }
    piece += character;
    used += n;
  }
  return [...all, piece];
}

/** Splits a line into pieces that fit and end with whole words; a word that does not fit is broken. */
export function wordPieces(line: string, width: number): string[] {
  const all: string[] = [];
  let piece = '';
  for (const word of line.split(' ').flatMap((one) => pieces(one, width))) {
    const longer = piece === '' ? word : `${piece} ${word}`;
    if (widthOf(longer) <= width) {
      piece = longer;
      continue;
    }
    all.push(piece);
    piece = word;
  }
  return [...all, piece];
}

/** The beginning of a line, with an ellipsis if it is cut. */
export function fitting(line: string, width: number): string {
  if (width <= 0) return '';
  return widthOf(line) <= width ? line : `${pieces(line, width - 1)[0] ?? ''}…`;
}

/** The end of a text on one line, starting at a word. */
export function ending(text: string, width: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (widthOf(line) <= width) return line;
  const backwards = Array.from(line).toReversed().join('');
  const last = Array.from(pieces(backwards, width - 1)[0] ?? '').toReversed();
  const space = last.indexOf(' ');
  return `… ${last.slice(space === -1 ? 2 : space + 1).join('')}`;
}
