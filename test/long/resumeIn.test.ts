// Sessions that go on in other programs: every recorded run as Claude Code and Codex keep theirs, read again; and the programs themselves
// go on with them, and tell their model what was said and done before.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { parseRecordedRuns } from '../../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';
import { importFile } from '../../runtime/import/importFile.ts';
import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { validateRequest } from '../../runtime/model/validateRequest.ts';
import { conversationOf, missingIn } from '../carried.ts';
import type { Said } from '../carried.ts';
import { claude, ClaudeHome, saySkipped } from '../claudeClient.ts';
import type { Block } from '../claudeClient.ts';
import { cli } from '../cli.ts';
import { codex, CodexHome } from '../codexClient.ts';
import type { Item } from '../codexClient.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';

const transcripts = fileURLToPath(new URL('../../../shared/transcripts/', import.meta.url));
const isThere = existsSync(transcripts);
saySkipped('part of test/long/resumeIn.test.ts');
if (codex === '')
  console.warn('part of test/long/resumeIn.test.ts is skipped: WORK_LEDGER_CODEX is not set (test/fetchCodex.sh DIRECTORY fetches Codex)');
if (!isThere) console.warn('test/long/resumeIn.test.ts is skipped: there are no recorded runs beside the project');

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  const [{ alter } = { alter: '' }] = await database.query<{ alter: string }>(
    `select format('alter database %I set work_ledger.redact to off', current_database()) as alter`,
  );
  await database.query(alter); // compared with the files, which have what looks like secrets
  db = await openDb(database.url, 'ledger');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** Everything that a run says, in its order. */
