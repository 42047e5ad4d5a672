// Why a file is not a recorded run, in one sentence: the field that is wrong, or the line at which its JSON breaks.

import { isObject } from '../isObject.ts';
import { field, stringOf } from './reading.ts';

const FORMATS =
  'lines of Claude Code, Codex, Copilot, pi or Gemini CLI, or one document of mini-swe-agent (with a list "messages"), SWE-agent ("history" or "trajectory"), Gemini CLI or ATIF ("steps")';

/** For a JSON document that no reader accepts. */
export function refusalOf(document: unknown): string {
  if (!isObject(document)) return `not a recorded run: it is ${kindOf(document)}, and one is ${FORMATS}`;
  const wrong = wrongField(document);
  if (wrong !== null) return `not a recorded run: ${wrong}`;
  const keys = Object.keys(document).map((key) => `"${key}"`);
  const named = keys.length === 0 ? 'an empty object' : `an object with ${keys.slice(0, 8).join(', ')}`;
  return `not a recorded run: it is ${named}, and one is ${FORMATS}`;
}

function wrongField(document: Record<string, unknown>): string | null {
  const isNoList = (key: string): string | null =>
    Array.isArray(document[key])
      ? null
      : `its "${key}" must be a list and ${document[key] === undefined ? 'is missing' : `is ${kindOf(document[key])}`}`;
  const version = document['schema_version'];
  if (stringOf(version)?.startsWith('ATIF')) return isNoList('steps');
  if ('steps' in document)
    return `it looks like ATIF, but its "schema_version" must begin with "ATIF" and ${version === undefined ? 'is missing' : `is ${kindOf(version)}`}`;
  for (const key of ['history', 'trajectory', 'messages']) if (key in document && isNoList(key) !== null) return isNoList(key);
  if (!('messages' in document)) return null;
  if (document['trajectory_format'] === undefined && field(document, 'info', 'exit_status') === undefined)
    return 'it has a list "messages", but neither "trajectory_format" nor "info.exit_status", one of which mini-swe-agent writes, and no message of the type gemini, as Gemini CLI writes';
  return `its "trajectory_format" must begin with "mini-swe-agent" and is ${kindOf(document['trajectory_format'])}`;
}

/** For a file that is not JSON, or for JSON lines in a format that no reader knows. */
export function refusalOfText(text: string): string {
  if (text.trim() === '') return 'not a recorded run: the file is empty';
  const [first = ''] = text.trim().split('\n');
  if (isJson(first)) return `not a recorded run: its first line is none of a program that is known, and one is ${FORMATS}`;
  if (!/^[[{]/.test(first)) return `not a recorded run: line 1 is no JSON, and one is ${FORMATS}`;
  return `not a recorded run: its JSON is broken at line ${brokenLine(text)}`;
}

/** The first line that makes the text invalid as the beginning of JSON; the last line if it merely ends too early. */
function brokenLine(text: string): number {
  const lines = text.split('\n');
  let [whole, broken] = [0, lines.length];
  while (broken - whole > 1) {
    const half = Math.floor((whole + broken) / 2);
    if (isBeginning(lines.slice(0, half).join('\n'))) whole = half;
    else broken = half;
  }
  return broken;
}

/** Whether the text is a valid beginning of JSON and only its end is missing. */
function isBeginning(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const at = /position (\d+)/.exec(String(error))?.[1];
    return at === undefined
      ? /end of|[Uu]nterminated/.test(String(error))
      : Number(at) >= text.length || /[Uu]nterminated/.test(String(error));
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A value's kind, in words for a sentence. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'an object';
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}
