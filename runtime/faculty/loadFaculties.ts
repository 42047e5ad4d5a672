// Reads faculty TOML files and returns configurations for faculty_save(), with the keys exactly as written (the database fills in the
// defaults). The database checks them against its list of keys (faculty_problems); what only a reader of files can check is checked here.
// All problems of all files are reported at once, each as `file:line:column: message`.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';

import type { Db } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import type { Faculty } from './faculty.ts';
import { programProblem, resolveCommand } from './hookCommands.ts';
import { parseToml, TomlError } from './toml.ts';
import type { Path, Position, Toml } from './toml.ts';

/** Keys that are accepted but have no effect. */
const withoutEffect = ['engage.truncate_processed_results'];

type Section = Record<string, unknown>;
export type LoadedFaculty = { config: Faculty; warnings: string[] };
export type Problem = Position & { file: string; says: string };
type Finding = [path: Path, says: string];

/** What a loader requires from the ledger to check a faculty. */
export type FacultyLedger = Pick<Db, 'facultyProblems' | 'facultyKeys'>;

/** How the files that a faculty file refers to are accessed. */
export type FacultyFiles = {
  /** Called with the path of system_prompt_file, joined to the directory of the faculty file. */
  readPrompt: (path: string) => string;
  /** Why a program (a path or a name) cannot be run; null if it can. */
  programProblem: (program: string) => string | null;
};

const start: Position = { line: 1, column: 1 };
const atPosition = ({ file, line, column, says }: Problem): string => `${file}:${line}:${column}: ${says}`;

/** All problems of faculty files, in file order; `file`, `line` and `column` are those of the first. */
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

/**
 * Reads faculty files and every *.toml in directories, sorted by name; workspace_dir and the paths of commands become absolute.
 * `projectAt`: returns the project for faculties in a directory that name none; null: none. Throws FacultyError.
 */
export async function loadFaculties(
  ledger: FacultyLedger,
  paths: readonly string[],
  projectAt: (directory: string) => Promise<string | null> = async () => null,
): Promise<LoadedFaculty[]> {
  const problems: Problem[] = [];
  const loaded: LoadedFaculty[] = [];
  const fileOf = new Map<string, string>();
  const noting = async (use: () => Promise<void>): Promise<void> => {
    try {
      await use();
    } catch (error) {
      if (!(error instanceof FacultyError)) throw error;
      problems.push(...error.problems);
    }
  };
  const load = async (file: string): Promise<void> => {
    const text = read(file, () => readFileSync(file, 'utf8'));
    const { namePosition, ...one } = await parseFaculty(ledger, text, file, {
      readPrompt: (prompt) => readFileSync(prompt, 'utf8'),
      programProblem,
    });
    const { name } = one.config;
    const project = one.config.project ?? (await projectAt(resolve(dirname(file))));
    if (project !== null) one.config.project = project;
    const key = JSON.stringify([name, project || null]);
    if (fileOf.has(key)) throw new FacultyError({ file, ...namePosition, says: `${fileOf.get(key)} has the name "${name}" too` });
    fileOf.set(key, file);
    loaded.push(one);
  };
  for (const path of new Set(paths)) {
    await noting(async () => {
      for (const file of tomlFiles(path)) await noting(() => load(file));
    });
  }
  throwAny(problems);
  return loaded;
}

function tomlFiles(path: string): string[] {
  if (!read(path, () => statSync(path).isDirectory())) return [path];
  const names = read(path, () => readdirSync(path))
    .filter((name) => name.endsWith('.toml'))
    .toSorted();
  if (names.length === 0) throw new FacultyError({ file: path, ...start, says: 'the directory has no *.toml file' });
  return names.map((name) => join(path, name));
}

