// Faculty files: what is accepted, what every mistake is answered with and where.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { openDb } from '../../../runtime/ledger/db.ts';
import type { Db } from '../../../runtime/ledger/db.ts';
import { programProblem, resolveCommand } from '../../../runtime/faculty/hookCommands.ts';
import { FacultyError, loadFaculties, parseFaculty } from '../../../runtime/faculty/loadFaculties.ts';
import type { FacultyFiles } from '../../../runtime/faculty/loadFaculties.ts';
import { parseToml } from '../../../runtime/faculty/toml.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** The complete example of the engage document, as it stands there. */
const complete = `[faculty]
name = "social"
accepts = ["engage", "respond", "check-in"]
max_concurrent = 3

[faculty.orient]
command = "scripts/social-orient"

[faculty.engage]
model = "claude-sonnet-4-5-20250514"
system_prompt_file = "prompts/social.md"
tools = ["memory-search", "calendar", "send-message"]
max_turns = 50

# Parallel execution
parallel_tool_execution = true
max_parallel_tools = 8

# Context management (bounded sub-contexts)
compact_threshold = 0.7
compact_keep_recent = 10
ledger_nudge_interval = 5
truncate_closed_blocks = true     # replace closed context blocks with ledger stubs

# Code execution sandbox
code_execution = true             # enable execute_code tool (default: false)
code_execution_timeout = 300      # max seconds per code block
code_execution_image = "animus-sandbox:latest"
code_execution_memory = "512m"
code_execution_cpus = 2.0

# External engage (escape hatch — overrides built-in loop)
# mode = "external"
# command = "scripts/custom-engage"

[faculty.awareness]
enabled = true
lookback_hours = 24
max_running = 10
max_recent_completed = 20
max_recent_findings = 20
include_child_work = false

[faculty.consolidate]
command = "scripts/social-consolidate"

[faculty.recover]
command = "scripts/recover-default"
max_attempts = 3
backoff = "exponential"
`;

const noFiles: FacultyFiles = {
  readPrompt: (path) => {
    throw new Error(`no prompt at ${path}`);
  },
  programProblem: () => null,
};

async function errorOf(toml: string, files: Partial<FacultyFiles> = {}): Promise<FacultyError> {
  const error: unknown = await parseFaculty(db, toml, 'social.toml', { ...noFiles, ...files }).catch((thrown: unknown) => thrown);
  if (error instanceof FacultyError) return error;
  throw error;
}

const engage = (lines: string): string => `[faculty]\nname = "a"\n[faculty.engage]\n${lines}\n`;

