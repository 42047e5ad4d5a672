// Plays the calls of a response as runtime/focus/runTools.ts and runCode.ts run them: hooks, begin, run, settle; code with
// calls of its own, which is run again from its start after an interruption.

import { z } from 'zod';

import * as answers from '../../runtime/ledger/answers.ts';
import type { PlayedCall } from './commands.ts';
import { expect } from './expect.ts';
import { contentOf, entryOf, hookResult, resultOf } from './replies.ts';
import type { Stage, Worker } from './worker.ts';
import { stop } from './world.ts';
import type { Call, Exchange, Item, Notes } from './world.ts';

type Open = z.output<typeof answers.call>;

/** Runs what is open of the newest response. */
export async function runCalls(worker: Worker, open: readonly Open[]): Promise<void> {
  const { item } = worker;
  const made = item.head?.calls ?? [];
  await refresh(worker.stage, item.head);
  const pairs = open.map((one): [Open, Call] => {
    const call = made.find((other) => other.id === one.id);
    if (!call?.isOpen) throw new Error(`a call that was not made, or is over: ${one.name} ${JSON.stringify(one.input)}`);
    return [one, call];
  });
  const inDatabase = pairs.filter(([one]) => one.implementation !== 'runtime');
  const elsewhere = pairs.filter(([one]) => one.implementation === 'runtime');
  if (worker.work.isBackwards) elsewhere.reverse();
  const wanted = [...elsewhere.slice(0, 1), ...inDatabase, ...elsewhere.slice(1)];
  while (wanted.length > 0) {
    const next = wanted.findIndex(([one]) => !one.behind.some((id) => wanted.some(([other]) => other.id === id)));
    const [[one, call]] = wanted.splice(next, 1) as [[Open, Call]];
    await runCall(worker, one, call);
  }
}

/** Which calls are open, and which of these wait: the engine answers waits by itself. */
export async function refresh({ ledger }: Stage, exchange: Exchange | null): Promise<void> {
  if (!exchange) return;
  const stand = await ledger.rows<{ id: string; status: string }>(
    'select id, status from ledger.tool_calls where turn_id = $1 and parent_call_id is null',
    exchange.turnId,
  );
  for (const call of exchange.calls) {
    const status = stand.find((row) => row.id === call.id)?.status ?? '';
    if (call.isOpen && call.isRunning && status === 'uncertain') stop(call);
    call.isOpen = ['pending', 'running', 'waiting'].includes(status);
    call.isWaiting = status === 'waiting';
  }
}

async function runCall(worker: Worker, one: Open, call: Call): Promise<void> {
  if (worker.hasHooks && one.implementation !== 'engine' && !one.is_cleared) {
    const answer = worker.nextHook;
    const said = answers.toolHookRecorded.parse(
      await worker.call(
        'tool_hook_record',
        one.id,
        'before_tool',
        await hookResult(worker.stage.world, 'before_tool', answer),
        null,
        false,
        null,
        null,
      ),
    );
    worker.stage.world.note(worker.item, 'tool hook');
    if (said.kind === 'settled') return stop(call);
    if (said.kind === 'waiting') {
      call.isWaiting = true;
      return;
    }
  }
  if (one.implementation !== 'runtime') return execute(worker, one, call);
  if (one.name === 'execute_code') return runCode(worker, one, call);
  const behind = z.array(z.string()).parse(await worker.call('tool_call_begin', one.id));
  if (behind.includes(one.id)) return; // behind one that waits for a person
  call.isRunning = one.name === 'edit_file';
  await settle(
    worker,
    one,
    call,
    call.played.tool === 'read_file' || call.played.tool === 'edit_file'
      ? resultOf(worker.stage.world, call.played)
      : { text: `done ${worker.stage.world.mark('r')}`, isError: false, images: [] },
  );
}

