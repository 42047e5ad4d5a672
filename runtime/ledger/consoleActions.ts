// The changes that only the console makes.

import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { workItem } from './answers.ts';
import type { Calls } from './pool.ts';

export function consoleActions({ call, row }: Calls) {
  return {
    approve: (toolCallId: string, inputHash: string) =>
      row('tool_call_approve', [toolCallId, inputHash], z.object({ work_item_id: z.string() })),

    reject: (toolCallId: string, reason: string | null) =>
      row('tool_call_reject', [toolCallId, reason], z.object({ work_item_id: z.string() })),

    /** Returns null, or why compacting would gain nothing. */
    compact: (workItemId: string, instructions: string | null) =>
      call('context_compact', [workItemId, instructions], z.string().nullable()),

    complete: (workItemId: string, summary: string) => row('work_complete', [workItemId, summary], workItem),

    resumeIn: (workItemId: string, conversationId: string, targetTokens: number) =>
      row('journal_resume', [workItemId, conversationId, targetTokens], workItem),

    entryDelete: (entryId: string, reason: string | null) => call('journal_entry_delete', [entryId, reason], z.unknown()),

    fork: (turnId: string, message: string | null, faculty: string | null, key: string = randomUUID()) =>
      row('work_fork', [turnId, message, faculty, key], workItem),
  };
}
