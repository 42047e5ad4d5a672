// The stages of an iteration, in order: each is one call, which is given the lease and returns the next step.

import { z } from 'zod';

import { storableJson } from '../../plv8/storable.ts';
import type { ContentBlock, ModelError, ModelResponse } from '../model/message.ts';
import type { Request, Step } from './answers.ts';
import { begin, claim, failure, hookRecorded, nestedCall, step, toolHookRecorded } from './answers.ts';
import type { Calls } from './pool.ts';

/** The right to write to one work item. */
export type Lease = { work_item_id: string; lease: string };

/** An image for the model, at most 5 MiB as base64. */
export type ToolImage = { media_type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'; data: string };

/** The outcome of a tool call. */
export type ToolOutcome = {
  content: string;
  isError: boolean;
  /** Shown after the text. */
  images?: ToolImage[];
  /** What the code that made the call gets in place of the text: any JSON. */
  value?: unknown;
};

/** A result that the database does not have yet. */
export type CallResult = { id: string; outcome: ToolOutcome };

/**
 * A call that began before its response was recorded. outcome null: it has not ended yet. is_entry: a ledger_append whose input matches its
 * schema, which the database runs.
 */
export type EarlyCall = { ordinal: number; id: string; outcome: ToolOutcome | null; is_entry?: true };

/** How the code of an execute_code call ran: bytes_seen by it, bytes_returned to the model. */
export type CodeRun = {
  verdict: string;
  calls: number;
  bytes_seen: number;
  bytes_returned: number;
  duration_ms: number;
  timeout_seconds: number;
};

/** How a command of the faculty ended. */
export type HookResult = {
  stdout: string;
  stderr: string;
  exit_code: number | null;
  signal: string | null;
  is_timed_out: boolean;
  timeout_seconds: number;
  is_truncated: boolean;
  duration_ms: number;
  error: string | null;
};

/** The request that extends a kept one. */
function extended(kept: Request | null, since: readonly unknown[] | null | undefined): Record<string, unknown> {
  const messages = kept?.request['messages'];
  if (!since || !Array.isArray(messages)) throw new Error('the database sent the end of a request whose beginning is not here');
  return { ...kept?.request, messages: [...(messages as unknown[]), ...since] };
}

const ids = z.array(z.string());

export const iteration = ({ call, once }: Calls) => ({
  focusClaim: (workItemId: string, workerId: string, leaseSeconds: number) =>
    call('focus_claim', [workItemId, workerId, leaseSeconds], claim),

  /** begin: null if there is no claim, or if iterationBegin() must still be called. */
  focusBegin: (workItemId: string, workerId: string, leaseSeconds: number) =>
    call('focus_begin', [workItemId, workerId, leaseSeconds], z.object({ claim, begin: begin.nullable() })),

  iterationBegin: ({ work_item_id, lease }: Lease) => call('iteration_begin', [work_item_id, lease], begin),

  /** Not repeated: the next call sends everything again. Returns false if nobody watches. */
  turnStream: ({ work_item_id, lease }: Lease, turnId: string, content: readonly ContentBlock[]) =>
    once.call('turn_stream', [work_item_id, lease, turnId, storableJson(content)], z.boolean()),

  /**
   * `driven`: the iteration, and how long this worker has driven the item; null: it releases the item. `kept`: the iteration's request, so
   * that the database sends only what the next request adds to it.
   */
  async iterationStep(
    { work_item_id, lease }: Lease,
    driven: { iteration: number; seconds: number | null },
    { answer, results = [] }: { answer?: { turnId: string; response: ModelResponse }; results?: readonly (CallResult | EarlyCall)[] } = {},
    kept: Request | null = null,
  ): Promise<Step> {
    const args = [
      work_item_id,
      lease,
      driven.iteration,
      driven.seconds,
      answer?.turnId ?? null,
      answer === undefined ? null : responseJson(answer.response),
      results.length === 0
        ? null
        : storableJson(
            results.map(({ outcome, ...one }) => ({
              ...one,
              content: outcome?.content,
              is_error: outcome?.isError,
              images: outcome?.images,
            })),
          ),
      kept?.turn_id ?? null,
    ];
    const said = await call('iteration_step', args, step);
    if (said.kind !== 'continued') return said;
    const { next, ...continued } = said;
    if (next?.kind !== 'call_model') return { ...continued, ...(next && { next }) };
    const { since, request, ...begun } = next;
    return { ...continued, next: { ...begun, request: request ?? extended(kept, since) } };
  },

  summaryRecord: ({ work_item_id, lease }: Lease, turnId: string, response: ModelResponse) =>
    call('summary_record', [work_item_id, lease, turnId, responseJson(response)], z.boolean()),

  /** Returns the calls that must end first; empty: the call has begun. */
  toolCallBegin: ({ work_item_id, lease }: Lease, toolCallId: string) => call('tool_call_begin', [work_item_id, lease, toolCallId], ids),

  /** `whole`: the complete text that the content was made from, stored as an artifact. */
  toolCallSettle: (
    { work_item_id, lease }: Lease,
    toolCallId: string,
    outcome: ToolOutcome,
    whole: string | null = null,
    codeRun: CodeRun | null = null,
  ) =>
    call(
      'tool_call_settle',
      [
        work_item_id,
        lease,
        toolCallId,
        outcome.content,
        outcome.isError,
        storableJson(outcome.images),
        whole,
        storableJson(outcome.value),
        codeRun && storableJson(codeRun),
      ],
      z.unknown(),
    ),

  toolCallNested: ({ work_item_id, lease }: Lease, parentCallId: string, ordinal: number, name: string, input: Record<string, unknown>) =>
    call('tool_call_nested', [work_item_id, lease, parentCallId, ordinal, name, storableJson(input)], nestedCall),

  toolCallSuspend: ({ work_item_id, lease }: Lease, toolCallId: string) =>
    call('tool_call_suspend', [work_item_id, lease, toolCallId], z.unknown()),

  /** Returns the calls that must end first; empty: the call has run. */
  toolCallExecute: ({ work_item_id, lease }: Lease, toolCallId: string) =>
    call('tool_call_execute', [work_item_id, lease, toolCallId], ids),

  hookRecord: ({ work_item_id, lease }: Lease, hookRunId: string, result: HookResult) =>
    call('hook_record', [work_item_id, lease, hookRunId, storableJson(result)], hookRecorded),

  toolHookRecord: ({ work_item_id, lease }: Lease, toolCallId: string, hook: string, result: HookResult, outcome: ToolOutcome | null) =>
    call(
      'tool_hook_record',
      [
        work_item_id,
        lease,
        toolCallId,
        hook,
        storableJson(result),
        outcome?.content ?? null,
        outcome?.isError ?? false,
        storableJson(outcome?.images),
        storableJson(outcome?.value),
      ],
      toolHookRecorded,
    ),

  /** class workspace: this worker does not serve the directory. */
  iterationFail: (
    { work_item_id, lease }: Lease,
    error: Omit<ModelError, 'class'> & { class: ModelError['class'] | 'workspace' | 'hook' },
  ) =>
    call(
      'iteration_fail',
      [
        work_item_id,
        lease,
        storableJson({
          class: error.class,
          message: error.message,
          status: error.status,
          retry_after_seconds: error.retryAfterSeconds,
          request_id: error.requestId,
        }),
      ],
      failure,
    ),

  /** Returns null if the item's files are, or will be, at this daemon; else the host where they are. */
  workspaceBind: ({ work_item_id, lease }: Lease, daemon: string) =>
    call('workspace_bind', [work_item_id, lease, daemon], z.string().nullable()),

  iterationRelease: ({ work_item_id, lease }: Lease) => call('iteration_release', [work_item_id, lease], z.unknown()),
});

function responseJson(response: ModelResponse): string | null {
  return storableJson({
    id: response.id,
    provider: response.provider,
    model: response.model,
    content: response.content,
    stop_reason: response.stopReason,
    stop_details: response.stopDetails ?? null,
    request_id: response.requestId,
    duration_ms: response.durationMs,
    first_token_ms: response.firstTokenMs ?? null,
    usage: {
      input_tokens: response.usage.inputTokens,
      output_tokens: response.usage.outputTokens,
      cached_input_tokens: response.usage.cachedInputTokens,
      cache_write_tokens: response.usage.cacheWriteTokens,
      reasoning_tokens: response.usage.reasoningTokens,
    },
  });
}