describe('a faculty file', () => {
  it('with every section of the engage document is read as it is written, the prompt file besides', async () => {
    const { config } = await parseFaculty(db, complete, join('/etc/faculties', 'social.toml'), {
      ...noFiles,
      readPrompt: (path) => `text of ${path}`,
    });
    expect(config).toEqual({
      name: 'social',
      accepts: ['engage', 'respond', 'check-in'],
      max_concurrent: 3,
      orient: { command: '/etc/faculties/scripts/social-orient' },
      engage: {
        model: 'claude-sonnet-4-5-20250514',
        system_prompt_file: 'prompts/social.md',
        system_prompt: `text of ${join('/etc/faculties', 'prompts', 'social.md')}`,
        tools: ['memory-search', 'calendar', 'send-message'],
        max_turns: 50,
        parallel_tool_execution: true,
        max_parallel_tools: 8,
        compact_threshold: 0.7,
        compact_keep_recent: 10,
        ledger_nudge_interval: 5,
        truncate_closed_blocks: true,
        code_execution: true,
        code_execution_timeout: 300,
        code_execution_image: 'animus-sandbox:latest',
        code_execution_memory: '512m',
        code_execution_cpus: 2,
      },
      awareness: {
        enabled: true,
        lookback_hours: 24,
        max_running: 10,
        max_recent_completed: 20,
        max_recent_findings: 20,
        include_child_work: false,
      },
      consolidate: { command: '/etc/faculties/scripts/social-consolidate' },
      recover: { command: '/etc/faculties/scripts/recover-default', max_attempts: 3, backoff: 'exponential' },
    });
    expect(await db.facultySave(config)).toBe('social');
  });

  it('of the document is all that this version does', async () => {
    expect((await parseFaculty(db, complete, 'social.toml', { ...noFiles, readPrompt: () => '' })).warnings).toEqual([]);
  });

  it('may have the keys that are ours, inline tables and dotted keys', async () => {
    const toml = `faculty.name = "a"
faculty.recover = { mode = "fresh", backoff = "constant" }
faculty.engage.system_prompt = """
You are
[not a table]
"""
faculty.engage.max_output_tokens = 1000
  faculty . engage.elide_budget = 0
faculty.engage.stall_limit = 0
faculty.awareness = { include_queued = true, max_recent_errors = 5, max_tokens = 0 }
faculty.engage.truncate_processed_results = false
faculty.engage.workspace = "container"
faculty.engage.workspace_dir = "."
faculty.engage.web_fetch_allow = ["localhost:80"]
faculty.engage.code_execution = false
faculty.engage.code_execution_cpus = 0.5
`;
    const { config, warnings } = await parseFaculty(db, toml, '/etc/a.toml', noFiles);
    expect(config).toEqual({
      name: 'a',
      awareness: { include_queued: true, max_recent_errors: 5, max_tokens: 0 },
      recover: { mode: 'fresh', backoff: 'constant' },
      engage: {
        system_prompt: 'You are\n[not a table]\n',
        max_output_tokens: 1000,
        elide_budget: 0,
        stall_limit: 0,
        truncate_processed_results: false,
        workspace: 'container',
        workspace_dir: '/etc',
        web_fetch_allow: ['localhost:80'],
        code_execution: false,
        code_execution_cpus: 0.5,
      },
    });
    expect(warnings).toEqual([
      '/etc/a.toml:11:16: engage.truncate_processed_results = false: Accepted, but has no effect: truncate_closed_blocks covers whole blocks, including their results',
    ]);
  });
});

