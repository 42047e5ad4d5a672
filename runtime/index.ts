// The public exports for programs that embed Work Ledger.

export type { Workspace } from '../sandbox/workspace.ts';
export { LedgerClient } from './client.ts';
export type { ActingPerson, ClientOptions, FollowOptions, ListOptions } from './client.ts';
export type { WorkEvent } from './commands/follow.ts';
export type { Faculty } from './faculty/faculty.ts';
export { FacultyError } from './faculty/loadFaculties.ts';
export type { LoadedFaculty, Problem } from './faculty/loadFaculties.ts';
export {
  checkLedger,
  commandTools,
  ensureEmbedded,
  installLedger,
  listenAt,
  loadFaculties,
  mcpTools,
  projectOf,
  readyLedger,
  stopEmbedded,
} from './forPrograms.ts';
export { NoLedger, OtherLedger } from './ledger/checkLedger.ts';
export { NoConnection } from './ledger/connection.ts';
export type { ActivityEvent } from './ledger/activity.ts';
export type { Checkpoint, CountedItem, JournalEntry, JournalSession, LedgerEntry, ResumptionContext, WorkItem } from './ledger/answers.ts';
export type { AgentTold, Approval, ClaimOptions, ClaimTaken, HeldClaim } from './ledger/control.ts';
export type { Cost } from './ledger/cost.ts';
export type { AppendOptions, SearchHit, SearchOptions } from './ledger/entries.ts';
export { errorCodes, LedgerError } from './ledger/errors.ts';
export type { ErrorCode } from './ledger/errors.ts';
export type { LedgerMemory } from './ledger/ledgerMemory.ts';
export type { Note } from './ledger/notes.ts';
export type { ListedItem, SavedFaculty, WorkNow } from './ledger/overview.ts';
export type { TurnOfWork } from './ledger/reads.ts';
export type { WorkJournal } from './ledger/journal.ts';
export type { EntryImportance, EntryType, JournalStatus } from './ledger/journal.ts';
export { JournalStore } from './ledger/journalStore.ts';
export type { JournalState } from './ledger/journalStore.ts';
export type { Budget, Submission } from './ledger/submit.ts';
export { run } from './run.ts';
export type { Run, RunItem, RunOptions } from './run.ts';
export { createModelClient } from './model/callModel.ts';
export type { ModelClient } from './model/message.ts';
export { eventResponse, sendEvents } from './serverSentEvents.ts';
export type { EventStreamOptions, StreamedEvent } from './serverSentEvents.ts';
export { rowIds } from './telemetry/spans.ts';
export { builtinTools } from './tools/builtinTools.ts';
export { defineHook } from './tools/hook.ts';
export type { Hook, HookAnswer, HookContext, HookInput, HookStage } from './tools/hook.ts';
export { defineTool, failed, ok } from './tools/tool.ts';
export type { Tool, ToolContext, ToolLedger, ToolOutcome, Touch } from './tools/tool.ts';
export { startWorker } from './worker/worker.ts';
export type { Worker, WorkerOptions } from './worker/worker.ts';