async function settle(worker: Worker, one: Open, call: Call, result: Result): Promise<void> {
  const images = result.images.length > 0 ? JSON.stringify(result.images) : null;
  if (worker.hasHooks) {
    const answer = worker.nextHook;
    await worker.call(
      'tool_hook_record',
      one.id,
      'after_tool',
      await hookResult(worker.stage.world, 'after_tool', answer),
      result.text,
      result.isError,
      images,
      null,
    );
    call.result = answer === 'nothing' || answer === 'fail' || answer === 'garbage' ? result : null;
  } else {
    await worker.call('tool_call_settle', one.id, result.text, result.isError, images, null, null);
    call.result = result;
  }
  noted(worker, call, result);
}

type Result = Exclude<Call['result'], null | 'stopped'>;

/** A call whose result was stored with it. */
export function settled(worker: Worker, call: Call, result: Result): void {
  call.result = result;
  worker.stage.world.note(worker.item, 'early');
  noted(worker, call, result);
}

function noted(worker: Worker, call: Call, result: Result): void {
  call.isOpen = false;
  call.isRunning = false;
  const { world } = worker.stage;
  if (result.isError) world.note(worker.item, result.images.length > 0 ? 'error with images' : 'error');
  if (result.images.length > 0) world.note(worker.item, 'image');
  if (result.text.length > 50_000) world.note(worker.item, 'large result');
}

/** A tool of the engine's own. */
async function execute(worker: Worker, one: Open, call: Call): Promise<void> {
  const {
    item,
    stage: { world, ledger },
  } = worker;
  const wait = call.name === 'wait_for' && call.input['claim'] === undefined ? await waitOf(worker, call) : null;
  await worker.call('tool_call_execute', one.id);
  call.isOpen = false;
  const [row] = await ledger.rows<{ status: string; result: unknown }>(
    'select status, result from ledger.tool_calls where id = $1',
    one.id,
  );
  // A step is refused where the plan whose item it names is not this attempt's.
  if (call.name === 'ledger_append' && row?.status === 'completed') entered(worker, call);
  if (call.name === 'spawn_child_work' && row?.status === 'completed') {
    const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(JSON.stringify(row.result))?.[0] ?? '';
    world.note(world.add({ id, faculty: item.faculty, parent: item }), 'child');
    world.note(item, 'children');
  }
  if (row?.status === 'waiting') {
    call.isWaiting = true;
    call.isOpen = true;
    world.note(item, call.name === 'wait_for' ? 'wait for others' : 'await');
  }
  if (wait !== null) {
    if (wait === 'failed') world.note(item, 'wait that goes round');
    expect(
      row?.status === wait,
      () => `${item.name} waits for ${JSON.stringify(call.input)}: ${JSON.stringify(row)}, and should be ${wait}`,
    );
  }
  if (call.name === 'claim' && row?.status === 'completed') {
    await checkClaims(worker);
    await worker.stage.session.checkClaim(String(call.input['key']), JSON.stringify(row.result));
  }
  if (call.name === 'memory') await checkNotes(worker, one.id);
  if (call.name === 'recall_block') world.note(item, 'recall');
  if (call.name === 'notify_me' && row?.status === 'completed') world.note(item, 'asks to be told');
}

function entered({ item, stage: { world, ledger } }: Worker, call: Call): void {
  call.isEntry = true;
  item.entries.push({
    type: String(call.input['entry_type']),
    content: contentOf(call.input),
    turnId: item.head?.turnId ?? null,
    at: ledger.now,
    isAuto: false,
    isInherited: false,
    keep: (call.input['keep'] as string[] | undefined) ?? null,
  });
  world.note(
    item,
    String(call.input['entry_type']),
    ...('keep' in call.input ? ['keep'] : []),
    ...('items' in call.input ? ['plan of items'] : []),
  );
}

/** An entry that the database has recorded with its response, where nothing kept it from it. */
export async function entryRecorded(worker: Worker, call: Call): Promise<void> {
  const [row] = await worker.stage.ledger.rows<{ status: string }>('select status from ledger.tool_calls where id = $1', call.id);
  if (row?.status !== 'completed' && row?.status !== 'failed') return;
  call.isOpen = false;
  worker.stage.world.note(worker.item, 'entry with its response');
  if (row.status === 'completed') entered(worker, call);
}

