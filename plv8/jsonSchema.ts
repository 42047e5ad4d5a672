// Validates JSON Schema, drafts 7 and 2020-12 ($schema says which; default: 2020-12), by walking schema and value: without eval, which a
// database does not allow, and in bounded time. A schema is a single document; nothing is fetched. `format` and the content keywords are
// annotations and reject nothing, as in 2020-12.

import { isObject } from './isObject.ts';
import { PatternError, patternFound } from './pattern.ts';
import type { Spend } from './pattern.ts';

type Json = Record<string, unknown>;
type Draft = 7 | 2020;
type Place = { base: string; draft: Draft };
/** The resources entered on the way to a schema, innermost first, for $dynamicRef. */
type Scope = { base: string; outer: Scope | null };
/** The parts of a value that were evaluated by schemas that it matches. */
type Seen = { keys: Set<string>; items: Set<number> };

/** The most levels of nested schemas and values. */
const MAX_DEPTH = 250;
/** Corresponds to about a second of work. */
const MAX_STEPS = 1_000_000;
const MAX_ERRORS = 20;

/** How the error begins if the schema itself is at fault; it is then the only error. */
export const UNUSABLE = 'the schema cannot be used: ';

class SchemaError extends Error {}

/** Why a value does not match a schema, each reason with its position in the value; empty if it matches. */
export function schemaErrors(schema: unknown, value: unknown): string[] {
  try {
    const said = new Check(schema).errors(value);
    return said.length > MAX_ERRORS ? [...said.slice(0, MAX_ERRORS), `and ${said.length - MAX_ERRORS} more`] : said;
  } catch (error) {
    if (error instanceof SchemaError || error instanceof PatternError) return [UNUSABLE + error.message];
    throw error;
  }
}

/** Keywords whose value is one schema, a list of schemas, or an object of schemas. */
const holdOne = [
  'additionalProperties',
  'propertyNames',
  'items',
  'additionalItems',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
];
const holdLists = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const holdObjects = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];

class Check {
  readonly #root: unknown;
  /** Schemas by URI, including the anchor if they have one. */
  readonly #named = new Map<string, unknown>();
  readonly #dynamic = new Map<string, Json>();
  readonly #places = new Map<Json, Place>();
  #steps = 0;
  #depth = 0;

  constructor(schema: unknown) {
    this.#root = schema;
    this.#named.set('', schema);
    this.#index(schema, { base: '', draft: 2020 });
  }

  errors(value: unknown): string[] {
    return this.#check(this.#root, value, '', null, empty());
  }

