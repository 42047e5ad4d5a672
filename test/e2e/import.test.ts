// Recorded runs of other agents as sessions of ours: counted as the files say, stored once, grown files by what is new.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { parseRecordedRun } from '../../plv8/readers/recordedRun.ts';
import { importFile } from '../../runtime/import/importFile.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { cli } from '../cli.ts';
import type { TestDatabase } from '../database.ts';
import { claudeSession, Importer } from '../importer.ts';

const recordings = fileURLToPath(new URL('../../../shared/transcripts/', import.meta.url));
if (!existsSync(recordings)) console.warn('skipped: the recorded runs (../shared/transcripts is not there)');
let importer: Importer;
let database: TestDatabase;
let db: Db;
let directory: string;

beforeAll(async () => {
  importer = await Importer.open();
  ({ database, db, directory } = importer);
});
afterAll(() => importer?.close());

const imported = (file: string) => importer.import(file);
const rows = () => importer.rows();
const chain = (session: string) => importer.chain(session);

const stored = async (workItemId: string) =>
  (
    await database.query<{ turns: number; calls: number; open: number; unanswered: number; compactions: number }>(`
    select (select count(*)::int from ledger.turns where work_item_id = '${workItemId}' and turn_type = 'normal') as turns,
           (select count(*)::int from ledger.tool_calls where work_item_id = '${workItemId}') as calls,
           (select count(*)::int from ledger.tool_calls where work_item_id = '${workItemId}' and completed_at is null) as open,
           (select count(*)::int from ledger.tool_calls where work_item_id = '${workItemId}' and result::text like '%has no result for this call%') as unanswered,
           (select count(*)::int from ledger.compactions where work_item_id = '${workItemId}') as compactions`)
  )[0]!;
const raw = (session: string) =>
  database.query<{ line: number; reason: string; content: string }>(
    `select line, reason, content from ledger.session_records where session_label = '${session}' order by line, ordinal`,
  );
/** What the model would be sent at the head of a session. */
const contextOf = async (session: string): Promise<string> =>
  db.contextAt(
    (await database.query<{ head_turn_id: string }>(`select head_turn_id from ledger.sessions where label = '${session}'`))[0]!
      .head_turn_id,
  );

test('a session is stored once; a file that grew line by line brings the rest only', async () => {
  const file = join(directory, 'grown.jsonl');
  const lines = claudeSession(6);
  let before = 0;
  let id = '';
  for (let length = 2; length <= lines.length; length++) {
    await writeFile(file, `${lines.slice(0, length).join('\n')}\n`);
    const report = await imported(file);
    id ||= report.workItemId;
    expect(report).toMatchObject({ workItemId: id, session: 'claude-code:session-1', turns: Math.ceil((length - 1) / 3) });
    const count = await rows();
    expect(count).toBeGreaterThanOrEqual(before);
    before = count;
    expect(await stored(id)).toMatchObject({
      turns: Math.ceil((length - 1) / 3),
      calls: Math.floor(length / 3),
      open: length % 3 === 0 ? 1 : 0,
      unanswered: 0,
    });
  }
  expect((await imported(file)).added).toEqual({ turns: 0, calls: 0 });
  expect(await rows()).toBe(before);
  // As if it had been read at once.
  const whole = join(directory, 'whole.jsonl');
  await writeFile(whole, lines.join('\n').replaceAll('session-1', 'session-2'));
  const other = await imported(whole);
  const shape = async (item: string) =>
    JSON.parse(
      await db.contextAt(
        (await database.query<{ id: string }>(`select id from ledger.turns where work_item_id = '${item}' order by depth desc limit 1`))[0]!
          .id,
      ),
    ) as unknown;
  expect(await shape(id)).toEqual(await shape(other.workItemId));
  expect(await shape(id)).toMatchObject({ model: 'claude-opus-5', messages: { length: 11 }, tools: [{ name: 'Read' }] });
  expect((await db.journal.read(id, 0, null, null)).filter((entry) => entry.entryType === 'tool_result')).toHaveLength(6);
});

