// The context timeline: three rows over one axis, one column for each model call. Everything ever said, oldest lowest, so that a cut is a
// flat layer; what each request held, in request order; what the prompt cache gave. Two pictures with only the second and third row, on one
// scale, compare two policies.

import { nice, r } from './draw.ts';
import { k } from './format.ts';
import { escaped, markup } from './html.ts';
import type { Html } from './html.ts';

/** The layers of a column, from the bottom up, in the order of the request. */
export const layers = [
  ['system', 'System and tools'],
  ['task', 'Task, digest'],
  ['stubs', 'Stubs of what was cut'],
  ['closed', 'Closed blocks, still whole'],
  ['words', 'Open block: model'],
  ['results', 'Open block: results'],
  ['people', 'People'],
] as const;
export type Layer = (typeof layers)[number][0];

/**
 * n: the number of its first call; sent, cut, said: tokens of the request, of what is left out, of everything said by then. written: to the
 * cache; null if unknown.
 */
export type Column = { n: number; at: Record<Layer, number>; sent: number; cut: number; said: number; written: number | null };
export type Cut = { n: number; out: number; blocks: string; isCompaction: boolean };
/**
 * beside: only what each request held and what the cache gave, on a scale up to the largest request of two pictures; `name` distinguishes
 * them.
 */
export type TimelinePicture = {
  columns: readonly Column[];
  cuts: readonly Cut[];
  selected: number | null;
  width: number;
  beside?: { name: string; largest: number };
  /** Numbers of the requests that failed: none of them has a column. */
  failed?: readonly number[];
};

/** The three rows, in pixels from the top: what was said, what each request held, what the cache gave. */
const saidRow = { top: 8, h: 232 };
const heldRow = { top: 296, h: 176 };
const cacheRow = { top: 508, h: 44 };

export function drawTimeline(picture: TimelinePicture): Html {
  return markup(new Drawing(picture).svg());
}

class Drawing {
  readonly #p: TimelinePicture;
  readonly #out: string[] = [];
  readonly #left: number;
  readonly #right: number;
  readonly #step: number;
  readonly #gap: number;
  readonly #isNarrow: boolean;
  readonly #hasLegend: boolean;
  readonly #saidMax: number;
  readonly #heldMax: number;
  readonly #index: Map<number, number>;
  readonly #id: string;

  constructor(picture: TimelinePicture) {
    this.#p = picture;
    const { columns, width } = picture;
    this.#isNarrow = width < 600;
    this.#hasLegend = width > 1000;
    this.#left = this.#isNarrow ? 34 : 44;
    this.#right = this.#isNarrow ? 2 : 8;
    this.#step = (width - this.#left - this.#right) / Math.max(columns.length, 1);
    this.#gap = this.#step > 4 ? 1 : 0;
    // The headline is drawn over the first columns: if those are high, the scale leaves room for it.
    const under = columns.filter((_, i) => this.#left + i * this.#step < this.#left + (this.#hasLegend ? 440 : 240)).map((c) => c.said);
    this.#saidMax = Math.max(
      Math.max(...columns.map((c) => Math.max(c.said, c.sent)), 1) * 1.03,
      (Math.max(...under, 1) * saidRow.h) / (saidRow.h - (this.#hasLegend ? 92 : 76)),
    );
    this.#heldMax = (picture.beside?.largest ?? Math.max(...columns.map((c) => c.sent), 1)) * 1.1;
    this.#index = new Map(columns.map((c, i) => [c.n, i]));
    this.#id = `${picture.beside?.name ?? 'tl'}${width}`;
  }

  svg(): string {
    const { beside, width } = this.#p;
    const top = beside ? heldRow.top - 22 : 0;
    this.#put(
      `<svg class="tl w${width}" viewBox="0 ${top} ${width} ${576 - top}" role="img" aria-labelledby="t-${this.#id} d-${this.#id}" data-left="${this.#left}" data-step="${this.#step}" data-width="${width}">`,
    );
    if (!beside) this.#history();
    else this.#put(this.#described('What each request would have held', ''));
    this.#grid(this.#heldMax, this.#yHeld, Infinity);
    this.#eachRequest();
    this.#marks();
    this.#failures();
    this.#cache();
    this.#axis();
    this.#put('</svg>');
    return this.#out.join('');
  }

  #described(title: string, more: string): string {
    const { columns, cuts } = this.#p;
    return `<title id="t-${this.#id}">${title}</title><desc id="d-${this.#id}">${columns.length} columns of model calls.${more} ${cuts.length} cuts. The last request has ${k(columns.at(-1)?.sent ?? 0)} tokens. The table below has the same figures.</desc>`;
  }

