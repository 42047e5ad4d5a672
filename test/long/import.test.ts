// Recorded runs that nobody here wrote, as sessions of ours: every file counted as its index and another count say, stored once,
// and gone on from like our own. And files of records that nobody would write.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import fc from 'fast-check';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { importFile } from '../../runtime/import/importFile.ts';
import type { ImportedSession } from '../../runtime/import/importFile.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import type { ModelRequest } from '../../runtime/model/message.ts';
import { validateRequest } from '../../runtime/model/validateRequest.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { TestDatabase } from '../database.ts';
import { claudeSession, Importer } from '../importer.ts';
import { done, startTeam } from '../team.ts';
import { until } from '../workerProcess.ts';

let importer: Importer;
let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  importer = await Importer.open();
  ({ database, db } = importer);
});
afterAll(() => importer?.close());

const RUNS = Number(process.env['RUNS'] ?? 60);
test(`no record, however odd, fails its session: ${RUNS} files of odd records`, async () => {
  const odd = fc.oneof(
    {
      weight: 200,
      arbitrary: fc.oneof(
        fc.jsonValue(),
        fc.constantFrom<unknown>(null, -1, 1e300, '+275760-09-13T00:00:00.000Z', '\0', '\ud800', 'x'.repeat(5000), [null], [[]], {
          type: 'tool_use',
        }),
      ),
    },
    { weight: 1, arbitrary: fc.constantFrom<unknown>('x'.repeat(5_000_000), [{ type: 'text', text: 'y'.repeat(5_000_000) }]) },
  );
  const block = fc.record(
    {
      type: fc.constantFrom('text', 'tool_use', 'tool_result', 'thinking', 'image'),
      text: odd,
      id: odd,
      name: odd,
      input: odd,
      tool_use_id: odd,
      content: odd,
      is_error: odd,
      thinking: odd,
      signature: odd,
    },
    { requiredKeys: ['type'] },
  );
  const record = fc.record(
    {
      type: fc.constantFrom('user', 'assistant', 'system', 'progress', 'x'),
      uuid: odd,
      parentUuid: odd,
      isSidechain: fc.boolean(),
      agentId: odd,
      timestamp: odd,
      cwd: odd,
      isCompactSummary: odd,
      isMeta: odd,
      toolUseResult: odd,
      message: fc.oneof(
        odd,
        fc.record(
          {
            id: odd,
            model: odd,
            usage: fc.oneof(odd, fc.record({ input_tokens: odd, output_tokens: odd, cache_read_input_tokens: odd })),
            content: fc.oneof(odd, fc.array(fc.oneof(block, odd), { maxLength: 3 })),
          },
          { requiredKeys: ['content'] },
        ),
      ),
    },
    { requiredKeys: ['type'] },
  );
  const file = join(importer.directory, 'odd-records.jsonl');
  let n = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(record, { maxLength: 12 }), async (records) => {
      const sessionId = `odd-${n++}`;
      const good = claudeSession(2).map((line) => line.replaceAll('session-1', sessionId));
      await writeFile(
        file,
        [...good.slice(0, 4), ...records.map((one) => JSON.stringify({ ...one, sessionId })), ...good.slice(4)].join('\n') + '\n',
      );
      const report = await importFile(db, file);
      expect(report).toMatchObject({
        sessions: expect.arrayContaining([expect.objectContaining({ session: `claude-code:${sessionId}` })]),
      });
      const again = await importFile(db, file);
      expect('error' in again ? [] : again.sessions.map(({ added }) => added)).toEqual(
        'error' in again ? [null] : again.sessions.map(() => ({ turns: 0, calls: 0 })),
      );
    }),
    { numRuns: RUNS },
  );
});

const transcripts = fileURLToPath(new URL('../../../shared/transcripts/', import.meta.url));