test('a recorded session has a trace: a span for each model call and each tool, within the times of the recording', async () => {
  const file = join(directory, 'traced.jsonl');
  await writeFile(file, claudeSession(4).join('\n').replaceAll('session-1', 'session-traced'));
  const { workItemId } = await imported(file);
  const spans = await db.workTrace(workItemId, false);
  const chats = spans.filter((span) => span.attributes['work.span'] === 'gen_ai.chat');
  expect(chats.map(({ attributes }) => attributes)).toEqual(
    Array.from({ length: 4 }, (_, i) =>
      expect.objectContaining({
        'work.iteration': i + 1,
        'gen_ai.request.model': 'claude-opus-5',
        'gen_ai.usage.input_tokens': 110,
        'gen_ai.usage.cache_read.input_tokens': 100,
        'gen_ai.usage.output_tokens': 5,
      }),
    ),
  );
  expect(spans.filter((span) => span.attributes['work.span'] === 'work.tool.execute')).toHaveLength(4);
  const root = spans.find((span) => span.parent_span_id === null);
  const attempt = spans.find((span) => span.attributes['work.span'] === 'work.execute');
  expect(root?.name).toBe('work.item');
  for (const span of spans.filter((one) => one !== root)) {
    expect(
      attempt && span.started_at >= attempt.started_at && span.ended_at <= attempt.ended_at && span.started_at <= span.ended_at,
      span.name,
    ).toBe(true);
    expect(
      spans.some((other) => other.span_id === span.parent_span_id),
      span.name,
    ).toBe(true);
  }
  expect(new Set(spans.map((span) => span.span_id)).size).toBe(spans.length);
});

test('odd files: two objects on a line, a line of two megabytes, broken ones, NUL and half of a character; one that is none stops nobody', async () => {
  const lines = claudeSession(3);
  const large = lines[3]!.replace('content of 1', 'x'.repeat(2_000_000));
  const file = join(directory, 'odd.jsonl');
  await writeFile(
    file,
    [
      lines[0],
      lines[1]! + lines[2]!,
      large,
      '{"type": "assis',
      lines[4],
      lines[5],
      lines[6]!.replace('content of 2', String.raw`NUL \u0000 half \ud800`),
      lines[7],
      lines[8],
    ]
      .join('\n')
      .replaceAll('session-1', 'session-3'),
  );
  const report = await imported(file);
  expect(report).toMatchObject({ turns: 3, calls: 3 });
  expect(report.leftOut).toEqual([{ reason: 'line that is no JSON', count: 1, line: 4 }]);
  expect(await raw(report.session)).toEqual([{ line: 4, reason: 'line that is no JSON', content: '{"type": "assis' }]);
  expect(await stored(report.workItemId)).toMatchObject({ turns: 3, calls: 3, open: 1 });
  await writeFile(join(directory, 'none.jsonl'), 'hello');
  expect(await importFile(db, join(directory, 'none.jsonl'))).toEqual({
    file: join(directory, 'none.jsonl'),
    error: expect.stringContaining('not a recorded run'),
  });
  expect(await importFile(db, join(directory, 'nowhere.jsonl'))).toMatchObject({ error: expect.stringContaining('ENOENT') });
});

test('what has no end holds nothing up: pipes, devices, holes, what an SQLite database computes', async () => {
  const at = (name: string) => join(directory, name);
  const subagent = (name: string) => claudeSession(1).join('\n').replaceAll('session-1', name);
  execFileSync('mkfifo', [at('pipe.jsonl'), at('agent-pipe.meta.json')]);
  await symlink('/dev/zero', at('zero.jsonl'));
  await symlink('/dev/zero', at('agent-zero.meta.json'));
  for (const name of ['pipe', 'zero']) {
    expect(await importFile(db, at(`${name}.jsonl`))).toEqual({ file: at(`${name}.jsonl`), error: 'it is no regular file' });
    await writeFile(at(`agent-${name}.jsonl`), subagent(`beside-${name}`));
    expect(await imported(at(`agent-${name}.jsonl`))).toMatchObject({ turns: 1 });
  }
  await writeFile(at('hole.jsonl'), claudeSession(1).join('\n'));
  await truncate(at('hole.jsonl'), 2 ** 40);
  expect(await importFile(db, at('hole.jsonl'))).toMatchObject({ error: 'a line is longer than 256 MB' });
  for (const [n, schema] of [
    'table cursorDiskKV (key, x, value generated always as (hex(zeroblob(450000000))))',
    'view cursorDiskKV as select 1 as key, 2 as value',
    'virtual table cursorDiskKV using fts5 (key, value)',
  ].entries()) {
    const computed = new DatabaseSync(at(`computed${n}.vscdb`));
    computed.exec(`create ${schema}`);
    computed.close();
    expect(await importFile(db, at(`computed${n}.vscdb`)), schema).toMatchObject({
      error: expect.stringContaining('without the table cursorDiskKV'),
    });
  }
});

