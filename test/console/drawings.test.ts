// What the pictures of the console show: each figure has its mark, in its place and of its size.

import { describe, expect, test } from 'vitest';

import { drawTimeline, layers } from '../../runtime/console/drawTimeline.ts';
import type { Column, Cut, Layer } from '../../runtime/console/drawTimeline.ts';
import { drawTurns } from '../../runtime/console/drawTurns.ts';
import type { TurnNode } from '../../runtime/ledger/consoleTurns.ts';

type Box = { x: number; y: number; h: number };
/** The boxes of a path, each closed by itself, and the areas of one that goes down to a line. */
const boxes = (d: string): Box[] =>
  [...d.matchAll(/M([\d.]+) ([\d.]+)h[\d.]+(?:v([\d.]+)|V([\d.]+))h-[\d.]+z/g)].map(([, x, y, h, to]) => ({
    x: Number(x),
    y: Number(y),
    h: h === undefined ? Number(to) - Number(y) : Number(h),
  }));
const paths = (svg: string, name: string): string[] =>
  [...svg.matchAll(/<path class="([^"]*)" d="([^"]*)"/g)]
    .filter(([, names = '']) => names.split(' ').includes(name))
    .map(([, , d = '']) => d);
const countOf = (svg: string, pattern: RegExp): number => svg.match(pattern)?.length ?? 0;