/** Another count than the reader's own: by what the lines hold, not by what it made of them. */
function countClaude(text: string): { turns: number; calls: number } {
  const [ids, calls] = [new Set<string>(), new Set<string>()];
  const isSidechainFile = !text.split('\n').some((line) => line.includes('"message"') && line.includes('"isSidechain":false'));
  for (const piece of text.replaceAll('}{"', '}\n{"').split('\n')) {
    let record: {
      type?: string;
      isSidechain?: boolean;
      isApiErrorMessage?: boolean;
      message?: { id?: string; model?: string; content?: { type: string; id: string }[] };
    };
    try {
      record = JSON.parse(piece) as typeof record;
    } catch {
      continue;
    }
    if (
      record.type !== 'assistant' ||
      record.message?.model === '<synthetic>' ||
      record.isApiErrorMessage ||
      (record.isSidechain === true && !isSidechainFile)
    )
      continue;
    ids.add(record.message?.id ?? '');
    for (const block of record.message?.content ?? []) if (block.type === 'tool_use') calls.add(block.id);
  }
  return { turns: ids.size, calls: calls.size };
}

/** Which files the calls of a recording change, by its raw records alone: as many as there are written files. */
function countChanges(format: string, text: string): number {
  if (format === 'sweagent') {
    const { history } = JSON.parse(text) as { history: { action?: string; is_demo?: boolean }[] };
    return history.filter(({ action, is_demo }) => is_demo !== true && /^(create|edit) /.test(action ?? '')).length;
  }
  if (format === 'miniswe') return 0; // shell commands only
  type Block = { type?: string; name?: string; id?: string; input?: { file_path?: string }; arguments?: { path?: string } };
  type Line = {
    type?: string;
    isSidechain?: boolean;
    message?: { role?: string; content?: Block[] };
    payload?: { type?: string; name?: string; input?: string };
    data?: { toolRequests?: { name: string; arguments: { path?: string } }[] };
  };
  const seen = new Set<string>();
  let changes = 0;
  for (const piece of text.replaceAll('}{"', '}\n{"').split('\n')) {
    let line: Line;
    try {
      line = JSON.parse(piece) as Line;
    } catch {
      continue;
    }
    const blocks = Array.isArray(line.message?.content) ? line.message.content : [];
    for (const { type, name = '', id = '', input } of blocks) {
      if (
        type !== 'tool_use' ||
        !/^(Edit|Write|MultiEdit|NotebookEdit)$/.test(name) ||
        typeof input?.file_path !== 'string' ||
        seen.has(id)
      )
        continue;
      seen.add(id);
      changes++;
    }
    changes += blocks.filter(
      ({ type, name = '', arguments: given }) => type === 'toolCall' && /^(edit|write)$/.test(name) && typeof given?.path === 'string',
    ).length;
    if (line.payload?.type === 'custom_tool_call' && line.payload.name === 'apply_patch')
      changes += (line.payload.input?.match(/^\*\*\* (Add|Update|Delete) File: /gm) ?? []).length;
    changes +=
      line.data?.toolRequests?.filter(({ name, arguments: given }) => /^(edit|create)$/.test(name) && given.path !== undefined).length ?? 0;
  }
  return changes;
}