test('one record never stops a file: nested too deep, NUL and half of a character in keys, counts and times that cannot be', async () => {
  const deep = (levels: number, inner = '1'): string => '{"a":['.repeat(levels / 2) + inner + ']}'.repeat(levels / 2);
  const lines = claudeSession(4).map((line) => line.replaceAll('session-1', 'session-9'));
  lines[2] = lines[2]!.replace('"input":{"file_path":"f1"}', `"input":{"file_path":"f1","deep":${deep(10_000)}}`);
  lines[3] = lines[3]!.replace('"content of 1"', `[{"type":"text","text":"seen"},{"type":"odd","deep":${deep(10_000)}}]`);
  lines[5] = lines[5]!.replace(
    '"input":{"file_path":"f2"}',
    String.raw`"input":{"file_path":"f2","k\u0000ey":1,"half\ud800":{"in\udc00side":[2]}}`,
  );
  lines[7] = lines[7]!.replace('"input_tokens":10', '"input_tokens":1e30').replace('2026-01-01T00:00:30', '+020000-01-01T00:00:30');
  lines[8] = lines[8]!.replace('"input_tokens":10', '"input_tokens":1e30').replace('2026-01-01T00:00:31', '+020000-01-01T00:00:31');
  for (const n of [10, 11])
    lines[n] = lines[n]!.replace('"output_tokens":5', '"output_tokens":1e400').replace(
      '"cache_read_input_tokens":100',
      '"cache_read_input_tokens":-3',
    );
  const file = join(directory, 'odd-values.jsonl');
  await writeFile(file, `${lines.join('\n')}\n`);
  const report = await imported(file);
  expect(report).toMatchObject({ turns: 4, calls: 4 });
  expect(report.leftOut).toEqual([
    { reason: 'value nested deeper than 100 levels', count: 2, line: 3 },
    { reason: 'result block of type odd', count: 1, line: 4 },
    { reason: 'key with NUL or half of a character', count: 1, line: 6 },
    { reason: 'time that cannot be', count: 2, line: 8 },
    { reason: 'count of tokens that cannot be', count: 6, line: 8 },
  ]);
  // As it stands, with its reason; what could be read is in the conversation.
  expect(
    (await raw(report.session)).filter(({ reason }) => /^(value|key)/.test(reason)).map(({ line, content }) => [line, content]),
  ).toEqual([
    [3, lines[2]],
    [4, lines[3]],
    [6, lines[5]],
  ]);
  const found = await database.query<{ input: string; result: string; tokens: (number | null)[]; at: string }>(`
    select k.input::text as input, k.result::text as result, array[t.input_tokens, t.output_tokens, t.cached_input_tokens] as tokens, to_char(t.started_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS') as at
      from ledger.turns t join ledger.tool_calls k on k.turn_id = t.id where t.work_item_id = '${report.workItemId}' order by t.depth`);
  expect(found.map(({ tokens, at }) => [tokens, at])).toEqual([
    [[10, 5, 100], '2026-01-01 00:00:10'],
    [[10, 5, 100], '2026-01-01 00:00:20'],
    [[0, 5, 100], '2026-01-01 00:00:20'],
    [[10, 0, 0], '2026-01-01 00:00:40'],
  ]);
  expect(found[0]?.input).toContain('{"file_path":"f1","deep":{"a":[{"a":[');
  expect(found[0]?.input.length).toBeGreaterThan(49_000);
  expect(JSON.parse(found[1]?.input ?? '')).toEqual({ file_path: 'f2', 'k␀ey': 1, 'half\ufffd': { 'in\ufffdside': [2] } });
  expect(await db.journal.read(report.workItemId, 0, null, null)).not.toEqual([]);
  expect(await contextOf(report.session)).toContain('content of 3');
  expect((await imported(file)).added).toEqual({ turns: 0, calls: 0 });
  // The same in a document of another format, in its texts of JSON and in a database.
  const document = join(directory, 'odd-document.json');
  await writeFile(
    document,
    `{"trajectory_format":"mini-swe-agent-1","messages":[{"role":"user","content":"Fix it."},{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"bash","arguments":${JSON.stringify(String.raw`{"command":"ls","n\u0000":${deep(200)}}`)}}}],"extra":{"deep":${deep(10_000)},"response":{"usage":{"prompt_tokens":1e30,"completion_tokens":7}}}}]}`,
  );
  const other = await imported(document);
  expect(other).toMatchObject({
    turns: 1,
    calls: 1,
    leftOut: [
      { reason: 'count of tokens that cannot be', count: 1 },
      { reason: 'value nested deeper than 100 levels', count: 1 },
    ],
  });
  expect(
    await database.query(
      `select t.input_tokens, t.output_tokens, k.input ->> 'command' as command, k.input -> 'n␀' is not null as has_key from ledger.turns t join ledger.tool_calls k on k.turn_id = t.id where t.work_item_id = '${other.workItemId}'`,
    ),
  ).toEqual([{ input_tokens: 0, output_tokens: 7, command: 'ls', has_key: true }]);
});

