// Where the keys of a valid TOML text are written. smol-toml says so of syntax errors only.

import { parse } from 'smol-toml';

export type Path = readonly PropertyKey[];
export const idOf = (path: Path): string => JSON.stringify(path);

type Scan = { toml: string; at: number; offsets: Map<string, number>; tableLists: Map<string, number> };

/** Where each key of a valid TOML text is written: the offset by the JSON of its path. A table is where its header's
 *  bracket is, a list's element (index in the path) where its value begins. */
export function locateKeys(toml: string): Map<string, number> {
  const scan: Scan = { toml, at: 0, offsets: new Map(), tableLists: new Map() };
  let table: Path = [];
  for (skipBlank(scan); scan.at < toml.length; skipBlank(scan)) {
    if (toml[scan.at] === '[') table = scanHeader(scan);
    else scanPair(scan, table);
  }
  return scan.offsets;
}

function scanHeader(scan: Scan): Path {
  const start = scan.at;
  const isList = take(scan, /\[\[?/y) === '[[';
  const parts = scanKey(scan);
  take(scan, /\s*\]{0,2}/y);
  const path: PropertyKey[] = [];
  parts.forEach(({ name }, i) => {
    path.push(name);
    const isLast = i === parts.length - 1;
    note(scan, path, start, isLast && !isList);
    if (isLast && isList) scan.tableLists.set(idOf(path), (scan.tableLists.get(idOf(path)) ?? 0) + 1);
    const count = scan.tableLists.get(idOf(path));
    if (count === undefined) return;
    path.push(count - 1);
    note(scan, path, start, isLast);
  });
  return path;
}

function scanPair(scan: Scan, table: Path): void {
  const path = [...table];
  for (const { name, offset } of scanKey(scan)) {
    path.push(name);
    note(scan, path, offset, false);
  }
  if (take(scan, /[ \t]*=/y) === '') scan.at = scan.toml.length;
  scanValue(scan, path);
}

function scanKey(scan: Scan): { name: string; offset: number }[] {
  const parts: { name: string; offset: number }[] = [];
  do {
    take(scan, /[ \t]*/y);
    const offset = scan.at;
    const raw = take(scan, /[\w-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'/y);
    const [name = raw] = /^["']/.test(raw) ? Object.keys(parse(`${raw} = 0`)) : [];
    parts.push({ name, offset });
  } while (take(scan, /[ \t]*\./y) !== '');
  return parts;
}

function scanValue(scan: Scan, path: Path): void {
  skipBlank(scan);
  const close = { '[': ']', '{': '}' }[scan.toml[scan.at] ?? ''];
  if (!close) {
    // A scalar: strings of both kinds over several lines or one, dates with a space, the rest. Nothing: give up.
    if (take(scan, /"""(?:\\[^]|[^\\])*?"""(?:"{0,2})|'{3}[^]*?'{3}(?:'{0,2})|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[^\s,\]}#]+(?: \d\d:[^\s,\]}#]+)?/y) === '') scan.at = scan.toml.length;
    return;
  }
  scan.at++;
  for (let index = 0; ; index++) {
    skipBlank(scan);
    if (scan.at >= scan.toml.length || take(scan, close === ']' ? /\]/y : /\}/y) !== '') return;
    if (close === '}') scanPair(scan, path);
    else {
      note(scan, [...path, index], scan.at, true);
      scanValue(scan, [...path, index]);
    }
    skipBlank(scan);
    take(scan, /,/y);
  }
}

const skipBlank = (scan: Scan): string => take(scan, /(?:\s|#[^\n]*)*/y);

function take(scan: Scan, pattern: RegExp): string {
  pattern.lastIndex = scan.at;
  const taken = pattern.exec(scan.toml)?.[0] ?? '';
  scan.at += taken.length;
  return taken;
}

/** The first place counts, but a table's own header beats the headers below it. */
function note(scan: Scan, path: Path, offset: number, isOwn: boolean): void {
  if (isOwn || !scan.offsets.has(idOf(path))) scan.offsets.set(idOf(path), offset);
}
