// JSON from files that people write.

/** Removes the byte-order mark that some editors put first and JSON.parse rejects. Throws SyntaxError. */
export const jsonOfFile = (text: string): unknown => JSON.parse(text.replace(/^\uFEFF/, ''));
