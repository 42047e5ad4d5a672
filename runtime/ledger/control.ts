// How people control running work: pause, resume, cancel, messages, approvals.

import { sql } from 'slonik';
import { z } from 'zod';

import { storableJson } from '../../plv8/storable.ts';
import { workItem } from './answers.ts';
import type { Calls } from './pool.ts';

const decided = z.object({ decision: z.string() });

export const control = ({ row, rows, run, named }: Calls) => ({
  workCancel: (workItemId: string, reason: string | null) => rows('work_cancel', [workItemId, reason], workItem),

  workComplete: (workItemId: string, summary: string, evidence: readonly string[]) => row('work_complete', [workItemId, summary, storableJson(evidence)], workItem),

  workPause: (workItemId: string, reason: string | null) => row('work_pause', [workItemId, reason], workItem),

  workResume: (workItemId: string) => row('work_resume', [workItemId], workItem),

  workspaceAbandon: (workItemId: string) => row('workspace_abandon', [workItemId], workItem),

  workMessage: async (workItemId: string, content: string, isInterrupt: boolean) =>
    (await row('work_message', [workItemId, content, isInterrupt], z.object({ id: z.string() }))).id,

  approvals: () =>
    run(() => sql.type(z.object({ tool_call_id: z.string(), work_item_id: z.string(), tool_name: z.string(), risk: z.string(), input: z.unknown(), expires_at: z.string() }))`
      select tool_call_id, work_item_id, tool_name, risk, input, expires_at from ${named('v_approvals')} order by requested_at`),

  toolCallApprove: async (toolCallId: string) => (await row('tool_call_approve', [toolCallId], decided)).decision,

  toolCallReject: async (toolCallId: string, reason: string | null) => (await row('tool_call_reject', [toolCallId, reason], decided)).decision,
});