describe.skipIf(!existsSync(transcripts))('the recorded runs beside the project', () => {
  const index = existsSync(transcripts) ? readFileSync(`${transcripts}INDEX.md`, 'utf8') : '';
  const named = [
    ...index.matchAll(/^\| `([^`]+)` \| (claude|claude-sidechain|codex|copilot|pi|miniswe|sweagent) \| (\d+) \| (\d+) \|/gm),
  ].map(([, file, format, turns, calls]) => ({ file: file!, format: format!, turns: Number(turns), calls: Number(calls) }));
  const items = new Map<string, string>();
  const sessions = new Map<string, ImportedSession[]>();

  test('every one imports, counted as the index and another count say, and twice is once', async () => {
    expect(named.length).toBeGreaterThan(30);
    for (const { file, format, turns, calls } of named) {
      const path = transcripts + file;
      const report = await importer.import(path);
      expect({ file, turns: report.turns, calls: report.calls }).toEqual({ file, turns, calls });
      if (format.startsWith('claude')) expect({ file, ...countClaude(await readFile(path, 'utf8')) }).toEqual({ file, turns, calls });
      expect({ file, ...(await importer.chain(report.session)) }).toMatchObject({ file, turns, calls });
      items.set(file, report.workItemId);
      sessions.set(file, report.sessions);
    }
    const before = await importer.rows();
    for (const { file } of named) expect((await importer.import(transcripts + file)).added).toEqual({ turns: 0, calls: 0 });
    expect(await importer.rows()).toBe(before);
    // The index does not count the others; these were counted by hand.
    const others = Object.fromEntries(
      await Promise.all(
        readdirSync(transcripts, { recursive: true, encoding: 'utf8' })
          .filter((name) => /\.(jsonl|json|traj|vscdb)$/.test(name) && !named.some(({ file }) => file === name))
          .map(async (name) => {
            const report = await importFile(db, transcripts + name);
            return [
              name,
              'error' in report
                ? report.error.slice(0, 18)
                : [report.format, ...report.sessions.flatMap(({ turns, calls }) => [turns, calls])],
            ] as const;
          }),
      ),
    );
    expect(others).toEqual({
      'cursor-history/v016/composer-global-state.vscdb': ['cursor', 3, 2], // two texts, a call of the second, another call
      'entireio-cli/9595b49e7d.jsonl': ['gemini-cli', 2, 1],
      'inspect-scout-atif/openhands_hello-world.trajectory.json': ['atif', 2, 2],
      'inspect-scout-atif/terminus_2_hello-world-context-summarization-linear-history.trajectory.cont-1.json': ['atif', 5, 0],
      'inspect-scout-atif/terminus_2_hello-world-context-summarization-linear-history.trajectory.json': ['atif', 3, 0],
      'tau-bench/MockAirlineDomainEnv-few_shot.jsonl': 'not a recorded run', // dialogues as rendered text
    });
  });

  test('every call that changes a file is among the files of its message, as another count says', async () => {
    let all = 0;
    for (const { file, format } of named) {
      const [found] = await database.query<{ n: number }>(`
        with line as (select distinct a.id from ledger.sessions s, ledger.turn_ancestry(s.head_turn_id) a where s.label in (${sessions
          .get(file)
          ?.map(({ session }) => `'${session}'`)
          .join(', ')}))
        select count(*)::int as n from ledger.message_files f join ledger.messages m on m.id = f.message_id join line on line.id = m.turn_id where f.kind = 'written'`);
      const expected = countChanges(format, await readFile(transcripts + file, 'utf8'));
      expect({ file, changes: found?.n }).toEqual({ file, changes: expected });
      all += expected;
    }
    expect(all).toBeGreaterThan(500);
  });

  test('subagents are sessions of their own, linked to their calls, and a continued session shares what it goes on from', async () => {
    const links = await database.query<{ label: string; tool: string | null; turns: number }>(`
      select replace(s.label, 'claude-code:', '') as label, k.tool_name as tool, (select count(*)::int from ledger.turn_ancestry(s.head_turn_id)) as turns
        from ledger.sessions s left join ledger.tool_calls k on k.id = s.spawn_tool_call_id where s.is_subagent and s.origin = 'claude-code' and s.label !~ 'odd-|parts' order by 1`);
    expect(links.filter(({ turns }) => turns > 0)).toEqual([
      { label: '258c7280-ae70-4798-800f-63464d01a85d#a881341', tool: 'Task', turns: 3 }, // a file of its own
      // wrote the summary of a compaction: no call started it
      { label: '258c7280-ae70-4798-800f-63464d01a85d#acompact-fffbd0', tool: null, turns: 1 },
      { label: '5c0375b4-57a5-4f26-b12d-d022ee4e51b7#1', tool: 'Task', turns: 3 }, // in the main file, without a name
      { label: '5c0375b4-57a5-4f26-b12d-d022ee4e51b7#2', tool: 'Task', turns: 7 },
      { label: 'a4e5b271-6948-4581-893b-4595c9ec41ea#1', tool: 'Task', turns: 3 },
    ]);
    const [pair] = await database.query<{ alone: number; shared: number }>(`
      select count(*) filter (where t.work_item_id = w.id)::int as alone, count(*) filter (where t.work_item_id <> w.id)::int as shared
        from ledger.sessions s join ledger.work_items w on w.external_id = 'import:' || s.label, ledger.turn_ancestry(s.head_turn_id) a join ledger.turns t using (id)
       where s.label = (select session_label from ledger.foci where work_item_id = '${items.get('oh-my-posh/643ee79ac6.jsonl')}') and t.turn_type = 'normal'`);
    // Its records are the beginning of 0002671e7a, which was read before it.
    expect(pair).toEqual({ alone: 0, shared: 48 });
  });

  test('their packets fit 500, 2,000 and 8,000 tokens, and are the same each time', async () => {
    for (const [file, id] of items) {
      for (const target of [500, 2000, 8000]) {
        const packet = await db.journal.resumptionContext(id, target);
        expect(packet.tokenCount, file).toBeLessThanOrEqual(target);
        expect(JSON.stringify(packet).length, file).toBeLessThanOrEqual(target * 4);
        expect(packet.originalPrompt.length, file).toBeGreaterThan(0);
        expect(await db.journal.resumptionContext(id, target)).toEqual(packet);
        expect(packet.suggestedNextSteps, file).not.toContain('Begin.');
        if (target === 8000) expect(packet.workSummary, file).not.toBe('');
      }
    }
  });

  test('every one forks, at its end and along its way, and the request that comes next is one that the API takes', async () => {
    await db.facultySave({
      name: 'forks',
      awareness: { enabled: false },
      engage: { workspace: 'none', context_window: 20_000_000, ledger_nudge_interval: 0 },
    });
    const turns = await database.query<{ id: string; depth: number; session: string; open: boolean }>(`
      select t.id, t.depth, f.session_label as session, exists (select from ledger.tool_calls k where k.turn_id = t.id and k.completed_at is null) as open
        from ledger.turns t join ledger.foci f on f.id = t.focus_id and f.faculty = 'imported' where t.turn_type = 'normal'
       and (t.depth % 8 = 0 or f.session_label like 'claude-code:odd-%' or not exists (select from ledger.turns n where n.parent_turn_id = t.id))
       order by f.session_label, t.depth`);
    const broken: string[] = [];
    let forks = 0;
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      for (const turn of turns) {
        // A message makes the last one a user's, also where nothing but text was answered. All of it is taken back.
        await client.query('begin');
        try {
          const fork = await client.query<{ id: string }>(`select id from ledger.work_fork($1, 'Go on', 'forks')`, [turn.id]);
          const id = fork.rows[0]!.id;
          const claim = await client.query<{ lease: string }>(`select ledger.focus_claim($1, 'w') ->> 'lease' as lease`, [id]);
          const begun = await client.query<{ stage: { kind: string; request: ModelRequest } }>(
            'select ledger.iteration_begin($1, $2) as stage',
            [id, claim.rows[0]!.lease],
          );
          const { kind, request } = begun.rows[0]!.stage;
          const found = kind === 'call_model' ? validateRequest(request) : [kind];
          if (found.length > 0) broken.push(`${turn.session} ${turn.depth}: ${found.slice(0, 2).join('; ')}`);
          forks++;
        } catch (error) {
          if (!turn.open) broken.push(`${turn.session} ${turn.depth}: ${String(error)}`);
        } finally {
          await client.query('rollback');
        }
      }
    } finally {
      await client.end();
    }
    expect(broken).toEqual([]);
    expect(forks).toBeGreaterThan(300);
  });

  test('what people typed while the agent worked is told to it, and in the journal', async () => {
    const id = items.get('oh-my-posh/0002671e7a.jsonl') ?? '';
    const typed = 'how does the SVG handle the correct font with the power line symbols';
    const said = await database.query<{ source: string; text: string }>(
      `select m.source, ledger._result_text(m.content) as text from ledger.messages m join ledger.turns t on t.id = m.turn_id where t.work_item_id = '${id}' and m.role = 'user' order by t.depth, m.sequence`,
    );
    expect(said.filter(({ text }) => text.startsWith(typed)).map(({ source }) => source)).toEqual(['human']);
    expect(said.filter(({ text }) => /^The (memory )?file /.test(text)).every(({ source }) => source === 'event')).toBe(true);
    const feedback = (await db.journal.read(id, 0, null, null))
      .filter(({ entryType }) => entryType === 'user_feedback')
      .map(({ content }) => (content as { message: string }).message);
    expect(feedback.filter((message) => message.startsWith(typed))).toHaveLength(1);
    expect(feedback).toEqual(
      said
        .filter(({ source }) => source === 'human')
        .slice(-feedback.length)
        .map(({ text }) => text),
    );
  });

  test('a run of 200 calls is forked in its middle and gone on with; a fork from before a compaction does not see it', async () => {
    const id = items.get('entireio-cli/a64c933a42.jsonl') ?? '';
    const turns = await database.query<{ id: string; depth: number; turn_type: string }>(
      `select id, depth, turn_type from ledger.turns where work_item_id = '${id}' order by depth`,
    );
    const compaction = turns.findIndex((turn) => turn.turn_type === 'compaction');
    expect(compaction).toBeGreaterThan(10);
    const [beforeCut, afterCut] = [turns[compaction - 5]!, turns[compaction + 5]!];
    const summary = (
      await database.query<{ summary: string }>(
        `select e.summary from ledger.compactions c join ledger.elisions e on e.id = c.elision_id where c.turn_id = '${turns[compaction]!.id}'`,
      )
    )[0]!.summary.slice(0, 100);
    expect(await db.contextAt(beforeCut.id)).not.toContain(JSON.stringify(summary).slice(1, -1));
    expect(await db.contextAt(afterCut.id)).toContain(JSON.stringify(summary).slice(1, -1));

    await db.facultySave({
      name: 'goes-on',
      awareness: { enabled: false },
      engage: { workspace: 'none', context_window: 2_000_000, elide_budget: 0, ledger_nudge_interval: 0 },
    });
    const model = await startTeam({ '': () => done('gone on') });
    const worker = await startWorker({
      url: database.url,
      schema: 'ledger',
      tools: [],
      log: pino({ level: 'silent' }),
      docker: null,
      model: createModelClient({ apiKey: 'k', baseURL: model.url }),
    });
    try {
      for (const [from, sees] of [
        [beforeCut, false],
        [afterCut, true],
      ] as const) {
        const fork = await db.workFork(from.id, 'Go another way', 'goes-on');
        await until(async () => (await db.workItem(fork.id))?.resolved_at);
        expect((await db.workItem(fork.id))?.state).toBe('completed');
        const [made] = await database.query<{ id: string; parent_turn_id: string }>(
          `select id, parent_turn_id from ledger.turns where work_item_id = '${fork.id}' order by depth limit 1`,
        );
        expect(made?.parent_turn_id).toBe(from.id);
        type Request = { messages: unknown[] };
        const mine = JSON.parse(await db.contextAt(made!.id)) as Request;
        const theirs = JSON.parse(await db.contextAt(turns[turns.indexOf(from) + 1]!.id)) as Request;
        // The same up to the fork; then its own words.
        expect(mine.messages.slice(0, -1)).toEqual(theirs.messages.slice(0, mine.messages.length - 1));
        expect(JSON.stringify(mine.messages.at(-1))).toMatch(/You are on a branch.*Go another way/);
        expect(JSON.stringify(mine).includes(JSON.stringify(summary).slice(1, -1))).toBe(sees);
      }
    } finally {
      await worker.stop();
      await model.close();
    }
  });
});
