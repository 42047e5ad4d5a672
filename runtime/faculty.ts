// Reads faculty TOML files: text in, the configuration for faculty_save() out, with the keys exactly as written (the
// database fills in the defaults). Every problem of a file is reported at once, each as `file:line:column: message`.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';

import { parse, TomlDate, TomlError } from 'smol-toml';
import { z } from 'zod';

import { UsageError } from './ledger/errors.ts';
import { commandKeys, programProblem, resolveCommand } from './hookCommands.ts';
import { idOf, locateKeys } from './tomlPositions.ts';
import type { Path } from './tomlPositions.ts';

/** What the documents define and has no effect here, and why. */
const withoutEffect: Record<string, string> = {
  'engage.truncate_processed_results': 'accepted without an effect of its own: truncate_closed_blocks takes whole blocks, their results included',
};

// The message of each schema is what the value must be; the rest of the sentence is put around it.
const text = z.string('a string').min(1, 'a string that is not empty').refine((given) => !given.includes('\0'), 'a string without NUL characters');
const texts = z.array(text, 'a list of strings');
const flag = z.boolean('true or false');
const whole = (from: number): z.ZodNumber => {
  const expected = `a whole number from ${from} to 2147483647`;
  return z.int(expected).min(from, expected).max(2147483647, expected);
};
const oneOf = <const T extends string>(...values: T[]) => z.enum(values, values.map((value) => `"${value}"`).join(' or '));
const size = z.string('a size like "512m"').regex(/^[1-9]\d*[bkmg]?$/i, 'a size like "512m"');
const tableOf = <T extends z.core.$ZodShape>(shape: T) => z.strictObject(shape, 'a table');

const phaseKeys = { command: text.exactOptional(), timeout: whole(1).exactOptional(), on_failure: oneOf('fail', 'continue').exactOptional() };
const phase = tableOf(phaseKeys);

const sections = {
  orient: phase,
  engage: tableOf({
    model: text.exactOptional(),
    fallback_model: text.exactOptional(),
    system_prompt_file: text.exactOptional(),
    system_prompt: text.exactOptional(),
    tools: texts.exactOptional(),
    toolset: text.exactOptional(),
    max_turns: whole(1).exactOptional(),
    max_output_tokens: whole(1).exactOptional(),
    mode: oneOf('builtin', 'external').exactOptional(),
    command: text.exactOptional(),
    command_timeout: whole(1).exactOptional(),
    check_command: text.exactOptional(),
    check_timeout: whole(1).exactOptional(),
    parallel_tool_execution: flag.exactOptional(),
    max_parallel_tools: whole(1).exactOptional(),
    compact_threshold: z.number('a number from 0 to 1').min(0, 'a number from 0 to 1').max(1, 'a number from 0 to 1').exactOptional(),
    compact_keep_recent: whole(0).exactOptional(),
    compact_strategy: oneOf('ledger', 'sliding_window', 'selective').exactOptional(),
    compact_every: whole(0).exactOptional(),
    compact_model: text.exactOptional(),
    context_window: whole(1000).exactOptional(),
    ledger_nudge_interval: whole(0).exactOptional(),
    stall_limit: whole(0).exactOptional(),
    truncate_closed_blocks: flag.exactOptional(),
    truncate_processed_results: flag.exactOptional(),
    elide_budget: whole(0).exactOptional(),
    keep_budget: whole(0).exactOptional(),
    keep_auto: whole(0).exactOptional(),
    max_result_chars: whole(1000).exactOptional(),
    require_approval: oneOf('never', 'dangerous', 'moderate').exactOptional(),
    approval_timeout: whole(1).exactOptional(),
    max_children: whole(0).exactOptional(),
    max_descendants: whole(0).exactOptional(),
    workspace: oneOf('host', 'container', 'none').exactOptional(),
    workspace_dir: text.exactOptional(),
    workspace_image: text.exactOptional(),
    workspace_memory: size.exactOptional(),
    workspace_cpus: z.number('a number above 0').gt(0, 'a number above 0').exactOptional(),
    workspace_size: size.exactOptional(),
    workspace_keep_hours: whole(0).exactOptional(),
    web_fetch_allow: texts.exactOptional(),
    code_execution: flag.exactOptional(),
    code_execution_timeout: whole(1).exactOptional(),
    code_execution_image: text.exactOptional(),
    code_execution_memory: size.exactOptional(),
    code_execution_pool: whole(0).exactOptional(),
    code_execution_session: flag.exactOptional(),
    code_execution_cpus: z.number('a number above 0').gt(0, 'a number above 0').exactOptional(),
  }),
  awareness: tableOf({
    enabled: flag.exactOptional(),
    lookback_hours: whole(0).exactOptional(),
    max_running: whole(0).exactOptional(),
    max_recent_completed: whole(0).exactOptional(),
    max_recent_findings: whole(0).exactOptional(),
    max_recent_errors: whole(0).exactOptional(),
    max_tokens: whole(0).exactOptional(),
    include_child_work: flag.exactOptional(),
    include_queued: flag.exactOptional(),
    refresh_every: whole(0).exactOptional(),
    rank_by: oneOf('recency', 'relevance').exactOptional(),
  }),
  budget: tableOf({
    tokens: whole(0).exactOptional(),
    money: z.number('a number from 0').min(0, 'a number from 0').exactOptional(),
    seconds: whole(0).exactOptional(),
    calls: whole(0).exactOptional(),
    children: whole(0).exactOptional(),
  }),
  hooks: tableOf({
    before_model_call: text.exactOptional(),
    before_tool: text.exactOptional(),
    after_tool: text.exactOptional(),
    timeout: whole(1).exactOptional(),
    on_failure: oneOf('refuse', 'allow').exactOptional(),
  }),
  consolidate: phase,
  recover: tableOf({
    ...phaseKeys,
    max_attempts: whole(1).exactOptional(),
    backoff: oneOf('exponential', 'constant').exactOptional(),
    mode: oneOf('resume', 'fresh').exactOptional(),
  }),
};

