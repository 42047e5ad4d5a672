// Two sessions of Claude Code itself in one repository, and an agent of a worker in the same directory: what each of their requests says
// of the others, who is warned and refused at a file, and what they tell each other. Nothing here goes by the clock: sessions do what a
// prompt says, and the worker's agent waits until a person wakes it.

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openDb } from '../../runtime/ledger/db.ts';
import type { Db } from '../../runtime/ledger/db.ts';
import { createModelClient } from '../../runtime/model/callModel.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';
import type { ScriptedModel } from '../../runtime/model/scriptedModel.ts';
import { projectOf } from '../../runtime/project.ts';
import { builtinTools } from '../../runtime/tools/builtinTools.ts';
import { startWorker } from '../../runtime/worker/worker.ts';
import type { Worker } from '../../runtime/worker/worker.ts';
import { claude, ClaudeHome, isWait, saySkipped, toolOf, use, waitForTools } from '../claudeClient.ts';
import type { Block, Request, Session } from '../claudeClient.ts';
import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { call, calls, done } from '../team.ts';
import { until } from '../workerProcess.ts';

saySkipped('claudeCodeTeam.test.ts');

let database: TestDatabase;
let db: Db;
let home: ClaudeHome;
/** By session and prompt: what the model says to it, response by response. */
const replies: Record<string, Record<string, Block[][]>> = {};

function reply({ messages, tools }: Request, who: string): Block[] {
  const prompts = replies[who] ?? {};
  // The prompt that was typed last.
  const asked = messages.map(({ role, content }) =>
    role === 'user' ? Object.keys(prompts).find((words) => textOf(content).includes(words)) : undefined,
  );
  const at = asked.findLastIndex((words) => words !== undefined);
  const said = messages.slice(at).filter((message) => message.role === 'assistant' && !isWait(message)).length;
  const next = prompts[asked[at] ?? '']?.[said] ?? [{ type: 'text', text: 'Done.' }];
  const isThere = ({ type, name }: Block): boolean => type !== 'tool_use' || (tools ?? []).some((tool) => tool.name === name);
  return next.every(isThere) ? next : waitForTools();
}
const textOf = (content: string | Block[]): string =>
  typeof content === 'string' ? content : content.map((block) => (block.type === 'text' ? String(block['text']) : '')).join('\n');
/** All that a request says of what others do: prompts, hooks, calls and their results, without the client's lists of agents and skills. */
const saidIn = (request: Pick<Request, 'messages'> | undefined): string =>
  (request?.messages ?? [])
    .map(({ role, content }) => `${role}: ${typeof content === 'string' ? content : content.map(saidInBlock).join('\n')}`)
    .map((text) => text.replace(/Available agent types for the Agent tool:[^]*/, ''))
    .join('\n');
const saidInBlock = (block: Block): string =>
  typeof block['text'] === 'string' ? block['text'] : typeof block['content'] === 'string' ? block['content'] : JSON.stringify(block);
/** Who is at what, as the warnings say, without how long ago. */
const claimsIn = (text: string): string[] =>
  [...text.matchAll(/\[claim\] (.* changed \S+) .* ago and is still working on it: (".*")/g)].map(([, who, why]) => `${who}: ${why}`);
const times = (text: string, words: string): number => text.split(words).length - 1;

/** Somebody at a session: types a prompt, which its model answers so; returns what its last request said. */
async function ask(who: string, session: Session, words: string, ...responses: Block[][]): Promise<string> {
  (replies[who] ??= {})[words] = responses;
  return saidIn((await session.say(words)).at(-1));
}
const stateOf = async (id: string): Promise<string | undefined> => (await db.workItem(id))?.state;

