// What a fold takes away, measured without a model: a recorded edit names the text that it replaces. Either that text
// stands in the request that the edit answers, or it stood in an earlier one and is gone, or it never did.

import type { RecordedRun } from '../../../plv8/readers/recordedRun.ts';
import { prices } from './ideal.ts';

/** exchange: whose response makes the edit; lines: of the old text, those that are long enough to be told from others. */
export type Edit = { exchange: number; file: string; lines: string[]; fileTokens: number };
/**
 * One assembled request; texts: of its parts, in order; depths beside them (of the turns of responses and results; null: what was said,
 * stubs).
 */
export type Request = { inputTokens: number; cachedParts: number; depths: (number | null)[]; texts: Text[] };
/** What a part says, all its strings in one; the same object wherever the same text stands. */
export type Text = { said: string; isResult: boolean };
export type Losses = { edits: number; visible: number; lost: number; never_seen: number; extra_input_tokens: number; extra_cost: number };

const minLine = 12;
const visibleShare = 0.8;
const fileTokens = { min: 300, max: 8000 };
/** What a response has that asks for a file. */
const callTokens = 100;

const field = (input: unknown, ...keys: string[]): unknown =>
  keys
    .map((key) => (typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[key] : undefined))
    .find((value) => value !== undefined);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const fileOf = (input: unknown): string => text(field(input, 'file_path', 'path', 'notebook_path'));

/**
 * The texts that a call replaces, by file: of Claude Code, Copilot and pi their old strings, of Codex the lines of its patch that must be
 * there.
 */
function replaced(name: string, input: unknown): { file: string; old: string }[] {
  if (name.endsWith('apply_patch')) {
    const patch = typeof input === 'string' ? input : text(field(input, 'input', 'patch'));
    return [...patch.matchAll(/^\*\*\* Update File: (.+)\n([^]*?)(?=^\*\*\* |(?![^]))/gm)].map(([, file = '', hunks = '']) => ({
      file: file.trim(),
      old: hunks
        .split('\n')
        .filter((line) => /^[- ]/.test(line))
        .map((line) => line.slice(1))
        .join('\n'),
    }));
  }
  const edits = field(input, 'edits');
  const olds = (Array.isArray(edits) ? edits : [input]).map((one) => text(field(one, 'old_string', 'old_str', 'oldText')));
  const old = olds.filter((one) => one !== '').join('\n');
  return old === '' ? [] : [{ file: fileOf(input), old }];
}

/** The edits of a run whose old text can be looked for. */
export function editsOf(run: RecordedRun, tokensPerChar: number): Edit[] {
  const sizes = new Map<string, number>(); // of files in tokens, as last seen or written
  const edits: Edit[] = [];
  run.exchanges.forEach(({ calls }, exchange) => {
    for (const { name, input, result } of calls) {
      const olds = replaced(name, input);
      for (const { file, old } of olds) {
        const lines = old
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line.length >= minLine);
        const seen = sizes.get(file) ?? [...sizes].findLast(([key]) => key.includes(file))?.[1] ?? 0;
        if (lines.length > 0) edits.push({ exchange, file, lines, fileTokens: Math.min(fileTokens.max, Math.max(fileTokens.min, seen)) });
      }
      // A file by its path, or whatever a command says that names it.
      const key = fileOf(input) || text(field(input, 'command', 'cmd'));
      if (key !== '' && olds.length === 0)
        sizes.set(key, Math.ceil((text(field(input, 'content')).length || (result ?? '').length) * tokensPerChar));
    }
  });
  return edits;
}

/** Parts as texts: of a list of content blocks all strings, as they were before they became JSON. */
export function readTexts(known: Map<string, Text>, blocks: string): Text {
  let found = known.get(blocks);
  if (!found) {
    const strings: string[] = [];
    const walk = (value: unknown): void => {
      if (typeof value === 'string') strings.push(value);
      else if (typeof value === 'object' && value !== null) Object.values(value).forEach(walk);
    };
    walk(JSON.parse(`[${blocks}]`));
    found = { said: strings.join('\n'), isResult: blocks.startsWith('{"type":"tool_result"') };
    known.set(blocks, found);
  }
  return found;
}

/** Which lines of an edit stand in a text, once for each pair. */
export class Lines {
  readonly #found = new WeakMap<Text, Map<Edit, Set<number>>>();

  stand(edit: Edit, texts: readonly Text[]): boolean {
    const there = new Set(texts.flatMap((one) => [...this.#in(edit, one)]));
    return there.size >= visibleShare * edit.lines.length;
  }

  #in(edit: Edit, one: Text): Set<number> {
    const edits = this.#found.get(one) ?? new Map<Edit, Set<number>>();
    this.#found.set(one, edits);
    const found = edits.get(edit) ?? new Set(edit.lines.flatMap((line, n) => (one.said.includes(line) ? [n] : [])));
    edits.set(edit, found);
    return found;
  }
}

type Reread = { file: string; exchange: number; tokens: number };

/**
 * What became of each edit under a policy. `whole`: the requests with nothing left out. A lost edit costs what it would: one
 * more model call over the whole context, and the file read again; which then stands where it was read until its place is cut.
 */
export function losses(edits: readonly Edit[], requests: readonly Request[], whole: readonly Request[], lines: Lines): Losses {
  const sum: Losses = { edits: edits.length, visible: 0, lost: 0, never_seen: 0, extra_input_tokens: 0, extra_cost: 0 };
  let rereads: Reread[] = [];
  const verbatim = new Set(whole.at(-1)?.texts);
  requests.forEach((request, n) => {
    const oldest = Math.min(...request.depths.filter((depth) => depth !== null));
    const cleared = Math.max(-1, ...request.texts.map((one, i) => (one.isResult && !verbatim.has(one) ? (request.depths[i] ?? -1) : -1)));
    rereads = rereads.filter((one) => one.exchange > oldest && one.exchange > cleared);
    for (const { exchange, tokens } of rereads) {
      const place = request.depths.findIndex((depth) => depth !== null && depth >= exchange);
      const isCached = place >= 0 && place <= request.cachedParts;
      sum.extra_input_tokens += tokens;
      sum.extra_cost += (isCached ? prices.read : prices.write) * tokens;
    }
    for (const edit of edits.filter((one) => one.exchange === n)) {
      if (rereads.some((one) => one.file === edit.file) || lines.stand(edit, request.texts)) sum.visible++;
      else if (whole[n] && lines.stand(edit, whole[n].texts)) {
        const before = request.inputTokens + rereads.reduce((total, one) => total + one.tokens, 0);
        const tokens = callTokens + edit.fileTokens;
        sum.lost++;
        sum.extra_input_tokens += before + tokens;
        sum.extra_cost += prices.read * before + prices.write * tokens + prices.output * callTokens;
        rereads.push({ file: edit.file, exchange: n, tokens });
      } else sum.never_seen++;
    }
  });
  return sum;
}