  readonly #spend: Spend = (steps) => {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw new SchemaError('checking it takes too many steps');
  };

  #deeper<T>(act: () => T): T {
    if (++this.#depth > MAX_DEPTH)
      throw new SchemaError(`schema or value is nested deeper than ${MAX_DEPTH} levels, or a $ref leads back to itself`);
    const result = act();
    this.#depth--;
    return result;
  }

  /** Stores the names of a schema and of all schemas below it. */
  #index(schema: unknown, outer: Place): void {
    if (!isObject(schema) || this.#places.has(schema)) return;
    this.#spend(1);
    let { base, draft } = outer;
    const declared = own(schema, '$schema');
    if (typeof declared === 'string') draft = /draft-0[4-7]/.test(declared) ? 7 : 2020;
    const id = own(schema, '$id');
    if (typeof id === 'string' && !(draft === 7 && own(schema, '$ref') !== undefined)) {
      if (draft === 7 && id.startsWith('#')) this.#named.set(base + id, schema);
      else {
        base = resolveUri(id, base).replace(/#$/, '');
        this.#named.set(base, schema);
      }
    }
    for (const key of ['$anchor', '$dynamicAnchor']) {
      const anchor = own(schema, key);
      if (draft !== 2020 || typeof anchor !== 'string') continue;
      this.#named.set(`${base}#${anchor}`, schema);
      if (key === '$dynamicAnchor') this.#dynamic.set(`${base}#${anchor}`, schema);
    }
    const place = { base, draft };
    this.#places.set(schema, place);
    this.#deeper(() => {
      for (const key of holdOne) this.#index(own(schema, key), place);
      for (const key of holdLists) for (const inner of list(own(schema, key))) this.#index(inner, place);
      for (const key of holdObjects) for (const inner of Object.values(object(own(schema, key)))) this.#index(inner, place);
    });
  }

  /** The schema that a reference from `place` refers to. */
  #referenced(reference: string, place: Place): unknown {
    const uri = resolveUri(reference, place.base);
    const [resource = '', fragment = ''] = uri.split(/#(.*)/s);
    if (!this.#named.has(resource)) throw new SchemaError(`it contains no ${reference}, and nothing is fetched`);
    const root = this.#named.get(resource);
    if (fragment === '') return root;
    if (!fragment.startsWith('/')) {
      if (!this.#named.has(`${resource}#${fragment}`)) throw new SchemaError(`it contains no ${reference}`);
      return this.#named.get(`${resource}#${fragment}`);
    }
    let [found, around] = [root, isObject(root) ? (this.#places.get(root) ?? place) : place];
    for (const token of fragment.slice(1).split('/')) {
      const key = decoded(token).replaceAll('~1', '/').replaceAll('~0', '~');
      found = typeof found === 'object' && found !== null && Object.hasOwn(found, key) ? (found as Json)[key] : undefined;
      if (found === undefined) throw new SchemaError(`it contains no ${reference}`);
      if (isObject(found)) around = this.#places.get(found) ?? around;
    }
    this.#index(found, around); // it is below an unknown keyword
    return found;
  }

  #dynamicallyReferenced(reference: string, place: Place, scope: Scope): unknown {
    const found = this.#referenced(reference, place);
    const anchor = reference.split(/#(.*)/s)[1] ?? '';
    if (!isObject(found) || anchor === '' || own(found, '$dynamicAnchor') !== anchor) return found;
    let outermost: unknown = found;
    for (let inner: Scope | null = scope; inner !== null; inner = inner.outer)
      outermost = this.#dynamic.get(`${inner.base}#${anchor}`) ?? outermost;
    return outermost;
  }

  /** The errors of a value; if there are none, adds its evaluated parts to `seen`. */
  #check(schema: unknown, value: unknown, at: string, outer: Scope | null, seen: Seen): string[] {
    this.#spend(5);
    if (typeof schema === 'boolean') return schema ? [] : [said(at, 'is not allowed')];
    if (!isObject(schema)) throw new SchemaError(`${JSON.stringify(schema)?.slice(0, 60)} is not a schema`);
    const place = this.#places.get(schema) ?? { base: '', draft: 2020 };
    const scope = outer?.base === place.base ? outer : { base: place.base, outer };
    return this.#deeper(() => {
      const mine = empty();
      const errors = [...this.#references(schema, value, at, place, scope, mine)];
      if (place.draft !== 7 || own(schema, '$ref') === undefined) {
        errors.push(...this.#plain(schema, value, at));
        errors.push(...this.#combined(schema, value, at, scope, mine));
        if (Array.isArray(value)) errors.push(...this.#list(schema, value, at, scope, mine));
        else if (isObject(value)) errors.push(...this.#object(schema, value, at, scope, mine));
      }
      if (errors.length === 0) merge(seen, mine);
      return errors;
    });
  }

  #references(schema: Json, value: unknown, at: string, place: Place, scope: Scope, seen: Seen): string[] {
    const errors: string[] = [];
    const [reference, dynamic] = [own(schema, '$ref'), own(schema, '$dynamicRef')];
    if (typeof reference === 'string') errors.push(...this.#check(this.#referenced(reference, place), value, at, scope, seen));
    if (typeof dynamic === 'string' && place.draft === 2020)
      errors.push(...this.#check(this.#dynamicallyReferenced(dynamic, place, scope), value, at, scope, seen));
    return errors;
  }

  #plain(schema: Json, value: unknown, at: string): string[] {
    const errors: string[] = [];
    const refuse = (isWrong: boolean, why: () => string): void => void (isWrong && errors.push(said(at, why())));
    const bound = (key: string): number | null => number(own(schema, key));
    const type = own(schema, 'type');
    const types = typeof type === 'string' ? [type] : list(type);
    refuse(type !== undefined && !types.some((name) => isOfType(value, name)), () => `must be ${types.join(' or ')}, not ${typeOf(value)}`);
    const allowed = own(schema, 'enum');
    refuse(allowed !== undefined && !list(allowed).some((each) => this.#same(each, value)), () => `must be one of ${short(allowed)}`);
    refuse(Object.hasOwn(schema, 'const') && !this.#same(schema['const'], value), () => `must be ${short(schema['const'])}`);
    if (typeof value === 'number') {
      for (const [key, word, isWrong] of [
        ['minimum', 'at least', (limit: number) => value < limit],
        ['maximum', 'at most', (limit: number) => value > limit],
        ['exclusiveMinimum', 'more than', (limit: number) => value <= limit],
        ['exclusiveMaximum', 'less than', (limit: number) => value >= limit],
        ['multipleOf', 'a multiple of', (limit: number) => !isMultiple(value, limit)],
      ] as const) {
        const limit = bound(key);
        refuse(limit !== null && isWrong(limit), () => `must be ${word} ${limit}`);
      }
    }
    const size =
      typeof value === 'string'
        ? Array.from(value).length
        : Array.isArray(value)
          ? value.length
          : isObject(value)
            ? Object.keys(value).length
            : null;
    const [kind, unit] =
      typeof value === 'string' ? ['Length', 'characters'] : Array.isArray(value) ? ['Items', 'items'] : ['Properties', 'keys'];
    if (size !== null) {
      const [least, most] = [bound(`min${kind}`), bound(`max${kind}`)];
      refuse(least !== null && size < least, () => `must have at least ${least} ${unit}`);
      refuse(most !== null && size > most, () => `must have at most ${most} ${unit}`);
    }
    const pattern = own(schema, 'pattern');
    if (typeof value === 'string' && typeof pattern === 'string')
      refuse(!patternFound(pattern, value, this.#spend), () => `must match the pattern ${pattern}`);
    return errors;
  }

  #combined(schema: Json, value: unknown, at: string, scope: Scope, seen: Seen): string[] {
    const errors: string[] = [];
    for (const inner of list(own(schema, 'allOf'))) errors.push(...this.#check(inner, value, at, scope, seen));
    for (const key of ['anyOf', 'oneOf']) {
      const options = own(schema, key);
      if (options === undefined) continue;
      const misses = list(options).map((inner) => this.#check(inner, value, at, scope, seen));
      const fitting = misses.filter((missed) => missed.length === 0).length;
      if (fitting === 0)
        errors.push(
          said(
            at,
            `fits none of ${misses.length} alternatives (${misses
              .map((missed) => missed[0])
              .join('; ')
              .slice(0, 300)})`,
          ),
        );
      else if (key === 'oneOf' && fitting > 1) errors.push(said(at, `fits ${fitting} of the alternatives of which it may fit one`));
    }
    const [not, condition] = [own(schema, 'not'), own(schema, 'if')];
    if (not !== undefined && this.#check(not, value, at, scope, empty()).length === 0) errors.push(said(at, `must not fit ${short(not)}`));
    if (condition !== undefined) {
      const branch = own(schema, this.#check(condition, value, at, scope, seen).length === 0 ? 'then' : 'else');
      if (branch !== undefined) errors.push(...this.#check(branch, value, at, scope, seen));
    }
    return errors;
  }

  #list(schema: Json, value: readonly unknown[], at: string, scope: Scope, seen: Seen): string[] {
    const errors: string[] = [];
    const check = (inner: unknown, n: number): void => {
      seen.items.add(n);
      errors.push(...this.#check(inner, value[n], `${at}/${n}`, scope, empty()));
    };
    const items = own(schema, 'items');
    const first = list(own(schema, 'prefixItems') ?? items);
    const rest = Array.isArray(items) ? own(schema, 'additionalItems') : items;
    first.forEach((inner, n) => n < value.length && check(inner, n));
    if (rest !== undefined) for (let n = first.length; n < value.length; n++) check(rest, n);

    const contains = own(schema, 'contains');
    if (contains !== undefined) {
      const { draft } = this.#places.get(schema) ?? { draft: 2020 };
      const fitting = [...value.keys()].filter((n) => this.#check(contains, value[n], `${at}/${n}`, scope, empty()).length === 0);
      if (draft === 2020) for (const n of fitting) seen.items.add(n);
      const [least, most] = [
        (draft === 2020 ? number(own(schema, 'minContains')) : null) ?? 1,
        draft === 2020 ? number(own(schema, 'maxContains')) : null,
      ];
      if (fitting.length < least)
        errors.push(
          said(at, `must have at least ${least} item${least === 1 ? '' : 's'} that fit${least === 1 ? 's' : ''} ${short(contains)}`),
        );
      if (most !== null && fitting.length > most) errors.push(said(at, `must have at most ${most} items that fit ${short(contains)}`));
    }
    if (own(schema, 'uniqueItems') === true && new Set(value.map((item) => this.#canonical(item))).size < value.length)
      errors.push(said(at, 'must not have the same item twice'));
    const others = own(schema, 'unevaluatedItems');
    if (others !== undefined) for (const n of value.keys()) if (!seen.items.has(n)) check(others, n);
    return errors;
  }

  #object(schema: Json, value: Json, at: string, scope: Scope, seen: Seen): string[] {
    const errors: string[] = [];
    const keys = Object.keys(value);
    const check = (inner: unknown, key: string): void => {
      seen.keys.add(key);
      errors.push(...this.#check(inner, value[key], `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, scope, empty()));
    };
    const need = (needed: unknown, why: string): void => {
      for (const key of list(needed))
        if (typeof key === 'string' && !Object.hasOwn(value, key)) errors.push(said(at, `needs "${key}"${why}`));
    };
    need(own(schema, 'required'), '');
    const properties = object(own(schema, 'properties'));
    const patterns = Object.entries(object(own(schema, 'patternProperties')));
    const rest = own(schema, 'additionalProperties');
    for (const key of keys) {
      const matching = patterns.filter(([pattern]) => patternFound(pattern, key, this.#spend));
      if (Object.hasOwn(properties, key)) check(properties[key], key);
      for (const [, inner] of matching) check(inner, key);
      if (rest !== undefined && matching.length === 0 && !Object.hasOwn(properties, key)) check(rest, key);
    }
    const names = own(schema, 'propertyNames');
    if (names !== undefined) for (const key of keys) errors.push(...this.#check(names, key, `${at} (the key "${key}")`, scope, empty()));
    for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
      for (const [key, inner] of Object.entries(object(own(schema, keyword)))) {
        if (!Object.hasOwn(value, key)) continue;
        if (Array.isArray(inner)) need(inner, ` where "${key}" is given`);
        else errors.push(...this.#check(inner, value, at, scope, seen));
      }
    }
    const others = own(schema, 'unevaluatedProperties');
    if (others !== undefined) for (const key of keys) if (!seen.keys.has(key)) check(others, key);
    return errors;
  }

  #same(a: unknown, b: unknown): boolean {
    return typeof a === 'object' || typeof b === 'object' ? this.#canonical(a) === this.#canonical(b) : a === b;
  }

  /** Returns equal texts for equal values, whatever the order of their keys. */
  #canonical(value: unknown): string {
    this.#spend(1);
    return this.#deeper(() => {
      if (Array.isArray(value)) return `[${value.map((item) => this.#canonical(item)).join(',')}]`;
      if (isObject(value))
        return `{${sorted(Object.keys(value))
          .map((key) => `${JSON.stringify(key)}:${this.#canonical(value[key])}`)
          .join(',')}}`;
      return JSON.stringify(value) ?? 'null';
    });
  }
}

// oxlint-disable-next-line unicorn/no-array-sort -- V8 has toSorted from 11.0 on only, and plv8 may have an older one
const sorted = (keys: string[]): string[] => keys.sort();
const empty = (): Seen => ({ keys: new Set(), items: new Set() });
const said = (at: string, why: string): string => (at === '' ? why : `${at}: ${why}`);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const object = (value: unknown): Json => (isObject(value) ? value : {});
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
/** The value of a keyword; inherited properties are ignored. */
const own = (schema: Json, key: string): unknown => (Object.hasOwn(schema, key) ? schema[key] : undefined);

function merge(into: Seen, from: Seen): void {
  for (const key of from.keys) into.keys.add(key);
  for (const n of from.items) into.items.add(n);
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function isOfType(value: unknown, name: unknown): boolean {
  return name === 'integer' ? Number.isInteger(value) : typeOf(value) === name;
}

/** Uses decimal arithmetic: 0.0075 is a multiple of 0.0001. */
function isMultiple(value: number, of: number): boolean {
  if (of <= 0) return true; // not a valid schema, so it requires nothing
  const remainder = Math.abs(value / of - Math.round(value / of));
  return Number.isFinite(value / of) ? remainder === 0 || (remainder < 1e-9 && !Number.isInteger(of)) : value % of === 0;
}

function decoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

/** RFC 3986, section 5.2, for the values that an $id or a $ref may have. */
function resolveUri(reference: string, base: string): string {
  const parts = /^([a-zA-Z][\w+.-]*:)?(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?$/s;
  const [, scheme, authority, path = '', query, fragment = ''] = parts.exec(reference) ?? [];
  const [, baseScheme = '', baseAuthority = '', basePath = '', baseQuery = ''] = parts.exec(base) ?? [];
  if (scheme !== undefined) return scheme + (authority ?? '') + withoutDots(path) + (query ?? '') + fragment;
  if (authority !== undefined) return baseScheme + authority + withoutDots(path) + (query ?? '') + fragment;
  if (path === '') return baseScheme + baseAuthority + basePath + (query ?? baseQuery) + fragment;
  const merged = path.startsWith('/')
    ? path
    : (baseAuthority !== '' && basePath === '' ? '/' : basePath.slice(0, basePath.lastIndexOf('/') + 1)) + path;
  return baseScheme + baseAuthority + withoutDots(merged) + (query ?? '') + fragment;
}

function withoutDots(path: string): string {
  if (!/(?:^|\/)\.\.?(?:\/|$)/.test(path)) return path;
  const kept: string[] = [];
  const segments = path.split('/');
  segments.forEach((segment, n) => {
    if (segment === '..') {
      if (kept.length > 1) kept.pop();
    } else if (segment !== '.') kept.push(segment);
    if (n === segments.length - 1 && (segment === '.' || segment === '..')) kept.push('');
  });
  return kept.join('/');
}
