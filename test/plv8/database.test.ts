// The functions of plv8/ in a database, with PL/JS: the same answers as here, on random input; and without an engine a clear
// word from each of them while nothing else breaks.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { schemaErrors } from '../../plv8/jsonSchema.ts';
import { codeBlocks, fileReferences } from '../../plv8/markdown.ts';
import { parseRecordedRuns } from '../../plv8/readers/recordedRun.ts';
import { installJavascript } from '../../runtime/install/javascript.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { libraryPath, noPljs } from '../pljs.ts';

const calls = [
  `json_schema_errors('{}', '{}')`,
  `markdown_codeblocks('x')`,
  `markdown_file_references('x')`,
  `recorded_runs_parse('x')`,
  `session_import(null, 'x')`,
];

test('without an engine each says so, and nothing else needs one', async () => {
  const database = await createDatabase();
  try {
    for (const call of calls)
      await expect(database.query(`select ${call}`)).rejects.toMatchObject({
        code: '0A000',
        hint: expect.stringContaining('work-ledger install --javascript'),
      });
    await expect(installJavascript(database.url, 'ledger')).rejects.toThrow('this database has no JavaScript engine');
    expect(await database.query(`select ability_invoke('ldg:task:get', '{"taskId": "x"}') as r`)).toEqual([{ r: { task: null } }]);
  } finally {
    await database.drop();
  }
});

if (noPljs !== null) console.log(`Tests with JavaScript in the database are skipped: ${noPljs}`);

