// Reads Cursor's conversations from the rows of the table cursorDiskKV: composerData:<id> has the order of its bubbles, and
// bubbleId:<id>:<bubble> holds each. A bubble has at most one call, with its result; bubbles missing from the order were rewound or
// rewritten.

import { Conversation } from './conversation.ts';
import { field, idOf, newCall, stringOf } from './reading.ts';
import type { RecordedExchange, RecordedRun } from './reading.ts';

export type CursorComposer = {
  id: string;
  /** The value of composerData. */
  composer: unknown;
  /** The bubbles, by the part of their key that follows the composer's id. */
  bubbles: ReadonlyMap<string, unknown>;
  /** The id of the parent composer. */
  parent?: string;
};

/** One conversation; null if no model answered in it. */
export function readCursor({ id, composer, bubbles, parent }: CursorComposer): RecordedRun | null {
  const run = new Conversation('cursor');
  run.sessionId = (parent === undefined ? id : `${parent}#${id}`).slice(0, 200);
  run.parentSessionId = parent;
  run.model = stringOf(field(composer, 'modelConfig', 'modelName'));
  run.cwd = stringOf(field(composer, 'workspaceIdentifier', 'uri', 'fsPath')) ?? undefined;
  run.outcome = stringOf(field(composer, 'status'));
  let at = run.time(field(composer, 'createdAt'));
  let lints: NonNullable<RecordedExchange['lints']> = [];
  for (const [n, bubble] of inOrder(composer, bubbles, run).entries()) {
    run.line = n + 1;
    at = run.time(field(bubble, 'createdAt')) ?? at;
    lints.push(...lintsOf(bubble));
    const text = stringOf(field(bubble, 'text')) ?? '';
    if (field(bubble, 'type') === 1) run.said(text);
    else if (field(bubble, 'type') === 2) {
      const exchange = respond(id, bubble, text, run);
      if (!exchange) continue;
      if (at !== null) exchange.at ??= at;
      if (lints.length > 0) exchange.lints = [...(exchange.lints ?? []), ...lints];
      lints = [];
    } else run.skip('bubble of another type', bubble);
  }
  const whole = run.count === 0 ? null : run.take(true);
  if (!whole) return null;
  const caller = /^task-([^\n]+)/.exec(id)?.[1];
  return parent === undefined || caller === undefined ? whole : { ...whole, spawnedBy: caller };
}

/** The bubbles that the headers name, in order; in older versions the composer itself contains them. */
function inOrder(composer: unknown, bubbles: CursorComposer['bubbles'], run: Conversation): unknown[] {
  const inline = field(composer, 'conversation');
  const headers = field(composer, 'fullConversationHeadersOnly');
  if (!Array.isArray(headers) || headers.length === 0) return Array.isArray(inline) ? (inline as unknown[]) : [];
  const mapped = field(composer, 'conversationMap');
  const byId = new Map<string, string>();
  for (const [key, bubble] of bubbles) byId.set(stringOf(field(bubble, 'bubbleId')) ?? key, key);
  const named = new Set<string>();
  const found = headers.flatMap((header: unknown) => {
    const bubbleId = stringOf(field(header, 'bubbleId')) ?? '';
    const key = bubbles.has(bubbleId) ? bubbleId : byId.get(bubbleId);
    if (key !== undefined) named.add(key);
    const bubble = key === undefined ? field(mapped, bubbleId) : bubbles.get(key);
    if (bubble === undefined || bubble === null) run.skip('bubble without content');
    return bubble ?? [];
  });
  for (const [key, bubble] of bubbles) if (!named.has(key)) run.skip('bubble outside the conversation', bubble);
  return found;
}

/** Text after a call, and a second call, are separate responses: the model had seen the earlier results before them. */
function respond(composerId: string, bubble: unknown, text: string, run: Conversation): RecordedExchange | null {
  const tool = field(bubble, 'toolFormerData');
  const name = stringOf(field(tool, 'name'));
  const bubbleId = idOf(field(bubble, 'bubbleId'));
  const thinking = stringOf(field(bubble, 'thinking', 'text')) ?? '';
  if (text === '' && name === null && thinking === '') {
    run.skip('bubble without content');
    return null;
  }
  const isNext =
    run.count === 0 || run.current().calls.length > 0 || run.current().followUp !== undefined || (text !== '' && run.current().text !== '');
  const exchange = isNext ? run.exchange(null) : run.current();
  if (bubbleId !== null) exchange.id ??= `${composerId}/${bubbleId}`.slice(0, 400);
  if (text !== '') exchange.text = text;
  if (thinking !== '') run.thought(exchange, thinking);
  if (name !== null) {
    const result = field(tool, 'result');
    const said = typeof result === 'string' ? result : result === undefined || result === null ? null : (JSON.stringify(result) ?? null);
    run.call(
      idOf(field(tool, 'toolCallId')),
      { ...newCall(name, field(tool, 'rawArgs') || field(tool, 'params') || {}), result: said, isError: field(tool, 'status') === 'error' },
      exchange,
    );
  }
  return exchange;
}

function lintsOf(bubble: unknown): NonNullable<RecordedExchange['lints']> {
  const files = field(bubble, 'multiFileLinterErrors');
  return (Array.isArray(files) ? (files as unknown[]) : []).flatMap((file) => {
    const errors = field(file, 'errors');
    return (Array.isArray(errors) ? (errors as unknown[]) : []).map((error) => {
      const source = stringOf(field(error, 'source'));
      const place = (end: string, what: string): number | undefined => {
        const number = field(error, 'range', end, what);
        return Number.isInteger(number) && Math.abs(Number(number)) < 2 ** 31 ? Number(number) : undefined;
      };
      const places = {
        start_line: place('startPosition', 'line'),
        start_col: place('startPosition', 'column'),
        end_line: place('endPosition', 'line'),
        end_col: place('endPosition', 'column'),
      };
      return {
        file_path: stringOf(field(file, 'relativeWorkspacePath')) ?? '',
        message: stringOf(field(error, 'message')) ?? '',
        severity: 'error' as const,
        ...(source !== null && { lint_source: source }),
        ...(Object.fromEntries(Object.entries(places).filter(([, number]) => number !== undefined)) as Partial<
          Record<keyof typeof places, number>
        >),
      };
    });
  });
}
