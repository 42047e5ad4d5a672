// What cannot be seen is shown as a sign, in the terminal and on the pages of the console alike.

import { expect, test } from 'vitest';

import { visible as inTerminal } from '../../runtime/commands/output.ts';
import { html } from '../../runtime/console/html.ts';
import { literal, literalName, visible } from '../../runtime/visible.ts';
import { exactJson, wholeArguments } from '../../runtime/wholeArguments.ts';

const all = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
const isUnseen = (c: string): boolean =>
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u.test(c) && c !== '\n' && c !== '\t';

test('every control, format, separator and character that draws nothing becomes a sign, and nothing else does', () => {
  const hidden = all.filter(isUnseen);
  expect(hidden.length).toBeGreaterThan(4000);
  expect(hidden.filter((c) => visible(`a${c}b`).includes(c))).toEqual([]);
  expect(all.filter((c) => !isUnseen(c) && c !== '\u2800' && visible(`a${c}b`) !== `a${c}b`)).toEqual([]);
  expect(visible('\u001b[31m\u007f\u0085\u202E\u{e0041}\u2800')).toBe('␛[31m␡⟨U+0085⟩⟨U+202E⟩⟨U+E0041⟩⟨U+2800⟩');
});

test('terminal and pages show the same signs', () => {
  const hostile = all.filter((c) => isUnseen(c) && !/\p{Cs}/u.test(c)).join('a');
  expect(inTerminal(hostile)).toBe(visible(hostile));
  expect(String(html`${hostile}`)).toBe(visible(hostile));
});

test('words and emoji that are written with joiners stay as they are; the same joiners elsewhere are shown', () => {
  for (const text of ['👩‍👩‍👧 👍🏽 ❤️ 1️⃣', 'می‌خواهم', 'क्‍ष']) expect(visible(text)).toBe(text);
  expect(visible('ca\u200Ct e\u200Dcho 1\uFE0F x\uFE0F')).toBe('ca⟨U+200C⟩t e⟨U+200D⟩cho 1⟨U+FE0F⟩ x⟨U+FE0F⟩');
});

test('of what is approved each carriage return is shown, and marks that would paint over other lines', () => {
  expect([visible('a\r\nb\rc'), literal('a\r\nb\rc')]).toEqual(['a\nb␍c', 'a␍\nb␍c']);
  expect(literal(`a${'\u0336'.repeat(5)}`)).toBe(`a${'\u0336'.repeat(3)}⟨U+0336⟩⟨U+0336⟩`);
  expect(literalName('a\nb\tc')).toBe('a␊b␉c');
});

test('arguments are whole: every digit, each kind by its name, what is too deep or too many as it is stored', () => {
  expect(
    wholeArguments(
      '{"n": 12345678901234567890, "x": 1e400, "s": "5", "e": "", "o": {"a": [1.0]}, "z": null, "command": "ls", "sql": "select 1", "p": "--- a\\n+++ b\\n-x", "__proto__": true}',
    ),
  ).toEqual([
    { name: 'n', kind: 'number', text: '12345678901234567890' },
    { name: 'x', kind: 'number', text: '1e400' },
    { name: 's', kind: 'text', text: '5' },
    { name: 'e', kind: 'empty text', text: '' },
    { name: 'o', kind: 'JSON', text: '{\n  "a": [\n    1.0\n  ]\n}' },
    { name: 'z', kind: 'null', text: 'null' },
    { name: 'command', kind: 'shell', text: 'ls' },
    { name: 'sql', kind: 'SQL', text: 'select 1' },
    { name: 'p', kind: 'diff', text: '--- a\n+++ b\n-x' },
    { name: '__proto__', kind: 'boolean', text: 'true' },
  ]);
  for (const json of [`${'['.repeat(100)}${']'.repeat(100)}`, `${'['.repeat(100_000)}${']'.repeat(100_000)}`])
    expect(wholeArguments(json)).toEqual([{ name: null, kind: 'JSON', text: json }]);
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`n${n}`, n]));
  expect(wholeArguments(JSON.stringify(many))).toEqual([{ name: null, kind: 'JSON', text: JSON.stringify(many, null, 2) }]);
  expect(wholeArguments('"x"')).toEqual([{ name: null, kind: 'text', text: 'x' }]);
  expect(JSON.stringify(exactJson('[0.10, -0, 1E2]'))).toBe('[0.10,-0,1E2]');
});
