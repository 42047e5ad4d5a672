// What the hooks of a harness do, whether they run as the command `work-ledger hook`, in a separate process, or as functions inside a
// program (agentSdk/hooks.ts). Each reports something about a session, and may have something to say to its model.

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';

import { isObject } from '../../plv8/isObject.ts';
import { storableJson, storableText } from '../../plv8/storable.ts';
import { UsageError } from '../ledger/errors.ts';
import type { Argument } from '../ledger/oneConnection.ts';
import { headOf } from '../secrets/known.ts';

/** Calls functions of the ledger with positional arguments; the types of the parameters determine how a text argument is read. */
export type Functions = {
  /** Returns the rows of a function. */
  rows(name: string, ...args: Argument[]): Promise<readonly Record<string, unknown>[]>;
  /** Returns the text result of a function, or this column of its first row. */
  text(name: string, column: string, ...args: Argument[]): Promise<string>;
};

/** The input as Claude Code sends it; other programs may send less. */
export type HookInput = {
  session_id?: string;
  cwd?: string;
  prompt?: string;
  tool_name?: string;
  tool_input?: Record<string, unknown>;
  tool_response?: unknown;
  /** The error of a tool that failed. */
  error?: string;
  /** Set for events inside a subagent. */
  agent_id?: string;
  agent_type?: string;
  last_assistant_message?: string;
  /** Why a session starts. */
  source?: string;
};

/** For the model: text to add to the conversation, or why a call is refused. */
export type Said = { context: string; refusal?: string };
const nothing: Said = { context: '' };

export type Teller = {
  /** Reports that part of a hook failed; the rest continues. */
  complain: (error: unknown) => '';
  /**
   * Whether the model is certain to get the text. If not, messages, which are told only once, are left for a hook whose text it does get.
   */
  isHeard: boolean;
  /**
   * The session's transcript is stored here too; the actions of tools and subagents are read from it instead of being reported by hooks.
   */
  isTranscriptKept?: boolean;
};

type Hook = (ledger: Functions, sessionId: string, input: HookInput, teller: Teller) => Promise<Said>;

const texts = ['session_id', 'cwd', 'prompt', 'tool_name', 'error', 'agent_id', 'agent_type', 'last_assistant_message', 'source'] as const;

/** Validates a hook's input. Null counts as missing: Codex sends it for an answer without words. Throws UsageError. */
export function hookInput(given: unknown): HookInput {
  if (!isObject(given)) throw new UsageError('a hook expects a JSON object on stdin');
  const input = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  for (const name of texts) if (!['string', 'undefined'].includes(typeof input[name])) throw new UsageError(`${name} is not a text`);
  if (input['tool_input'] !== undefined && !isObject(input['tool_input'])) throw new UsageError('tool_input is not an object');
  return input;
}

/** The tools of these programs whose input names a file, with what they do to it. */
const fileTools = new Map([
  ['Read', 'read'],
  ['Write', 'create'],
  ['Edit', 'modify'],
  ['MultiEdit', 'modify'],
  ['NotebookEdit', 'modify'],
  ['read_file', 'read'],
  ['write_file', 'create'],
  ['replace', 'modify'],
]);

type Touch = { path: string; operation: string };

/** The files that a call touches. A patch of Codex may name any number. */
function touchesOf(tool: string, input: Record<string, unknown>): Touch[] {
  const patch = input['command'];
  if (tool === 'apply_patch' && typeof patch === 'string')
    return [...patch.matchAll(/^\*\*\* (?:(Add|Update|Delete) File|Move to): (.+)$/gm)].map(([, what, path = '']) => ({
      path: path.trim(),
      operation: what === 'Add' || what === undefined ? 'create' : what === 'Delete' ? 'delete' : 'modify',
    }));
  const operation = fileTools.get(tool);
  const path = input['file_path'] ?? input['absolute_path'] ?? input['notebook_path'];
  return operation === undefined || typeof path !== 'string' || path === '' ? [] : [{ path, operation }];
}

/** Our own tools, which record their calls themselves: those of the plugin's server, or of one inside a program. */
export const ownTool = /^mcp__(?:plugin_work-ledger_)?work-ledger__/;

