// Drives a recorded run through the loop: model and tools answer from the record, everything in between is real. `make replay FILE=…` does
// it with a file, in a ledger that is gone when it ends; CLOSE=5: with a step after every five calls.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { pino } from 'pino';

import { parseRecordedRun } from '../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../plv8/readers/recordedRun.ts';
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
import { startScriptedModel } from '../runtime/model/scriptedModel.ts';
import { validateRequest } from '../runtime/model/validateRequest.ts';
import { logDestination } from '../runtime/telemetry/logs.ts';
import { inOrder, ofRun, recordedTools } from '../runtime/testing/recording.ts';
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
  const { task, replies, calls } = ofRun(run, closeEvery);
  const model = await startScriptedModel(inOrder(replies).script);
  const { tools, strangeCalls } = recordedTools(calls);
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
    const item = await db.workSubmitKept({ workType: 'replay', description: task, faculty }, keeper, hostName());
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
      strangeCalls().length,
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
