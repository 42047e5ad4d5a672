// A hook that is a function of the program running the worker: one value with a name, the point at which it runs, and the function. A
// faculty names it in place of a command: `function:NAME`.

import { isObject } from '../../plv8/isObject.ts';
import type { Workspace } from '../../sandbox/workspace.ts';
import { UsageError } from '../ledger/errors.ts';

type OfItem = {
  /** Stays the same if the hook runs again because its worker died. */
  hook_run_id: string;
  work_item: {
    id: string;
    parent_id: string | null;
    external_id: string | null;
    work_type: string;
    description: string;
    params: Record<string, unknown>;
    priority: number;
  };
  faculty: string;
  attempt: number;
};
type OfCall = { work_item_id: string; faculty: string; tool_call_id: string; tool: string; input: unknown };
type Line = { seq: number; entry_type: string; content: string };
type Outcome = Record<string, unknown>;

/** The input of a hook at each point, and what it may answer. Answering nothing is always allowed. */
type Points = {
  recover: {
    input: OfItem & {
      attempts: { attempt: number; outcome: string | null; error: string | null; iterations: number }[];
      ledger: Line[] | null;
    };
    answer: string | { context?: string; mode?: 'fresh' | 'resume' } | { give_up: string };
  };
  orient: { input: OfItem; answer: string | { context: string } | { refuse: string } };
  engage: {
    input: OfItem & { context: string; lease: string; result_schema?: Record<string, unknown> };
    answer:
      | string
      | { summary: string; evidence?: unknown[]; entries?: { entry_type: string; content: string }[]; result?: unknown }
      | { fail: string };
  };
  before_model_call: {
    input: OfItem & { iteration: number; request: Record<string, unknown> };
    answer: { say: string } | { refuse: string };
  };
  before_tool: { input: OfCall; answer: { input: Record<string, unknown> } | { refuse: string } };
  after_tool: {
    input: OfCall & { result: { content: string; is_error: boolean } };
    answer: { content?: string; is_error?: boolean } | { refuse: string };
  };
  check: { input: OfItem & { outcome: Outcome }; answer: string };
  consolidate: {
    input: OfItem & {
      outcome: Outcome;
      ledger: Line[] | null;
      children: { work_item_id: string; work_type: string; state: string; outcome: Outcome | null }[] | null;
    };
    answer: unknown;
  };
};

/** The points of a focus at which hooks run (docs/hooks.md). */
export type HookStage = keyof Points;
/** The input of a hook: the same JSON that a command gets on stdin. */
export type HookInput<Stage extends HookStage = HookStage> = { hook: Stage } & Points[Stage]['input'];
/** The answer of a hook: the same that a command prints on stdout. Plain text is taken as `context` or `summary`. */
export type HookAnswer<Stage extends HookStage = HookStage> = Points[Stage]['answer'] | undefined | void;

export type HookContext = {
  /** Fires at the faculty's time limit, when the lease is lost and when the worker stops; an answer after that is ignored. */
  signal: AbortSignal;
  /**
   * Where the item's files are and commands run; null if the faculty grants no workspace, or requires a container and there is no Docker.
   */
  workspace: Workspace | null;
};

/** A function that throws counts as failed, like a command that ends with an error. */
export type Hook<Stage extends HookStage = HookStage> = {
  /** The name that a faculty uses: `function:NAME`. */
  name: string;
  stage: Stage;
  run(input: HookInput<Stage>, context: HookContext): HookAnswer<Stage> | Promise<HookAnswer<Stage>>;
};

/** Ties the input and answer types of `run` to its stage. */
// A union, not a type parameter: while one is inferred, a word in an answer, such as `mode: 'fresh'`, would become any text.
export function defineHook(hook: { [Stage in HookStage]: Hook<Stage> }[HookStage]): Hook {
  return hook;
}

/** The key of a faculty that names the hook of each point. */
const keys: { readonly [Stage in HookStage]: readonly [section: string, key: string] } = {
  recover: ['recover', 'command'],
  orient: ['orient', 'command'],
  engage: ['engage', 'command'],
  before_model_call: ['hooks', 'before_model_call'],
  before_tool: ['hooks', 'before_tool'],
  after_tool: ['hooks', 'after_tool'],
  check: ['engage', 'check_command'],
  consolidate: ['consolidate', 'command'],
};

const PREFIX = 'function:';

/** The name of the function given in place of a command; null if it is a command. */
export const functionOf = (command: string): string | null => (command.startsWith(PREFIX) ? command.slice(PREFIX.length) : null);

/** A worker's hooks by name. Throws for an invalid or duplicate name. */
export function hooksByName(hooks: readonly Hook[]): ReadonlyMap<string, Hook> {
  if (!Array.isArray(hooks) || hooks.some((hook) => !isObject(hook)))
    throw new UsageError('hooks must be a list of what defineHook() returns');
  const named = new Map<string, Hook>();
  for (const hook of hooks) {
    if (typeof hook.name !== 'string' || !/^[A-Za-z_][\w.-]{0,62}$/.test(hook.name))
      throw new UsageError(`"${String(hook.name)}" cannot be the name of a hook: letters, digits, "_", "." and "-"`);
    if (!Object.hasOwn(keys, hook.stage))
      throw new UsageError(`hook "${hook.name}": there is no stage "${String(hook.stage)}", only ${Object.keys(keys).join(', ')}`);
    if (typeof hook.run !== 'function') throw new UsageError(`hook "${hook.name}" has no function run`);
    if (named.has(hook.name)) throw new UsageError(`there are two hooks with the name "${hook.name}"`);
    named.set(hook.name, hook);
  }
  return named;
}

type Sections = Readonly<Record<string, unknown>>;
const sectionOf = (config: Sections, section: string): Sections => (config[section] ?? {}) as Sections;

/** The configuration with these hooks at their points, unless it names others there. Throws if two hooks have the same point. */
export function withHooks<Config extends Sections>(config: Config, hooks: readonly Hook[]): Config {
  const at = new Map<string, string>();
  return hooks.reduce((named, { name, stage }) => {
    if (at.has(stage)) throw new UsageError(`the hooks "${at.get(stage)}" and "${name}" are both for ${stage}`);
    at.set(stage, name);
    const [section, key] = keys[stage];
    return {
      ...named,
      [section]: { ...(stage === 'engage' && { mode: 'external' }), [key]: `${PREFIX}${name}`, ...sectionOf(named, section) },
    };
  }, config);
}

/** Why a worker with these hooks cannot drive work of a faculty: it lacks a function that the faculty names. Null if it can. */
export function lacksHook(faculty: Sections, hooks: ReadonlyMap<string, Hook>): string | null {
  for (const [stage, [section, key]] of Object.entries(keys)) {
    const command = sectionOf(faculty, section)[key];
    const name = typeof command === 'string' ? functionOf(command) : null;
    if (name !== null && hooks.get(name)?.stage !== stage)
      return `this worker has no hook function "${name}" for ${stage}: start one that has it, then resume the work`;
  }
  return null;
}