export type HookName = keyof typeof hooks;

export const hooks = {
  /** Context for the start of a session: the state of the work, and what others are doing in this directory and its repository. */
  'session-start': async (ledger, sessionId, { cwd }) => ({
    context: await ledger.text('journal_session_begin', 'journal_session_begin', sessionId, repositoryOf(cwd ?? process.cwd())),
  }),
  /** Records the prompt. Says what others told the session, and what is new elsewhere since it was last told. */
  'user-prompt': async (ledger, sessionId, { prompt, agent_id: subagent }, teller) => {
    // Codex also sends the tasks of subagents. Nobody typed those, and what a subagent is told, the session never hears.
    if (subagent !== undefined) return nothing;
    if (prompt === undefined || prompt.trim() === '') await ledger.rows('journal_session_status', sessionId, 'active');
    else await ledger.rows('journal_session_prompt', sessionId, prompt, randomUUID());
    return { context: await news(ledger, sessionId, teller) };
  },
  /** Says whether others are working on the files that are about to change: as a refusal, or as context for the model. */
  'pre-tool-use': async (ledger, sessionId, { cwd, tool_name: tool = '', tool_input: input = {} }) => {
    const changed = touchesOf(tool, input).filter(({ operation }) => operation !== 'read');
    if (changed.length === 0) return nothing;
    const here = await realFile(resolve(cwd ?? process.cwd()));
    const files = await Promise.all(changed.map(({ path }) => realFile(resolve(here, path))));
    const own = treeOf(here)?.repository;
    const roots = files.map((file) => treeOf(dirname(file))).map((tree) => (tree?.repository === own ? (tree?.root ?? '') : ''));
    const [row] = await ledger.rows('claim_check', sessionId, files, roots);
    const answer = row?.['claim_check'];
    if (!isObject(answer) || typeof answer['says'] !== 'string') return nothing;
    return answer['kind'] === 'refuse' ? { context: '', refusal: answer['says'] } : { context: answer['says'] };
  },
  /** Records the use of a tool. Says what is new elsewhere while the session works. */
  'post-tool-use': async (ledger, sessionId, input, teller) => {
    if (teller.isTranscriptKept !== true) await toolNote(ledger, sessionId, input).catch(teller.complain);
    // The session never gets what a subagent is told.
    return input.agent_id === undefined ? { context: await news(ledger, sessionId, teller) } : nothing;
  },
  'pre-compact': async (ledger, sessionId) => {
    await ledger.rows('checkpoint_create', sessionId, 'automatic');
    return { context: await ledger.text('export_for_resumption', 'export_for_resumption', sessionId, 3000) };
  },
  /**
   * A subagent starts without knowing what others do, so it is told about its session's directory. This does not count as told to the
   * session.
   */
  'subagent-start': async (ledger, sessionId, { cwd }) => ({
    context: await saidBy(ledger, 'awareness_here', sessionId, repositoryOf(cwd ?? process.cwd())),
  }),
  'subagent-stop': async (ledger, sessionId, { agent_type: type = 'agent', last_assistant_message: output = '' }, { isTranscriptKept }) => {
    if (output.trim() !== '' && isTranscriptKept !== true)
      await note(ledger, sessionId, 'tool_result', resultOf(`agent ${type}`, output), 'low');
    return nothing;
  },
  stop: async (ledger, sessionId) => {
    await ledger.rows('checkpoint_create', sessionId, 'automatic');
    return nothing;
  },
  'session-end': async (ledger, sessionId) => {
    await ledger.rows('checkpoint_create', sessionId, 'automatic');
    await ledger.rows('journal_session_status', sessionId, 'paused');
    return nothing;
  },
} satisfies Record<string, Hook>;

export const isHook = (name: string): name is HookName => Object.hasOwn(hooks, name);

/**
 * Whether a hook has work that it is about, or begins some. A session whose work was completed stops and ends, too, but has nothing to
 * record: it would leave an empty work item behind.
 */