/** A command on the notes says what it must after all that others did, and does it, once. */
async function checkNotes({ item, stage: { world, ledger } }: Worker, id: string): Promise<void> {
  const { notes } = world;
  const [row] = await ledger.rows<{ text: string; input: Record<string, unknown> }>(
    `select ledger._result_text(result) as text, coalesce(rewritten_input, input) as input
       from ledger.tool_calls where id = $1 and status in ('completed', 'failed')`,
    id,
  );
  // Not run: interrupted, refused by a hook, or not a command any more; or the ledger's notes of no project are 200.
  if (!row || notes.done.has(id) || !/^(Error: (?!")|File|Here|The|Succ)/.test(row.text) || row.text.startsWith('Error: There are 200'))
    return;
  notes.done.add(id);
  const { wanted, lines } = answerOf(item, notes, row.input);
  expect(row.text.startsWith(wanted), () => `${item.name} was told ${JSON.stringify(row.text)}, and should be: ${wanted}`);
  world.note(item, 'notes', ...(/changed since|on a branch/.test(wanted) ? ['notes of others'] : []));
  const known = notes.seen.get(item.id) === notes.version;
  if (lines !== undefined) {
    notes.lines = lines;
    notes.version++;
  }
  const isShown = ['view', 'create'].includes(String(row.input['command'])) && !wanted.startsWith('Error');
  if (isShown || (known && lines !== undefined)) notes.seen.set(item.id, notes.version);
  const [found] = await ledger.rows<{ content: string | null; version: number }>(
    `select content, version from ledger.v_memory_versions where path_now = $1 order by version desc limit 1`,
    notes.path,
  );
  expect(
    (found?.content ?? null) === (notes.lines?.join('\n') ?? null) && (found?.version ?? 0) === notes.version,
    () => `the notes are ${JSON.stringify(found)}, and should be ${JSON.stringify(notes.lines)} in version ${notes.version}`,
  );
}

/** What a command on the notes answers, by how that begins, and what they say then; no lines: as before. */
function answerOf(
  item: Item,
  { path, lines, version, seen }: Notes,
  input: Record<string, unknown>,
): { wanted: string; lines?: string[] | null } {
  const mine = seen.get(item.id);
  const stale =
    mine === undefined && item.isFork
      ? 'Error: You are on a branch'
      : mine !== undefined && mine < version
        ? `Error: File ${path} was changed since`
        : null;
  const {
    command,
    insert_line: at,
    insert_text: text,
    new_str: next,
  } = input as { command: string; insert_line: number; insert_text: string; new_str: string };
  if (command === 'create')
    return lines
      ? { wanted: `Error: File ${path} already exists` }
      : { wanted: 'File created', lines: String(input['file_text']).split('\n') };
  if (!lines) return { wanted: `Error: The path ${path} does not exist` };
  if (command === 'view') return { wanted: `Here's the content of ${path} with line numbers:\n     1\t${lines[0]}` };
  if (command === 'str_replace') {
    const [before = '', after, more] = lines.join('\n').split('top');
    if (after === undefined || more !== undefined) return { wanted: 'Error: No replacement was performed' };
    return { wanted: 'The memory file has been edited.', lines: `${before}${next}${after}`.split('\n') };
  }
  if (command === 'insert' && at > lines.length) return { wanted: 'Error: Invalid `insert_line`' };
  if (stale !== null && !(command === 'insert' && at === 0)) return { wanted: stale };
  return command === 'insert'
    ? { wanted: `The file ${path} has been edited.`, lines: lines.toSpliced(at, 0, text) }
    : { wanted: `Successfully deleted ${path}`, lines: null };
}

/** Nobody holds what another one holds for itself, but who works for it. */
async function checkClaims({ item, stage: { world, ledger } }: Worker): Promise<void> {
  world.note(item, 'claim');
  const [both] = await ledger.rows<{ says: string }>(`
    with recursive above(id, upper) as (
      select id, parent_id from ledger.work_items where parent_id is not null
      union all
      select a.id, w.parent_id from above a join ledger.work_items w on w.id = a.upper where w.parent_id is not null
    )
    select format('%s hold %s', array[a.work_item_id, b.work_item_id], a.key) as says
      from ledger.v_claims a join ledger.v_claims b on (a.scope, a.key) = (b.scope, b.key) and a.work_item_id < b.work_item_id
     where a.is_binding and b.is_binding and 'exclusive' in (a.mode, b.mode)
       and not exists (select from above u where (u.id, u.upper) in ((a.work_item_id, b.work_item_id), (b.work_item_id, a.work_item_id)))`);
  expect(both === undefined, () => both!.says);
}

/** What becomes of a wait for others: it is over at once, lasts, or goes round, be it through work below an item or through a claim. */
async function waitOf(worker: Worker, call: Call): Promise<string> {
  const { item, stage } = worker;
  const rows = await stage.ledger.rows<{ from: string; to: string | null }>(`
    select k.work_item_id as from, w.id as to
      from ledger.tool_calls k, jsonb_array_elements_text(k.input::jsonb -> 'work_item_ids') i, ledger.work_items w
     where k.tool_name = 'wait_for' and k.status = 'waiting' and w.id::text = i and w.resolved_at is null
    union all
    select parent_id, id from ledger.work_items where parent_id is not null and resolved_at is null
    union all
    select k.work_item_id, ledger._claim_held_by(i, k.input ->> 'claim', k.id)
      from ledger.tool_calls k join ledger.work_items i on i.id = k.work_item_id
     where k.tool_name = 'wait_for' and k.status = 'waiting' and k.input ->> 'claim' is not null`);
  const wanted = (call.input['work_item_ids'] as string[] | undefined) ?? [];
  const open = await stage.ledger.rows<{ id: string }>(
    'select id from ledger.work_items where id = any ($1::uuid[]) and resolved_at is null',
    wanted,
  );
  const reached = new Set(open.map((row) => row.id));
  for (const id of reached) for (const row of rows) if (row.from === id && row.to !== null) reached.add(row.to);
  return reached.has(item.id) ? 'failed' : wanted.length === 0 || open.length > 0 ? 'waiting' : 'completed';
}

async function runCode(worker: Worker, one: Open, call: Call): Promise<void> {
  const {
    stage: { world },
    item,
  } = worker;
  const { nested } = call.played as Extract<PlayedCall, { tool: 'code' }>;
  world.note(item, 'code');
  await worker.call('tool_call_begin', one.id);
  for (const [ordinal, played] of nested.entries()) {
    const inner = (call.nested[ordinal] ??= innerOf(worker, played));
    for (;;) {
      const said = answers.nestedCall.parse(await worker.call('tool_call_nested', one.id, ordinal, inner.name, inner.input));
      if (said.kind === 'diverged') throw new Error(said.reason);
      if (said.kind === 'unknown' || said.kind === 'settled') break;
      if (said.kind === 'waiting') {
        world.note(item, 'approval in code');
        await worker.call('tool_call_suspend', one.id);
        call.isWaiting = true;
        return;
      }
      if (!inner.isOpen) throw new Error(`a call from code that is over is to be run again: ${inner.name}`);
      await runCall(worker, said.call, inner);
      world.note(item, 'nested call');
      if (inner.isEntry && inner.input['entry_type'] === 'step') world.note(item, 'step in code');
      if (inner.isWaiting) inner.isWaiting = false;
    }
  }
  const mark = world.mark('r');
  await settle(worker, one, call, { text: `[code] ${mark}`, isError: false, images: [] });
}

function innerOf(worker: Worker, played: PlayedCall): Call {
  const { world } = worker.stage;
  const input =
    played.tool === 'entry'
      ? entryOf(world, played, worker.item)
      : 'file' in played
        ? { path: `src/${played.file}.ts`, mark: world.mark('c') }
        : { mark: world.mark('c') };
  return {
    id: null,
    name: played.tool === 'entry' ? 'ledger_append' : 'name' in played ? played.name : played.tool,
    input,
    played,
    result: null,
    learned: null,
    isSeen: true,
    isEntry: false,
    isOpen: true,
    isWaiting: false,
    isRunning: false,
    nested: [],
  };
}