function read<T>(file: string, how: () => T): T {
  try {
    return how();
  } catch (error) {
    throw new FacultyError({
      file,
      ...start,
      says: (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : `cannot be read: ${reason(error)}`,
    });
  }
}

function throwAny([first, ...others]: readonly Problem[]): void {
  if (first) throw new FacultyError(first, ...others);
}

/** Checks one faculty file. Throws FacultyError. */
export async function parseFaculty(
  ledger: FacultyLedger,
  text: string,
  file: string,
  files: FacultyFiles,
): Promise<LoadedFaculty & { namePosition: Position }> {
  const toml = parse(text, file);
  const directory = dirname(file);
  const at = ([path, says]: Finding): Problem => ({ file, ...toml.positionOf(path), says });

  const keys = await ledger.facultyKeys();
  const prompt = findPrompt(toml.value, directory, files.readPrompt);
  const commands = findCommands(toml.value, keys, directory, files.programProblem);
  throwAny([...(await findMistakes(ledger, toml)), ...prompt.errors, ...commands.errors].map(at).toSorted(byPosition));

  for (const [path, command] of commands.resolved) (valueAt(toml.value, path.slice(0, -1)) as Section)[String(path.at(-1))] = command;
  const config = toml.value['faculty'] as Faculty;
  const { engage } = config;
  if (engage && prompt.text !== undefined) engage.system_prompt = prompt.text;
  if (engage?.workspace_dir) engage.workspace_dir = resolve(directory, engage.workspace_dir);
  return {
    config,
    warnings: findWithoutEffect(toml.value, keys).map(at).toSorted(byPosition).map(atPosition),
    namePosition: toml.positionOf(['faculty', 'name']),
  };
}

function parse(text: string, file: string): Toml {
  try {
    return parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new FacultyError({ file, ...error.position, says: error.message });
  }
}

async function findMistakes(ledger: FacultyLedger, { value, beyondJson }: Toml): Promise<Finding[]> {
  const mistakes = Object.keys(value)
    .filter((key) => key !== 'faculty')
    .map((key): Finding => [[key], `unknown key ${JSON.stringify(key)}: all of a faculty stands in [faculty], as [faculty.engage] does`]);
  if (!Object.hasOwn(value, 'faculty')) return [...mistakes, [[], 'there is no [faculty]']];
  const beyond = beyondJson.filter(({ path }) => path[0] === 'faculty');
  const isBeyond = new Set(beyond.map(({ path }) => path.join('\0')));
  const problems = (await ledger.facultyProblems(value['faculty'])).map(({ path, says }): Finding => [['faculty', ...path], says]);
  return [
    ...mistakes,
    ...beyond.map(({ path, what }): Finding => [path, `${path.slice(1).join('.') || 'faculty'} cannot be ${what}`]),
    ...problems.filter(([path]) => !isBeyond.has(path.join('\0'))),
  ];
}

type Key = Awaited<ReturnType<FacultyLedger['facultyKeys']>>[number];
const pathOf = (key: Key): Path => ['faculty', ...key.path.split('.')];

function findWithoutEffect(document: unknown, keys: readonly Key[]): Finding[] {
  return keys
    .filter((key) => withoutEffect.includes(key.path))
    .flatMap((key): Finding[] => {
      const value = valueAt(document, pathOf(key));
      return value === undefined ? [] : [[pathOf(key), `${key.path} = ${JSON.stringify(value)}: ${key.says}`]];
    });
}

function findPrompt(document: unknown, directory: string, readPrompt: (path: string) => string): { text?: string; errors: Finding[] } {
  const path = ['faculty', 'engage', 'system_prompt_file'];
  const given = valueAt(document, path);
  if (typeof given !== 'string' || given === '') return { errors: [] };
  const errors: Finding[] = [];
  if (valueAt(document, ['faculty', 'engage', 'system_prompt']) !== undefined)
    errors.push([path, 'system_prompt and system_prompt_file are both given: keep one']);
  try {
    const prompt = readPrompt(isAbsolute(given) ? given : join(directory, given));
    if (prompt.includes('\0')) errors.push([path, `"${given}" is not a text file`]);
    return { text: prompt, errors };
  } catch (error) {
    return { errors: [...errors, [path, `cannot read "${given}": ${reason(error)}`]] };
  }
}

/** The commands of a file as a worker runs them, and which of them cannot be run. */
function findCommands(
  document: unknown,
  keys: readonly Key[],
  directory: string,
  problemOf: FacultyFiles['programProblem'],
): { resolved: [Path, string][]; errors: Finding[] } {
  const resolved: [Path, string][] = [];
  const errors: Finding[] = [];
  for (const key of keys.filter(({ type }) => type === 'command')) {
    const path = pathOf(key);
    const given = valueAt(document, path);
    if (typeof given !== 'string') continue;
    const isInContainer =
      path.at(-1) === 'check_command' && !['host', 'none'].includes(String(valueAt(document, ['faculty', 'engage', 'workspace'])));
    if (isInContainer) continue; // the files that it uses are not on this host
    const { command, program } = resolveCommand(given, directory);
    resolved.push([path, command]);
    const problem = program === null ? null : problemOf(program);
    if (problem !== null) errors.push([path, `${key.path} = ${JSON.stringify(given)}: ${problem}`]);
  }
  return { resolved, errors };
}

const byPosition = (a: Problem, b: Problem): number => a.line - b.line || a.column - b.column;
const reason = (error: unknown): string =>
  error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => {
    const isThere = typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key);
    return isThere ? (inner as Record<PropertyKey, unknown>)[key] : undefined;
  }, value);
}