const faculty = tableOf({
  name: text.max(63, 'a string of 1 to 63 characters').regex(/\S/, 'a string that is not blank'),
  accepts: texts.exactOptional(),
  role: oneOf('manager', 'worker', 'unified').exactOptional(),
  persona: text.exactOptional(),
  max_concurrent: whole(1).exactOptional(),
  orient: sections.orient.exactOptional(),
  engage: sections.engage.exactOptional(),
  awareness: sections.awareness.exactOptional(),
  budget: sections.budget.exactOptional(),
  hooks: sections.hooks.exactOptional(),
  consolidate: sections.consolidate.exactOptional(),
  recover: sections.recover.exactOptional(),
});
const facultyFile = tableOf({ faculty });

export type FacultyConfig = z.infer<typeof faculty>;
export type LoadedFaculty = { config: FacultyConfig; warnings: string[] };
export type Problem = { file: string; line: number; column: number; says: string };
type Finding = [path: Path, says: string];

const atPosition = ({ file, line, column, says }: Problem): string => `${file}:${line}:${column}: ${says}`;

/** Everything that is wrong with a faculty file, in its order; `file`, `line` and `column` are those of the first. */
export class FacultyError extends UsageError {
  readonly problems: readonly Problem[];
  readonly file: string;
  readonly line: number;
  readonly column: number;

  constructor(first: Problem, ...others: Problem[]) {
    super([first, ...others].map(atPosition).join('\n'));
    this.name = 'FacultyError';
    this.problems = [first, ...others];
    this.file = first.file;
    this.line = first.line;
    this.column = first.column;
  }
}