test('a last line that is not finished waits for the next time', async () => {
  const file = join(directory, 'unfinished.jsonl');
  const lines = claudeSession(2).map((line) => line.replaceAll('session-1', 'session-4'));
  const whole = lines.join('\n');
  const end = whole.length - lines.at(-1)!.length + 40;
  await writeFile(file, whole.slice(0, end));
  expect(await imported(file)).toMatchObject({ turns: 2, calls: 2, leftOut: [] });
  expect(await chain('claude-code:session-4')).toEqual({ turns: 2, calls: 2, open: 1 });
  await writeFile(file, whole); // whole now, still without its newline
  expect(await imported(file)).toMatchObject({ added: { turns: 0, calls: 0 }, leftOut: [] });
  expect(await chain('claude-code:session-4')).toEqual({ turns: 2, calls: 2, open: 0 });
  expect(await raw('claude-code:session-4')).toEqual([]);
});

test('what nobody reads is kept as it stands, once', async () => {
  const file = join(directory, 'unknown.jsonl');
  const odd = { type: 'frame-link', url: 'https://example.com', deep: { a: [1, null] } };
  const image = { type: 'image', source: { type: 'base64', data: 'AAAA' } };
  const [first, ...lines] = claudeSession(1).map((line) => line.replaceAll('session-1', 'session-5'));
  const withImage = lines[2]!.replace('"content of 1"', JSON.stringify([{ type: 'text', text: 'seen' }, image, image]));
  await writeFile(
    file,
    `${[first, JSON.stringify(odd), JSON.stringify({ type: 'progress', uuid: 'p', data: {} }), lines[0], lines[1], withImage].join('\n')}\n`,
  );
  for (let time = 0; time < 2; time++) {
    const report = await imported(file);
    expect(report.leftOut).toEqual([
      { reason: 'record of type frame-link', count: 1, line: 2 },
      { reason: 'record of type progress', count: 1, line: 3 },
      { reason: 'result block of type image', count: 2, line: 6 },
    ]);
    expect((await raw(report.session)).map(({ line, reason, content }) => [line, reason, JSON.parse(content) as unknown])).toEqual([
      [2, 'record of type frame-link', odd],
      [6, 'result block of type image', image],
      [6, 'result block of type image', image],
    ]);
  }
});

test('images that people and tools showed are artifacts, are shown again in a fork, and come back by their block', async () => {
  const file = join(directory, 'images.jsonl');
  const image = (data: string): object => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
  const [first, ...lines] = claudeSession(2).map((line) => line.replaceAll('session-1', 'session-img'));
  const prompt = JSON.parse(first!) as { message: { content: unknown } };
  prompt.message.content = [{ type: 'text', text: 'Look at this' }, image('aGVsbG8=')];
  const shown = lines[1]!.includes('tool_result') ? 1 : 2;
  lines[shown] = lines[shown]!.replace(/"content of \d"/, JSON.stringify([{ type: 'text', text: 'seen' }, image('d29ybGQ=')]));
  await writeFile(file, `${[JSON.stringify(prompt), ...lines].join('\n')}\n`);
  const report = await imported(file);
  expect(report.leftOut).toEqual([]);
  expect((await imported(file)).added).toEqual({ turns: 0, calls: 0 });
  const kept = await database.query<{ content: string }>(`select content from ledger.artifacts where media_type = 'image/png' order by 1`);
  expect(kept.map((row) => row.content)).toEqual(['aGVsbG8=', 'd29ybGQ=']);
  const [turn] = await database.query<{ id: string }>(`select head_turn_id as id from ledger.sessions where label = '${report.session}'`);
  await db.facultySave({ name: 'looker', accepts: [] });
  const [fork] = await database.query<{ id: string }>(`select id from ledger.work_fork('${turn?.id}', p_faculty => 'looker')`);
  const claim = await db.focusClaim(fork?.id ?? '', 'w', 60);
  if (claim.kind !== 'claimed') throw new Error(claim.kind);
  const begin = JSON.stringify(await db.iterationBegin(claim));
  for (const data of ['aGVsbG8=', 'd29ybGQ='])
    expect(begin).toContain(`"source":{"type":"base64","media_type":"image/png","data":"${data}"}`);
  const [block] = await database.query<{ text: string }>(`select ledger.recall_block('${fork?.id}', 1) as text`);
  expect(block?.text.match(/\[image [0-9a-f]{16}\]/g)).toHaveLength(2);
});