const textOf = (said: Said[]): string =>
  said
    .flatMap(({ told, text, calls }) => [
      told,
      text,
      ...calls.flatMap(({ input, result }) => [
        ...Object.values(input).map((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
        result ?? '',
      ]),
    ])
    .join('\n');
/** "NAME.KEY" of the inputs that were told to be left out. */
const unusedIn = (leftOut: string[]): Set<string> =>
  new Set(
    leftOut.flatMap((reason) => [
      ...(/^the input "(.*)" of calls of (.*)$/.exec(reason)?.slice(1, 3).toReversed().join('.').split('\n') ?? []),
    ]),
  );
const jsonLines = (records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');

async function imported(file: string): Promise<{ run: RecordedRun; id: string }> {
  const report = await importFile(db, transcripts + file);
  if ('error' in report) throw new Error(`${file}: ${report.error}`);
  const [run] = parseRecordedRuns(readFileSync(transcripts + file, 'utf8'));
  return { run: run!, id: report.sessions[0]!.workItemId };
}

describe.skipIf(!isThere)('the recorded runs beside the project', () => {
  const files = isThere
    ? readdirSync(transcripts, { recursive: true, encoding: 'utf8' }).filter(
        (name) => /\.(jsonl|json|traj)$/.test(name) && !name.startsWith('tau-bench'),
      )
    : [];

  test.each(files.toSorted())('%s says the same in Claude Code and in Codex', async (file) => {
    const { run, id } = await imported(file);
    const conversation = conversationOf(run);
    for (const program of ['claude-code', 'codex']) {
      const { records, leftOut } = await db.sessionExport(id, program, '/work');
      const [again] = parseRecordedRuns(jsonLines(records));
      const said = conversationOf(again!, true);
      expect({ program, missing: missingIn(textOf(said), conversation, unusedIn(leftOut)) }).toEqual({ program, missing: [] });
      if (run.format !== program) continue;
      const calls = (all: Said[]) => all.flatMap((one) => one.calls);
      const noResult = '[work-ledger] No result was recorded for this call: it may or may not have run.';
      if (program === 'codex') expect(calls(said).length).toBeGreaterThan(0);
      else expect(calls(said)).toEqual(calls(conversation).map((call) => ({ ...call, result: call.result ?? noResult })));
      expect(
        said
          .map(({ text }) => text)
          .join('\n\n')
          .trim(),
      ).toBe(
        conversation
          .map(({ text }) => text)
          .join('\n\n')
          .trim(),
      );
    }
  });

  /** A request to the Messages API. */
  const messagesText = (messages: { content: string | Block[] }[]): string =>
    messages.flatMap(({ content }) => (typeof content === 'string' ? [content] : content.flatMap(blockTexts))).join('\n');
  const blockTexts = (block: Block): string[] => [
    ...(typeof block['text'] === 'string' ? [block['text']] : []),
    ...(block.type === 'tool_use'
      ? Object.values(block['input'] as object).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      : []),
    ...(typeof block['content'] === 'string'
      ? [block['content']]
      : Array.isArray(block['content'])
        ? (block['content'] as Block[]).flatMap(blockTexts)
        : []),
  ];

  const resumed = [
    'agentv/259dbac2ae.jsonl',
    'agentv/7f20d04ae3.jsonl',
    'swe-agent/function_calling__install-1.traj',
    'fsm1-cipher-box/7ccb277956.jsonl',
  ];

  test.skipIf(claude === '')('Claude Code itself goes on with sessions of four programs', async () => {
    const home = await ClaudeHome.open(database.url, () => [{ type: 'text', text: 'It is done.' }]);
    try {
      for (const file of resumed) {
        const { run, id } = await imported(file);
        const { leftOut } = await db.sessionExport(id, 'claude-code', home.work);
        const { code, stdout, stderr } = await cli(['resume', id, '--in', 'claude-code', '--workspace', home.work], {
          env: { DATABASE_URL: database.url, WORK_LEDGER_SCHEMA: 'ledger', CLAUDE_CONFIG_DIR: `${home.root}/home/.claude` },
        });
        expect({ code, stderr: stderr.replaceAll(/^left out: .*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
        const session = /claude --resume (\S+)/.exec(stdout)![1]!;
        const before = home.requests.length;
        expect(await home.prompt('Is anything left?', '--resume', session)).toBe(session);
        const request = home.requests[before]!;
        expect({ file, broken: validateRequest(request as never) }).toEqual({ file, broken: [] });
        const conversation = [...conversationOf(run), { told: 'Is anything left?', text: '', calls: [] }];
        expect({ file, missing: missingIn(messagesText(request.messages), conversation, unusedIn(leftOut)) }).toEqual({
          file,
          missing: [],
        });
      }
    } finally {
      await home.close();
    }
  });

  const itemTexts = (item: Item): string[] => [
    ...(item.content ?? []).map(({ text }) => text ?? ''),
    ...(item.type === 'function_call'
      ? Object.values(JSON.parse(item.arguments ?? '{}') as object).map((value) =>
          typeof value === 'string' ? value : JSON.stringify(value),
        )
      : []),
    item.input ?? '',
    ...(typeof item.output === 'string' ? [item.output] : (item.output ?? []).map(({ text }) => text ?? '')),
  ];

  test.skipIf(codex === '')('Codex itself goes on with sessions of four programs', async () => {
    const home = await CodexHome.open('It is done.');
    try {
      for (const file of resumed) {
        const { run, id } = await imported(file);
        const { leftOut } = await db.sessionExport(id, 'codex', home.work);
        const { code, stdout } = await cli(['resume', id, '--in', 'codex', '--workspace', home.work], {
          env: { DATABASE_URL: database.url, WORK_LEDGER_SCHEMA: 'ledger', CODEX_HOME: home.home },
        });
        expect(code).toBe(0);
        const session = /codex resume (\S+)/.exec(stdout)![1]!;
        expect(await home.resume(session, 'Is anything left?')).toContain('It is done.');
        const { input } = home.requests.at(-1)!;
        const conversation = [...conversationOf(run), { told: 'Is anything left?', text: '', calls: [] }];
        expect({ file, missing: missingIn(input.flatMap(itemTexts).join('\n'), conversation, unusedIn(leftOut)) }).toEqual({
          file,
          missing: [],
        });
        const ids = (type: RegExp) => input.flatMap(({ type: of, call_id }) => (type.test(of) ? (call_id ?? []) : []));
        expect(ids(/_call_output$/).toSorted()).toEqual(ids(/_call$/).toSorted());
      }
    } finally {
      await home.close();
    }
  });
});
