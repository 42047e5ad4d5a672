// A tool is one value: the name that the model sees, its input schema and the function that runs it.
// A failure is an outcome with isError, never a throw; the loop stores the outcome as the call's result.

import type { Workspace } from '../../sandbox/workspace.ts';
import type { LedgerEntry } from '../ledger/answers.ts';
import type { AgentTold, ClaimOptions, ClaimTaken } from '../ledger/control.ts';
import type { AppendOptions } from '../ledger/entries.ts';
import { UsageError } from '../ledger/errors.ts';
import type { ToolOutcome } from '../ledger/iteration.ts';

export type { ToolImage, ToolOutcome } from '../ledger/iteration.ts';

/**
 * Decides what happens after a crash in the middle of a call: it runs again (pure, idempotent), or the model is told it may have happened.
 */
export type Effect = 'pure' | 'idempotent' | 'unsafe';
export type Risk = 'safe' | 'moderate' | 'dangerous';

/** Headers by host: `name` (https only) or `name:port`. */
export type HostHeaders = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * The ledger for a tool. It acts as the work item whose call it is, under its lease, with the worker's rights. A rejected call throws a
 * LedgerError with code and hint; it is WL003 or WL004 once the item is over or another worker drives it. A tool that appends, claims or
 * tells is not pure.
 */
export type ToolLedger = {
  /** Appends an entry and returns it. If the call runs again after a crash, the same entry is not appended twice. WL002, WL009. */
  append(entryType: string, content: string, options?: Omit<AppendOptions, 'key' | 'lease'>): Promise<LedgerEntry>;
  /** The item's entries in order: all, those of one type, or the newest `last`. WL002. */
  read(options?: { entryType?: string; last?: number }): Promise<readonly LedgerEntry[]>;
  /** Searches ledgers, journals and messages of its project. Returns text as the agent's ledger_search does: one line per hit. WL002. */
  search(query: string, options?: { before?: string }): Promise<string>;
  /**
   * Claims `file:PATH`, `record:NAME`, `url:URL` or any name. Never waits: `kind` is claimed, or taken, with the item that holds it. WL002.
   */
  claim(key: string, options?: Omit<ClaimOptions, 'lease'>): Promise<ClaimTaken>;
  /** Sends a message to another agent: an id, a name as digests show it, parent or team. WL001, WL002, WL009 (too many). */
  tell(to: string, content: string): Promise<readonly AgentTold[]>;
};

export type ToolContext = {
  /** Where files are and commands run; null if the faculty grants no workspace, or requires a container and there is no Docker. */
  workspace: Workspace | null;
  /** Hosts (`name` or `name:port`) that web_fetch may reach even if they resolve to private addresses. */
  webFetchAllow: readonly string[];
  /** Additional headers that web_fetch sends, by host; from the worker's environment. */
  webFetchHeaders?: HostHeaders;
  workItemId: string;
  toolCallId: string;
  /** The ledger, acting as the item whose call this is. */
  ledger: ToolLedger;
  /** Whether code made the call: code can process larger results than a model. */
  isFromCode: boolean;
  /** Fires when the work item is cancelled, the lease is lost or the worker stops. */
  signal: AbortSignal;
};

/**
 * What a call touches: the key of its input that holds it (a.b: within objects or lists of objects). With `form: 'patch'` the value itself
 * says which action.
 */
export type Touch = {
  key: string;
  kind?: 'path' | 'url' | 'record' | undefined;
  action?: 'read' | 'create' | 'modify' | 'delete' | 'search' | undefined;
  form?: 'patch' | undefined;
  /** Applies only if these keys have the given value, or one of the given values. */
  when?: Record<string, unknown> | undefined;
};

export type Tool<Input = unknown> = {
  name: string;
  description: string;
  /** A strict object schema of zod 4, in whatever minor version the program has; its JSON Schema is shown to the model. */
  input: { readonly _zod: { readonly output: Input }; parse(input: unknown): Input };
  /** The JSON Schema shown to the model, if the tool was described by one. */
  inputSchema?: Record<string, unknown>;
  effect: Effect;
  risk: Risk;
  /** Where its results come from, so that ledger entries record their sources; default: web, from outside. */
  source?: 'none' | 'own_test' | 'file' | 'other_agent' | 'web' | undefined;
  /** What its calls touch, for journal, checkpoints, overlap warnings and evidence; required unless the tool's name is a known one. */
  touches?: readonly Touch[] | undefined;
  execute(input: Input, context: ToolContext): Promise<ToolOutcome>;
};

/** Ties the input of execute to the schema. A user's tool module exports the result as its default export. */
export function defineTool<Input>(tool: Tool<Input>): Tool {
  return tool;
}

/** Throws if a program without types gives something else as its tools. */
export function checkTools(tools: readonly (Partial<Tool> | null)[] | null): void {
  if (!Array.isArray(tools) || tools.some((tool: Partial<Tool> | null) => typeof tool?.execute !== 'function'))
    throw new UsageError('tools must be a list of what defineTool() returns');
  // The ledger takes longer names, too, but with one of them the API refuses every request.
  for (const { name } of tools as readonly Partial<Tool>[])
    if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      throw new UsageError(`"${String(name)}" cannot be the name of a tool: a model calls it by 1 to 64 of a-z, A-Z, 0-9, _ and -`);
}

export const ok = (content: string): ToolOutcome => ({ content, isError: false });
export const failed = (content: string): ToolOutcome => ({ content, isError: true });
