// Plays the calls of a response as runtime/focus/runTools.ts and runCode.ts run them: hooks, begin, run, settle; code with
// calls of its own, which is run again from its start after an interruption.

import { z } from 'zod';

import * as answers from '../../runtime/ledger/answers.ts';
import type { PlayedCall } from './commands.ts';
import { contentOf, entryOf, hookResult, resultOf } from './replies.ts';
import type { Stage, Worker } from './worker.ts';
import { stop } from './world.ts';
import type { Call, Exchange } from './world.ts';

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
        hookResult(worker.stage.world, 'before_tool', answer),
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
      hookResult(worker.stage.world, 'after_tool', answer),
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
  await worker.call('tool_call_execute', one.id);
  call.isOpen = false;
  const [row] = await ledger.rows<{ status: string; result: unknown }>(
    'select status, result from ledger.tool_calls where id = $1',
    one.id,
  );
  // A step is refused where the plan whose item it names is not this attempt's.
  if (call.name === 'ledger_append' && row?.status === 'completed') {
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
  if (call.name === 'spawn_child_work' && row?.status === 'completed') {
    const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(JSON.stringify(row.result))?.[0] ?? '';
    world.note(world.add({ id, faculty: item.faculty, parent: item }), 'child');
    world.note(item, 'children');
  }
  if (row?.status === 'waiting') {
    call.isWaiting = true;
    call.isOpen = true;
    world.note(item, 'await');
  }
  if (call.name === 'recall_block') world.note(item, 'recall');
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