test.each(['the first first', 'the second first'])(
  'a session that goes on in a file of its own shares its turns with the one before: %s',
  async (order) => {
    const key = order.replaceAll(' ', '-');
    const lines = claudeSession(6).map((line) => line.replaceAll('session-1', key));
    const copied = lines.map((line) => line.replace(`"sessionId":"${key}"`, `"sessionId":"${key}-on"`).replace('"/work"', '"/elsewhere"'));
    const files = [join(directory, `${key}.jsonl`), join(directory, `${key}-on.jsonl`)] as const;
    await writeFile(files[0], lines.slice(0, 10).join('\n') + '\n');
    await writeFile(files[1], copied.join('\n') + '\n');
    const reports = [];
    for (const file of order === 'the first first' ? files : files.toReversed()) reports.push(await imported(file));
    expect(reports.map(({ turns, added }) => [turns, added.turns])).toEqual(
      order === 'the first first'
        ? [
            [3, 3],
            [6, 3],
          ]
        : [
            [6, 6],
            [3, 0],
          ],
    );
    expect(await chain(`claude-code:${key}`)).toMatchObject({ turns: 3, calls: 3 });
    expect(await chain(`claude-code:${key}-on`)).toMatchObject({ turns: 6, calls: 6, open: 0 });
    const before = await rows();
    for (const file of files) expect((await imported(file)).added).toEqual({ turns: 0, calls: 0 });
    expect(await rows()).toBe(before);
    // The first goes on by itself: a line of its own from where they part.
    await writeFile(
      files[0],
      [
        ...lines.slice(0, 10),
        ...lines
          .slice(10, 13)
          .map((line) =>
            line
              .replaceAll(`${key}-4`, `${key}-own`)
              .replaceAll('"m4"', '"own"')
              .replaceAll('"t4"', '"town"')
              .replaceAll('of 4', 'of its own'),
          ),
      ].join('\n') + '\n',
    );
    expect((await imported(files[0])).added).toEqual({ turns: 1, calls: 1 });
    expect(await chain(`claude-code:${key}`)).toMatchObject({ turns: 4, calls: 4 });
    expect(await contextOf(`claude-code:${key}-on`)).not.toContain('of its own');
  },
);

test('somebody went back: the line that was left has a session of its own, and the head does not see it', async () => {
  const file = join(directory, 'back.jsonl');
  const say = (uuid: string, parentUuid: string | null, second: number, content: string) =>
    JSON.stringify({
      type: 'user',
      uuid,
      parentUuid,
      sessionId: 'back',
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
      message: { role: 'user', content },
    });
  const answer = (uuid: string, parentUuid: string, text: string) =>
    JSON.stringify({
      type: 'assistant',
      uuid,
      parentUuid,
      sessionId: 'back',
      message: { id: `m-${uuid}`, role: 'assistant', model: 'claude-opus-5', content: [{ type: 'text', text }] },
    });
  const lines = [
    say('p1', null, 0, 'Begin'),
    answer('a1', 'p1', 'Begun'),
    say('p2', 'a1', 10, 'Use a cache'),
    answer('a2', 'p2', 'Cached'),
    say('p3', 'a2', 20, 'Test it'),
    answer('a3', 'p3', 'Tested'),
    say('p4', 'a1', 30, 'Use no cache'),
    answer('a4', 'p4', 'Not cached'),
    say('p5', 'a4', 40, 'Good'),
    answer('a5', 'p5', 'Thanks'),
  ];
  for (const length of [6, 8, 10, 10]) {
    await writeFile(file, `${lines.slice(0, length).join('\n')}\n`);
    await imported(file);
  }
  expect(await chain('claude-code:back')).toMatchObject({ turns: 3 });
  expect(await chain('claude-code:back@1')).toMatchObject({ turns: 3 });
  const texts = (context: string) =>
    (JSON.parse(context) as { messages: { content: { text: string }[] }[] }).messages.flatMap(({ content }) =>
      content.map(({ text }) => text),
    );
  expect(texts(await contextOf('claude-code:back'))).toEqual(['Begin', 'Begun', 'Use no cache', 'Not cached', 'Good']);
  expect(texts(await contextOf('claude-code:back@1'))).toEqual(['Begin', 'Begun', 'Use a cache', 'Cached', 'Test it']);
  expect(await database.query(`select label from ledger.sessions where label like 'claude-code:back%' order by 1`)).toEqual([
    { label: 'claude-code:back' },
    { label: 'claude-code:back@1' },
  ]);
});

