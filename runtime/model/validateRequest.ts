// The rules of the Messages API that a single request can be checked against before it is sent. Takes a JSON value and returns each broken
// rule as a sentence that begins with its position. Pure; no input makes it throw.
//
// Where the API's own wording is known, the sentence contains it. Some rules cannot be checked from a single request: whether thinking
// is still bound to the prefix that it was made with, whether the model can read it, and which models accept a system message between other
// messages.

import { isObject } from '../../plv8/isObject.ts';
import { checkTurns, isThinking } from './checkTurns.ts';
import type { Report, Turn } from './checkTurns.ts';
import { isFilled, show } from './json.ts';
import type { Json } from './json.ts';
import type { ModelRequest } from './message.ts';

const maxMessages = 100_000;
const maxBreakpoints = 4;
const maxDepth = 100;
const megabyte = 1_000_000;
/** The API's limit is 32 MB. A request this close to it would exceed it in the next iteration, when it is too late to compact. */
const maxBytes = 24 * megabyte;
const apiMaxBytes = 32 * megabyte;
const toolName = /^[a-zA-Z0-9_-]{1,128}$/;
const betaName = /^[a-z0-9][a-z0-9-]{0,99}$/;

/** Returns the broken rules; empty if the request is valid. */
export function validateRequest(request: ModelRequest): string[] {
  const broken: string[] = [];
  const report: Report = (at, problem) => void broken.push(`${at} ${problem}`);
  const body: unknown = request;
  if (!isObject(body)) return ['the request is not an object'];
  // A value too deep to walk is too deep to serialize, and the other checks would fail on it too.
  if (!checkValues(body, 'request', 0, report)) return broken;
  checkHead(body, report);
  checkTools(body['tools'], report);
  checkSystem(body['system'], report);
  const turns = checkMessages(body['messages'], report);
  checkTurns(body, turns, report);
  checkBreakpoints(body, turns, report);
  checkSize(body, report);
  return broken;
}

/**
 * Checks for strings that JSON parsers read differently, numbers that JSON cannot express, and depth. False if it is too deep to continue.
 */
function checkValues(value: unknown, at: string, depth: number, report: Report): boolean {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) report(at, 'holds a lone surrogate');
    if (value.includes('\0')) report(at, 'holds the character U+0000');
  }
  if (typeof value === 'number' && !Number.isFinite(value)) report(at, 'is a number that JSON cannot write');
  if (typeof value !== 'object' || value === null) return true;
  if (depth > maxDepth) {
    report(at.slice(0, 200), `is nested deeper than ${maxDepth} levels`);
    return false;
  }
  if (Array.isArray(value)) return value.every((item, n) => checkValues(item, `${at}[${n}]`, depth + 1, report));
  return Object.entries(value).every(([key, item]) => {
    const path = depth === 0 ? key : `${at}.${key}`;
    if (!key.isWellFormed() || key.includes('\0')) report(at, 'has a key with a lone surrogate or the character U+0000');
    return checkValues(item, path, depth + 1, report);
  });
}

function checkHead(body: Json, report: Report): void {
  if (!isFilled(body['model'])) report('model', 'is not a name');
  // 0 is allowed: it warms the cache.
  if (!Number.isSafeInteger(body['max_tokens']) || (body['max_tokens'] as number) < 0) report('max_tokens', 'is not a whole number from 0');
  if (body['stream'] !== true) report('stream', 'is not true');
  checkOptions(body, report);
}

/** Checks the options besides the conversation; the database knows which model accepts which. */
function checkOptions({ max_tokens, thinking, temperature, top_p, tool_choice, tools, betas }: Json, report: Report): void {
  if (isObject(thinking) && thinking['type'] === 'enabled') {
    const budget = thinking['budget_tokens'];
    if (!Number.isSafeInteger(budget) || (budget as number) < 1024) report('thinking.budget_tokens', 'is not a whole number from 1024');
    else if (typeof max_tokens === 'number' && (budget as number) >= max_tokens)
      report('thinking.budget_tokens', 'is refused: `max_tokens` must be greater than `thinking.budget_tokens`');
    if (isObject(tool_choice) && (tool_choice['type'] === 'any' || tool_choice['type'] === 'tool'))
      report('tool_choice', 'is refused: Thinking may not be enabled when tool_choice forces tool use.');
  }
  for (const [name, value] of Object.entries({ temperature, top_p }))
    if (value !== undefined && (typeof value !== 'number' || value < 0 || value > 1)) report(name, 'is not a number from 0 to 1');
  if (isObject(tool_choice) && tool_choice['type'] === 'tool') {
    const isOffered = Array.isArray(tools) && tools.some((tool: unknown) => isObject(tool) && tool['name'] === tool_choice['name']);
    if (!isOffered) report('tool_choice', `names a tool that is not offered: ${show(tool_choice['name'])}`);
  }
  if (betas !== undefined && !(Array.isArray(betas) && betas.every((beta) => typeof beta === 'string' && betaName.test(beta))))
    report('betas', 'is not a list of names of beta features');
}

function checkTools(tools: unknown, report: Report): void {
  if (tools === undefined) return;
  if (!Array.isArray(tools)) return report('tools', 'is not an array');
  const names = new Set<unknown>();
  tools.forEach((tool: unknown, n) => {
    const at = `tools[${n}]`;
    if (!isObject(tool)) return report(at, 'is not an object');
    const { name, type } = tool;
    // Some of the API's own tools, the toolsets, have no name.
    if (name === undefined && isFilled(type) && type !== 'custom') return;
    checkToolName(name, at, report);
    if (names.has(name)) report(at, `has the same name as a tool before it: ${show(name)}`);
    names.add(name);
  });
}