/** Reads the faculty file or every *.toml of the directory, in the order of names; workspace_dir and the paths of commands become absolute. Throws FacultyError. */
export async function loadFaculties(path: string): Promise<LoadedFaculty[]> {
  const start = { line: 1, column: 1 };
  const read = <T>(file: string, how: () => T): T => {
    try {
      return how();
    } catch (error) {
      throw new FacultyError({ file, ...start, says: `cannot be read: ${reason(error)}` });
    }
  };
  const isDirectory = read(path, () => statSync(path).isDirectory());
  const names = isDirectory ? read(path, () => readdirSync(path)).filter((name) => name.endsWith('.toml')).toSorted() : [];
  if (isDirectory && names.length === 0) throw new FacultyError({ file: path, ...start, says: 'the directory has no *.toml file' });

  const fileOf = new Map<string, string>();
  return (isDirectory ? names.map((name) => join(path, name)) : [path]).map((file) => {
    const toml = read(file, () => readFileSync(file, 'utf8'));
    const loaded = parseFaculty(toml, file, { readPrompt: (prompt) => readFileSync(prompt, 'utf8'), programProblem });
    const { name, engage } = loaded.config;
    if (fileOf.has(name)) throw new FacultyError({ file, ...positionIn(toml)(['faculty', 'name']), says: `${fileOf.get(name)} has the name "${name}" too` });
    fileOf.set(name, file);
    if (engage?.workspace_dir !== undefined) engage.workspace_dir = resolve(dirname(file), engage.workspace_dir);
    return loaded;
  });
}

/** What a faculty file points at. */
export type FacultyFiles = {
  /** Is given the path of system_prompt_file, joined to the directory of the faculty file. */
  readPrompt: (path: string) => string;
  /** Why a program (a path or a name) cannot be run; null when it can. */
  programProblem: (program: string) => string | null;
};

/** Checks one faculty file. Throws FacultyError. */
export function parseFaculty(toml: string, file: string, files: FacultyFiles): LoadedFaculty {
  const document = parseToml(toml, file);
  const locate = positionIn(toml);
  const at = ([path, says]: Finding): Problem => ({ file, ...locate(path), says });

  const checked = facultyFile.safeParse(document);
  const prompt = findPrompt(document, dirname(file), files.readPrompt);
  const commands = findCommands(document, dirname(file), files.programProblem);
  const [first, ...others] = [...findMistakes(checked.error?.issues ?? [], document), ...prompt.errors, ...commands.errors].map(at).toSorted(byPosition);
  if (first) throw new FacultyError(first, ...others);

  const parsed = facultyFile.parse(document);
  for (const [path, command] of commands.resolved) (valueAt(parsed, path.slice(0, -1)) as Record<PropertyKey, unknown>)[path.at(-1) ?? ''] = command;
  const { faculty: config } = parsed;
  if (config.engage && prompt.text !== undefined) config.engage.system_prompt = prompt.text;
  return { config, warnings: findWithoutEffect(document).map(at).toSorted(byPosition).map(atPosition) };
}

/** zod takes a Date for an object without keys; no key of a faculty is a date. */
const aDate = Symbol('a date');

function parseToml(toml: string, file: string): unknown {
  const plain = (value: unknown): unknown => {
    if (value instanceof TomlDate) return aDate;
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  };
  try {
    return plain(parse(toml));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new FacultyError({ file, line: error.line, column: error.column, says: error.message.split('\n', 1)[0] ?? 'malformed TOML' });
  }
}

function findMistakes(issues: readonly z.core.$ZodIssue[], document: unknown): Finding[] {
  return issues.flatMap((issue, index): Finding[] => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [[...issue.path, key], unknownKey(issue.path.map(String), key)]);
    const isSaid = issues.slice(0, index).some((other) => other.code !== 'unrecognized_keys' && idOf(other.path) === idOf(issue.path));
    if (isSaid) return [];
    const value = valueAt(document, issue.path);
    const keys = issue.path.filter((key) => typeof key !== 'number').map(String);
    const element = typeof issue.path.at(-1) === 'number' ? `element ${String(issue.path.at(-1))} of ` : '';
    const what = `${element}"${keys.at(-1)}"${inTable(keys.slice(0, -1))}`;
    return [[issue.path, value === undefined ? `missing ${what}` : `${what} must be ${issue.message}, not ${shown(value)}`]];
  });
}