describe('the context timeline', () => {
  const column = (n: number, at: Partial<Record<Layer, number>>, cut: number, said: number, written: number | null): Column => ({
    n,
    at: { system: 0, task: 0, stubs: 0, closed: 0, words: 0, results: 0, people: 0, ...at },
    sent: Object.values(at).reduce((all, tokens) => all + tokens, 0),
    cut,
    said,
    written,
  });
  const columns: Column[] = [
    column(11, { system: 2000, task: 500, people: 100 }, 0, 2600, 2600),
    column(12, { system: 2000, task: 500, closed: 4000, words: 300, results: 3000, people: 100 }, 0, 9900, 7300),
    column(13, { system: 2000, task: 500, stubs: 400, words: 300, results: 3000, people: 100 }, 4000, 9900, 3800),
    column(14, { system: 2000, task: 500, stubs: 400, results: 1000, people: 100 }, 6500, 10_500, 1000),
  ];
  const cuts: Cut[] = [
    { n: 13, out: 4000, blocks: '1–2', isCompaction: false },
    { n: 14, out: 2500, blocks: '', isCompaction: true },
  ];
  const svg = String(drawTimeline({ columns, cuts, selected: 13, width: 1120 }));
  const lefts = [0, 1, 2, 3].map((i) => 44 + (i * (1120 - 52)) / 4);

  test('stacks the layers of each request in their order, each as high as its tokens', () => {
    const drawn = new Map(layers.map(([name]) => [name, paths(svg, `f-${name}`).flatMap(boxes)]));
    const scale = (drawn.get('system')?.[0]?.h ?? 0) / 2000;
    expect(scale).toBeGreaterThan(0);
    columns.forEach((one, i) => {
      let floor = drawn.get('system')?.[0] as Box;
      floor = { ...floor, y: floor.y + floor.h };
      for (const [name] of layers) {
        const here = drawn.get(name)?.filter(({ x }) => x === lefts[i]) ?? [];
        expect([one.n, name, here.length]).toEqual([one.n, name, one.at[name] > 0 ? 1 : 0]);
        if (!here[0]) continue;
        expect(here[0].h, `${one.n} ${name}`).toBeCloseTo(one.at[name] * scale, 0);
        expect(here[0].y + here[0].h, `${one.n} ${name}`).toBeCloseTo(floor.y, 0);
        floor = here[0];
      }
    });
    for (const [, label] of layers) expect(svg).toContain(`>${label}</text>`);
  });

  test('shows each cut as a flat layer from its call on, with what it left out; a compaction by a double line', () => {
    const strata = paths(svg, 'stratum');
    expect(strata.map((d) => Number(/^M([\d.]+)/.exec(d)?.[1]))).toEqual([lefts[2], lefts[3]]);
    expect(svg).toContain('>blocks 1–2 · 4k</text>');
    expect(svg).toContain('>2.5k</text>');
    // One line for each cut in the upper row, and in the row of requests one for the elision and two for the compaction.
    expect(paths(svg, 'cutline')).toHaveLength(2 + 1 + 2);
    expect([...svg.matchAll(/<circle class="cutdot" cx="([\d.]+)" cy="[\d.]+" r="(?:2\.5|4)"/g)].map(([, x]) => Number(x))).toEqual([
      lefts[2],
      lefts[3],
    ]);
    expect(svg).toContain('>−4k</text>');
    expect(svg).toContain('>−2.5k</text>');
    expect(svg).toContain('6.5k of 10.5k tokens are left out of the last request');
    expect(svg).toContain(
      '4 columns of model calls. Without cuts the last request would have 10.5k tokens. 2 cuts. The last request has 4k tokens.',
    );
    const uncut = String(drawTimeline({ columns: columns.slice(0, 2), cuts: [], selected: null, width: 1120 }));
    expect(uncut).toContain('All 9.9k tokens are in the last request');
    expect([paths(uncut, 'stratum'), paths(uncut, 'cutline')]).toEqual([[], []]);
  });

  test('says what the prompt cache gave: of each request, what was written anew', () => {
    const [read = []] = paths(svg, 'f-read').map(boxes);
    const [written = []] = paths(svg, 'f-written').map(boxes);
    expect([read.map(({ x }) => x), written.map(({ x }) => x)]).toEqual([lefts, lefts]);
    columns.forEach((one, i) => {
      expect(read[i]!.h / read[1]!.h, `${one.n}`).toBeCloseTo(one.sent / columns[1]!.sent, 1);
      expect(written[i]!.h / read[i]!.h, `${one.n}`).toBeCloseTo((one.written ?? 0) / one.sent, 1);
    });
    expect(svg).toContain('written anew');
    const uncounted = String(
      drawTimeline({ columns: columns.map((one) => ({ ...one, written: null })), cuts, selected: null, width: 1120 }),
    );
    expect(uncounted).toContain('not counted');
    expect([paths(uncounted, 'f-read'), paths(uncounted, 'f-written')]).toEqual([[], []]);
  });

  test('draws two policies on one scale, and of the one beside only what its requests held', () => {
    const beside = (largest: number): string =>
      String(drawTimeline({ columns, cuts, selected: null, width: 1120, beside: { name: 'policy', largest } }));
    const systemOf = (drawn: string): number => paths(drawn, 'f-system').flatMap(boxes)[0]?.h ?? 0;
    expect(systemOf(beside(20_000))).toBeGreaterThan(0);
    expect(systemOf(beside(20_000)) * 2).toBeCloseTo(systemOf(beside(10_000)), 0);
    expect(paths(beside(20_000), 'stratum')).toEqual([]);
    expect(svg).not.toContain('"t-policy1120"');
    expect(beside(20_000)).toContain('"t-policy1120"');
  });

  test('marks the call that is looked at, and numbers the calls', () => {
    expect(countOf(svg, /class="selband"/g)).toBe(1);
    expect(countOf(svg, /class="seldot"/g)).toBe(1);
    expect(svg).toMatch(/<text class="sel"[^>]*>13<\/text>/);
    expect(svg).toMatch(/text-anchor="middle">11<\/text>/);
    expect(countOf(String(drawTimeline({ columns, cuts, selected: null, width: 350 })), /class="sel(?:band|dot)?"/g)).toBe(0);
  });
});

