// Drives a recorded run through the loop: model and tools answer from the record, everything in between is real. `make replay FILE=…` does
// it with a file, in a ledger that is gone when it ends; CLOSE=5: with a step after every five calls.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { pino } from 'pino';
import { z } from 'zod';

import { parseRecordedRun, stepsOf } from '../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../plv8/readers/recordedRun.ts';
import { storableText } from '../plv8/storable.ts';
import { follow } from '../runtime/commands/follow.ts';
import { StatusLine } from '../runtime/commands/output.ts';
import { hostName } from '../runtime/config.ts';
import { readyLedger } from '../runtime/install/installLedger.ts';
import { startThrowaway } from '../runtime/install/throwaway.ts';
import type { WorkItem } from '../runtime/ledger/answers.ts';
import { openChecked } from '../runtime/ledger/db.ts';
import type { Db } from '../runtime/ledger/db.ts';
import { createModelClient } from '../runtime/model/callModel.ts';
import type { ModelClient } from '../runtime/model/message.ts';
import type { ScriptedReply } from '../runtime/model/script.ts';
import { startScriptedModel } from '../runtime/model/scriptedModel.ts';
import { validateRequest } from '../runtime/model/validateRequest.ts';
import { logDestination } from '../runtime/telemetry/logs.ts';
import type { Tool } from '../runtime/tools/tool.ts';
import { startWorker } from '../runtime/worker/worker.ts';
import type { Worker } from '../runtime/worker/worker.ts';

export type ReplayReport = {
  workItemId: string;
  format: string;
  state: string;
  modelCalls: number;
  toolCalls: number;
  /** Calls that the record does not have: 0 unless the loop changed what the model said. */
  strangeCalls: number;
  requests: number;
  validRequests: number;
  rebuiltRequests: number;
};

/**
 * Drives the run to its end, in a ledger that is made where there is none, and reports what was sent and what could be rebuilt.
 * With `closeEvery` a step goes beside the next calls after every `closeEvery` calls, so that blocks close as with our own agents.
 */
export async function replayRun(run: RecordedRun, url: string, schema: string, closeEvery = Infinity): Promise<ReplayReport> {
  await readyLedger(url, schema);
  const db = await openChecked(url, schema);
  const steps = stepsOf(run, closeEvery);
  const replies = run.exchanges
    .map((exchange, n) => replyOf(exchange, steps[n] ?? null, n < run.exchanges.length - 1))
    .concat(lastWords(run));
  let asked = 0; // not counted from the request's messages: elision removes some
  const model = await startScriptedModel(() => replies[asked++] ?? { content: [{ type: 'text', text: 'Done.' }] });
  const { tools, strangeCalls } = recordedTools(run);
  let worker: Worker | undefined;
  try {
    const faculty = await db.facultySave({
      name: 'replay',
      accepts: ['replay'],
      engage: {
        model: run.model ?? 'recorded',
        tools: tools.map((tool) => tool.name),
        max_turns: run.exchanges.length + 5,
        // The recorded agent had no ledger to be reminded of; its calls and the sizes of its requests are given.
        ledger_nudge_interval: 0,
        stall_limit: 0,
        parallel_tool_execution: false, // calls with equal input are answered in their order
        context_window: 2_000_000_000,
        max_result_chars: 2_000_000_000,
        ...(run.system !== '' && { system_prompt: run.system }),
      },
      recover: { max_attempts: 1 },
    });
    const keeper = randomUUID();
    const item = await db.workSubmitKept({ workType: 'replay', description: taskOf(run), faculty }, keeper, hostName());
    worker = await startWorker({
      url,
      schema,
      model: asReplay(createModelClient({ apiKey: 'replay', baseURL: model.url })),
      tools,
      treeId: item.id, // in a ledger that others work in, too, it drives nothing of theirs
      log: pino({ level: 'error' }, logDestination()),
    });
    await db.workerStop(keeper); // the worker has taken over
    const status = new StatusLine();
    const ended = await follow(
      db,
      url,
      item.id,
      {
        onPoll: async () => status.show(`replaying: ${(await db.workProgress(item.id)).turns} of ${run.exchanges.length} model calls`),
      },
      new AbortController().signal,
    );
    status.clear();
    return await reportOn(
      db,
      run,
      ended ?? item,
      model.requests.map((request) => request.body),
      strangeCalls(),
    );
  } finally {
    await worker?.stop();
    await model.close();
    await db.close();
  }
}

/** Its turns are marked by their provider, because their token counts are those of the recorded requests. */
const asReplay = (client: ModelClient): ModelClient => ({
  call: async (request, how) => {
    const outcome = await client.call(request, how);
    return outcome.kind === 'response' ? { ...outcome, response: { ...outcome.response, provider: 'replay' } } : outcome;
  },
});

