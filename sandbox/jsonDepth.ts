// Determines how deeply a JSON text is nested before anything parses it.

/** The nesting depth of lists and objects in a JSON text, without parsing it: walking a very deep value would overflow the stack. */
export function depthOf(json: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === 0x22) isInString = !isInString; // "
    else if (byte === 0x5c) at++; // a backslash, which occurs only in strings
    else if (isInString) continue;
    else if (byte === 0x5b || byte === 0x7b) deepest = Math.max(deepest, ++depth); // [ {
    else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return deepest;
}
