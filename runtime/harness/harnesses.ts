// The programs that run hooks as commands: which of their events corresponds to which hook, and what they read of its answer.

import { isObject } from '../../plv8/isObject.ts';
import { codexFailure, withoutHooks } from '../../plv8/readers/harnessText.ts';
import { answerOf } from './hooks.ts';
import type { HookInput, HookName, Said } from './hooks.ts';

type Event = {
  event: string;
  /** A pattern for names of tools in the program's syntax; without it: all tools. */
  matcher?: string;
  /** In seconds; default: 20. */
  timeout?: number;
  /** The program is ending and does not wait long, so the hook runs detached and answers nothing. */
  isDetached?: true;
  /** The program does not say to the MCP server in which session it is: the hook leaves it for the server, see commands/geminiSession.ts. */
  tellsServer?: true;
};

export type Harness = {
  /** The unit in which its settings state timeouts; null: its hooks are in plugin/hooks/hooks.json. */
  timeouts: 's' | 'ms' | null;
  events: Partial<Record<HookName, Event>>;
  /** Hooks during which its model continues, and whose text it does not get. */
  unheard: ReadonlySet<HookName>;
  /** Converts its input to the form that Claude Code sends. */
  read(input: HookInput): HookInput;
  /** The answer to a hook as the program reads it on stdout; empty to say nothing. */
  answer(hook: HookName, event: string, said: Said): string;
};

const json = (value: object | null): string => (value === null ? '' : JSON.stringify(value));

/** The hooks whose answer Claude Code reads as JSON; for the others it takes plain text. */
const jsonOfClaude = new Set<HookName>(['pre-tool-use', 'post-tool-use', 'subagent-start']);

export const harnesses = {
  'claude-code': {
    timeouts: null,
    events: {
      'session-start': { event: 'SessionStart' },
      'user-prompt': { event: 'UserPromptSubmit' },
      'pre-tool-use': { event: 'PreToolUse' },
      'post-tool-use': { event: 'PostToolUse' },
      'subagent-start': { event: 'SubagentStart' },
      'pre-compact': { event: 'PreCompact' },
      'session-end': { event: 'SessionEnd' },
      stop: { event: 'Stop' },
    },
    unheard: new Set<HookName>(['post-tool-use']),
    read: (input) => input,
    answer: (hook, event, said) => (jsonOfClaude.has(hook) ? json(answerOf(event, said)) : said.context),
  },
  codex: {
    timeouts: 's',
    events: {
      'session-start': { event: 'SessionStart' },
      'user-prompt': { event: 'UserPromptSubmit' },
      'pre-tool-use': { event: 'PreToolUse', matcher: 'apply_patch', timeout: 5 },
      'post-tool-use': { event: 'PostToolUse', matcher: 'apply_patch|Bash' },
      'subagent-start': { event: 'SubagentStart' },
      'pre-compact': { event: 'PreCompact' },
      'session-end': { event: 'SessionEnd', timeout: 3, isDetached: true }, // the program allows no more
      stop: { event: 'Stop' },
    },
    unheard: new Set<HookName>(),
    read({ tool_response: response, ...input }) {
      const isFailed = typeof response === 'string' && codexFailure.test(response);
      return { ...input, tool_response: response, ...(isFailed && { error: response }) };
    },
    // It ignores text before a compaction.
    answer: (hook, event, said) => (hook === 'pre-compact' ? '' : json(answerOf(event, said))),
  },
  'gemini-cli': {
    timeouts: 'ms',
    events: {
      'session-start': { event: 'SessionStart', tellsServer: true },
      'user-prompt': { event: 'BeforeAgent', tellsServer: true },
      'pre-tool-use': { event: 'BeforeTool', matcher: 'write_file|replace', timeout: 5 },
      'post-tool-use': { event: 'AfterTool', matcher: 'write_file|replace|read_file|run_shell_command' },
      'session-end': { event: 'SessionEnd', isDetached: true, tellsServer: true },
      stop: { event: 'AfterAgent' },
    },
    unheard: new Set<HookName>(),
    read({ tool_response: response, prompt, ...input }) {
      const { error, llmContent: output = response } = isObject(response) ? response : {};
      return {
        ...input,
        tool_response: output,
        ...(prompt !== undefined && { prompt: withoutHooks(prompt) }),
        ...(error !== undefined && { error: typeof error === 'string' ? error : JSON.stringify(error) }),
      };
    },
    // Before a call it accepts only a refusal, so who else works on the file is shown to the person.
    answer(hook, event, { context, refusal }) {
      if (refusal !== undefined) return json({ decision: 'deny', reason: refusal });
      if (hook === 'pre-tool-use') return json(context === '' ? null : { systemMessage: context });
      return json(answerOf(event, { context }));
    },
  },
} satisfies Record<string, Harness>;

export type HarnessName = keyof typeof harnesses;

export const isHarness = (name: string): name is HarnessName => Object.hasOwn(harnesses, name);

/** The hooks for a program's settings: one command for each event. `program`: the shell command that starts Work Ledger. */
export function hookSettings(name: HarnessName, program: string): Record<string, object[]> {
  const { events, timeouts }: Harness = harnesses[name];
  const entries = Object.entries(events).map(([hook, { event, matcher, timeout = 20, isDetached, tellsServer }]) => {
    const client = tellsServer ? `WORK_LEDGER_CLIENT_PID=$PPID ` : '';
    const words = `${program} hook ${hook} --harness ${name}`;
    // An exit status of 2 would block what the program is about to do; an error here must never do that.
    const command = isDetached
      ? `input=$(cat); (printf %s "$input" | ${client}nohup ${words} >/dev/null 2>&1 &)`
      : `${client}${words} || exit 1`;
    const hooks = [{ type: 'command', command, timeout: timeout * (timeouts === 'ms' ? 1000 : 1) }];
    return [event, [{ ...(matcher !== undefined && { matcher }), hooks }]];
  });
  return Object.fromEntries(entries) as Record<string, object[]>;
}
