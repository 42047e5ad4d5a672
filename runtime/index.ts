// What a program that embeds Work Ledger imports.

export type { Workspace } from '../sandbox/workspace.ts';
export { follow } from './commands/follow.ts';
export { checkLedger, OtherLedger } from './ledger/checkLedger.ts';
export { ensureEmbedded, stopEmbedded } from './install/embedded.ts';
export { installLedger, readyLedger } from './install/installLedger.ts';
export type { ActivityEvent } from './ledger/activity.ts';
export type { Checkpoint, JournalEntry, JournalSession, LedgerEntry, ResumptionContext, WorkItem } from './ledger/answers.ts';
export { openDb } from './ledger/db.ts';
export type { Db } from './ledger/db.ts';
export { errorCodes, LedgerError } from './ledger/errors.ts';
export { listenAt } from './ledger/listener.ts';
export { WorkJournal } from './ledger/journal.ts';
export type { EntryImportance, EntryType, JournalStatus } from './ledger/journal.ts';
export { JournalStore } from './ledger/journalStore.ts';
export type { JournalState } from './ledger/journalStore.ts';
export type { Submission } from './ledger/submit.ts';
export { createModelClient } from './model/callModel.ts';
export type { ModelClient } from './model/message.ts';
export { rowIds } from './telemetry/spans.ts';
export { builtinTools } from './tools/builtinTools.ts';
export { commandTools } from './tools/commandTool.ts';
export { mcpTools } from './tools/mcpTools.ts';
export { defineTool, failed, ok } from './tools/tool.ts';
export type { Tool, ToolContext, ToolOutcome, Touch } from './tools/tool.ts';
export { startWorker } from './worker/worker.ts';
export type { Worker, WorkerOptions } from './worker/worker.ts';