describe('a mistake in a faculty file', () => {
  it.each([
    ['malformed TOML', '[faculty]\nname = "a"\naccepts = ["a"\n"b"]', 'social.toml:4:1: this is not TOML: Expected comma (,) token'],
    [
      'a key given twice',
      '[faculty]\nname = "a"\nname = "b"',
      'social.toml:3:1: this is not TOML: Defining a key multiple times is invalid',
    ],
    [
      'an unknown key',
      engage('# compact_treshold\ncompact_treshold = 0.5'),
      'social.toml:5:1: unknown key engage.compact_treshold; did you mean engage.compact_threshold?',
    ],
    ['an unknown key like none', engage('unheard_of = 1'), 'social.toml:4:1: unknown key engage.unheard_of'],
    [
      'a key of another section',
      '[faculty]\nname = "a"\nmax_turns = 3',
      'social.toml:3:1: unknown key max_turns; did you mean engage.max_turns?',
    ],
    ['an unknown section', '[faculty]\nname = "a"\n\n  [faculty.enage]\nx = 1', 'social.toml:4:3: unknown key enage; did you mean engage?'],
    [
      'an unknown top level',
      '[faculty]\nname = "a"\n[engage]',
      'social.toml:3:1: unknown key "engage": all of a faculty stands in [faculty], as [faculty.engage] does',
    ],
    ['a key that JavaScript knows', '[faculty]\nname = "a"\n__proto__ = 1', 'social.toml:3:1: unknown key __proto__'],
    [
      'a section that JavaScript knows',
      '[faculty]\nname = "a"\n[faculty.constructor.prototype]\nx = 1',
      'social.toml:3:1: unknown key constructor',
    ],
    ['a key with a point in it', '[faculty]\nname = "a"\n"engage.max_turns" = 3', 'social.toml:3:1: unknown key "engage.max_turns"'],
    ['no faculty', '# nothing', 'social.toml:1:1: there is no [faculty]'],
    ['a number for all of it', 'faculty = 3', 'social.toml:1:1: a faculty must be a table of keys, not 3'],
    ['two of them', '[[faculty]]\nname = "a"\n[[faculty]]\nname = "b"', 'social.toml:1:1: a faculty must be a table of keys, not a list'],
    ['no name', '\n[faculty.engage]\nmax_turns = 3\n\n[faculty]', 'social.toml:5:1: a faculty needs a name'],
    ['no name and no table of its own', '\n[faculty.engage]', 'social.toml:2:1: a faculty needs a name'],
    [
      'a name that is too long',
      `[faculty]\nname = "${'n'.repeat(64)}"`,
      `social.toml:2:1: name must be a string of at most 63 characters, not "${'n'.repeat(60)}…"`,
    ],
    ['an empty name', '[faculty]\nname = ""', 'social.toml:2:1: name must be a string that is not blank, not ""'],
    ['a blank name', '[faculty]\nname = " "', 'social.toml:2:1: name must be a string that is not blank, not " "'],
    ['a NUL', engage('model = "a\\u0000"'), 'social.toml:4:1: engage.model cannot be a string with a NUL character'],
    ['a string for a number', engage('max_turns = "50"'), 'social.toml:4:1: engage.max_turns must be a whole number from 1, not "50"'],
    [
      'a fraction for a whole number',
      engage('max_turns = 1.5'),
      'social.toml:4:1: engage.max_turns must be a whole number from 1, not 1.5',
    ],
    ['zero turns', engage('max_turns = 0'), 'social.toml:4:1: engage.max_turns must be a whole number from 1, not 0'],
    [
      'more than the database can count',
      engage('elide_budget = 3_000_000_000'),
      'social.toml:4:1: engage.elide_budget must be a whole number from 0 to 2147483647, not 3000000000',
    ],
    [
      'a threshold above 1',
      engage('compact_threshold = 70'),
      'social.toml:4:1: engage.compact_threshold must be a number from 0 to 1, not 70',
    ],
    [
      'an unknown strategy',
      engage('compact_strategy = "summary"'),
      'social.toml:4:1: engage.compact_strategy must be ledger, sliding_window or selective, not "summary"',
    ],
    ['not a number', engage('code_execution_cpus = nan'), 'social.toml:4:1: engage.code_execution_cpus cannot be nan'],
    ['endless processors', engage('workspace_cpus = -inf'), 'social.toml:4:1: engage.workspace_cpus cannot be -inf'],
    [
      'a memory of no size',
      engage('code_execution_memory = "much"'),
      'social.toml:4:1: engage.code_execution_memory must be a size like "512m", not "much"',
    ],
    [
      'a workspace of no size',
      engage('workspace_size = "huge"'),
      'social.toml:4:1: engage.workspace_size must be a size like "512m", not "huge"',
    ],
    [
      'a word for a flag',
      engage('parallel_tool_execution = "yes"'),
      'social.toml:4:1: engage.parallel_tool_execution must be true or false, not "yes"',
    ],
    [
      'an unknown workspace',
      engage('workspace = "cloud"'),
      'social.toml:4:1: engage.workspace must be host, container or none, not "cloud"',
    ],
    [
      'a workspace misspelt',
      engage('workspace = "hots"'),
      'social.toml:4:1: engage.workspace must be host, container or none, not "hots"; did you mean "host"?',
    ],
    ['no window', engage('context_window = 0'), 'social.toml:4:1: engage.context_window must be a whole number from 1000, not 0'],
    [
      'half an hour',
      '[faculty]\nname = "a"\nawareness.lookback_hours = 1.5',
      'social.toml:3:11: awareness.lookback_hours must be a whole number from 0, not 1.5',
    ],
    ['a string for a list', engage('tools = "bash"'), 'social.toml:4:1: engage.tools must be a list of strings, not "bash"'],
    ['a number in a list', engage('tools = ["]", # ["]\n  3]'), 'social.toml:5:3: engage.tools[1] must be a string, not 3'],
    [
      'a table in a list',
      '[faculty]\nname = "a"\naccepts = [1, {"x" = 2}]',
      'social.toml:3:12: accepts[0] must be a string, not 1\nsocial.toml:3:15: accepts[1] must be a string, not a table',
    ],
    ['a date in a list', engage('tools = [1979-05-27]'), 'social.toml:4:10: engage.tools.0 cannot be a date'],
    ['a number for a section', '[faculty]\nname = "a"\norient = 3', 'social.toml:3:1: orient must be a table of keys, not 3'],
    [
      'a date for a section',
      '[faculty]\nname = "a"\norient = 1979-05-27 07:32:00\nmax = 1',
      'social.toml:3:1: orient cannot be a date\nsocial.toml:4:1: unknown key max',
    ],
    [
      'an unknown backoff',
      '[faculty]\nname = "a"\nrecover = { backoff = "exponental" }',
      'social.toml:3:13: recover.backoff must be exponential or constant, not "exponental"; did you mean "exponential"?',
    ],
    [
      'an unknown mode',
      '[faculty]\nname = "a"\nrecover.mode = "frehs"',
      'social.toml:3:9: recover.mode must be resume or fresh, not "frehs"; did you mean "fresh"?',
    ],
    [
      'external mode',
      engage('mode = "external"'),
      'social.toml:4:1: engage.mode = "external" needs engage.command, the program that does the work',
    ],
    [
      'a hook that is not there',
      '[faculty]\nname = "a"\n[faculty.hooks]\nbefore_tool = "scripts/guard --strict"',
      `social.toml:4:1: hooks.before_tool = "scripts/guard --strict": there is no program ${resolve('scripts/guard')}`,
    ],
    [
      'a policy that there is not',
      '[faculty]\nname = "a"\n[faculty.hooks]\non_failure = "continue"',
      'social.toml:4:1: hooks.on_failure must be refuse or allow, not "continue"',
    ],
    ['a prompt file that is not there', engage('system_prompt_file = "p.md"'), 'social.toml:4:1: cannot read "p.md": no prompt at p.md'],
    ['nothing but brackets', `a = ${'['.repeat(20_000)}${']'.repeat(20_000)}`, 'social.toml:1:1: this is nested too deeply'],
  ])('%s', async (_, toml, message) => {
    expect((await errorOf(toml, { programProblem })).message).toEqual(message);
  });

  it('is none where both say so: parts of processors, with a mark of their encoding', async () => {
    const { config } = await parseFaculty(db, `\uFEFF${engage('workspace_cpus = 1.5\nmax_turns = 50.0')}`, 'a.toml', noFiles);
    await db.facultySave(config);
    expect(
      await database.query(
        `select config #> '{engage,workspace_cpus}' as cpus, (config #>> '{engage,max_turns}')::integer as turns from faculties where name = 'a'`,
      ),
    ).toEqual([{ cpus: 1.5, turns: 50 }]);
  });

  it('is the one that the database tells who saves the same from SQL', async () => {
    const toml = engage('workspace = "hots"\nworkspace_size = "huge"\ncompact_threshold = 70\ntools = [1]');
    const config = (parseToml(toml).value as { faculty: object }).faculty;
    const said = (await errorOf(toml)).problems.map(({ says }) => says).toSorted();
    expect(said).toHaveLength(4);
    const refusal = await db.facultySave(config).catch((error: unknown) => error);
    expect((refusal as { detail: string }).detail.split('\n').toSorted()).toEqual(said);
  });

  it('does not hide the others: all are reported in the order of the file', async () => {
    const error = await errorOf(
      '[faculty]\r\nname = 3\r\n\r\n[faculty.engage]\r\nmode = "external"\r\nmax_turn = 3\r\nsystem_prompt = "x"\r\nsystem_prompt_file = "p"\r\n',
      { readPrompt: () => 'a\0' },
    );
    expect(error.message.split('\n')).toEqual([
      'social.toml:2:1: name must be a string, not 3',
      'social.toml:5:1: engage.mode = "external" needs engage.command, the program that does the work',
      'social.toml:6:1: unknown key engage.max_turn; did you mean engage.max_turns?',
      'social.toml:8:1: system_prompt and system_prompt_file are both given: keep one',
      'social.toml:8:1: "p" is not a text file',
    ]);
    expect(error).toMatchObject({ name: 'FacultyError', file: 'social.toml', line: 2, column: 1 });
    expect(error.problems).toHaveLength(5);
  });
});