describe.skipIf(claude === '')('two sessions of Claude Code and a worker in one repository', () => {
  /** By exchange of the worker's agent: all that its request said. */
  const toldToWorker: string[] = [];
  const open: Session[] = [];
  /** Whom the worker's agent tells something. */
  let readers: string[] = [];
  let model: ScriptedModel;
  let worker: Worker;
  const begin = (who: string): Session => {
    const session = home.session(who);
    open.push(session);
    return session;
  };
  const pathOf = (name: string): string => join(home.work, name);
  const read = (name: string): Block[] => [use('Read', { file_path: pathOf(name) })];
  const edit = (name: string, from: string, to: string): Block[] => [
    use('Edit', { file_path: pathOf(name), old_string: from, new_string: to }),
  ];

  beforeAll(async () => {
    database = await createDatabase();
    db = await openDb(database.url, 'ledger');
    home = await ClaudeHome.open(database.url, reply);
    await promisify(execFile)('git', ['init', '-q', home.work]);
    await writeFile(pathOf('a.txt'), 'one');
    model = await startScriptedModel((request, { exchange }) => {
      toldToWorker[exchange] = saidIn(request);
      const waits = calls(call('wait_for', { until: new Date(Date.now() + 86_400_000).toISOString() }));
      return (
        [
          calls(
            call('ledger_append', { entry_type: 'decision', content: 'Round at the edge' }),
            call('write_file', { path: 'b.txt', content: 'of the worker' }),
          ),
          waits,
          calls(
            ...readers.map((to, n) => call('tell_agent', { to, text: `b.txt rounds now, reader ${n}` })),
            call('edit_file', { path: 'a.txt', old_string: 'four', new_string: 'five' }),
          ),
          waits,
        ][exchange] ?? done('Rounded.')
      );
    });
    worker = await startWorker({
      url: database.url,
      schema: 'ledger',
      tools: builtinTools,
      log: pino({ level: 'silent' }),
      docker: null,
      model: createModelClient({ apiKey: 'k', baseURL: model.url }),
    });
    await db.facultySave({
      name: 'Rounder',
      accepts: ['round'],
      engage: { workspace: 'host', workspace_dir: home.work, tools: ['write_file', 'edit_file', 'tell_agent'] },
    });
  });
  afterAll(async () => {
    await Promise.all(open.map((session) => session.end()));
    await worker?.stop();
    await model?.close();
    await home?.close();
    await db?.close();
    await database?.drop();
  });

  test('they know of each other as colleagues, guard their files, and hear what they are told', async () => {
    const project = await projectOf(home.work);
    const { id } = await db.workSubmit({ workType: 'round', description: 'Round all amounts', project, workspaceDir: home.work });
    await until(async () => (await stateOf(id)) === 'waiting');

    // The first is told of the worker's item: what it waits for, which files it changed, what it decided.
    const alpha = begin('alpha');
    const alphaFirst = await ask('alpha', alpha, 'ALPHA writes', read('a.txt'), edit('a.txt', 'one', 'two'));
    const background = `- [Rounder/round] Round all amounts (waits for a time)\n  changed: b.txt\n  decision: Round at the edge`;
    expect(alphaFirst).toContain(`In this directory or its repository:\n${background}\n</data`);
    expect(alphaFirst).not.toMatch(/BETA|\[claim\]/);

    // The second is told of both, and warned at the file that the first is at; so is the first, then, and whoever is at the worker's.
    const beta = begin('beta');
    const betaFirst = await ask('beta', beta, 'BETA writes', read('a.txt'), edit('a.txt', 'two', 'two three'));
    expect(betaFirst).toContain(
      `In this directory or its repository:\n- [session] ALPHA writes (active)\n  changed: a.txt\n${background}\n</data`,
    );
    expect(claimsIn(betaFirst)).toEqual(['Another session changed a.txt: "ALPHA writes"']);
    const alphaNext = await ask(
      'alpha',
      alpha,
      'ALPHA goes on',
      edit('a.txt', 'three', 'four'),
      [...read('b.txt')],
      edit('b.txt', 'of the worker', 'of ALPHA, too'),
    );
    // The first hears of the second with its next prompt, though it began before it; of what it was told before it hears nothing more.
    expect(alphaNext).toMatch(
      /UserPromptSubmit hook success: What is new elsewhere .*\n\n<(data-\w+)>\n== AWARENESS ==\n\nCurrently active:\n- \[session\] BETA writes\n<\/\1>/,
    );
    expect(['BETA writes\n', 'decision: Round at the edge', 'Recent decisions'].map((words) => times(alphaNext, words))).toEqual([1, 1, 0]);
    expect(claimsIn(alphaNext)).toEqual([
      'Another session changed a.txt: "BETA writes"',
      'Rounder/round changed b.txt: "Round all amounts"',
    ]);
    expect(await readFile(pathOf('a.txt'), 'utf8')).toBe('two four');

    // The worker's agent hears of both sessions, and at the file of each; and tells both something.
    const sessions = await database.query<{ id: string; description: string; project: string }>(
      `select id, description, project from ledger.work_items where work_type = 'journal' order by id`,
    );
    expect(sessions.map((one) => [one.description, one.project])).toEqual([
      ['ALPHA writes', project],
      ['BETA writes', project],
    ]);
    readers = sessions.map((one) => one.id.slice(-6));
    await db.workMessage(id, 'Tell them', true);
    await until(async () => toldToWorker.length === 4 && (await stateOf(id)) === 'waiting');
    expect(toldToWorker[1]).not.toMatch(/ALPHA|BETA/);
    expect(toldToWorker[2]).toContain('Currently active:\n- [session] BETA writes\n- [session] ALPHA writes\n');
    expect(claimsIn(toldToWorker[3] ?? '')).toEqual([
      'Another session changed a.txt: "ALPHA writes"',
      'Another session changed a.txt: "BETA writes"',
    ]);

    // Each session hears, with its next hook, what was told to it; what one answers reaches the agent when it goes on.
    const message = (n: number): RegExp =>
      new RegExp(
        `UserPromptSubmit hook success: \\[message [0-9a-f]{6} from another agent, Rounder/round ${id.slice(-6)}\\] .*\\n\\n<data-\\w+>\\nb\\.txt rounds now, reader ${n}\\n</data`,
      );
    expect(await ask('alpha', alpha, 'ALPHA hears', [use(toolOf('reply'), { text: 'Thanks from ALPHA' })])).toMatch(message(0));
    expect(await ask('beta', beta, 'BETA hears')).toMatch(message(1));

    // Where the project refuses, the second is refused what the first holds, until the first ends.
    await database.query(`select ledger.project_set('${project}', 'refuse')`);
    const denied = await ask('beta', beta, 'BETA is denied', read('a.txt'), edit('a.txt', 'five', 'six'));
    expect(denied).toContain(`user: [claim] Not executed: Another session holds a.txt since`);
    expect(denied).toContain(`"ALPHA writes" (work item ${sessions[0]?.id})`);
    expect(await readFile(pathOf('a.txt'), 'utf8')).toBe('two five');
    await alpha.end();
    await until(async () => (await stateOf(sessions[0]?.id ?? '')) === 'paused');
    const free = await ask('beta', beta, 'BETA is free', edit('a.txt', 'five', 'six'));
    expect(claimsIn(free).at(-1)).toBe('Rounder/round changed a.txt: "Round all amounts"');
    expect(await readFile(pathOf('a.txt'), 'utf8')).toBe('two six');

    await beta.end();
    await db.workMessage(id, 'Go on', true);
    await until(async () => (await stateOf(id)) === 'completed');
    expect(toldToWorker[4]).toMatch(/\[message \w+ from another agent, session \w+\] .*\n\n<data-\w+>\nThanks from ALPHA\n<\/data/);
    expect(toldToWorker).toHaveLength(5);

    // In no request does one stand as the task of another, and what is for one stands in no other's.
    const said = home.requests.map((request) => ({ who: request.who, text: saidIn(request) }));
    const last = (who: string): string => said.findLast((one) => one.who === who)?.text ?? '';
    for (const { who, text } of said) {
      expect(text).not.toMatch(/Work to continue|What work item|The previous session|## The task/);
      expect(text).not.toContain(who === 'alpha' ? 'reader 1' : 'reader 0');
      expect(text).not.toContain('Tell them');
      expect(
        text.match(/^(?:user: )?(?:ALPHA|BETA) (?:writes|goes on|hears|is \w+)$/gm)?.every((words) => words.includes(who.toUpperCase())),
      ).toBe(true);
    }
    expect([times(last('alpha'), 'reader 0'), times(last('beta'), 'reader 1'), times(toldToWorker[4] ?? '', 'Thanks from')]).toEqual([
      1, 1, 1,
    ]);
  });
});