describe.skipIf(noPljs !== null)('with PL/JS', () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    database = await createDatabase();
    await database.query(`alter database ${new URL(database.url).pathname.slice(1)} set dynamic_library_path = '${libraryPath}'`);
    await database.query('create extension pljs');
    expect(await installJavascript(database.url, 'ledger')).toBe('pljs');
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client?.end();
    await database?.drop();
  });

  const inDatabase = async (name: string, ...values: (string | null)[]): Promise<unknown> =>
    (await client.query<{ r: unknown }>(`select ledger.${name}(${values.map((_, n) => `$${n + 1}`).join(', ')}) as r`, values)).rows[0]?.r;
  const RUNS = Number(process.env['RUNS'] ?? 300);
  /** What a database stores: no NUL, no half of a character. */
  const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '');

  test(`schemas: ${RUNS} random ones and values`, async () => {
    const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', 'null');
    const schema = fc.letrec<{ schema: object }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.record({ type }),
        fc.record(
          {
            type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
            enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }),
            minimum: fc.integer(),
            maxLength: fc.nat(5),
            pattern: fc.constantFrom('^a', 'b$', '[0-9]+'),
            required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
            additionalProperties: fc.boolean(),
            properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema'), { maxKeys: 2 }),
            items: tie('schema'),
            anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          },
          { requiredKeys: [] },
        ),
      ),
    })).schema;
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.jsonValue({ maxDepth: 1 })),
    );
    await fc.assert(
      fc.asyncProperty(schema, value, async (given, candidate) => {
        const [s, v] = [storable(JSON.stringify(given)), storable(JSON.stringify(candidate))].map((text) =>
          text.replaceAll(/\\u0000|\\ud[89a-f][0-9a-f]{2}/gi, ''),
        ) as [string, string];
        // jsonb orders keys and knows no -0; both sides read what it made of them.
        const {
          rows: [stored],
        } = await client.query<{ s: unknown; v: unknown }>('select $1::jsonb as s, $2::jsonb as v', [s, v]);
        expect(await inDatabase('json_schema_errors', s, v)).toEqual(schemaErrors(stored?.s, stored?.v));
      }),
      { numRuns: RUNS },
    );
  });

  const markdown = fc
    .array(
      fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 30 }).map(storable),
        fc.constantFrom(
          '```ts src/a.ts',
          '```',
          '~~~python title="b.py"',
          '~~~',
          '# Heading',
          '- item `c/d.js:3-9`',
          '  ```',
          '> quoted `x.sql`',
          '    indented',
          '| a | b.md |',
          '|---|---|',
          '| c.rs:7 | ``` |',
          '',
          'see ./lib/e.go.',
        ),
      ),
      { maxLength: 12 },
    )
    .map((lines) => lines.join('\n'));

  test(`Markdown: ${RUNS} random texts`, async () => {
    await fc.assert(
      fc.asyncProperty(markdown, async (text) => {
        expect(await inDatabase('markdown_codeblocks', text)).toEqual(codeBlocks(text));
        expect(await inDatabase('markdown_file_references', text)).toEqual(fileReferences(text));
      }),
      { numRuns: RUNS },
    );
  });

  const block = fc.oneof(
    fc.record({ type: fc.constant('text'), text: fc.string({ maxLength: 10 }).map(storable) }),
    fc.record({
      type: fc.constant('tool_use'),
      id: fc.constantFrom('a', 'b', 'c'),
      name: fc.constantFrom('Read', 'ls -l'),
      input: fc.dictionary(fc.constantFrom('k', 'l'), fc.integer(), { maxKeys: 2 }),
    }),
    fc.record({
      type: fc.constant('tool_result'),
      tool_use_id: fc.constantFrom('a', 'b', 'c'),
      content: fc.string({ maxLength: 10 }).map(storable),
      is_error: fc.boolean(),
    }),
  );
  const record = fc.record(
    {
      type: fc.constantFrom('user', 'assistant', 'system'),
      uuid: fc.constantFrom('1', '2', '3', '4', '5', '6'),
      sessionId: fc.constant('s'),
      isSidechain: fc.boolean(),
      timestamp: fc.constantFrom('2026-01-01T00:00:00Z', 'then'),
      message: fc.record({ id: fc.constantFrom('m', 'n', 'o'), model: fc.constant('claude'), content: fc.array(block, { maxLength: 3 }) }),
    },
    { requiredKeys: ['type', 'message', 'sessionId'] },
  );

  test(`recorded runs: ${RUNS} random ones, errors included`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            { weight: 9, arbitrary: record.map((one) => JSON.stringify(one)) },
            { weight: 1, arbitrary: fc.constantFrom('{', '', 'x') },
          ),
          { maxLength: 8 },
        ),
        async (lines) => {
          const text = lines.join('\n');
          let here: unknown;
          try {
            here = JSON.parse(JSON.stringify(parseRecordedRuns(text)));
          } catch {
            here = 'error';
          }
          const there = await inDatabase('recorded_runs_parse', text).catch(() => 'error');
          expect(there).toEqual(here);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test.each([
    ['session_import', ['claude-code', 'garbage'], /^not a recorded run: [^\n]+$/],
    ['recorded_runs_parse', [''], /^not a recorded run: [^\n]+$/],
    ['markdown_codeblocks', ['> '.repeat(2000)], 'it is too large or nests too deep'],
    ['markdown_codeblocks', ['x'.repeat(1_000_001)], 'the text has 1000001 characters; at most 1000000 are allowed'],
    ['json_schema_errors', [null, '{}'], 'the schema is missing'],
  ])('what goes wrong in %s is WL002 and one sentence', async (name, given, message) => {
    await expect(inDatabase(name, ...given)).rejects.toMatchObject({
      code: 'WL002',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  });

  test('a key __proto__ hides from no schema, and no pattern holds the server', async () => {
    expect(await inDatabase('json_schema_errors', '{"additionalProperties": false}', '{"__proto__": 1}')).toEqual([
      '/__proto__: is not allowed',
    ]);
    expect(await inDatabase('json_schema_errors', '{"pattern": "^(a+)+$"}', JSON.stringify(`${'a'.repeat(200)}!`))).toEqual([
      'must match the pattern ^(a+)+$',
    ]);
  });

  test('a file is imported from SQL as from the command line, and abilities and data of entries are checked to their depth', async () => {
    const text = readFileSync(fileURLToPath(new URL('../fixtures/claudeCode.jsonl', import.meta.url)), 'utf8');
    const [stored] = (await inDatabase('session_import', 'claude-code', text)) as { session: string; turns: number }[];
    expect(stored).toMatchObject({ session: 'claude-code:fixture', turns: 2 });
    expect(await inDatabase('session_import', null, text)).toMatchObject([{ session: 'claude-code:fixture', turns: 0 }]);
    await expect(inDatabase('session_import', 'codex', text)).rejects.toMatchObject({
      code: 'WL002',
      message: 'the content is of format claude-code, not codex',
    });
    await client.query(`create function pg_temp.f(jsonb) returns text language sql as $$ select 'done' $$;
      select ledger.ability_register('deep', 'Deep.', '{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "integer"}}}}}}', 'pure', 'safe', 'pg_temp.f(jsonb)')`);
    expect(await inDatabase('ability_invoke', 'deep', '{"a": [{"b": 1}]}')).toBe('done');
    await expect(inDatabase('ability_invoke', 'deep', '{"a": [{"b": 1}, {"b": "two"}]}')).rejects.toMatchObject({
      code: 'WL002',
      hint: expect.stringContaining('/a/1/b'),
    });
    await client.query(
      `select ledger.ledger_data_schema_save('finding', '{"type": "object", "properties": {"files": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}}}}}}')`,
    );
    const {
      rows: [item],
    } = await client.query<{ id: string }>(`select id from ledger.work_submit('analyze', 'Look')`);
    const append = (data: string) => client.query(`select ledger.ledger_append($1, 'finding', 'Seen', $2)`, [item?.id, data]);
    await append('{"files": [{"path": "a"}]}');
    await expect(append('{"files": [{"path": 1}]}')).rejects.toMatchObject({
      code: 'WL002',
      hint: expect.stringContaining('/files/0/path'),
    });
  });
});
