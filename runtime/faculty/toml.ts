// Parses TOML to a JSON value, with the position of each key, table and list element.

import { ParseError, parseTOML } from 'toml-eslint-parser';
import type { AST } from 'toml-eslint-parser';

/** Keys, and for lists indexes from 0, which may also be given as text. */
export type Path = readonly (string | number)[];

/** Counted from 1, as in editors. */
export type Position = { line: number; column: number };

export type Toml = {
  value: Record<string, unknown>;
  /**
   * The position of a path: for a table the bracket of its header, for an element its beginning; for what is not in the file, the position
   * of the table that it belongs to.
   */
  positionOf: (path: Path) => Position;
  /** Values that JSON cannot express, which are null in `value`: dates, nan and inf, NUL in a string. */
  beyondJson: { path: Path; what: string }[];
};

export class TomlError extends Error {
  override name = 'TomlError';
  readonly position: Position;

  constructor(message: string, position: Position) {
    super(message);
    this.position = position;
  }
}

const start: Position = { line: 1, column: 1 };
const idOf = (path: Path): string => JSON.stringify(path.map(String));

/** Throws TomlError. */
export function parseToml(text: string): Toml {
  const reader = new Reader();
  try {
    for (const item of parseTOML(text.replace(/^\uFEFF/, '')).body[0].body) reader.read(item);
  } catch (error) {
    if (error instanceof ParseError)
      throw new TomlError(`this is not TOML: ${error.message}`, { line: error.lineNumber, column: error.column + 1 });
    if (error instanceof RangeError) throw new TomlError('this is nested too deeply', start);
    throw error;
  }
  const { value, positions, beyondJson } = reader;
  return {
    value,
    beyondJson,
    positionOf: (path) =>
      path.map((_, i) => positions.get(idOf(path.slice(0, path.length - i)))).find((written) => written !== undefined) ?? start,
  };
}

/** Has no prototype, so that it accepts any key, even __proto__. */
const emptyTable = (): Record<string, unknown> => Object.create(null) as Record<string, unknown>;

class Reader {
  readonly value = emptyTable();
  readonly positions = new Map<string, Position>();
  readonly beyondJson: Toml['beyondJson'] = [];

  read(item: AST.TOMLKeyValue | AST.TOMLTable): void {
    if (item.type === 'TOMLKeyValue') {
      this.#pair(item, this.value, []);
      return;
    }
    const path = item.resolvedKey;
    path.forEach((_, i) => this.#note(path.slice(0, i + 1), item, i === path.length - 1));
    const table = path.reduce<Record<PropertyKey, unknown>>(
      (inner, key, i) => (inner[key] ??= typeof path[i + 1] === 'number' ? [] : emptyTable()) as Record<PropertyKey, unknown>,
      this.value,
    );
    for (const pair of item.body) this.#pair(pair, table, path);
  }

  #pair({ key, value }: AST.TOMLKeyValue, table: Record<PropertyKey, unknown>, above: Path): void {
    let path = above;
    let inner = table;
    key.keys.forEach((node, i) => {
      const name = node.type === 'TOMLBare' ? node.name : node.value;
      path = [...path, name];
      this.#note(path, node, false);
      if (i === key.keys.length - 1) inner[name] = this.#content(value, path);
      else inner = (inner[name] ??= emptyTable()) as Record<PropertyKey, unknown>;
    });
  }

  #content(node: AST.TOMLContentNode, path: Path): unknown {
    if (node.type === 'TOMLArray') {
      return node.elements.map((element, i) => {
        this.#note([...path, i], element, true);
        return this.#content(element, [...path, i]);
      });
    }
    if (node.type === 'TOMLInlineTable') {
      const table = emptyTable();
      for (const pair of node.body) this.#pair(pair, table, path);
      return table;
    }
    const what = beyondWords(node);
    if (what === null) return node.value;
    this.beyondJson.push({ path, what });
    return null;
  }

  /** The first position counts, except that a table's own header overrides the headers below it. */
  #note(path: Path, node: AST.TOMLNode, isOwn: boolean): void {
    const id = idOf(path);
    const { line, column } = node.loc.start;
    if (isOwn || !this.positions.has(id)) this.positions.set(id, { line, column: column + 1 });
  }
}

function beyondWords(node: AST.TOMLValue): string | null {
  if (node.value instanceof Date) return 'a date';
  if (typeof node.value === 'number' && !Number.isFinite(node.value)) return node.kind === 'float' ? node.number : 'so large a number';
  return typeof node.value === 'string' && node.value.includes('\0') ? 'a string with a NUL character' : null;
}