test('a response that was cut off in its middle is completed', async () => {
  const file = join(directory, 'middle.jsonl');
  const record = (uuid: string, content: object, output: number) =>
    JSON.stringify({
      type: 'assistant',
      uuid,
      sessionId: 'middle',
      message: {
        role: 'assistant',
        id: 'm',
        model: 'claude-opus-5',
        usage: { input_tokens: 1, output_tokens: output },
        content: [content],
      },
    });
  const lines = [
    JSON.stringify({ type: 'user', uuid: 'middle-0', sessionId: 'middle', message: { role: 'user', content: 'Begin' } }),
    record('middle-1', { type: 'thinking', thinking: 'Hm.', signature: 'sig' }, 1),
    record('middle-2', { type: 'text', text: 'I look.' }, 1),
    record('middle-3', { type: 'text', text: 'And more.' }, 1),
    record('middle-4', { type: 'tool_use', id: 'middle-call', name: 'Read', input: {} }, 9),
  ];
  for (let length = 2; length <= lines.length; length++) {
    await writeFile(file, `${lines.slice(0, length).join('\n')}\n`);
    expect((await imported(file)).turns).toBe(1);
  }
  const blocks = await database.query<{ type: string; text: string | null }>(
    `select b ->> 'type' as type, b ->> 'text' as text from ledger.messages m join ledger.turns t on t.id = m.turn_id, json_array_elements(m.content) b where t.external_id = 'claude-code:middle-1' and m.role = 'assistant' order by m.sequence`,
  );
  expect(blocks).toEqual([
    { type: 'thinking', text: null },
    { type: 'text', text: 'I look.' },
    { type: 'text', text: 'And more.' },
    { type: 'tool_use', text: null },
  ]);
});

test('a session that goes on from one in which somebody went back shares both lines, and stores nothing twice', async () => {
  const say = (session: string, uuid: string, parentUuid: string | null, second: number, content: string) =>
    JSON.stringify({
      type: 'user',
      uuid: `both-${uuid}`,
      parentUuid: parentUuid && `both-${parentUuid}`,
      sessionId: session,
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
      message: { role: 'user', content },
    });
  const answer = (session: string, uuid: string, parentUuid: string, text: string) =>
    JSON.stringify({
      type: 'assistant',
      uuid: `both-${uuid}`,
      parentUuid: `both-${parentUuid}`,
      sessionId: session,
      message: { id: `both-${uuid}`, role: 'assistant', model: 'claude-opus-5', content: [{ type: 'text', text }] },
    });
  const lines = (id: string) => [
    say(id, 'p1', null, 0, 'Begin'),
    answer(id, 'a1', 'p1', 'Begun'),
    say(id, 'p2', 'a1', 10, 'One way'),
    answer(id, 'a2', 'p2', 'So'),
    say(id, 'p3', 'a1', 20, 'Another way'),
    answer(id, 'a3', 'p3', 'Or so'),
  ];
  const files = [join(directory, 'both.jsonl'), join(directory, 'both-on.jsonl')] as const;
  await writeFile(files[0], `${lines('both').join('\n')}\n`);
  await writeFile(
    files[1],
    `${[...lines('both-on'), say('both-on', 'p4', 'a3', 30, 'On'), answer('both-on', 'a4', 'p4', 'On it goes')].join('\n')}\n`,
  );
  for (const file of [...files, ...files]) await imported(file);
  expect(await database.query(`select count(*)::int as turns from ledger.turns where external_id like 'claude-code:both-%'`)).toEqual([
    { turns: 4 },
  ]);
  expect(
    (await database.query<{ label: string }>(`select label from ledger.sessions where label like 'claude-code:both%' order by 1`)).map(
      ({ label }) => label,
    ),
  ).toEqual(['claude-code:both', 'claude-code:both-on', 'claude-code:both@1']);
  expect(await chain('claude-code:both-on')).toMatchObject({ turns: 3 });
});