/** A valid description of a work item: some text, at most 64 KiB. */
function taskOf(run: RecordedRun): string {
  const prompt = Buffer.from(storableText(run.prompt));
  if (prompt.toString().trim() === '') return 'A run whose beginning was not recorded.';
  return prompt.length <= 65_536
    ? prompt.toString()
    : `${prompt
        .subarray(0, 65_000)
        .toString()
        .replace(/\uFFFD$/, '')}\n[the rest of the prompt is left out]`;
}

function replyOf(exchange: RecordedRun['exchanges'][number], step: string | null, goesOn: boolean): ScriptedReply {
  const content = [
    // Thinking without a signature cannot be sent back.
    ...(exchange.thinking ?? []).filter((block) => block.signature !== '').map((block) => ({ type: 'thinking', ...block })),
    ...(exchange.text.trim() === '' ? [] : [{ type: 'text', text: exchange.text }]),
    ...(step === null ? [] : [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'step', content: step } }]),
    ...exchange.calls.map((call) => ({ type: 'tool_use', name: call.name, input: call.input })),
  ];
  // A response without a call would end the work; if the record continues, so must the replay.
  const isPause = exchange.calls.length === 0 && step === null && goesOn;
  return {
    content,
    ...(isPause && { stopReason: 'pause_turn' }),
    ...(exchange.usage && {
      usage: {
        input_tokens: exchange.usage.inputTokens,
        output_tokens: exchange.usage.outputTokens,
        cache_read_input_tokens: exchange.usage.cachedInputTokens,
      },
    }),
  };
}

const lastWords = (run: RecordedRun): ScriptedReply[] =>
  run.exchanges.at(-1)?.calls.length === 0
    ? []
    : [{ content: [{ type: 'text', text: `The record ends here${run.outcome ? `: ${run.outcome}` : ''}.` }] }];

/** One tool for each recorded name; a call is answered from the record, calls with equal input in their order. */
function recordedTools(run: RecordedRun): { tools: Tool[]; strangeCalls: () => number } {
  let strange = 0;
  const results = new Map<string, { result: string | null; isError: boolean }[]>();
  const keyOf = (name: string, input: unknown): string => `${name} ${JSON.stringify(input)}`;
  for (const call of run.exchanges.flatMap((exchange) => exchange.calls)) {
    const key = keyOf(call.name, call.input);
    results.set(key, [...(results.get(key) ?? []), call]);
  }
  const names = [...new Set(run.exchanges.flatMap((exchange) => exchange.calls.map((call) => call.name)))];
  const tools = names.map((name): Tool => ({
    name,
    description: `The tool ${name} of the recorded run.`,
    input: z.looseObject({}),
    effect: 'pure',
    risk: 'safe',
    execute: async (input) => {
      const recorded = results.get(keyOf(name, input))?.shift();
      if (!recorded) {
        strange++;
        return { content: 'The record has no such call.', isError: true };
      }
      return { content: recorded.result ?? 'The record has no result for this call.', isError: recorded.isError };
    },
  }));
  return { tools, strangeCalls: () => strange };
}

async function reportOn(db: Db, run: RecordedRun, item: WorkItem, bodies: readonly string[], strangeCalls: number): Promise<ReplayReport> {
  const rebuilt = new Set<string>();
  for (const turnId of await db.turnIds(item.id)) rebuilt.add(await db.contextAt(turnId));
  return {
    workItemId: item.id,
    format: run.format,
    state: item.state,
    modelCalls: run.exchanges.length,
    toolCalls: (await db.toolCalls(item.id)).filter((call) => call.tool_name !== 'ledger_append').length,
    strangeCalls,
    requests: bodies.length,
    validRequests: bodies.filter((body) => validateRequest(JSON.parse(body)).length === 0).length,
    rebuiltRequests: bodies.filter((body) => rebuilt.has(body)).length,
  };
}

if (import.meta.main) {
  const [file = '', closeEvery] = process.argv.slice(2);
  const run = parseRecordedRun(await readFile(file, 'utf8'));
  const server = await startThrowaway({ isDurable: false });
  try {
    const report = await replayRun(run, server.url, 'work_ledger', closeEvery === undefined ? Infinity : Number(closeEvery));
    console.log(
      [
        `${report.format}: ${report.modelCalls} recorded model calls, ${report.toolCalls} tool calls, work item ${report.state}`,
        `${report.requests} requests sent, ${report.validRequests} valid, ${report.rebuiltRequests} rebuilt byte for byte by context_at()`,
      ].join('\n'),
    );
    const isWhole =
      report.state === 'completed' &&
      report.strangeCalls === 0 &&
      report.rebuiltRequests === report.requests &&
      report.validRequests === report.requests;
    process.exitCode = isWhole ? 0 : 1;
  } finally {
    await server.stop();
  }
}
