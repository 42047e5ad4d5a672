// Generates the functions that an agent's code can call, as Python source: one for each tool, from its schema.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type CodeTool = { name: string; description: string; input_schema: Record<string, unknown> };
type Property = { type?: string; description?: string; default?: unknown };

const base = readFileSync(fileURLToPath(new URL('python/sdk.py', import.meta.url)), 'utf8');
const types = new Map(Object.entries({ string: 'str', integer: 'int', number: 'float', boolean: 'bool', array: 'list', object: 'dict' }));

/** The return type of a function, and how the value is made from the engine's answer. A hook may have turned the answer into plain text. */
const results = new Map<string, [type: string, make: string]>(
  Object.entries({
    bash: ['BashResult', 'BashResult(**value) if isinstance(value, dict) else BashResult(value, "", 0, 0, value.count("\\n") + 1, False)'],
    grep: [
      'list[GrepMatch]',
      '[GrepMatch(**match) for match in value] if isinstance(value, list) else [GrepMatch("", 0, line) for line in value.split("\\n")]',
    ],
    glob: ['list[str]', 'value if isinstance(value, list) else value.split("\\n")'],
    ledger_append: ['dict', 'json.loads(value)'],
    ledger_read: ['list[dict]', 'json.loads(value)'],
    check_child_work: ['list[dict]', 'json.loads(value)'],
  }),
);
/** Names that no function or parameter can have. */
const reserved = new Set([
  '_call',
  '__debug__',
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
  const names = identifiers(tools.map(({ name }) => name));
  return [base, `_SOCKET = ${literal(socketPath)}`, ...tools.map((tool, n) => functionOf(tool, names[n] ?? ''))].join('\n\n');
}

/** Its name is given to the agent's code only, so that a tool named like something that the SDK uses does not replace it. */
function functionOf({ name, description, input_schema: schema }: CodeTool, as: string): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Property>);
  const required = new Set((schema['required'] ?? []) as string[]);
  const names = identifiers(properties.map(([key]) => key));
  const all = properties.map(([key, property], n) => ({
    key,
    property,
    name: names[n] ?? '',
    isNeeded: required.has(key) && property.default === undefined,
  }));
  const ordered = [...all.filter(({ isNeeded }) => isNeeded), ...all.filter(({ isNeeded }) => !isNeeded)];
  const parameters = ordered.map(({ property, name: parameter, isNeeded }) => {
    const type = types.get(property.type ?? '') ?? 'typing.Any';
    return isNeeded ? `${parameter}: ${type}` : `${parameter}: ${type} = ${literal(property.default ?? null)}`;
  });
  const [type, make] = results.get(name) ?? ['str', 'value'];
  const about = ordered.map(({ property, name: parameter }) => `\n    ${parameter}: ${property.description ?? ''}`).join('');
  const given = ordered.map(({ key, name: parameter }) => `${literal(key)}: ${parameter}`).join(', ');
  return `@_tool(${literal(as)})
def _(${parameters.join(', ')}) -> ${type}:
    ${literal(`${description}\n${about}`)}
    value = _call(${literal(name)}, {key: value for key, value in {${given}}.items() if value is not None})
    return ${make}`;
}

/** A Python name for each, all different: of those that would have the same one, the one that is called so keeps it. */
function identifiers(names: readonly string[]): string[] {
  const taken = new Set(names.filter((name) => identifier(name) === name));
  return names.map((name) => {
    const plain = identifier(name);
    if (plain === name) return name;
    let free = plain;
    for (let n = 2; taken.has(free); n++) free = `${plain}_${n}`;
    taken.add(free);
    return free;
  });
}

/** Python compares names in the form NFKC. */
const identifier = (name: string): string => {
  const safe = name
    .normalize('NFKC')
    .replace(/[^\p{XID_Continue}]/gu, '_')
    .replace(/^(?![\p{XID_Start}_])/u, '_');
  return reserved.has(safe) ? `${safe}_` : safe;
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
