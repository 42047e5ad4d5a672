// JSON of a file that a person wrote.

/** Some editors put a mark before the text, which JSON does not know. Throws SyntaxError. */
export const jsonOfFile = (text: string): unknown => JSON.parse(text.replace(/^\uFEFF/, ''));
