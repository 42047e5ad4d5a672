// Secrets that this process knows, by their value or by their form: what is left of a text, and what of it may be shown while it arrives.

import { afterAll, beforeAll, expect, test } from 'vitest';

import { passwordsOf, shownUrl, withoutPassword } from '../../../runtime/ledger/address.ts';
import { secretsBehind, secretsShort, secretsWhole, withoutBeginning, withoutForms } from '../../../runtime/secrets/forms.ts';
import { countWith, headOf, keepSecret, tailOf, withoutKnown, withoutKnownSoFar, withoutSecrets } from '../../../runtime/secrets/known.ts';
import { createDatabase } from '../../database.ts';
import type { TestDatabase } from '../../database.ts';

let database: TestDatabase;
const counted: string[] = [];
const value = 'k3y "with\\everything" ümläut/+=&';
const key = ['sk', 'ant', 'api03', 'aB3_'.repeat(10)].join('-');
const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} PRIVATE KEY-----`);
beforeAll(async () => {
  database = await createDatabase();
  countWith((place, secrets) => counted.push(`${place} ${secrets}`));
  keepSecret(value);
  keepSecret('plain');
  keepSecret('123456');
});
afterAll(() => database?.drop());

test('the forms are those of the database', async () => {
  const [sql] = await database.query(
    `select ledger._secrets_short() as short, ledger._secrets_whole() as whole, ledger._secrets_behind() as behind`,
  );
  expect({ short: secretsShort, whole: secretsWhole, behind: secretsBehind }).toEqual(sql);
});

test.each([
  `Use ${key} now`,
  `${key}\n${key}`,
  `/tmp/task-${'a1'.repeat(16)} sk-${'a1'.repeat(16)}`,
  `postgresql://me:p@ss@h/d`,
  `x://a:b@c x://d:3@f`,
  `host=h user=u password='p w' x`,
  `{"a":"Bearer ${'a1'.repeat(10)}"}`,
  '\\nAKIA' + 'Z9'.repeat(8),
  `${begin}\\nabc=\\n${end} x`,
  'nothing',
  'postgres://me:[redacted]@h',
  'redis://:pw1@h?password=abcdefghij',
])('%j loses the same here as there', async (text) => {
  const [row] = await database.query<{ text: string }>(`select ledger._redacted($text$${text}$text$) as text`);
  expect(withoutForms(text).text).toBe(row?.text);
});

test.each([
  'a',
  'aA1',
  'password=',
  'password= ',
  "password='",
  'host=a ',
  'host=a password=',
  "host='a",
  '://',
  '://a:b',
  '://a:{',
  '{',
  '$',
  '*',
  ' ',
  ',',
  'PGPASSWORD=',
  'PGPASSWORD="',
  '_authToken=',
  'hooks.slack.com/services/',
  'Bearer ',
  'Authorization: Basic ',
  'Authorization"',
  'PRIVATE KEY ',
  String(begin),
  'eyJhbGciOiJIUzI1NiJ9.',
  ' eyJaaaaaaaaaaaaaaaaa.',
  '&password=',
  '?password=$a1',
  'sk-ant-',
  'ssl',
  'user=a,',
])('a megabyte of %j costs no more than its length', { timeout: 120_000 }, (piece) => {
  for (const before of ['', '://a:', `${begin}\n`, '-----BEGIN ']) {
    const text = `${before}${piece.repeat(1_000_000 / piece.length)}`;
    expect(withoutForms(text).text.length).toBeGreaterThan(0);
    expect(withoutBeginning(text).length).toBeLessThanOrEqual(text.length);
  }
});

test('a known value is taken out in each of its spellings, and JSON stays valid', () => {
  expect(withoutKnown(`it is ${value}!`)).toBe('it is [redacted]!');
  expect(JSON.parse(withoutKnown(JSON.stringify({ [value]: [1.5, value] })))).toEqual({ '[redacted]': [1.5, '[redacted]'] });
  expect(withoutKnown(`?key=${encodeURIComponent(value)}&`)).toBe('?key=[redacted]&');
  expect(withoutKnown(`Basic ${Buffer.from(value).toString('base64')}`)).toMatch(/^Basic \[redacted\]=*$/);
  expect(counted.splice(0)).toEqual(['known_value 1', 'known_value 2', 'known_value 1', 'known_value 1']);
});

test.each(['', 'u', 'us', 'user:', 'x-user:'])('a known value is found in base64 behind %j, whatever follows', (before) => {
  for (const after of ['', '\n', '@h', ' and more']) {
    const bytes = Buffer.from(`${before}${value}${after}`);
    for (const base64 of [bytes.toString('base64'), bytes.toString('base64url')]) {
      const left = withoutKnown(`Authorization: Basic ${base64}`);
      expect(left, base64).toMatch(/^Authorization: Basic [\w+/-]{0,12}\[redacted\][\w+/=-]{0,16}$/);
      // A character on either side is shared with what stands there.
      const hidden = Buffer.from(left.replace(/^.* /, '').replace(/\[redacted\].*/, ''), 'base64').toString();
      expect(hidden.slice(before.length).length, hidden).toBeLessThan(2);
    }
  }
});