function directory(files: Record<string, string>): string {
  const path = mkdtempSync(join(tmpdir(), 'faculties-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  mkdirSync(join(path, 'prompts'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

describe('a directory of faculties', () => {
  it('is read in the order of names, prompts and workspaces relative to the files', async () => {
    const path = directory({
      'b.toml': '[faculty]\nname = "second"',
      'a.toml': '[faculty]\nname = "first"\nengage = { system_prompt_file = "prompts/a.md", workspace = "host", workspace_dir = "work" }',
      'prompts/a.md': 'You are first.',
      'notes.txt': 'no faculty',
    });
    const loaded = await loadFaculties(db, [path]);
    expect(loaded.map(({ config }) => config)).toEqual([
      {
        name: 'first',
        engage: {
          system_prompt_file: 'prompts/a.md',
          system_prompt: 'You are first.',
          workspace: 'host',
          workspace_dir: join(path, 'work'),
        },
      },
      { name: 'second' },
    ]);
    expect((await loadFaculties(db, [join(path, 'b.toml')])).map(({ config }) => config.name)).toEqual(['second']);
  });

  it('finds the commands of a file beside it, and a name in PATH', async () => {
    const path = directory({
      'a.toml':
        '[faculty]\nname = "first"\norient.command = "./look around"\nhooks.before_tool = "cat -"\nrecover.command = "X=1 anything"\nengage.check_command = "cd src && make"',
      look: '#!/bin/sh',
    });
    await expect(loadFaculties(db, [path])).rejects.toThrow(
      `a.toml:3:8: orient.command = "./look around": ${join(path, 'look')} is not executable`,
    );
    chmodSync(join(path, 'look'), 0o755);
    expect((await loadFaculties(db, [path]))[0]?.config).toMatchObject({
      orient: { command: `${join(path, 'look')} around` },
      hooks: { before_tool: 'cat -' },
      recover: { command: 'X=1 anything' },
      engage: { check_command: 'cd src && make' },
    });
    expect(programProblem('no-such-program')).toBe('there is no program no-such-program in PATH');
    expect(programProblem(path)).toBe(`${path} is a directory`);
    expect(resolveCommand('bin/a b', '/of me')).toEqual({ command: "'/of me/bin/a' b", program: '/of me/bin/a' });
  });

  it('must not have two of one name, must have one, must be there; what is wrong with each file is said at once', async () => {
    const twice = directory({ 'a.toml': '[faculty]\nname = "x"', 'b.toml': 'faculty.name = "x"' });
    await expect(loadFaculties(db, [twice])).rejects.toThrow(`${join(twice, 'b.toml')}:1:9: ${join(twice, 'a.toml')} has the name "x" too`);
    const broken = directory({ 'a.toml': 'name = 1', 'b.toml': '[faculty]\nname = "b"', 'c.toml': 'faculty.name = 3' });
    await expect(loadFaculties(db, [broken, join(twice, 'a.toml'), join(twice, 'no.toml')])).rejects.toThrow(
      new RegExp(
        `^${join(broken, 'a.toml')}:1:1: .*\n.*a.toml:1:1: there is no .*\n${join(broken, 'c.toml')}:1:9: name must be a string, not 3\n.*no.toml:1:1: there is no such file$`,
      ),
    );
    expect(await loadFaculties(db, [join(twice, 'a.toml'), join(twice, 'a.toml')])).toHaveLength(1);
    const empty = directory({});
    await expect(loadFaculties(db, [empty])).rejects.toThrow(`${empty}:1:1: the directory has no *.toml file`);
    await expect(loadFaculties(db, [join(empty, 'no.toml')])).rejects.toThrow(/no\.toml:1:1: there is no such file$/);
  });
});
