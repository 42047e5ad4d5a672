// One list of error codes: what SQL raises, what TypeScript knows and what sql/README.md tells are the same.

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { DatabaseError } from 'pg';
import { expect, test } from 'vitest';

import { errorCodes } from '../../../runtime/ledger/errors.ts';
import { createDatabase } from '../../database.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const codesIn = (text: string): string[] => [...new Set(text.match(/WL\d{3}/g))].toSorted();

test('SQL, TypeScript and the documentation name the same codes', () => {
  const raised = globSync('sql/{api/*,schema}/*.sql', { cwd: root })
    .map((file) => readFileSync(root + file, 'utf8'))
    .flatMap((text) => text.match(/errcode = (?:case .*? end|'WL\d{3}')/gs) ?? [])
    .join(' ');
  expect(codesIn(raised)).toEqual(Object.keys(errorCodes));
  expect(codesIn(readFileSync(`${root}sql/README.md`, 'utf8'))).toEqual(Object.keys(errorCodes));
});

test('a comment promises only codes that there are', () => {
  const comments = globSync('sql/api/*/*.sql', { cwd: root })
    .map((file) => readFileSync(root + file, 'utf8'))
    .flatMap((text) => text.match(/^comment on [^]*?;$/gm) ?? []);
  expect(comments.length).toBeGreaterThan(50);
  for (const code of codesIn(comments.join(' '))) expect(Object.keys(errorCodes)).toContain(code);
});

test('an error has a hint or a detail only where it has something to say', async () => {
  const database = await createDatabase();
  try {
    const [item] = await database.query<{ id: string }>("select id from work_submit('t', 'work')");
    // What psql would show as an empty line HINT: or DETAIL: is here an empty string.
    const errorOf = async (sql: string) => {
      const error = (await database.query(sql).catch((caught: DatabaseError) => caught)) as DatabaseError;
      return { code: error.code, hint: error.hint, detail: error.detail };
    };
    expect(await errorOf("select work_submit('t', 'work', '[]')")).toEqual({ code: 'WL002', hint: undefined, detail: undefined });
    expect(await errorOf("select _schema_check('it', '{\"required\": [\"a\"]}', '{}')")).toEqual({
      code: 'WL002',
      hint: undefined,
      detail: undefined,
    });
    expect(await errorOf("select work_submit('t', ' ')")).toMatchObject({ code: 'WL002', hint: expect.stringMatching(/\w/) as unknown });
    await database.query(`select work_complete('${item!.id}', 'Done.')`);
    expect(await errorOf(`select work_pause('${item!.id}')`)).toEqual({ code: 'WL003', hint: undefined, detail: undefined });
    const [cancelled] = await database.query<{ id: string }>("select id from work_submit('t', 'work')");
    await database.query(`select work_cancel('${cancelled!.id}', 'Nobody needs it.')`);
    expect(await errorOf(`select work_pause('${cancelled!.id}')`)).toMatchObject({
      code: 'WL003',
      detail: expect.stringContaining('Nobody needs it.') as unknown,
    });
  } finally {
    await database.drop();
  }
});
