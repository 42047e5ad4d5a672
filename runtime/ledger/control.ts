// How people control running work: pause, resume, cancel, messages, approvals.

import { sql } from 'slonik';
import { z } from 'zod';

import { storableJson } from '../../plv8/storable.ts';
import { workItem } from './answers.ts';
import type { Calls } from './pool.ts';

const approval = z.object({
  tool_call_id: z.string(),
  work_item_id: z.string(),
  description: z.string(),
  tool_name: z.string(),
  risk: z.string(),
  input: z.unknown(),
  input_json: z.string(),
  input_hash: z.string(),
  requested_at: z.string(),
  expires_at: z.string(),
  /** What the model said in the response that contains the call. */
  said: z.string().nullable(),
});
const claim = z.object({
  work_item_id: z.string(),
  by: z.string(),
  key: z.string(),
  mode: z.string(),
  is_binding: z.boolean(),
  why: z.string().nullable(),
  description: z.string(),
  claimed_at: z.string(),
  changed_at: z.string().nullable(),
  ends_at: z.string(),
});
const taken = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('claimed'),
    key: z.string(),
    mode: z.string(),
    ends_at: z.string(),
    /** About others that work on it without a binding claim; null: nobody does. */
    says: z.string().nullable(),
  }),
  z.object({ kind: z.literal('taken'), key: z.string(), work_item_id: z.string(), ends_at: z.string(), says: z.string() }),
]);
const told = z.object({
  work_item_id: z.string(),
  name: z.string(),
  /** Null: no message was sent to it. */
  message_id: z.string().nullable(),
  /** When it will read the message. */
  reads: z.string(),
});
export type HeldClaim = z.infer<typeof claim>;
export type ClaimTaken = z.infer<typeof taken>;
export type AgentTold = z.infer<typeof told>;
export type Approval = z.infer<typeof approval>;
export type ClaimOptions = {
  /** Default: exclusive; shared: others may hold shared claims, too. */
  mode?: 'exclusive' | 'shared';
  /** Lifetime in seconds; default: 3600, at most 604,800. */
  seconds?: number;
  /** The purpose. */
  why?: string;
  /** The lease of the worker that drives the item, while one does. */
  lease?: string;
};

const decided = z.object({ decision: z.string(), input_hash: z.string() });

export const control = ({ call, row, rows, run, named }: Calls) => ({
  workCancel: (workItemId: string, reason: string | null) => rows('work_cancel', [workItemId, reason], workItem),

  /** `result`: the answer as JSON, which must match the schema of the item or its faculty, if there is one. */
  workComplete: (workItemId: string, summary: string, evidence: readonly string[], result?: unknown) =>
    row(
      'work_complete',
      {
        p_work_item_id: workItemId,
        p_summary: summary,
        p_evidence: storableJson(evidence),
        p_result: result === undefined ? null : storableJson(result),
      },
      workItem,
    ),

  workPause: (workItemId: string, reason: string | null) => row('work_pause', [workItemId, reason], workItem),

  workResume: (workItemId: string) => row('work_resume', [workItemId], workItem),

  workspaceAbandon: (workItemId: string) => row('workspace_abandon', [workItemId], workItem),

  workMessage: async (workItemId: string, content: string, isInterrupt: boolean) =>
    (await row('work_message', [workItemId, content, isInterrupt], z.object({ id: z.string() }))).id,

  /** The calls that wait for approval, or the given call. `input_json`: the arguments exactly as the ledger has them, every digit. */
  approvals: (toolCallId: string | null = null) =>
    run(
      () => sql.type(approval)`
      select tool_call_id, work_item_id, description, tool_name, risk, input, input::text as input_json, input_hash, requested_at, expires_at, said
        from ${named('v_approvals')} where ${toolCallId}::uuid is null or tool_call_id = ${toolCallId}::uuid order by requested_at`,
    ),

  /** `inputHash`: hash of the arguments that were reviewed; without it, the call is approved whatever its arguments are. */
  toolCallApprove: (toolCallId: string, inputHash: string | null = null) => row('tool_call_approve', [toolCallId, inputHash], decided),

  toolCallReject: async (toolCallId: string, reason: string | null) =>
    (await row('tool_call_reject', [toolCallId, reason], decided)).decision,

  claims: () =>
    run(
      () => sql.type(claim)`
      select work_item_id, by, key, mode, is_binding, why, description, claimed_at, changed_at, ends_at
        from ${named('v_claims')} order by claimed_at desc, key`,
    ),

  claimTake: (workItemId: string, key: string, { mode = 'exclusive', seconds = 3600, why, lease }: ClaimOptions = {}) =>
    call('claim_take', [workItemId, key, mode, `${seconds} seconds`, why ?? null, lease ?? null], taken),

  claimRelease: (workItemId: string, key: string) => call('claim_release', [workItemId, key], z.boolean()),

  tellAgent: (workItemId: string, to: string, content: string, lease: string | null = null) =>
    rows('tell_agent', [workItemId, to, content, lease], told),

  claimBreak: (workItemId: string, key: string, reason: string | null) => call('claim_break', [workItemId, key, reason], z.boolean()),
});