function findWithoutEffect(document: unknown): Finding[] {
  return Object.entries(withoutEffect).flatMap(([key, says]): Finding[] => {
    const path = ['faculty', ...key.split('.')];
    const value = valueAt(document, path);
    return value === undefined ? [] : [[path, `${path.at(-1)} = ${shown(value)}: ${says}`]];
  });
}

function findPrompt(document: unknown, directory: string, readPrompt: (path: string) => string): { text?: string; errors: Finding[] } {
  const path = ['faculty', 'engage', 'system_prompt_file'];
  const given = valueAt(document, path);
  if (typeof given !== 'string' || given === '') return { errors: [] };
  const errors: Finding[] = [];
  if (valueAt(document, ['faculty', 'engage', 'system_prompt']) !== undefined) errors.push([path, 'system_prompt and system_prompt_file are both given: keep one']);
  try {
    const prompt = readPrompt(isAbsolute(given) ? given : join(directory, given));
    if (prompt.includes('\0')) errors.push([path, `"${given}" is not a text file`]);
    return { text: prompt, errors };
  } catch (error) {
    return { errors: [...errors, [path, `cannot read "${given}": ${reason(error)}`]] };
  }
}

/** The commands of a file as a worker runs them, and those that nobody could run. */
function findCommands(document: unknown, directory: string, problemOf: FacultyFiles['programProblem']): { resolved: [Path, string][]; errors: Finding[] } {
  const resolved: [Path, string][] = [];
  const errors: Finding[] = [];
  if (valueAt(document, ['faculty', 'engage', 'mode']) === 'external' && valueAt(document, ['faculty', 'engage', 'command']) === undefined) {
    errors.push([['faculty', 'engage', 'mode'], 'mode = "external" needs the "command" that does the work']);
  }
  for (const path of commandKeys) {
    const given = valueAt(document, path);
    if (typeof given !== 'string') continue;
    const isInContainer = path.at(-1) === 'check_command' && !['host', 'none'].includes(String(valueAt(document, ['faculty', 'engage', 'workspace'])));
    if (isInContainer) continue; // nor are its files here
    const { command, program } = resolveCommand(given, directory);
    resolved.push([path, command]);
    const problem = program === null ? null : problemOf(program);
    if (problem !== null) errors.push([path, `"${given}"${inTable(path.slice(0, -1).map(String))}: ${problem}`]);
  }
  return { resolved, errors };
}

function unknownKey(table: string[], key: string): string {
  const known = new Map<string, string[]>([['', ['faculty']], ['faculty', Object.keys(faculty.shape)]]);
  for (const [name, section] of Object.entries(sections)) known.set(`faculty.${name}`, Object.keys(section.shape));
  const near = known.get(table.join('.'))?.map((name) => ({ name, distance: editDistance(key, name) })).toSorted((a, b) => a.distance - b.distance)[0];
  const elsewhere = [...known].find(([, names]) => names.includes(key))?.[0];
  const hint = near && near.distance <= Math.max(1, key.length / 3) ? `; did you mean "${near.name}"?` : elsewhere ? `; did you mean "${key}" in [${elsewhere}]?` : '';
  return `unknown key "${key}"${inTable(table)}${hint}`;
}

/** How many characters must be put in, taken out or replaced to make `a` of `b`. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

const inTable = (table: readonly string[]): string => (table.length === 0 ? '' : ` in [${table.join('.')}]`);
const byPosition = (a: Problem, b: Problem): number => a.line - b.line || a.column - b.column;
const reason = (error: unknown): string => (error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error));

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === 'symbol') return value.description ?? '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'a list' : 'a table';
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => {
    const isThere = typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key);
    return isThere ? (inner as Record<PropertyKey, unknown>)[key] : undefined;
  }, value);
}

/** Line and column (from 1) of a key path; for a key that is not written, of the table that it belongs to. */
function positionIn(toml: string): (path: Path) => { line: number; column: number } {
  const offsets = locateKeys(toml);
  return (path) => {
    const written = path.map((_, i) => path.slice(0, path.length - i)).find((start) => offsets.has(idOf(start)));
    const before = toml.slice(0, written ? offsets.get(idOf(written)) : 0);
    return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') };
  };
}