test('a short value is not looked for in base64, where it could be anything', () => {
  keepSecret('abc-12');
  expect(withoutKnown(Buffer.from('abc-12').toString('base64'))).toBe('YWJjLTEy');
});

test('a word or a short number is none: it could not be told from text', () => {
  expect(withoutKnown('plain 123456')).toBe('plain 123456');
});

test('a thought keeps its bytes, and numbers around it their digits', () => {
  const thought = { type: 'thinking', thinking: value, signature: value };
  const json = `{"content":[${JSON.stringify(thought)},{"type":"redacted_thinking","data":${JSON.stringify(value)}},{"type":"text","text":${JSON.stringify(value)}}],"n":12345678901234567890,"f":1.50}`;
  expect(withoutKnown(json)).toBe(
    `{"content":[${JSON.stringify(thought)},{"type":"redacted_thinking","data":${JSON.stringify(value)}},{"type":"text","text":"[redacted]"}],"n":12345678901234567890,"f":1.50}`,
  );
});

test.each([key, value])('a text that is cut shows no half of %j', (secret) => {
  for (let shown = 1; shown < secret.length + 2; shown++) {
    expect(headOf(`at first ${secret} at last`, 9 + shown)).not.toContain(secret.slice(0, 8));
    expect(tailOf(`at first ${secret} at last`, 8 + shown)).not.toContain(secret.slice(-8));
  }
  expect([headOf('at first', 8), headOf('at first', 2), tailOf('at first', 5)]).toEqual(['at first', 'at', 'first']);
});

test('logs and answers lose both, and both are counted', () => {
  counted.length = 0;
  expect(withoutSecrets(`${value} ${key}`, 'log')).toBe('[redacted] [redacted]');
  expect(counted).toEqual(['log 1', 'log 1']);
});

test.each([
  ['I look at the log before', 'I look at the log before'],
  ['see https://exa', 'see https'],
  [`use ${key}`, 'use sk'],
  [`use ${key} `, `use ${key} `],
  [`${begin}\nabc def `, ''],
  [`${begin}\nabc\n-----END PRIVATE `, ''],
  [`${begin}\nabc\n${end} `, `${begin}\nabc\n${end} `],
  ['日本語のテキスト', '日本語のテキスト'],
  ['', ''],
])('of %j, which still arrives, %j is shown', (text, shown) => {
  expect(withoutBeginning(text)).toBe(shown);
});

test('what arrives piece by piece shows no part of a secret that could be taken for it, and nothing twice', () => {
  const text = `The key is ${key}, the other ${value}; that is well-known, isn't it. `;
  let shown = '';
  for (let length = 0; length <= text.length; length++) {
    const now = withoutForms(withoutBeginning(withoutKnownSoFar(text.slice(0, length)))).text;
    if (!now.startsWith(shown)) expect([shown, now]).toEqual([`The key is sk`, expect.stringMatching(/^The key is \[redacted\]/)]);
    expect(now).not.toContain(key.slice(0, 8));
    expect(now).not.toContain(value.slice(0, 5));
    shown = now;
  }
  expect(shown).toBe(`The key is [redacted], the other [redacted]; that is well-known, isn't it. `);
});

test.each([
  ['postgres://u:pw-1@h/d', 'postgres://u:***@h/d', 'pw-1', ['pw-1']],
  ['postgresql://u:p%40ss@[::1]:5432/d', 'postgresql://u:***@[::1]:5432/d', 'p@ss', ['p%40ss', 'p@ss']],
  ['postgres://u:p@ss/w?x#d@h:1,h2:2/d?sslmode=require', 'postgres://u:***@h:1,h2:2/d?sslmode=require', 'p@ss/w?x#d', ['p@ss/w?x#d']],
  ['postgres://h/d?user=u&password=pw-1&sslpassword=pw-2', 'postgres://h/d?user=u&password=***&sslpassword=***', 'pw-1', ['pw-1', 'pw-2']],
  ['postgres://h/d?p%61ssword=pw-1', 'postgres://h/d?p%61ssword=***', 'pw-1', ['pw-1']],
  ['socket:/tmp/run?db=d&password=pw-1', 'socket:/tmp/run?db=d&password=***', 'pw-1', ['pw-1']],
  ['postgres://u@h/d?application_name=a:b@c', 'postgres://u@h/d?application_name=a:b@c', null, []],
  ['postgres://[::1]:5432/d', 'postgres://[::1]:5432/d', null, []],
  ['host=h password=pw-1 user=u', 'host=h password=*** user=u', null, ['pw-1']],
  [String.raw`host=h password = 'it\'s pw' user=u`, 'host=h password = *** user=u', null, ["it's pw"]],
  ['PGPASSWORD=pw-1', 'PGPASSWORD=***', null, ['pw-1']],
  ['me:pw-1@h/d', 'me:***@h/d', null, []],
  ['postgres//me:pw-1@h/d', 'postgres//me:***@h/d', null, []],
])('%s is printed as %s', (address, shown, password, secrets) => {
  expect(shownUrl(address)).toBe(shown);
  expect(passwordsOf(address)).toEqual(secrets);
  if (password !== null) expect(withoutPassword(address).password).toBe(password);
  if (password !== null) expect(withoutPassword(address).address).not.toMatch(/pw-|p@ss|p%40ss/);
});
