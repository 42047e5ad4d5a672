// The tree of turns: the path to the head on one line, other branches below it, straight runs folded.

import type { TurnNode } from '../ledger/consoleTurns.ts';
import { r } from './draw.ts';
import { brief } from './format.ts';
import { escaped, markup } from './html.ts';
import type { Html } from './html.ts';

const STEP = 46;
const LEFT = 84;
const TOP = 40;
const LANE = 62;

type Placed = TurnNode & { x: number; y: number };

/** A request that failed for good, drawn below the turn that it would have continued. */
export type Failed = { id: string; attempt: number | null; iteration: number | null; error: string | null };

/** `contextOf`: the address of a turn's request, `itemOf`: of a work item that was forked from here. */
export function drawTurns(
  nodes: readonly TurnNode[],
  isLive: boolean,
  contextOf: (turnId: string) => string,
  itemOf: (id: string) => string,
  failed: readonly Failed[] = [],
): Html {
  const placed = place(nodes);
  const failures = placeFailures(placed, failed);
  const byId = new Map(placed.map((node) => [node.node_id, node]));
  const width = Math.max(200, ...placed.map((node) => node.x + (node.kind === 'item' ? 240 : 90)), ...failures.map((one) => one.x + 160));
  const height = Math.max(...placed.map((node) => node.y), ...failures.map((one) => one.y)) + 48;
  const edges = placed.map((node) => edge(node, byId.get(node.parent_node_id ?? '')));
  const circles = placed.map((node) => circle(node, isLive, contextOf, itemOf));
  const begins = placed.filter((node) => node.kind !== 'item' && !byId.has(node.parent_node_id ?? ''));
  const attemptLabels = begins.map(
    (node) =>
      `<text x="0" y="${node.y + 4}"${node.lane === 0 ? ' class="on"' : ''}>${node.attempt === null ? '' : `attempt ${node.attempt}`}</text>`,
  );
  return markup(
    `<svg class="tree" viewBox="0 0 ${r(width)} ${height}" width="${r(width)}" height="${height}" role="group" aria-label="Tree of turns: ${placed.reduce((sum, node) => sum + (node.kind === 'item' ? 0 : (node.turns ?? 1)), 0)} turns, ${placed.filter((node) => node.kind === 'item').length} forks">${attemptLabels.join('')}${edges.join('')}${circles.join('')}${failures.map((one) => failure(one, contextOf)).join('')}</svg>`,
  );
}

type PlacedFailure = Failed & { x: number; y: number; fromX: number; fromY: number };

function placeFailures(placed: readonly Placed[], failed: readonly Failed[]): PlacedFailure[] {
  const below = Math.max(...placed.map((node) => node.y));
  return failed.map((one, i) => {
    const before = placed
      .filter((node) => node.kind !== 'item' && node.attempt === one.attempt && (node.iteration ?? 0) < (one.iteration ?? 0))
      .toSorted((a, b) => (a.iteration ?? 0) - (b.iteration ?? 0))
      .at(-1);
    const [fromX, fromY] = [before ? before.x + (before.kind === 'run' ? STEP * 0.8 : 0) : LEFT - STEP, before?.y ?? TOP];
    return { ...one, fromX, fromY, x: fromX + STEP, y: below + 34 + i * 26 };
  });
}

const failure = ({ id, iteration, error, x, y, fromX, fromY }: PlacedFailure, contextOf: (turnId: string) => string): string =>
  `<path class="edge" d="M${r(fromX)} ${fromY}C${r(fromX + 24)} ${fromY} ${r(x - 24)} ${y} ${r(x)} ${y}"/><a href="${contextOf(id)}" aria-label="request failed, call ${iteration ?? ''}: ${escaped(brief(error ?? '', 80))}"><circle class="node err" cx="${r(x)}" cy="${y}" r="6"/><text class="err" x="${r(x + 12)}" y="${y + 4}">request failed</text></a>`;