  /** Everything that was ever said. */
  #history(): void {
    this.#put(
      this.#described('Context timeline', ` Without cuts the last request would have ${k(this.#p.columns.at(-1)?.said ?? 0)} tokens.`),
    );
    this.#put(
      `<defs><pattern id="hatch-${this.#id}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatchline" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>`,
    );
    this.#grid(this.#saidMax, this.#ySaid, 3); // the headline is above them
    this.#allThatWasSaid();
    this.#headline();
    this.#put(`<text class="lab" x="${this.#left}" y="${heldRow.top - 18}">What each request held</text>`);
    if (this.#hasLegend) this.#legend();
  }

  #put(text: string): void {
    this.#out.push(text);
  }

  #x = (i: number): number => this.#left + i * this.#step;
  #ySaid = (v: number): number => saidRow.top + saidRow.h - (v / this.#saidMax) * saidRow.h;
  #yHeld = (v: number): number => heldRow.top + heldRow.h - (v / this.#heldMax) * heldRow.h;
  #yCache = (v: number): number => cacheRow.top + cacheRow.h - (v / this.#heldMax) * cacheRow.h;
  get #hatch(): string {
    return `fill="url(#hatch-${this.#id})"`;
  }

  #line(y: number, label: string, isBase = false): void {
    this.#put(
      `<line class="${isBase ? 'base' : 'grid'}" x1="${this.#left}" x2="${this.#p.width - this.#right}" y1="${r(y)}" y2="${r(y)}"/><text x="${this.#left - 8}" y="${r(y) + 4}" text-anchor="end">${label}</text>`,
    );
  }

  #grid(max: number, y: (v: number) => number, most: number): void {
    const unit = nice(max / 3.4);
    for (let n = 1; n <= most && n * unit < max; n++) this.#line(y(n * unit), k(n * unit));
  }

  /** Between two levels, in the columns from `first` up to but without `last`, clipped to what was said by then. */
  #piece(from: number, to: number, first: number, last: number): string {
    const inside = this.#p.columns.map((c, i) => ({ c, i })).filter(({ c, i }) => i >= first && i < last && c.said > from);
    const start = inside[0];
    if (!start || to <= from) return '';
    const top = inside
      .map(({ c, i }) => `${r(this.#x(i))} ${r(this.#ySaid(Math.min(to, c.said)))}H${r(this.#x(i) + this.#step)}`)
      .join('L');
    return `M${top}V${r(this.#ySaid(from))}H${r(this.#x(start.i))}Z`;
  }

  #allThatWasSaid(): void {
    const { columns, cuts, width } = this.#p;
    const first = columns[0];
    if (!first) return;
    const base = Math.min(first.at.system + first.at.task, first.said);
    this.#put(`<path class="f-system" d="${this.#piece(0, base, 0, columns.length)}"/>`);
    let level = base;
    for (const cut of cuts) {
      const at = this.#index.get(cut.n) ?? 0;
      const to = Math.max(level, base + (columns[at]?.cut ?? 0));
      this.#put(`<path class="f-words" d="${this.#piece(level, to, 0, at)}"/>`);
      const d = this.#piece(level, to, at, columns.length);
      this.#put(
        `<path class="stratum f-out" d="${d}"/><path ${this.#hatch} d="${d}"/><path class="cutline" d="M${r(this.#x(at))} ${r(this.#ySaid(level))}V${r(this.#ySaid(to))}"/>`,
      );
      if (((to - level) / this.#saidMax) * saidRow.h > 12.3) {
        const blocks = cut.blocks === '' ? '' : `${cut.blocks.includes('–') ? 'blocks' : 'block'} ${escaped(cut.blocks)} · `;
        this.#put(
          `<text class="layerlab" x="${width - this.#right - 8}" y="${r((this.#ySaid(level) + this.#ySaid(to)) / 2) + 4}" text-anchor="end">${this.#isNarrow ? '' : blocks}${k(cut.out)}</text>`,
        );
      }
      level = to;
    }
    this.#put(`<path class="f-words" d="${this.#piece(level, Infinity, 0, columns.length)}"/>`);
    if (!this.#isNarrow)
      this.#put(
        `<path class="never" d="M${columns.map((c, i) => `${r(this.#x(i))} ${r(this.#ySaid(c.said))}H${r(this.#x(i) + this.#step)}`).join('L')}"/>`,
      );
    this.#line(this.#ySaid(0), '0', true);
  }

  #headline(): void {
    const last = this.#p.columns.at(-1);
    if (!last) return;
    const at = this.#left + (this.#hasLegend ? 14 : 8);
    const says = last.cut > 0 ? `${k(last.cut)} of ${k(last.said)} tokens` : `All ${k(last.said)} tokens`;
    const goesOn = last.cut > 0 ? 'are left out of the last request' : 'are in the last request';
    if (!this.#hasLegend) {
      this.#put(
        `<text class="big" x="${at}" y="${saidRow.top + 26}">${says}</text><text class="sub" x="${at}" y="${saidRow.top + 43}">${goesOn}</text>`,
      );
      this.#put(
        `<rect class="f-words" x="${at}" y="${saidRow.top + 56}" width="12" height="9" rx="1"/><text x="${at + 17}" y="${saidRow.top + 65}">sent</text><rect class="f-out" x="${at + 50}" y="${saidRow.top + 56}" width="12" height="9" rx="1"/><rect ${this.#hatch} x="${at + 50}" y="${saidRow.top + 56}" width="12" height="9" rx="1"/><text x="${at + 67}" y="${saidRow.top + 65}">cut</text>`,
      );
      return;
    }
    this.#put(`<text class="big" x="${at}" y="${saidRow.top + 34}">${says} ${goesOn}</text>`);
    const key = (x: number, y: number, shape: string, label: string): void =>
      this.#put(`${shape}<text class="sub" x="${x + 26}" y="${saidRow.top + y + 9}">${label}</text>`);
    const box = (name: string, x: number, y: number, fill = ''): string =>
      `<rect class="${name}" ${fill} x="${x}" y="${saidRow.top + y}" width="18" height="9" rx="1"/>`;
    key(at, 48, box('f-words', at, 48), 'in the request');
    key(
      at + 120,
      48,
      box('f-out', at + 120, 48) + box('', at + 120, 48, this.#hatch),
      'cut: a line stands for it, recall_block() brings it back',
    );
    key(at, 68, box('f-system', at, 68), 'always there');
    key(at + 120, 68, `<path class="never" d="M${at + 120} ${saidRow.top + 73}h18"/>`, 'all that was said so far');
  }

  #legend(): void {
    let at = this.#left + 148;
    for (const [name, label] of layers) {
      this.#put(
        `<rect class="f-${name}" x="${r(at)}" y="${heldRow.top - 27}" width="10" height="10" rx="2"/><text x="${r(at + 15)}" y="${heldRow.top - 18}">${label}</text>`,
      );
      at += 15 + label.length * 5.35 + 14;
    }
    this.#put(
      `<circle class="cutdot" cx="${r(at + 4)}" cy="${heldRow.top - 22}" r="3"/><text x="${r(at + 13)}" y="${heldRow.top - 18}">a cut</text>`,
    );
  }

  #eachRequest(): void {
    const { columns, selected } = this.#p;
    const s = selected === null ? undefined : this.#index.get(selected);
    if (s !== undefined) {
      const [x, w] = [r(this.#x(s)) - 1, r(this.#step) + 1];
      this.#put(
        `<path class="selband" d="M${x} ${r(this.#ySaid(columns[s]?.said ?? 0))}h${w}V${r(this.#ySaid(0))}h${-w}zM${x} ${heldRow.top}h${w}V${cacheRow.top + cacheRow.h}h${-w}z"/>`,
      );
    }
    const paths = new Map<Layer, string[]>(layers.map(([name]) => [name, []]));
    columns.forEach((c, i) => {
      let y = this.#yHeld(0);
      for (const [name] of layers) {
        const tokens = c.at[name];
        if (tokens <= 0) continue;
        const exact = (tokens / this.#heldMax) * heldRow.h;
        const h = name === 'stubs' ? Math.max(exact, 2) : exact; // never too thin to be seen
        const w = name === 'system' ? this.#step + 0.2 : this.#step - this.#gap; // what never changes is one unbroken band
        paths.get(name)?.push(`M${r(this.#x(i))} ${r(y - h)}h${r(w)}v${r(h)}h${r(-w)}z`);
        y -= h;
      }
    });
    for (const [name, d] of paths) if (d.length > 0) this.#put(`<path class="f-${name}" d="${d.join('')}"/>`);
    this.#line(this.#yHeld(0), '0', true);
  }

  /** A red cross for each request that was not answered: before the column of the one that was, or after the last column. */
  #failures(): void {
    const { columns, failed = [], width } = this.#p;
    for (const n of failed) {
      const i = columns.findIndex((column) => column.n >= n);
      if (i === 0 && (columns[0]?.n ?? 0) > n) continue; // on an earlier page
      const x = Math.min(r(i === -1 ? this.#x(columns.length) : this.#x(i)), width - 5);
      const y = heldRow.top + 6;
      this.#put(
        `<g class="fail"><title>request ${n} failed</title><path d="M${x} ${y + 6}V${heldRow.top + heldRow.h}"/><path d="M${r(x - 4)} ${y - 4}l8 8m0 -8l-8 8"/></g>`,
      );
    }
  }

  #marks(): void {
    const { columns, cuts, selected, width } = this.#p;
    let until = -Infinity;
    cuts.forEach((cut, n) => {
      const i = this.#index.get(cut.n);
      const here = i === undefined ? undefined : columns[i];
      if (i === undefined || !here) return;
      if (cut.out === 0) {
        // nothing is known about it except that it happened
        this.#put(`<circle class="cutdot" cx="${r(this.#x(i) + this.#step / 2)}" cy="${r(this.#yHeld(here.sent)) - 4}" r="1.25"/>`);
        return;
      }
      const before = Math.max(columns[i - 1]?.sent ?? here.sent, here.sent);
      const [x, y] = [r(this.#x(i)), r(this.#yHeld(before)) - 5];
      const isSelected = cut.n === selected;
      const line = (at: number): string => `<path class="cutline" d="M${r(at)} ${y + 2}V${r(this.#yHeld(here.sent))}"/>`;
      this.#put(`${line(x)}${cut.isCompaction ? line(x + 3) : ''}<circle class="cutdot" cx="${x}" cy="${y}" r="${isSelected ? 4 : 2.5}"/>`);
      if (isSelected) this.#put(`<circle class="seldot" cx="${x}" cy="${y}" r="7"/>`);
      const next = cuts[n + 1]; // a label is drawn at the left if the next cut is close
      const isEnd = x > width - 60 || (next !== undefined && this.#x(this.#index.get(next.n) ?? 0) - x < 46);
      if (!isSelected && (this.#isNarrow || x - (isEnd ? 44 : 0) <= until)) return;
      this.#put(
        `<text class="${isSelected ? 'sel' : 'cutlab'}" x="${x + (isEnd ? -7 : isSelected ? 11 : 6)}" y="${y + (isEnd ? -3 : 2)}"${isEnd ? ' text-anchor="end"' : ''}>−${k(cut.out)}</text>`,
      );
      until = x + 40;
    });
  }

  #cache(): void {
    const { columns } = this.#p;
    const w = this.#step;
    this.#put(`<text class="lab" x="${this.#left}" y="${cacheRow.top - 10}">Prompt cache</text>`);
    if (columns.every((c) => c.written === null)) {
      this.#put(`<text x="${this.#left + 86}" y="${cacheRow.top - 10}">not counted</text>`);
    } else {
      this.#put(
        `<text x="${this.#left + 86}" y="${cacheRow.top - 10}">${this.#isNarrow ? 'read, and written anew' : 'read (cheap) and written anew (dear)'}</text>`,
      );
      this.#put(
        `<path class="f-read" d="${columns.map((c, i) => `M${r(this.#x(i))} ${r(this.#yCache(c.sent))}h${r(w + 0.2)}V${cacheRow.top + cacheRow.h}h${r(-w - 0.2)}z`).join('')}"/>`,
      );
      const written = columns.map((c, i) => {
        // a recorded count may belong to another request
        const h = Math.min(Math.max(((c.written ?? 0) / this.#heldMax) * cacheRow.h, 1), cacheRow.top + cacheRow.h - this.#yCache(c.sent));
        return `M${r(this.#x(i))} ${r(this.#yCache(c.sent))}h${r(w - this.#gap)}v${r(h)}h${r(this.#gap - w)}z`;
      });
      this.#put(`<path class="f-written" d="${written.join('')}"/>`);
    }
    this.#line(cacheRow.top + cacheRow.h, '', true);
  }

  #axis(): void {
    const { columns, selected, width } = this.#p;
    const y = cacheRow.top + cacheRow.h + 16;
    const first = columns[0]?.n ?? 1;
    const s = selected === null ? undefined : this.#index.get(selected);
    const unit = nice(((columns.at(-1)?.n ?? 1) - first + 1) / (this.#isNarrow ? 4 : 8));
    const label = (i: number, n: number, kind = ''): void =>
      this.#put(`<text${kind} x="${r(this.#x(i) + this.#step / 2)}" y="${y}" text-anchor="middle">${n}</text>`);
    let until = -Infinity;
    columns.forEach((c, i) => {
      const isRound = i === 0 || (unit >= 1 && Math.floor(c.n / unit) > Math.floor((columns[i - 1]?.n ?? 0) / unit));
      const x = this.#x(i);
      if (!isRound || x < until || x + this.#step / 2 > width - 90 || Math.abs(x - (s === undefined ? -99 : this.#x(s))) <= 24) return;
      label(i, c.n);
      until = x + 28;
    });
    if (s !== undefined && selected !== null) label(s, selected, ' class="sel"');
    if (s === undefined || this.#x(s) < width - 80)
      this.#put(`<text x="${width - this.#right}" y="${y}" text-anchor="end">model call</text>`);
  }
}
