// Regular expressions as JSON Schema uses them, matched in time at most proportional to pattern times text. An engine's own
// matching may never finish ("^(a+)+$"), and in a database no timeout stops JavaScript. All states are followed at once; single
// characters are matched by the engine's own RegExp.

/** Its message says why a pattern cannot be checked. */
export class PatternError extends Error {}

type Test = (character: string) => boolean;
type Node =
  | { kind: 'character'; test: Test }
  | { kind: 'edge'; test: (text: readonly string[], at: number) => boolean }
  | { kind: 'sequence'; items: Node[] }
  | { kind: 'choice'; options: Node[] }
  | { kind: 'repeat'; item: Node; min: number; max: number }
  | { kind: 'look'; item: Node; isBehind: boolean; isNegative: boolean };
type Step =
  | { op: 'character'; test: Test }
  | { op: 'check'; test: (text: readonly string[], at: number, spend: Spend) => boolean }
  | { op: 'split'; to: number[] }
  | { op: 'match' };
/** Counts steps of work and throws if there are too many. */
export type Spend = (steps: number) => void;

const MAX_PATTERN = 2_000;
const MAX_STEPS = 20_000;

/** Whether a pattern matches anywhere in a text. Throws a PatternError. */
export function patternFound(pattern: string, text: string, spend: Spend): boolean {
  if (pattern.length > MAX_PATTERN) throw new PatternError(`a pattern can have at most ${MAX_PATTERN} characters`);
  return runs(programOf(new Parser(pattern).parse()), Array.from(text), 0, false, spend) !== null;
}

/** The end of a match that begins at `start` or, unless `isAnchored`, later; null if there is none. */
function runs(
  program: readonly Step[],
  text: readonly string[],
  start: number,
  isAnchored: boolean,
  spend: Spend,
  wanted?: number,
): number | null {
  let states: number[] = [];
  for (let at = start; ; at++) {
    if (at === start || !isAnchored) states.push(0);
    spend(states.length + 1);
    const reached = closure(program, states, text, at, spend);
    if (reached.includes(program.length - 1) && (wanted === undefined || wanted === at)) return at;
    const character = text[at];
    if (character === undefined || (isAnchored && reached.length === 0)) return null;
    states = reached
      .filter((state) => {
        const step = program[state];
        return step?.op === 'character' && step.test(character);
      })
      .map((state) => state + 1);
  }
}

/** The states that are reached without consuming a character. */
function closure(program: readonly Step[], states: readonly number[], text: readonly string[], at: number, spend: Spend): number[] {
  const seen = new Set<number>();
  const pending = [...states];
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    const step = program[state];
    if (seen.has(state) || step === undefined) continue;
    seen.add(state);
    spend(1);
    if (step.op === 'split') pending.push(...step.to);
    else if (step.op === 'check' && step.test(text, at, spend)) pending.push(state + 1);
  }
  return [...seen];
}

function programOf(node: Node): Step[] {
  const program: Step[] = [];
  const add = (step: Step): number => {
    if (program.length >= MAX_STEPS) throw new PatternError('a pattern repeats too often to be checked');
    return program.push(step) - 1;
  };
  const emit = (one: Node): void => {
    switch (one.kind) {
      case 'character':
        add({ op: 'character', test: one.test });
        break;
      case 'edge':
        add({ op: 'check', test: one.test });
        break;
      case 'look': {
        const inner = programOf(one.item);
        add({
          op: 'check',
          test: (text, at, spend) => {
            const starts = one.isBehind ? Array.from({ length: at + 1 }, (_, n) => at - n) : [at];
            return starts.some((start) => runs(inner, text, start, true, spend, one.isBehind ? at : undefined) !== null) !== one.isNegative;
          },
        });
        break;
      }
      case 'sequence':
        for (const item of one.items) emit(item);
        break;
      case 'choice': {
        const to: number[] = [];
        const ends: number[][] = [];
        add({ op: 'split', to });
        for (const option of one.options) {
          to.push(program.length);
          emit(option);
          const end: number[] = [];
          add({ op: 'split', to: end });
          ends.push(end);
        }
        for (const end of ends) end.push(program.length);
        break;
      }
      case 'repeat': {
        for (let n = 0; n < one.min; n++) emit(one.item);
        if (one.max === Infinity) {
          const to: number[] = [];
          const loop = add({ op: 'split', to });
          to.push(program.length);
          emit(one.item);
          add({ op: 'split', to: [loop] });
          to.push(program.length);
        } else {
          const skips: number[][] = [];
          for (let n = one.min; n < one.max; n++) {
            const to = [program.length + 1];
            add({ op: 'split', to });
            skips.push(to);
            emit(one.item);
          }
          for (const to of skips) to.push(program.length);
        }
        break;
      }
    }
  };
  emit(node);
  add({ op: 'match' });
  return program;
}