function checkToolName(name: unknown, at: string, report: Report): void {
  if (typeof name !== 'string' || !toolName.test(name)) report(`${at}.name`, 'is not 1 to 128 characters of a-z, A-Z, 0-9, _ and -');
}

function checkSystem(system: unknown, report: Report): void {
  if (system === undefined) return;
  if (typeof system === 'string') return checkText(system, 'system', report);
  if (!Array.isArray(system)) return report('system', 'is neither a string nor an array of text blocks');
  system.forEach((block: unknown, n) => {
    const at = `system[${n}]`;
    if (!isObject(block) || block['type'] !== 'text') return report(at, 'is not a text block');
    checkText(block['text'], `${at}.text`, report);
  });
}

function checkText(text: unknown, at: string, report: Report): void {
  if (typeof text !== 'string') report(at, 'is not a string');
  else if (text.trim() === '') report(at, text === '' ? 'is empty' : 'is nothing but white space');
}

/** Checks each message separately and returns all of them with their content as blocks. */
function checkMessages(messages: unknown, report: Report): Turn[] {
  if (!Array.isArray(messages) || messages.length === 0) {
    report('messages', 'is not an array with at least one message');
    return [];
  }
  if (messages.length > maxMessages) report('messages', `has ${messages.length} messages; the most is ${maxMessages}`);
  return messages.map((message: unknown, n): Turn => {
    const at = `messages[${n}]`;
    if (!isObject(message)) {
      report(at, 'is not an object');
      return { at, role: null, blocks: [] };
    }
    const { role, content } = message;
    if (role !== 'user' && role !== 'assistant' && role !== 'system') report(`${at}.role`, 'is not user, assistant or system');
    return { at, role, blocks: checkContent(content, `${at}.content`, report) };
  });
}

function checkContent(content: unknown, at: string, report: Report): Json[] {
  if (typeof content === 'string') {
    checkText(content, at, report);
    return [{ type: 'text', text: content }];
  }
  if (!Array.isArray(content)) report(at, 'is neither a string nor an array of blocks');
  else if (content.length === 0) report(at, 'is empty');
  else {
    // Keep one entry per block, so that positions stay correct.
    return content.map((block: unknown, n) => {
      if (isObject(block)) checkBlock(block, `${at}[${n}]`, report);
      else report(`${at}[${n}]`, 'is not an object');
      return isObject(block) ? block : {};
    });
  }
  return [];
}

function checkBlock(block: Json, at: string, report: Report): void {
  switch (block['type']) {
    case 'text':
      checkText(block['text'], `${at}.text`, report);
      break;
    case 'tool_use':
      checkToolName(block['name'], at, report);
      if (!isObject(block['input'])) report(`${at}.input`, 'is not an object');
      break;
    case 'tool_result':
      // The content may be missing and a string may be empty, since a tool need not print anything. A text block in it must not be empty.
      if (Array.isArray(block['content']) && block['content'].length > 0) {
        const parts = checkContent(block['content'], `${at}.content`, report);
        if (block['is_error'] === true && parts.some((part) => part['type'] !== 'text'))
          report(at, 'is refused: all content must be type `text` if `is_error` is true');
      }
      break;
    case 'thinking':
      if (!isFilled(block['signature'])) report(at, 'is a thinking block without its signature');
      if (typeof block['thinking'] !== 'string') report(`${at}.thinking`, 'is not a string');
      break;
    case 'redacted_thinking':
      if (!isFilled(block['data'])) report(at, 'is a redacted thinking block without its data');
      break;
    default:
      if (!isFilled(block['type'])) report(`${at}.type`, 'is not a kind of block');
  }
}

function checkBreakpoints(body: Json, turns: readonly Turn[], report: Report): void {
  const places: [string, unknown][] = [['request', body], ...placed('tools', body['tools']), ...placed('system', body['system'])];
  for (const { at, blocks } of turns) {
    for (const [here, block] of placed(`${at}.content`, blocks)) {
      places.push([here, block]);
      if (isObject(block) && block['type'] === 'tool_result') places.push(...placed(`${here}.content`, block['content']));
    }
  }
  const marked = places.filter(([, place]) => isObject(place) && place['cache_control'] != null);
  // The request's own mark counts as the last one.
  const ttls = [...marked.filter(([, place]) => place !== body), ...marked.filter(([, place]) => place === body)].map(
    ([at, place]) => [at, JSON.stringify((place as Json)['cache_control']).includes('"1h"')] as const,
  );
  const late = ttls.find(([, isLong], n) => isLong && ttls.slice(0, n).some(([, before]) => !before));
  if (late) report(late[0], "is refused: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block");
  for (const [at, place] of marked) {
    if (isObject(place) && isThinking(place['type'])) report(at, 'is a thinking block with cache_control');
  }
  const extra = marked[maxBreakpoints];
  if (extra) report(extra[0], `is one of ${marked.length} cache breakpoints, with the request's own; the most is ${maxBreakpoints}`);
}

function placed(at: string, items: unknown): [string, unknown][] {
  return Array.isArray(items) ? items.map((item: unknown, n) => [`${at}[${n}]`, item]) : [];
}

function checkSize(body: Json, report: Report): void {
  const bytes = Buffer.byteLength(JSON.stringify(body));
  const size = `is ${(bytes / megabyte).toFixed(1)} MB`;
  if (bytes > apiMaxBytes) report('request', `${size}; the API takes ${apiMaxBytes / megabyte} MB`);
  else if (bytes > maxBytes)
    report('request', `${size}, above ${maxBytes / megabyte} MB: too near the API's limit of ${apiMaxBytes / megabyte} MB`);
}
