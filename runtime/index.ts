// What a program that embeds Work Ledger imports.

export type { ActivityEvent } from './activity.ts';
export { openDb } from './db.ts';
export type { Db, LedgerEntry, Submission, WorkItem } from './db.ts';
export { errorCodes, LedgerError } from './errors.ts';
export { createModelClient } from './focus/callModel.ts';
export type { ModelClient } from './focus/callModel.ts';
export { JournalStore, WorkJournal } from './journal.ts';
export type { Checkpoint, EntryImportance, EntryType, JournalEntry, JournalSession, JournalState, JournalStatus, ResumptionContext } from './journal.ts';
export { checkLedger, installLedger, OtherLedger } from './install.ts';
export { builtinTools } from './tools/builtinTools.ts';
export { commandTools } from './tools/commandTool.ts';
export { mcpTools } from './tools/mcpTools.ts';
export { defineTool, failed, ok } from './tools/tool.ts';
export type { Tool, ToolContext, ToolOutcome, Touch } from './tools/tool.ts';
export { startWorker } from './worker.ts';
export type { Worker, WorkerOptions } from './worker.ts';
export type { Workspace } from '../sandbox/workspace.ts';
