// Lines that grow while an agent speaks: whole words, none broken at the edge of a terminal, calls and costs always said the same way.

import { Writable } from 'node:stream';

import { expect, test } from 'vitest';

import { withIo } from '../../../runtime/commands/io.ts';
import type { Output } from '../../../runtime/commands/io.ts';
import { argumentsText } from '../../../runtime/commands/output.ts';
import { GrowingLine, Words } from '../../../runtime/commands/words.ts';
import type { ActivityEvent } from '../../../runtime/ledger/activity.ts';

class Kept extends Writable {
  text = '';
  isTTY?: boolean;
  columns?: number;
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += String(chunk);
    done();
  }
}
const kept = (columns?: number): Kept & Output => Object.assign(new Kept(), columns === undefined ? {} : { isTTY: true, columns });

test('only whole words are written, until the line ends', () => {
  const out = kept();
  const line = new GrowingLine(out);
  line.begin('says: ');
  for (const piece of ['The ind', 'ex is', ' never', ' us']) line.more(piece);
  expect(out.text).toBe('says: The index is never');
  line.more('ed');
  line.end();
  expect(out.text).toBe('says: The index is never used\n');
});

test('a word of which there is no end is written as it comes', () => {
  const out = kept();
  const line = new GrowingLine(out);
  line.begin('');
  line.more('x'.repeat(61));
  expect(out.text).toBe('x'.repeat(61));
});

test('on a terminal no word is broken at the edge, and what goes on stands below its beginning', () => {
  const out = kept(40);
  const line = new GrowingLine(out);
  line.begin('12:03:04  ');
  line.more('one two three four five six seven eight nine ten\n    indented eleven twelve 漢字漢字漢字 thirteen fourteen');
  line.end();
  expect(out.text.split('\n')).toEqual([
    '12:03:04  one two three four five six',
    '          seven eight nine ten',
    '              indented eleven twelve',
    '          漢字漢字漢字 thirteen fourteen',
    '',
  ]);
});

const event = (more: object): ActivityEvent => ({ turn_id: 't', iteration: 2, at: '2026-11-27 12:03:04.5+00', ...more }) as ActivityEvent;
const call = (status: string, more: object = {}): ActivityEvent =>
  event({
    kind: 'call',
    id: 'c',
    parent_call_id: null,
    name: 'bash',
    input: '{"command": "ls"}',
    status,
    seconds: 1.24,
    error: null,
    ...more,
  });
function shown(...events: ActivityEvent[]): string[] {
  const out = kept();
  withIo({ stdin: process.stdin, stdout: out, stderr: out }, () => {
    const words = new Words();
    for (const one of events) words.show(one);
    words.end();
  });
  return out.text.trimEnd().split('\n');
}

test('each call is one line, when it has ended, whether or not it was seen before', () => {
  const ended = '12:03:04  bash ls → done (1.2 s)';
  expect(shown(call('completed'))).toEqual([ended]);
  expect(shown(call('running'), call('completed'))).toEqual([ended]);
  expect(shown(call('waiting'), call('completed', { name: 'ledger_append' }))).toEqual(['']);
  expect(shown(call('failed', { error: 'no such\nfile', parent_call_id: 'p' }))).toEqual([
    '12:03:04    bash ls → failed (1.2 s): no such file',
  ]);
});

test('what a response cost ends its words; without words it has a line of its own', () => {
  const cost = { kind: 'answered', input_tokens: 1200, output_tokens: 45, cost: 0.0043 };
  expect(shown(event({ kind: 'said', text: 'I look' }), event(cost), call('completed'))).toEqual([
    '12:03:04  turn 2 says: I look (1.2k tokens in, 45 out, cost 0.0043)',
    '12:03:04  bash ls → done (1.2 s)',
  ]);
  expect(shown(event({ ...cost, cost: null }))).toEqual(['12:03:04  turn 2: 1.2k tokens in, 45 out']);
  expect(shown(event({ ...cost, input_tokens: 0, output_tokens: 0 }))).toEqual(['']);
});

test('arguments end with a whole word, also those that the ledger has cut', () => {
  expect(argumentsText(JSON.stringify({ command: `echo ${'word '.repeat(60)}` }))).toMatch(/word …$/);
  expect(argumentsText('{"command": "grep \\"a\\" file and th…')).toBe('grep "a" file and th …');
  expect(argumentsText('{"path": "a.md", "text": "Once up…')).toBe('a.md …');
  expect(argumentsText('{"count": 12')).toBe('{"count": 12');
});