describe('the tree of turns', () => {
  const node = (id: string, parent: string | null, depth: number, more: Partial<TurnNode> = {}): TurnNode => ({
    node_id: id,
    parent_node_id: parent,
    kind: 'turn',
    turns: 1,
    last_turn_id: null,
    lane: 0,
    depth,
    last_depth: depth,
    attempt: 1,
    iteration: 1,
    status: 'completed',
    marks: [],
    label: null,
    steps: 0,
    errors: 0,
    tokens: 0,
    started_at: null,
    completed_at: null,
    work_item_id: null,
    ...more,
  });
  const nodes = [
    node('begin', null, 0, { marks: ['first'], attempt: 2 }),
    node('run', 'begin', 1, { kind: 'run', turns: 5, errors: 2, last_turn_id: 'run-end' }),
    node('step', 'run', 6, { marks: ['step', 'fork'], label: 'Found <it>' }),
    node('squeezed', 'step', 7, { marks: ['compaction'], label: 'ledger' }),
    node('wrong', 'squeezed', 8, { marks: ['error'], label: 'It failed' }),
    node('refused', 'wrong', 9, { marks: ['rejected'] }),
    node('head', 'refused', 10, { marks: ['children', 'head'] }),
    node('earlier', null, 0, { lane: 1, attempt: 1, marks: ['first'] }),
    node('gone', 'earlier', 1, { lane: 1, attempt: 1, status: 'failed', marks: ['leaf'] }),
    node('other', 'step', 7, {
      kind: 'item',
      lane: 0,
      turns: 0,
      attempt: null,
      marks: ['fork'],
      label: 'Try an index',
      work_item_id: 'other',
    }),
  ];
  const svg = String(
    drawTurns(
      nodes,
      true,
      (id) => `/turn/${id}`,
      (id) => `/work/${id}`,
    ),
  );
  /** Of each link: where it leads, what it is called, what stands in it. */
  const links = new Map(
    [...svg.matchAll(/<a href="([^"]*)" aria-label="([^"]*)">(.*?)<\/a>/g)].map(([, to = '', label = '', body = '']) => [
      to,
      { label, body, y: Number(/(?:cy|y)="([\d.]+)"/.exec(body)?.[1]) },
    ]),
  );

  test('has a mark for each turn, named by what happened there, and one for a run of turns', () => {
    expect([...links].map(([to, { label }]) => `${to} ${label}`)).toEqual([
      '/turn/begin turn 1',
      '/turn/run 5 turns from 2, 2 with errors',
      '/turn/step turn 7, step: Found &lt;it&gt;',
      '/turn/squeezed turn 8, compacted: ledger',
      '/turn/wrong turn 9, error: It failed',
      '/turn/refused turn 10, rejected',
      '/turn/head turn 11, children',
      '/turn/earlier turn 1',
      '/turn/gone turn 2, error',
      '/work/other fork: Try an index',
    ]);
    expect(links.get('/turn/run')?.body).toContain('· 5 ·');
    for (const [to, kind] of [
      ['begin', 'done'],
      ['step', 'step'],
      ['wrong', 'err'],
      ['gone', 'err'],
      ['head', 'live'],
    ] as const)
      expect([to, links.get(`/turn/${to}`)?.body]).toEqual([to, expect.stringContaining(`class="node ${kind}"`)]);
    for (const [to, word] of [
      ['step', 'step'],
      ['squeezed', 'compacted'],
      ['wrong', 'error'],
      ['refused', 'rejected'],
      ['head', 'children'],
    ] as const)
      expect([to, links.get(`/turn/${to}`)?.body]).toEqual([to, expect.stringContaining(`>${word}</text>`)]);
    expect(countOf(links.get('/turn/squeezed')?.body ?? '', /<circle/g)).toBe(2);
    expect(svg).toContain('aria-label="Tree of turns: 13 turns, 1 forks"');
    expect(String(drawTurns(nodes, false, String, String))).not.toContain('node live');
  });

  test('has a line for the way to the head, one for each earlier attempt, and a fork that leaves it', () => {
    const at = (to: string): number => links.get(to)?.y ?? NaN;
    for (const to of ['step', 'wrong', 'head']) expect([to, at(`/turn/${to}`)]).toEqual([to, at('/turn/begin')]);
    expect(at('/turn/earlier')).toBeGreaterThan(at('/turn/begin'));
    expect(at('/turn/gone')).toBe(at('/turn/earlier'));
    expect(at('/work/other')).toBeGreaterThan(at('/turn/begin'));
    expect([...svg.matchAll(/<text x="0" y="([\d.]+)"[^>]*>(attempt \d)<\/text>/g)].map(([, y, label]) => [Number(y) - 4, label])).toEqual([
      [at('/turn/begin'), 'attempt 2'],
      [at('/turn/earlier'), 'attempt 1'],
    ]);
    expect(paths(svg, 'main')).toHaveLength(6);
    expect(paths(svg, 'edge')).toHaveLength(8); // and one within the earlier attempt, and the fork's
    expect(paths(svg, 'edge').filter((d) => d.includes('C'))).toHaveLength(1);
  });
});