const isWord: Test = (character) => /^\w$/.test(character);
const isWordAt = (text: readonly string[], at: number): boolean => text[at] !== undefined && isWord(text[at]);
const escapes =
  /\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[^])/uy;

class Parser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Node {
    if (regExp(this.#source) === null) throw new PatternError(`the pattern ${JSON.stringify(this.#source)} is not a regular expression`);
    const node = this.#choice();
    if (this.#at < this.#source.length) throw new PatternError(`the pattern ${JSON.stringify(this.#source)} cannot be read`);
    return node;
  }

  #take(text: string): boolean {
    const isThere = this.#source.startsWith(text, this.#at);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  #choice(): Node {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options };
  }

  #sequence(): Node {
    const items: Node[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source.charAt(this.#at))) items.push(this.#repeated(this.#one()));
    return { kind: 'sequence', items };
  }

  #repeated(item: Node): Node {
    const found = /[*+?]|\{(\d+)(?:(,)(\d*))?\}/y;
    found.lastIndex = this.#at;
    const [all, from, comma, to] = found.exec(this.#source) ?? [];
    if (all === undefined) return item;
    this.#at += all.length;
    this.#take('?'); // lazy or not: the length of a match does not matter here
    const min = all === '+' ? 1 : Number(from ?? 0);
    const max = all === '?' ? 1 : all.length === 1 || (comma !== undefined && to === '') ? Infinity : Number(to ?? from);
    return { kind: 'repeat', item, min, max };
  }

  #one(): Node {
    for (const [opening, isBehind, isNegative] of [
      ['(?=', false, false],
      ['(?!', false, true],
      ['(?<=', true, false],
      ['(?<!', true, true],
    ] as const) {
      if (this.#take(opening)) return { kind: 'look', item: this.#closed(), isBehind, isNegative };
    }
    const group = /\((?:\?:|\?<[^>]*>)?/y;
    group.lastIndex = this.#at;
    const opening = group.exec(this.#source)?.[0];
    if (opening !== undefined) {
      this.#at += opening.length;
      if (this.#source.charAt(this.#at) === '?') throw new PatternError('a pattern has a group of an unknown kind');
      return this.#closed();
    }
    if (this.#take('^')) return { kind: 'edge', test: (_, at) => at === 0 };
    if (this.#take('$')) return { kind: 'edge', test: (text, at) => at === text.length };
    if (this.#take('\\b')) return { kind: 'edge', test: (text, at) => isWordAt(text, at - 1) !== isWordAt(text, at) };
    if (this.#take('\\B')) return { kind: 'edge', test: (text, at) => isWordAt(text, at - 1) === isWordAt(text, at) };
    if (/^\\[1-9k]/.test(this.#source.slice(this.#at, this.#at + 2)))
      throw new PatternError('a pattern refers to an earlier group, which is not supported');
    return { kind: 'character', test: this.#character() };
  }

  #closed(): Node {
    const item = this.#choice();
    if (!this.#take(')')) throw new PatternError('a pattern has an unclosed group');
    return item;
  }

  #character(): Test {
    const start = this.#at;
    if (this.#take('[')) {
      while (!this.#take(']')) {
        if (this.#at >= this.#source.length) throw new PatternError('a pattern has an unclosed character class');
        this.#at += this.#source.startsWith('\\', this.#at) ? 2 : 1;
      }
    } else {
      escapes.lastIndex = start;
      const literal = String.fromCodePoint(this.#source.codePointAt(start) ?? 0);
      this.#at += escapes.exec(this.#source)?.[0].length ?? literal.length;
      if (!literal.startsWith('\\') && literal !== '.') return (character) => character === literal;
    }
    const one = regExp(`^(?:${this.#source.slice(start, this.#at)})$`);
    if (one === null) throw new PatternError(`the pattern ${JSON.stringify(this.#source)} cannot be read`);
    const known = new Map<string, boolean>();
    return (character) => {
      let fits = known.get(character);
      if (fits === undefined) known.set(character, (fits = one.test(character)));
      return fits;
    };
  }
}

/** In strict mode if possible; many patterns in use escape characters needlessly. */
function regExp(source: string): RegExp | null {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags);
    } catch {} // then not in strict mode
  }
  return null;
}