test('a file of many parts is stored as if it were read at once, and a subagent is linked to the call that started it', async () => {
  const file = join(directory, 'parts.jsonl');
  const lines = claudeSession(60).map((line, n) =>
    line.replaceAll('session-1', 'parts').replace(/content of \d+/, (text) => `${text} ${'long '.repeat(n % 30 === 0 ? 6000 : 600)}`),
  );
  const call = { type: 'tool_use', id: 'spawn', name: 'Task', input: { description: 'Look', prompt: 'Look around' } };
  const of = (more: object) => JSON.stringify({ sessionId: 'parts', uuid: String(Math.random()), ...more });
  const answer = (content: object, id: string, more: object = {}) =>
    of({ type: 'assistant', message: { role: 'assistant', id, model: 'claude-opus-5', content: [content] }, ...more });
  lines.push(
    answer(call, 'spawns'),
    of({ type: 'user', isSidechain: true, uuid: 's1', parentUuid: null, message: { role: 'user', content: 'Look around' } }),
    answer({ type: 'text', text: 'Looked' }, 'side', { isSidechain: true, parentUuid: 's1' }),
    of({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'spawn', content: 'Looked' }] } }),
    answer({ type: 'text', text: 'Done' }, 'last'),
  );
  await writeFile(file, `${lines.join('\n')}\n`);
  const parts: number[] = [];
  const report = await importFile(db, file, { onProgress: (percent) => parts.push(percent), partBytes: 10_000 });
  expect(parts.length).toBeGreaterThanOrEqual(10);
  expect(report).toMatchObject({
    sessions: [
      { session: 'claude-code:parts', turns: 62, calls: 61 },
      { session: 'claude-code:parts#1', turns: 1, calls: 0 },
    ],
  });
  expect(await chain('claude-code:parts')).toEqual({ turns: 62, calls: 61, open: 0 });
  const whole = await db.sessionImport({
    ...parseRecordedRun(
      lines
        .join('\n')
        .replaceAll('parts-', 'whole-')
        .replaceAll('"uuid":"0.', '"uuid":"1.')
        .replaceAll('"sessionId":"parts"', '"sessionId":"whole"'),
    ),
  });
  expect(whole).toMatchObject({ session: 'claude-code:whole', turns: 62, calls: 61 });
  const messages = async (session: string) => (JSON.parse(await contextOf(session)) as { messages: unknown }).messages;
  expect(await messages('claude-code:parts')).toEqual(await messages('claude-code:whole'));
  expect(
    await database.query(
      `select s.parent_session_label, s.task_description, k.provider_id from ledger.sessions s join ledger.tool_calls k on k.id = s.spawn_tool_call_id where s.label = 'claude-code:parts#1'`,
    ),
  ).toEqual([{ parent_session_label: 'claude-code:parts', task_description: 'Look', provider_id: 'spawn' }]);
  const before = await rows();
  expect(await importFile(db, file)).toMatchObject({ sessions: [{ added: { turns: 0, calls: 0 } }, { added: { turns: 0, calls: 0 } }] });
  expect(await rows()).toBe(before);
});

