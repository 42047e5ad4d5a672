// README, CONTRIBUTING and docs/: what they show is run, as far as it can be; links lead somewhere; README stays short; maps name what is
// there.

import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { parseRecordedRun } from '../plv8/readers/recordedRun.ts';
import { settingsIn } from '../runtime/commands/configFile.ts';
import { withTools } from '../runtime/commands/loadTools.ts';
import { loadFaculties } from '../runtime/faculty/loadFaculties.ts';
import { stopEmbedded } from '../runtime/install/embedded.ts';
import { installLedger } from '../runtime/install/installLedger.ts';
import { scriptOf } from '../runtime/model/script.ts';
import { startScriptedModel } from '../runtime/model/scriptedModel.ts';
import { startCrew } from './console/crew.ts';
import type { Crew } from './console/crew.ts';
import { createDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { noDocker } from './docker.ts';
import { startOtlpReceiver } from './otlpReceiver.ts';
import { anchorsOf, blocksOf, commandsOf, pages, placeOf, root, statementsOf, wordsOf } from './pages.ts';
import type { Block } from './pages.ts';
import { parseCommands } from './parseCommands.ts';
import { putRecordings } from './recordings.ts';
import { replayRun } from './replay.ts';
import { expectOutput, literally, run, Shell, uuid } from './shell.ts';
import type { Ran } from './shell.ts';
import { until } from './workerProcess.ts';

const hasPsql = (await run(root, { PATH: process.env['PATH'] }, 'psql', '--version')).code === 0;
if (!hasPsql) console.log('What is typed with "work-ledger sql" is skipped: psql is not on PATH');

/** Such a block has an agent at work, for which a script plays the model. */
const asksModel = (block: Block): boolean => block.code.includes('export ANTHROPIC_API_KEY=');

/** What it prints is what the demo's scene with a team leaves in a ledger. */
const ofTeam = (block: Block): boolean => block.language === 'sh' && block.output !== null;

/** The demo's scene with a container. */
const usesDocker = (block: Block): boolean => block.code.includes('--scene code');

/** Creating roles locks every table: in a ledger without work under way. */
const makesRoles = (block: Block): boolean => block.code.includes('work_roles_create');

/** What psql would print are these lines and no others; … stands for anything within a line, or for any lines. */
function expectRows(results: readonly pg.QueryResult<Record<string, unknown>>[], lines: readonly string[]): void {
  const printed = results.flatMap(({ fields, rows }) => [
    fields.map(({ name }) => name).join(' | '),
    ...rows.map((row) => Object.values(row).join(' | ')),
  ]);
  /** Without what psql draws around it. */
  const plain = (text: readonly string[]): string[] =>
    text
      .flatMap((line) => line.split('\n'))
      .map((line) => line.replaceAll(uuid, 'ID').replaceAll(/\s+/g, ' ').replace(/ ?\+$/, '').trim())
      .filter((line) => !/^(-+(\+-+)*|\(\d+ rows?\))?$/.test(line));
  expect(plain(printed).join('\n')).toMatch(
    new RegExp(
      `^${plain(lines)
        .map((line) => (line === '…' ? '(?:.*\\n?)*?' : `${line.split('…').map(literally).join('.*')}(?:\\n|$)`))
        .join('')}$`,
    ),
  );
}

/** Parts of what the demo tells the agent of a second work item. */
const textsOfDemo = blocksOf('text').filter(({ code }) => code.includes('(Demo Engineer/demo, from files, just now)'));

let directory: string;
beforeAll(async () => {
  // Beside node_modules, so that what the blocks import is found.
  await mkdir(join(root, 'build'), { recursive: true });
  directory = await mkdtemp(join(root, 'build', 'docs-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('README has at most 900 words', () => {
  expect(readFileSync(`${root}README.md`, 'utf8').match(/\S+/g)?.length).toBeLessThanOrEqual(900);
});

/** README and what it names for a start. */
const startShelf = /^- \*\*Start\*\*: [^]*?(?=\n- )/m.exec(readFileSync(`${root}README.md`, 'utf8'))?.[0] ?? '';
const forAStart = ['README.md', ...[...startShelf.matchAll(/\((docs\/[^)#]+\.md)\)/g)].map(([, path = '']) => path)];

test.each(forAStart.filter((path) => path !== 'docs/typescript-reference.md'))(
  'a sentence of %s has at most 18 words on average',
  (path) => {
    const prose = readFileSync(`${root}${path}`, 'utf8')
      .replaceAll(/^```.*\n[^]*?^```$|<!--[^]*?-->|^[#|!].*$/gm, '')
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/`[^`]*`/g, 'X');
    const lengths = prose
      .split(/\n\s*\n|\n(?=- )/)
      .flatMap((paragraph) => paragraph.split(/(?<=[.!?:;])\s+(?=[A-Z*])/))
      .map((sentence) => sentence.match(/[\p{L}\p{N}'’-]+/gu)?.length ?? 0)
      .filter((words) => words > 2);
    expect(lengths.reduce((sum, words) => sum + words, 0)).toBeLessThanOrEqual(18 * lengths.length);
  },
);

/** All that is written for people, but for what is recorded. */
const written = globSync(['*.md', 'docs/**/*.md', '{sql,runtime,test,sandbox,plugin,plv8,examples}/**/README.md'], {
  cwd: root,
  exclude: ['**/node_modules/**'],
});

test('every relative link leads to a file, and to a heading in it', () => {
  const broken = written.flatMap((file) => {
    const text = readFileSync(`${root}${file}`, 'utf8');
    return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^\w+:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? `${root}${file}` : join(root, dirname(file), path);
        return !existsSync(target) || (anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor));
      })
      .map((link) => `${file}: ${link}`);
  });
  expect(broken).toEqual([]);
});

test('a source file that a page names is there', () => {
  const there = globSync('{sql,runtime,test,sandbox,plugin,plv8}/**/*.{sql,ts}', { cwd: root, exclude: ['**/node_modules/**'] });
  const named = /`(?:\.\.\/)*((?:[\w.-]+\/)+[\w.-]+\.(?:sql|ts))`/g;
  const missing = written.flatMap((file) =>
    [...readFileSync(`${root}${file}`, 'utf8').matchAll(named)]
      .map(([, path = '']) => path)
      .filter((path) => !there.some((one) => one === path || one.endsWith(`/${path}`)))
      .map((path) => `${file}: ${path}`),
  );
  expect(missing.filter((one) => !one.endsWith('/OLD--NEW.sql'))).toEqual([]);
});

test('docs/operating.md says once what each kind of role may', () => {
  const text = readFileSync(`${root}docs/operating.md`, 'utf8');
  const kinds = [...text.matchAll(/^ (\w+) +\| shop_\1$/gm)].map(([, kind]) => kind).filter((kind) => kind !== 'owner');
  const [, table = ''] = /^\| Kind \| May \|\n\| --- \| --- \|\n((?:\|.*\n)+)/m.exec(text) ?? [];
  expect([...table.matchAll(/^\| (\w+) \|/gm)].map(([, kind]) => kind)).toEqual(kinds);
});

test('README leads to every page of docs/', () => {
  const readme = readFileSync(`${root}README.md`, 'utf8');
  expect(globSync('docs/*.md', { cwd: root }).filter((page) => !readme.includes(`](${page})`))).toEqual([]);
});

test('every decision is in the list, under its own title', () => {
  const records = globSync('docs/decisions/[0-9]*.md', { cwd: root }).toSorted();
  const titles = records.map((path) =>
    readFileSync(`${root}${path}`, 'utf8')
      .split('\n')[0]
      ?.replace(/^# (\d+) (.+)$/, `| [$1](${basename(path)}) | $2 |`),
  );
  const list = readFileSync(`${root}docs/decisions/README.md`, 'utf8')
    .split('\n')
    .filter((line) => /^\| \[\d/.test(line));
  expect(list).toEqual(titles);
});

/** The first cells of a table in a page, those in backquotes. */
const firstCells = (page: string): string[] =>
  readFileSync(`${root}${page}`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));

test('the maps of runtime/ and of the console name every folder and file', () => {
  const folders = readdirSync(`${root}runtime`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${name}/`);
  expect(firstCells('runtime/README.md').toSorted()).toEqual(folders.toSorted());
  const files = readdirSync(`${root}runtime/console`, { withFileTypes: true })
    .filter(({ name }) => name !== 'README.md')
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  expect(firstCells('runtime/console/README.md').toSorted()).toEqual(files.toSorted());
});

test('what CODEOWNERS names is there, and issue forms have what a form needs', () => {
  const owned = readFileSync(`${root}.github/CODEOWNERS`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('/'))
    .map((line) => line.split(/\s+/)[0] ?? '');
  expect(owned.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const forms = globSync('.github/ISSUE_TEMPLATE/!(config).yml', { cwd: root }).map(
    (path) => parse(readFileSync(`${root}${path}`, 'utf8')) as Record<string, unknown>,
  );
  expect(forms.length).toBeGreaterThan(0);
  for (const form of forms)
    expect(form).toMatchObject({
      name: expect.any(String),
      description: expect.any(String),
      body: expect.arrayContaining([
        expect.objectContaining({ type: expect.stringMatching(/^(textarea|input|dropdown)$/), id: expect.any(String) }),
      ]),
    });
});

test('every block says what it is, and those that are not run say why', () => {
  const known = ['sh', 'console', 'sql', 'toml', 'ts', 'json', 'python', 'text', 'mermaid'];
  const blocks = pages.flatMap((page) => page.blocks);
  expect(blocks.filter((block) => !known.includes(block.language)).map(placeOf)).toEqual([]);
  const texts = blocks.filter((block) => ['text', 'mermaid'].includes(block.language));
  const notRun = blocks.filter((block) => block.notRun !== null);
  console.log(
    `${blocks.length - notRun.length - texts.length} of ${blocks.length - texts.length} code blocks are run or checked; ${texts.length} are text${notRun.map((block) => `\n  not run: ${placeOf(block)} (${block.language}): ${block.notRun}`).join('')}`,
  );
});

test('a command line with a word, a value or an option that is not there is none', async () => {
  const lines = [
    ['lst'],
    ['list', '--state'],
    ['list', '--limits', '3'],
    ['list', '--limit', 'three'],
    ['show', 'ID', 'OTHER'],
    ['submit'],
    ['cost', '--by', 'hour'],
    ['verify', '--heads', '--against', 'heads.jsonl'],
    ['install', '--print', '--javascript'],
    ['ledger', 'append', 'ID', 'finding'],
    ['mcp', '--port', '70000'],
  ];
  const { problems } = await parseCommands(lines);
  expect(problems.filter((problem) => problem !== '')).toHaveLength(lines.length);
});

test('the help of every command that people type ends with examples, each of them a command line', async () => {
  const { hook, ...examples } = (await parseCommands([])).examples;
  expect(hook, 'is called by clients').toEqual([]);
  expect(
    Object.entries(examples).filter(([name, lines]) => lines.length === 0 || lines.some((line) => !line.split(' ').includes(name))),
  ).toEqual([]);
  const lines = Object.values(examples).flat();
  const { problems } = await parseCommands(lines.map((line) => wordsOf(line.replace(/ [|<>] .*/, ''))));
  expect(problems.flatMap((problem, i) => (problem === '' ? [] : [`${lines[i]}: ${problem}`]))).toEqual([]);
});

test("every command line is one of work-ledger's or a target of make, with options that are there", async () => {
  const typed = [...blocksOf('sh'), ...blocksOf('console')].flatMap((block) =>
    commandsOf(block).map(({ words }) => ({ place: placeOf(block), notRun: block.notRun, words: wordsOf(words) })),
  );
  const said = pages.flatMap(({ path, codes }) =>
    codes
      .filter((code) => /^(\w+=\S+ )*((\.\/)?work-ledger|make) [a-z-]/.test(code))
      .map((code) => ({ place: path, notRun: null, words: wordsOf(code) })),
  );
  const lines = [...typed, ...said].map(({ words: [program = '', ...args], ...line }) => ({
    ...line,
    program: program.replace('./', ''),
    args,
  }));

  const targets = [...readFileSync(`${root}Makefile`, 'utf8').matchAll(/^([a-z-]+):/gm)].map(([, target = '']) => target);
  const made = lines.filter(({ program }) => program === 'make');
  expect(made.filter(({ args }) => !args.filter((word) => !word.includes('=')).every((word) => targets.includes(word)))).toEqual([]);

  const ours = lines.filter(({ program }) => program === 'work-ledger');
  const { names, options, problems } = await parseCommands(ours.map(({ args }) => args));
  expect(
    problems.flatMap((problem, i) => (problem === '' ? [] : [`${ours[i]?.place}: work-ledger ${ours[i]?.args.join(' ')}: ${problem}`])),
  ).toEqual([]);
  expect(ours.length).toBeGreaterThan(40);

  const namedAlone = pages.flatMap(({ path, codes }) =>
    codes.flatMap((code) => [...code.matchAll(/^--[a-z-]+/g)].map(([option]) => ({ path, option }))),
  );
  expect(namedAlone.filter(({ option }) => !options.includes(option))).toEqual([]);
  expect(namedAlone.length).toBeGreaterThan(20);

  const others = lines.filter(({ program, notRun }) => !['make', 'work-ledger', 'export', 'echo'].includes(program) && notRun === null);
  expect(others, 'a line of another program needs a comment before its block that says why it is not run').toEqual([]);

  // The table of commands in docs/commands.md has each of them, and no other.
  const table =
    pages
      .find(({ path }) => path === 'docs/commands.md')
      ?.text.split('| Command | |')[1]
      ?.split('\n\n')[0] ?? '';
  const cells = table
    .split('\n')
    .slice(2)
    .flatMap((row) => [...(row.split(/(?<!\\)\|/)[1] ?? '').matchAll(/`([a-z-]+)/g)].map(([, name = '']) => name));
  expect([...new Set(cells)].toSorted(), 'the table in docs/commands.md has a row for each command, and for no other').toEqual(
    names.toSorted(),
  );
});

describe.each(['extension', 'script'] as const)('on a ledger with work in it, installed as %s', (form) => {
  let database: TestDatabase;
  let crew: Crew;
  let client: pg.Client;
  /** What a name in capitals stands for: one of these, with which the statement is possible. */
  let names: Record<string, string[]>;

  beforeAll(async () => {
    database = await createDatabase({ from: null });
    if (form === 'extension') await database.query('create schema work_ledger; create extension work_ledger schema work_ledger');
    expect(await installLedger(database.url, 'work_ledger')).toMatchObject({ form });
    const recorded = parseRecordedRun(readFileSync(`${root}test/fixtures/claudeCode.jsonl`, 'utf8'));
    const { workItemId: replayed } = await replayRun(recorded, database.url, 'work_ledger', 1);
    crew = await startCrew(database.url, 'work_ledger');
    // values as psql prints them
    client = new pg.Client({ connectionString: database.url, types: { getTypeParser: () => (text: string) => text } });
    await client.connect();
    await client.query(`set search_path = work_ledger, public; set lock_timeout = '30s'`);
    const all = async (sql: string): Promise<string[]> => (await client.query<{ id: string }>(sql)).rows.map(({ id }) => id);
    const [mine = ''] = await all(`select id from work_submit('by hand', 'Find why the import is slow')`);
    const [parent = ''] = await all(`select id from work_submit('by hand', 'The queries of the year')`);
    const items = [mine, ...Object.values(crew.ids), replayed];
    const labels = await all(
      `select label as id from sessions s order by exists (select from work_items w where w.id = '${crew.ids.root}'), label`,
    );
    names = {
      ITEM: items,
      PARENT: [parent],
      CHILD: await all(`select id from spawn_child_work('${parent}', 'by hand', 'Only the queries of March')`),
      TURN: await all(`select id from turns where work_item_id in ('${replayed}', '${crew.ids.done}') order by depth desc, id`),
      CALL: (await crew.db.approvals()).map((call) => call.tool_call_id),
      HASH: (await crew.db.approvals()).map((call) => call.input_hash),
      HANDLE: await all(`select left(_artifact_store(null, 'some output'), 16) as id`),
      LABEL: labels,
      OTHER: labels.toReversed(),
      SESSION: labels,
    };
  });
  afterAll(async () => {
    await client?.end();
    await crew?.close();
    await database?.drop();
  });

  /** Runs it with the first ids with which it says something, or at least can be run; throws the error of the last ones. */
  async function execute(statement: string): Promise<pg.QueryResult> {
    const meant = Object.keys(names).filter((name) => new RegExp(`['"]${name}['"]`).test(statement));
    let tries: Record<string, string>[] = [{}];
    for (const name of meant) tries = tries.flatMap((before) => (names[name] ?? []).map((id) => ({ ...before, [name]: id })));
    let problem: unknown = new Error(`nothing stands for ${meant.join(', ')}`);
    const said = (ids: Record<string, string>): string =>
      meant.reduce((sql, name) => sql.replaceAll(new RegExp(`(['"])${name}(['"])`, 'g'), `$1${ids[name]}$2`), statement);
    let silent: string | null = null;
    for (const ids of tries.slice(0, 200)) {
      await client.query('savepoint before');
      try {
        const result = await client.query(said(ids));
        if (meant.length === 0 || (result.rowCount ?? 0) > 0) return result;
        silent ??= said(ids);
        await client.query('rollback to before');
      } catch (error) {
        problem = error;
        await client.query('rollback to before');
      }
    }
    if (silent !== null) return client.query(silent);
    throw new Error(`${(problem as Error).message}\n${statement}`);
  }

  const blocks = blocksOf('sql').filter((block) => block.notRun === null && !makesRoles(block));
  test.each(blocks.map((block) => [placeOf(block), block] as const))('SQL of %s', async (_, block) => {
    await client.query('begin; create role app');
    try {
      const results: pg.QueryResult[] = [];
      for (const statement of statementsOf(block.code)) results.push(await execute(statement));
      if (block.output !== null) expectRows(results, block.output);
    } finally {
      await client.query('rollback');
    }
  });

  test('SQL within sentences', async () => {
    for (const { path, codes } of pages) {
      for (const code of codes.filter((one) => one.startsWith('select '))) {
        await client.query('begin');
        await expect(execute(code), `${path}: ${code}`).resolves.toBeDefined();
        await client.query('rollback');
      }
    }
  });

  if (form === 'script')
    test('faculties are accepted, settings and tools are read', async () => {
      const at = await mkdtemp(join(directory, 'toml-'));
      await mkdir(join(at, 'scripts'));
      await writeFile(join(at, 'engineer.md'), 'You mend things.');
      for (const block of blocksOf('toml')) {
        for (const [, command = ''] of block.code.matchAll(/= "(scripts\/\w+)"/g)) {
          await writeFile(join(at, command), '#!/bin/sh\n');
          await chmod(join(at, command), 0o755);
        }
        const file = join(at, 'block.toml');
        await writeFile(
          file,
          block.code.includes('[faculty]') || !block.code.includes('[faculty.') ? block.code : `[faculty]\nname = "part"\n\n${block.code}`,
        );
        if (block.code.includes('[faculty'))
          await expect(loadFaculties(crew.db, [file]), placeOf(block)).resolves.toMatchObject([{ warnings: [] }]);
        else if (block.code.includes('[[tool]]'))
          await expect(
            withTools([file], async (tools) => tools.length),
            placeOf(block),
          ).resolves.toBeGreaterThan(0);
        else {
          await writeFile(join(at, 'work-ledger.toml'), block.code);
          expect(await settingsIn(join(at, 'work-ledger.toml')), placeOf(block)).not.toEqual({});
        }
      }
    });

  // Last, since it changes the ledger.
  const typed = [...blocksOf('console'), ...blocksOf('sh')].filter(
    (block) =>
      block.page !== 'README.md' &&
      block.notRun === null &&
      !ofTeam(block) &&
      !asksModel(block) &&
      (hasPsql || !block.code.includes('work-ledger sql')) &&
      !usesDocker(block),
  );
  if (form === 'script')
    describe('commands', () => {
      let shell: Shell;
      beforeAll(async () => {
        shell = await Shell.open({ DATABASE_URL: database.url });
        await putRecordings(shell.home);
      });
      afterAll(() => shell?.close());

      test.each(typed.map((block) => [placeOf(block), block] as const))('what is typed in %s', async (_, block) => {
        const empty = await createDatabase({ from: null });
        const collector = await startOtlpReceiver();
        try {
          const over = await client.query<{ id: string; turn: string }>(`
          select id, (select t.id from turns t where t.work_item_id = w.id order by t.depth limit 1) as turn from work_items w
           where state = 'completed' and parent_id is null and erased_at is null order by id <> '${crew.ids.done}', id limit 1`);
          const { id = '', turn = '' } = over.rows[0] ?? {};
          await shell.type(block, {
            ID: id,
            ITEM: id,
            TURN: turn,
            'http://localhost:4318': collector.url,
            'postgresql://user@host:5432/database': empty.url,
            'work-ledger console': 'work-ledger console --port 0',
            // The page speaks of the embedded database; this one is named, and nobody makes anything there unasked.
            'scene context': 'scene context --install',
          });
        } finally {
          await collector.close();
          await empty.drop();
        }
      });
    });
});

test('TypeScript compiles strictly', async () => {
  const at = await mkdtemp(join(directory, 'ts-'));
  const files = await Promise.all(
    blocksOf('ts').map(async ({ code }, i) => {
      await writeFile(join(at, `${i}.ts`), code);
      return `${i}.ts`;
    }),
  );
  await writeFile(join(at, 'package.json'), '{"type": "module"}');
  const paths = {
    'work-ledger': ['../../../runtime/index.ts'],
    'work-ledger/claude-agent-sdk': ['../../../runtime/agentSdk/index.ts'],
    'work-ledger/ai-sdk': ['../../../runtime/aiSdk/index.ts'],
    'work-ledger/testing': ['../../../runtime/testing/index.ts'],
    '@anthropic-ai/claude-agent-sdk': ['../../../test/agentSdk.d.ts'], // which is not installed here
    '@anthropic-ai/bedrock-sdk': ['../../../test/cloudSdks.d.ts'],
  };
  await writeFile(
    join(at, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../../tsconfig.json',
      files,
      include: [],
      compilerOptions: { rootDir: '../../..', noUnusedLocals: false, paths },
    }),
  );
  expect(await run(at, { PATH: process.env['PATH'] }, join(root, 'node_modules', '.bin', 'tsc'), '-p', '.')).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

test('the Python compiles', async () => {
  for (const block of blocksOf('python')) {
    const code = `def answer():\n${block.code.replaceAll(/^/gm, '    ')}`;
    expect(
      await run(directory, { PATH: process.env['PATH'] }, 'python3', '-c', 'import ast, sys; ast.parse(sys.argv[1])', code),
      placeOf(block),
    ).toMatchObject({ code: 0 });
  }
});

test('every text is what a block, the demo or the program of README prints', () => {
  const ownersOfText = pages.flatMap(({ blocks }) => blocks).filter((block) => block.output !== null);
  expect(ownersOfText.filter((block) => block.notRun !== null).map(placeOf)).toEqual([]);
  expect(ownersOfText.length + textsOfDemo.length).toBe(blocksOf('text').length);
});

test('every program of a page is one that a test below runs', () => {
  const programs = ['ts', 'python', 'json'].flatMap(blocksOf).filter(({ notRun }) => notRun === null);
  expect(programs.map(({ page, language }) => `${page}: ${language}`)).toEqual([
    'README.md: ts',
    'docs/claude-agent-sdk.md: ts',
    'docs/journal.md: ts',
    'docs/testing.md: ts',
    'docs/testing.md: ts',
    'docs/tools.md: ts',
    'docs/typescript.md: ts',
    'docs/typescript.md: ts',
    'docs/typescript.md: ts',
    'docs/code.md: python',
    'docs/commands.md: json',
  ]);
});

describe('after the demo with a team', () => {
  let database: TestDatabase;
  let shell: Shell;
  let schema: string;
  beforeAll(async () => {
    database = await createDatabase({ from: null });
    shell = await Shell.open({ DATABASE_URL: database.url });
    const { code, stdout, stderr } = await run(shell.home, shell.env, 'work-ledger', 'demo', '--install', '--keep', '--scene', 'team');
    expect(code, stdout + stderr).toBe(0);
    schema = / list --schema (\w+)$/m.exec(stdout)?.[1] ?? '';
    shell.env['WORK_LEDGER_SCHEMA'] = schema;
  });
  afterAll(async () => {
    await shell?.close();
    await database?.drop();
  });

  test.each([...blocksOf('sh')].filter(ofTeam).map((block) => [placeOf(block), block] as const))(
    'what is typed in %s',
    async (_, block) => {
      const [{ id } = { id: '' }] = await database.query<{ id: string }>(
        `select id from ${schema}.work_items where work_type = 'demo-review'`,
      );
      const collector = await startOtlpReceiver();
      try {
        await shell.type(block, { ID: id, ITEM: id, 'http://localhost:4318': collector.url });
      } finally {
        await collector.close();
      }
    },
  );

  test.each(
    blocksOf('sql')
      .filter(makesRoles)
      .map((block) => [placeOf(block), block] as const),
  )('SQL of %s', async (_, block) => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query(`begin; set local search_path = ${schema}, public; create role app`);
      const results: pg.QueryResult[] = [];
      for (const statement of statementsOf(block.code)) results.push(await client.query(statement));
      expectRows(
        results.filter(({ command }) => command === 'SELECT'),
        block.output ?? [],
      );
    } finally {
      await client.end(); // takes the roles back
    }
  });
});

describe('with a model', () => {
  let database: TestDatabase;
  let shell: Shell;
  let embedded: string;
  /** No address is set: the demo asks for leave elsewhere. */
  let onEmbedded: NodeJS.ProcessEnv;
  beforeAll(async () => {
    database = await createDatabase({ from: null });
    await installLedger(database.url, 'work_ledger');
    shell = await Shell.open({ DATABASE_URL: database.url });
    await writeFile(join(shell.home, 'package.json'), '{"scripts": {"test": "node --test"}, "type": "module"}');
    embedded = await mkdtemp(join(tmpdir(), 'docs-embedded-'));
    await chmod(embedded, 0o755);
    onEmbedded = { DATABASE_URL: '', WORK_LEDGER_DATA_DIR: embedded };
  });
  afterAll(async () => {
    await stopEmbedded(embedded);
    await rm(embedded, { recursive: true, force: true });
    await shell?.close();
    await database?.drop();
  });

  test('the demo prints what is shown', async () => {
    const [demo] = blocksOf('console');
    const [command] = demo ? commandsOf(demo) : [];
    expect(command?.words).toBe('make demo');
    // node_modules is there, whatever its time.
    const { code, stdout, stderr } = await run(root, { ...shell.env, ...onEmbedded }, 'make', '-o', 'node_modules', 'demo');
    expect(code, stderr).toBe(0);
    expectOutput(stdout, command?.output ?? []);
    for (const text of textsOfDemo) expectOutput(stdout, text.code.trimEnd().split('\n'));
  });

  // Later pages go on where README ends, with the faculty that it made.
  test.each(
    [...blocksOf('console'), ...blocksOf('sh')]
      .filter((block) => asksModel(block) || (usesDocker(block) && noDocker === null))
      .map((block) => [placeOf(block), block] as const),
  )('what is typed in %s', async (_, block) => {
    // The model begins when somebody looks at what was just submitted.
    const isWatched = async (): Promise<void> =>
      void (await until(
        async () =>
          (
            await database.query(`
      select 1 from work_ledger.fences where watch_ends_at > now() and work_item_id = (select id from work_ledger.work_items order by id desc limit 1)`)
          ).length > 0,
      ));
    const model = await startScriptedModel(
      scriptOf([
        {
          content: [
            { type: 'text', text: 'I look first.' },
            { type: 'tool_use', name: 'read_file', input: { path: 'package.json' } },
          ],
          stopReason: 'tool_use',
          afterEvent: (count) => (count === 1 ? isWatched() : undefined),
        },
        {
          content: [
            { type: 'tool_use', name: 'ledger_append', input: { entry_type: 'finding', content: 'A package with one script: test.' } },
            { type: 'tool_use', name: 'work_complete', input: { summary: 'Its tests are run by npm test.' } },
          ],
          stopReason: 'tool_use',
        },
      ]),
    );
    shell.env['ANTHROPIC_BASE_URL'] = model.url;
    try {
      await shell.type(block, {}, usesDocker(block) ? { DOCKER_HOST: process.env['DOCKER_HOST'], ...onEmbedded } : {});
    } finally {
      await model.close();
    }
  });

  /** What the package's name leads to where it is installed. */
  const asInstalled = (code: string): string =>
    code
      .replace(`'hono'`, JSON.stringify(import.meta.resolve('hono')))
      .replace(`'work-ledger'`, JSON.stringify(new URL('../runtime/index.ts', import.meta.url).href))
      .replace(`'work-ledger/testing'`, JSON.stringify(new URL('../runtime/testing/index.ts', import.meta.url).href))
      .replace(`'work-ledger/claude-agent-sdk'`, JSON.stringify(new URL('../runtime/agentSdk/index.ts', import.meta.url).href));

  /** Runs the page's last block of TypeScript, or the nth, as a program. */
  async function runProgram(page: string, env: NodeJS.ProcessEnv = {}, n = -1): Promise<Ran> {
    const code = blocksOf('ts')
      .filter((block) => block.page === page && block.notRun === null)
      .at(n)?.code;
    if (code === undefined) throw new Error(`${page} has no such block`);
    const file = join(directory, 'program.ts');
    await writeFile(file, asInstalled(code));
    return run(shell.home, { ...shell.env, ...env }, process.execPath, file);
  }

  test.each(['README.md', 'docs/typescript.md'])('the TypeScript of %s does the work', async (page) => {
    const model = await startScriptedModel(
      scriptOf([
        {
          content: [
            { type: 'tool_use', name: 'ledger_append', input: { entry_type: 'finding', content: 'It has one script' } },
            { type: 'tool_use', name: 'work_complete', input: { summary: 'A package' } },
          ],
          stopReason: 'tool_use',
        },
      ]),
    );
    try {
      expect(await runProgram(page, { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: model.url })).toMatchObject({
        code: 0,
        stdout: 'finding It has one script\ncompleted A package\n',
      });
      if (page === 'README.md')
        expect(readFileSync(`${root}${page}`, 'utf8')).toContain('```text\nfinding It has one script\ncompleted A package\n```\n');
    } finally {
      await model.close();
    }
  });

  test('the client of docs/typescript.md is refused as the page says', async () => {
    expect(await runProgram('docs/typescript.md', {}, 0)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\[ 'The index on orders\(created_at\) is never used' \] true\nWL003 \w.*\n$/),
    });
  });

  test('the route of docs/typescript.md answers whoever asks for an item that is none', async () => {
    expect(await runProgram('docs/typescript.md', {}, 1)).toMatchObject({ code: 0, stdout: '404\n' });
  });

  test.each([
    { block: 0, tests: 3 },
    { block: 1, tests: 1 },
  ])('the tests of block $block of docs/testing.md pass', async ({ block, tests }) => {
    const { code, stdout, stderr } = await runProgram('docs/testing.md', onEmbedded, block);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^. pass ${tests}$`, 'm'));
  });

  /** Lets an agent with these tools make these calls; returns what each came to. */
  async function callsOfAgent(
    tools: readonly string[],
    calls: readonly { name: string; input: unknown }[],
    more: { engage?: string; flags?: string[]; env?: NodeJS.ProcessEnv } = {},
  ): Promise<{ tool_name: string; status: string; output: string }[]> {
    const faculty = join(directory, 'caller.toml');
    await writeFile(
      faculty,
      `[faculty]\nname = "caller"\naccepts = ["call"]\n[faculty.engage]\nmodel = "claude-sonnet-5-5"\nworkspace = "host"\nworkspace_dir = "${root}"\ntools = ${JSON.stringify(tools)}\n${more.engage ?? ''}`,
    );
    const model = await startScriptedModel(
      scriptOf([
        { content: calls.map((one) => ({ type: 'tool_use', id: '', ...one })), stopReason: 'tool_use' },
        { content: [{ type: 'tool_use', name: 'work_complete', input: { summary: 'Called.' } }], stopReason: 'tool_use' },
      ]),
    );
    try {
      const { code, stdout, stderr } = await run(
        directory,
        { ...shell.env, ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: model.url, ...more.env },
        'work-ledger',
        'run',
        'Call them',
        '--type',
        'call',
        '--faculty',
        faculty,
        ...(more.flags ?? []),
      );
      expect(code, stdout + stderr).toBe(0);
    } finally {
      await model.close();
    }
    return database.query(`
      select c.tool_name, c.status, work_ledger._result_text(c.result) as output from work_ledger.tool_calls c
       where c.work_item_id = (select id from work_ledger.work_items where work_type = 'call' order by id desc limit 1) and c.tool_name <> 'work_complete' and c.parent_call_id is null order by c.id`);
  }

  test('the replies of docs/commands.md are played by the command above them', async () => {
    const page = pages.find(({ path }) => path === 'docs/commands.md');
    const command = page?.codes.find((code) => code.includes('--scripted replies.json')) ?? 'false';
    await writeFile(join(shell.home, 'replies.json'), page?.blocks.find(({ language }) => language === 'json')?.code ?? '');
    const { code, stdout, stderr } = await run(shell.home, shell.env, 'sh', '-c', command);
    expect(code, stdout + stderr).toBe(0);
    expectOutput(stderr + stdout, ['I look first.', 'bash ls → done…', '  outcome    Looked around.']);
  });

  test('the tools of docs/tools.md, a function, a module and a command, do what they say when an agent calls them', async () => {
    const [sql = '', module = '', commands = ''] = ['sql', 'ts', 'toml'].map(
      (language) => blocksOf(language).find((block) => block.page === 'docs/tools.md')?.code,
    );
    await database.query(
      `begin; set local search_path = work_ledger, public; create table public.orders (id int primary key); ${sql}; commit`,
    );
    await writeFile(join(directory, 'wordCount.ts'), asInstalled(module));
    await writeFile(join(directory, 'commands.toml'), commands);
    const calls = [
      { name: 'unused_indexes', input: { table: 'orders' } },
      { name: 'word_count', input: { text: 'one two  three' } },
      { name: 'lint', input: { path: 'runtime/index.ts' } },
    ];
    expect(
      await callsOfAgent(
        calls.map(({ name }) => name),
        calls,
        { flags: ['--tools', 'wordCount.ts', 'commands.toml'] },
      ),
    ).toEqual([
      { tool_name: 'unused_indexes', status: 'completed', output: '["orders_pkey"]' },
      { tool_name: 'word_count', status: 'completed', output: '3' },
      { tool_name: 'lint', status: 'completed', output: expect.stringMatching(/0 errors/) },
    ]);
  });

  test.skipIf(noDocker !== null)("the Python of docs/code.md is run as an agent's code", async () => {
    const code = blocksOf('python').find((block) => block.page === 'docs/code.md')?.code;
    const env = { DOCKER_HOST: process.env['DOCKER_HOST'] };
    expect(
      await callsOfAgent(['bash'], [{ name: 'execute_code', input: { code } }], { engage: 'code_execution = true\n', env }),
    ).toMatchObject([{ status: 'completed', output: expect.stringMatching(/: \d+ of \d+ lines fail/) }]);
  });

  test('the SessionStore of docs/claude-agent-sdk.md keeps what it is given', async () => {
    const { code, stdout, stderr } = await runProgram('docs/claude-agent-sdk.md');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '1 1\n', stderr: '' });
  });

  test('the TypeScript of the journal keeps one, and ends', async () => {
    const { code, stdout, stderr } = await runProgram('docs/journal.md');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [, says = 'nothing'] =
      /\.join\(\)\); +\/\/ (.+)/.exec(blocksOf('ts').find(({ page }) => page === 'docs/journal.md')?.code ?? '') ?? [];
    expect(stdout.split('\n')).toContain(says);
    expect(await database.query(`select status from work_ledger.work_sessions where original_prompt = 'Build the thing'`)).toEqual([
      { status: 'completed' },
    ]);
  });
});
