// Generates the functions that an agent's code can call, as Python source: one for each tool, from its schema.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type CodeTool = { name: string; description: string; input_schema: Record<string, unknown> };
type Property = { type?: string; description?: string; default?: unknown };

const base = readFileSync(fileURLToPath(new URL('python/sdk.py', import.meta.url)), 'utf8');
const types: Record<string, string> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', array: 'list', object: 'dict' };

/** The return type of a function, and how the value is made from the engine's answer. A hook may have turned the answer into plain text. */
const results: Record<string, [type: string, make: string]> = {
  bash: ['BashResult', 'BashResult(**value) if isinstance(value, dict) else BashResult(value, "", 0, 0, value.count("\\n") + 1, False)'],
  grep: [
    'list[GrepMatch]',
    '[GrepMatch(**match) for match in value] if isinstance(value, list) else [GrepMatch("", 0, line) for line in value.split("\\n")]',
  ],
  glob: ['list[str]', 'value if isinstance(value, list) else value.split("\\n")'],
  ledger_append: ['dict', 'json.loads(value)'],
  ledger_read: ['list[dict]', 'json.loads(value)'],
  check_child_work: ['list[dict]', 'json.loads(value)'],
};
const keywords = new Set([
  'False',
  'None',
  'True',
  'and',
  'as',
  'assert',
  'async',
  'await',
  'break',
  'class',
  'continue',
  'def',
  'del',
  'elif',
  'else',
  'except',
  'finally',
  'for',
  'from',
  'global',
  'if',
  'import',
  'in',
  'is',
  'lambda',
  'nonlocal',
  'not',
  'or',
  'pass',
  'raise',
  'return',
  'try',
  'while',
  'with',
  'yield',
]);

/** Returns Python source: the fixed part, then the tools. */
export function generateSdk(tools: readonly CodeTool[], socketPath: string): string {
  return [base, `_SOCKET = ${literal(socketPath)}`, ...tools.map(functionOf)].join('\n\n');
}

function functionOf({ name, description, input_schema: schema }: CodeTool): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Property>);
  const required = new Set((schema['required'] ?? []) as string[]);
  const isNeeded = ([key, property]: [string, Property]): boolean => required.has(key) && property.default === undefined;
  const ordered = [...properties.filter(isNeeded), ...properties.filter((one) => !isNeeded(one))];
  const parameters = ordered.map(([key, property]) => {
    const type = types[property.type ?? ''] ?? 'typing.Any';
    return isNeeded([key, property]) ? `${identifier(key)}: ${type}` : `${identifier(key)}: ${type} = ${literal(property.default ?? null)}`;
  });
  const [type, make] = results[name] ?? ['str', 'value'];
  const about = ordered.map(([key, property]) => `\n    ${identifier(key)}: ${property.description ?? ''}`).join('');
  const given = ordered.map(([key]) => `${literal(key)}: ${identifier(key)}`).join(', ');
  return `def ${identifier(name)}(${parameters.join(', ')}) -> ${type}:
    ${literal(`${description}\n${about}`)}
    value = _call(${literal(name)}, {key: value for key, value in {${given}}.items() if value is not None})
    return ${make}`;
}

const identifier = (name: string): string => {
  const safe = name.replace(/\W/g, '_').replace(/^(?=\d)/, '_');
  return keywords.has(safe) ? `${safe}_` : safe;
};

/** JSON is valid Python except for true, false and null. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, one]) => `${literal(key)}: ${literal(one)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}