/** Places nodes from left to right by their distance from the root, with one lane per branch. */
function place(nodes: readonly TurnNode[]): Placed[] {
  const byId = new Map<string, Placed>();
  const ends: number[] = []; // where each row ends
  const rowOf = new Map<string, number>();
  for (const node of nodes) {
    const parent = byId.get(node.parent_node_id ?? '');
    const x = parent ? parent.x + (parent.kind === 'run' ? STEP * 1.8 : STEP) : LEFT + 12;
    const key = node.kind === 'item' ? `item/${node.work_item_id}` : `${node.lane}`;
    let row = rowOf.get(key);
    if (row === undefined) {
      row = ends.findIndex((end, i) => i > 0 && end < x - STEP);
      if (node.lane === 0 && node.kind !== 'item') row = 0;
      else if (row === -1) row = Math.max(1, ends.length);
      rowOf.set(key, row);
    }
    ends[row] = Math.max(ends[row] ?? 0, x + (node.kind === 'item' ? 260 : 0));
    const made = { ...node, x, y: TOP + row * LANE };
    byId.set(node.kind === 'item' ? `${node.node_id}/${node.work_item_id}` : node.node_id, made);
  }
  return [...byId.values()];
}

function edge(node: Placed, parent: Placed | undefined): string {
  if (!parent) return '';
  const isMain = node.lane === 0 && parent.y === node.y && node.kind !== 'item';
  return parent.y === node.y
    ? `<path class="edge${isMain ? ' main' : ''}" d="M${parent.x} ${parent.y}H${node.x}"/>`
    : `<path class="edge" d="M${parent.x} ${parent.y}C${parent.x + 24} ${parent.y} ${parent.x + 8} ${node.y} ${node.x} ${node.y}"/>`;
}

function circle(node: Placed, isLive: boolean, contextOf: (turnId: string) => string, itemOf: (id: string) => string): string {
  const marks = new Set(node.marks);
  const label = escaped(brief(node.label ?? '', 60));
  if (node.kind === 'item') {
    return `<a href="${itemOf(node.work_item_id ?? '')}" aria-label="fork: ${label}"><circle class="node" cx="${node.x}" cy="${node.y}" r="5"/><text class="on" x="${node.x + 12}" y="${node.y + 4}">fork: ${escaped(brief(node.label ?? '', 34))}</text></a>`;
  }
  if (node.kind === 'run' && (node.turns ?? 1) > 1) {
    const w = STEP * 0.8;
    return `<a href="${contextOf(node.node_id)}" aria-label="${node.turns} turns from ${node.depth + 1}${(node.errors ?? 0) > 0 ? `, ${node.errors} with errors` : ''}"><rect class="runbox" x="${r(node.x - 8)}" y="${node.y - 9}" width="${r(w + 16)}" height="18" rx="9"/><text x="${r(node.x + w / 2)}" y="${node.y + 4}" text-anchor="middle">· ${node.turns} ·</text></a>`;
  }
  const isHead = marks.has('head');
  const isBad = marks.has('error') || node.status === 'failed';
  const kind = isHead && isLive ? 'live' : isBad ? 'err' : marks.has('step') ? 'step' : 'done';
  const word = marks.has('compaction')
    ? 'compacted'
    : marks.has('step')
      ? 'step'
      : isBad
        ? 'error'
        : marks.has('rejected')
          ? 'rejected'
          : marks.has('children')
            ? 'children'
            : '';
  const above = marks.has('step') || marks.has('compaction');
  const text = word === '' ? '' : `<text x="${node.x}" y="${above ? node.y - 14 : node.y + 22}" text-anchor="middle">${word}</text>`;
  const ring = marks.has('compaction') ? `<circle class="node" cx="${node.x}" cy="${node.y}" r="8"/>` : '';
  return `<a href="${contextOf(node.last_turn_id ?? node.node_id)}" aria-label="turn ${node.depth + 1}${word === '' ? '' : `, ${word}`}${label === '' ? '' : `: ${label}`}">${label === '' ? '' : `<title>${label}</title>`}${ring}<circle class="node ${kind}" cx="${node.x}" cy="${node.y}" r="${kind === 'done' ? 4 : 6}"/>${text}</a>`;
}
