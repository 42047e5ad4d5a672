// The rules between the messages of a request: alternating roles, where blocks may occur, calls and their results, thinking. Each broken
// rule is reported as a sentence that begins with its position.

import { isObject } from '../../plv8/isObject.ts';
import { isFilled, show } from './json.ts';
import type { Json } from './json.ts';

export type Report = (at: string, problem: string) => void;
/** A message with its content as a list of blocks. */
export type Turn = { at: string; role: unknown; blocks: Json[] };

const toolUseId = /^[a-zA-Z0-9_-]{1,64}$/;

export function checkTurns(body: Json, turns: readonly Turn[], report: Report): void {
  checkRoles(turns, report);
  for (const turn of turns) {
    checkPlaces(turn, report);
    checkThinkingLast(turn, report);
  }
  checkToolPairs(turns, report);
  checkServerTools(turns, report);
  checkToolUseIds(turns, report);
  checkThinkingFirst(body, turns, report);
}

function checkRoles(turns: readonly Turn[], report: Report): void {
  if (turns[0] && turns[0].role !== 'user') report(turns[0].at, 'is the first message and not from the user');
  if (turns.at(-1)?.role === 'assistant') report(`messages[${turns.length - 1}]`, 'is the last message and from the assistant');
  turns.forEach((turn, n) => {
    const before = turns[n - 1]?.role;
    if (turn.role === 'system') {
      if (before !== 'user') report(turn.at, 'is a system message that does not follow a user message');
      return;
    }
    // A system message may follow a user message without breaking the alternation.
    if (n > 0 && turn.role === (before === 'system' ? 'user' : before))
      report(turn.at, `follows another message with the role ${show(turn.role)}`);
  });
}

/** Checks where blocks may occur. */
function checkPlaces({ at, role, blocks }: Turn, report: Report): void {
  let isBehindResults = false;
  blocks.forEach(({ type }, n) => {
    const here = `${at}.content[${n}]`;
    const isModels = type === 'tool_use' || isThinking(type) || isServerToolUse(type);
    if (role !== 'assistant' && isModels) report(here, `is a ${show(type)} block, which only the assistant writes`);
    if (role !== 'user' && type === 'tool_result') report(here, 'is a tool_result outside a user message');
    if (role === 'system' && type !== 'text') report(here, 'is in a system message and not text');
    if (type !== 'tool_result') isBehindResults = true;
    else if (isBehindResults) report(here, 'is a tool_result behind other content: results come first');
  });
}

/** Checks that every tool_use is answered once in the very next message, and that nothing else is answered there. */
function checkToolPairs(turns: readonly Turn[], report: Report): void {
  let calls = new Map<unknown, string>();
  const answered = new Set<unknown>();
  const settle = () => {
    for (const [id, at] of calls)
      if (!answered.has(id)) report(at, `is a tool_use without its tool_result in the next message: ${show(id)}`);
  };
  for (const { at, role, blocks } of turns) {
    answered.clear();
    blocks.forEach((block, n) => {
      if (block['type'] !== 'tool_result') return;
      const id = block['tool_use_id'];
      if (role !== 'user' || !calls.has(id))
        report(`${at}.content[${n}]`, `is a tool_result for no tool_use of the message before: ${show(id)}`);
      else if (answered.has(id)) report(`${at}.content[${n}]`, `is a second tool_result for ${show(id)}`);
      answered.add(id);
    });
    settle();
    calls = new Map();
    blocks.forEach((block, n) => {
      if (block['type'] === 'tool_use') calls.set(block['id'], `${at}.content[${n}]`);
    });
  }
  answered.clear();
  settle();
}

/**
 * A server tool's call and its result are in the same message. But if the server's code calls our tools, the server tool's result comes in
 * a later message; such calls are recognised by a tool_use that names them as its caller.
 */
function checkServerTools(turns: readonly Turn[], report: Report): void {
  const callers = new Set<unknown>();
  let open = new Map<unknown, string>();
  for (const { at, blocks } of turns) {
    blocks.forEach((block, n) => {
      const here = `${at}.content[${n}]`;
      const { type, caller } = block;
      if (type === 'tool_use' && isObject(caller)) callers.add(caller['tool_id']);
      if (isServerToolUse(type)) open.set(block['id'], here);
      if (isServerToolResult(type) && !open.delete(block['tool_use_id']))
        report(here, `is a ${show(type)} without its call before it in the same message`);
    });
    for (const [id, here] of open)
      if (!callers.has(id)) report(here, `is a server tool call without its result in the same message: ${show(id)}`);
    open = new Map([...open].filter(([id]) => callers.has(id)));
  }
}

function checkToolUseIds(turns: readonly Turn[], report: Report): void {
  const seen = new Set<unknown>();
  for (const { at, blocks } of turns) {
    blocks.forEach(({ type, id }, n) => {
      if (type !== 'tool_use' && !isServerToolUse(type)) return;
      if (!isFilled(id)) report(`${at}.content[${n}].id`, 'is not an id');
      else if (type === 'tool_use' && !toolUseId.test(id))
        report(`${at}.content[${n}].id`, `is refused: String should match pattern '${toolUseId.source}'`);
      else if (seen.has(id)) report(`${at}.content[${n}].id`, `is used before in this request: ${show(id)}`);
      seen.add(id);
    });
  }
}

function checkThinkingLast({ at, role, blocks }: Turn, report: Report): void {
  if (role === 'assistant' && isThinking(blocks.at(-1)?.['type'])) {
    report(`${at}.content[${blocks.length - 1}]`, 'is refused: The final block in an assistant message cannot be `thinking`.');
  }
}

/** With `thinking: enabled`, the turn whose tool results are being sent must begin with thinking. */
function checkThinkingFirst(body: Json, turns: readonly Turn[], report: Report): void {
  const isEnabled = isObject(body['thinking']) && body['thinking']['type'] === 'enabled';
  const answersTools = (turn: Turn | undefined) => turn?.blocks[0]?.['type'] === 'tool_result';
  if (!isEnabled || !answersTools(turns.findLast((turn) => turn.role === 'user'))) return;
  const asked = turns.findLastIndex((turn) => turn.role === 'user' && !answersTools(turn));
  const first = turns[asked + 1];
  const type = first?.blocks[0]?.['type'];
  if (first?.role === 'assistant' && !isThinking(type)) {
    report(first.at, 'begins the tool loop without a thinking block although thinking is enabled');
  }
}

export function isThinking(type: unknown): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function isServerToolUse(type: unknown): boolean {
  return type === 'server_tool_use' || type === 'mcp_tool_use';
}

function isServerToolResult(type: unknown): boolean {
  return typeof type === 'string' && type !== 'tool_result' && type.endsWith('_tool_result');
}