test('a Cursor database: conversations in the order of their headers, rewound bubbles kept apart', async () => {
  const file = join(directory, 'state.vscdb');
  const sqlite = new DatabaseSync(file);
  sqlite.exec('create table cursorDiskKV (key text unique on conflict replace, value blob)');
  const put = (key: string, value: unknown) =>
    sqlite.prepare('insert into cursorDiskKV values (?, ?)').run(key, Buffer.from(JSON.stringify(value)));
  const tool = (name: string, n: number, more: object = {}) => ({
    toolFormerData: {
      name,
      toolCallId: `call-${n}`,
      rawArgs: JSON.stringify({ n }),
      params: '{"other": 1}',
      result: JSON.stringify({ seen: n }),
      status: 'completed',
      ...more,
    },
  });
  const bubbles: [string, object][] = [
    ['z', { type: 1, text: 'Mend it' }],
    ['y', { type: 2, text: 'I look.', createdAt: '2026-01-01T00:00:01Z', thinking: { text: 'Hm.' } }],
    ['x', { type: 2, ...tool('read_file', 1) }],
    ['w', { type: 2, ...tool('grep', 2, { status: 'error' }) }],
    [
      'v',
      {
        type: 2,
        text: 'Done.',
        multiFileLinterErrors: [
          {
            relativeWorkspacePath: 'a.ts',
            errors: [
              { message: 'unused', source: 'ts', range: { startPosition: { line: 3, column: 1 }, endPosition: { line: 3, column: 9 } } },
            ],
          },
        ],
      },
    ],
    ['u', { type: 1, text: 'Thanks' }],
  ];
  for (const [id, bubble] of bubbles) put(`bubbleId:c1:${id}`, { bubbleId: id, ...bubble });
  put('bubbleId:c1:rewound', { type: 2, bubbleId: 'rewound', text: 'Taken back' });
  put('composerData:c1', {
    createdAt: Date.UTC(2026, 0, 1),
    modelConfig: { modelName: 'gpt-5.5' },
    subComposerIds: ['task-call-1\nx'],
    fullConversationHeadersOnly: [...bubbles.map(([bubbleId]) => ({ bubbleId })), { bubbleId: 'lost' }],
  });
  put('composerData:task-call-1\nx', {
    conversation: [
      { type: 1, text: 'Look' },
      { type: 2, text: 'Seen' },
    ],
  });
  put('composerData:empty', { fullConversationHeadersOnly: [] });
  sqlite.close();
  const report = await importFile(db, file);
  expect(report).toMatchObject({
    format: 'cursor',
    sessions: [
      { session: 'cursor:c1', turns: 3, calls: 2 },
      { session: 'cursor:c1#task-call-1\nx', turns: 1, calls: 0 },
    ],
  });
  expect('error' in report ? [] : report.leftOut).toEqual([
    { reason: 'bubble without content', count: 1 },
    { reason: 'bubble outside the conversation', count: 1 },
    { reason: 'thinking without a signature', count: 1, line: 2 },
    { reason: 'conversation without an answer', count: 1 },
  ]);
  expect(await chain('cursor:c1')).toEqual({ turns: 3, calls: 2, open: 0 });
  expect(await raw('cursor:c1')).toMatchObject([
    { reason: 'bubble outside the conversation', content: expect.stringContaining('Taken back') },
    { reason: 'thinking without a signature', content: '{"thinking":"Hm."}' },
  ]);
  expect(
    await database.query(
      `select tool_name, input, result, is_error from ledger.tool_calls k join ledger.turns t on t.id = k.turn_id where t.external_id like 'cursor:c1/%' order by t.depth`,
    ),
  ).toEqual([
    { tool_name: 'read_file', input: { n: 1 }, result: '{"seen":1}', is_error: false },
    { tool_name: 'grep', input: { n: 2 }, result: '{"seen":2}', is_error: true },
  ]);
  expect(await database.query(`select file_path, message, lint_source, start_line, end_col, severity from ledger.message_lints`)).toEqual([
    { file_path: 'a.ts', message: 'unused', lint_source: 'ts', start_line: 3, end_col: 9, severity: 'error' },
  ]);
  expect(
    await database.query(
      `select k.provider_id from ledger.sessions s join ledger.tool_calls k on k.id = s.spawn_tool_call_id where s.label like 'cursor:c1#%'`,
    ),
  ).toEqual([{ provider_id: 'call-1' }]);
  const before = await rows();
  await importFile(db, file);
  expect(await rows()).toBe(before);
  // Somebody goes back in Cursor: its headers lose what was left, and another bubble takes its place.
  const again = new DatabaseSync(file);
  const set = (key: string, value: unknown) =>
    again.prepare('insert into cursorDiskKV values (?, ?)').run(key, Buffer.from(JSON.stringify(value)));
  set('bubbleId:c1:t', { bubbleId: 't', type: 2, text: 'Otherwise.' });
  set('composerData:c1', {
    createdAt: Date.UTC(2026, 0, 1),
    modelConfig: { modelName: 'gpt-5.5' },
    fullConversationHeadersOnly: [...bubbles.slice(0, 3).map(([bubbleId]) => ({ bubbleId })), { bubbleId: 't' }],
  });
  again.close();
  expect(await importFile(db, file)).toMatchObject({ sessions: [{ session: 'cursor:c1', turns: 2, added: { turns: 1, calls: 0 } }, {}] });
  expect([await chain('cursor:c1'), await chain('cursor:c1@1')]).toEqual([
    { turns: 2, calls: 1, open: 0 },
    { turns: 3, calls: 2, open: 0 },
  ]);
  expect(await contextOf('cursor:c1')).not.toContain('Done.');
  const other = join(directory, 'other.vscdb');
  new DatabaseSync(other).exec('create table t (x)');
  expect(await importFile(db, other)).toEqual({ file: other, error: expect.stringContaining('without the table cursorDiskKV') });
});

test.skipIf(!existsSync(recordings))(
  'the story of a recorded session has what the person said, in its place, and nothing of what the client put there',
  async () => {
    for (const [file, told] of [
      ['happy-fixtures/1-continue-run-ls-tool.jsonl', ['say lol', 'run ls tool ']],
      ['agentv/03580ea95e.jsonl', ['remove agentv-claude-trace plugin no longer needed, can merge directly', 'please push']],
    ] as const) {
      const { workItemId } = await imported(recordings + file);
      const log = await db.workLog(workItemId, 1000);
      expect(log.filter(({ kind }) => kind === 'told').map(({ text }) => text)).toEqual(told);
      expect(log[0]).toMatchObject({ kind: 'told', name: 'person', text: told[0] });
      const second = log.findIndex(({ text }) => text === told[1]);
      expect(log.slice(0, second).some(({ kind }) => kind === 'said')).toBe(true);
      expect(log.slice(second + 1).some(({ kind }) => kind === 'said' || kind === 'call')).toBe(true);
    }
  },
);

test('a file has one line of what import prints, whatever its name', async () => {
  const file = join(directory, 'two\nlines.jsonl');
  const none = join(directory, 'not\none.jsonl');
  await writeFile(file, claudeSession(2).join('\n'));
  await writeFile(none, '');
  const env = { ...process.env, DATABASE_URL: database.url, WORK_LEDGER_SCHEMA: 'ledger' };
  const { stdout } = await cli(['import', file, none], { env });
  expect(stdout.trimEnd().split('\n')).toEqual([expect.stringContaining('two␊lines.jsonl'), expect.stringContaining('not␊one.jsonl')]);
});