export async function isWanted(name: HookName, ledger: Functions, conversation: string): Promise<boolean> {
  if (name !== 'stop' && name !== 'session-end') return true;
  return typeof (await ledger.rows('journal_session_active', conversation))[0]?.['id'] === 'string';
}

/** The answer as a harness reads it; null to say nothing. */
export function answerOf<Event extends string>(event: Event, { context, refusal }: Said): Answer<Event> | null {
  if (refusal !== undefined)
    return { hookSpecificOutput: { hookEventName: event, permissionDecision: 'deny', permissionDecisionReason: refusal } };
  return context === '' ? null : { hookSpecificOutput: { hookEventName: event, additionalContext: context } };
}

export type Answer<Event extends string> = {
  hookSpecificOutput: { hookEventName: Event } & (
    | { permissionDecision: 'deny'; permissionDecisionReason: string }
    | { additionalContext: string }
  );
};

/** What others told the session, and what is new since it was last told. Each is marked as told, so if one fails the other is not lost. */
async function news(ledger: Functions, sessionId: string, { complain, isHeard }: Teller): Promise<string> {
  const [found, told] = await Promise.all([
    saidBy(ledger, 'journal_session_news', sessionId).catch(complain),
    isHeard ? saidBy(ledger, 'inbox_take', sessionId).catch(complain) : '',
  ]);
  return [told, found].filter((text) => text !== '').join('\n\n');
}

async function toolNote(ledger: Functions, sessionId: string, input: HookInput): Promise<void> {
  const { tool_name: tool, tool_input: given = {}, tool_response: response, error } = input;
  if (tool === undefined || ownTool.test(tool)) return;
  const touches = error === undefined ? touchesOf(tool, given) : [];
  for (const { path, operation } of touches) {
    const isRead = operation === 'read';
    // Not from the session's directory: the program may be in another one by now.
    const filePath = input.cwd === undefined ? path : resolve(input.cwd, path);
    await note(ledger, sessionId, isRead ? 'file_read' : 'file_written', { filePath, operation }, isRead ? 'low' : 'normal');
  }
  if (touches.length > 0) return;
  const output = error ?? (typeof response === 'string' ? response : JSON.stringify(response ?? null));
  await note(ledger, sessionId, 'tool_result', { ...resultOf(tool, output), success: error === undefined }, 'low');
}

function resultOf(toolName: string, output: string): object {
  const text = storableText(output);
  return { toolName, success: true, output: headOf(text, 2000), truncated: text.length > 2000 };
}

const note = (ledger: Functions, sessionId: string, entryType: string, content: object, importance: string): Promise<unknown> =>
  ledger.rows('journal_log', sessionId, entryType, storableJson(content), importance, randomUUID());

/** The text that a function of the ledger returns for the model; empty if none. */
async function saidBy(ledger: Functions, name: string, ...args: Argument[]): Promise<string> {
  const said = (await ledger.rows(name, ...args))[0]?.[name];
  return typeof said === 'string' ? said : '';
}

/** The file's path without symbolic links, by which everyone claims it; what does not exist yet is below a directory that does. */
async function realFile(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => null);
    if (real !== null) return join(real, relative(at, path));
    if (at === dirname(at)) return path;
  }
}

/** The root of the repository that the directory is in, or else the directory. */
const repositoryOf = (directory: string): string => treeOf(directory)?.root ?? resolve(directory);

/** The working tree that a directory is in, and the repository that this belongs to, which all its working trees share; null: it is in none. */
function treeOf(directory: string): { root: string; repository: string } | null {
  for (let root = resolve(directory); ; root = dirname(root)) {
    const git = join(root, '.git');
    // In a further working tree it is a file that says where in the repository git keeps what belongs to this tree.
    if (existsSync(git)) return { root, repository: resolve(root, pointedTo(git) ?? git).replace(/\/worktrees\/[^/]+$/, '') };
    if (root === dirname(root)) return null;
  }
}

function pointedTo(git: string): string | undefined {
  try {
    return /^gitdir: (.+)/.exec(readFileSync(git, 'utf8'))?.[1];
  } catch {
    return undefined; // a directory
  }
}
