// The hooks of the Claude Agent SDK, in this process: `query({ prompt, options: { hooks: ledgerHooks({ url }) } })`. What each does is in
// harness/hooks.ts, shared with the command. None of them throws, and the SDK waits only briefly for each.

import { answerOf, hookInput, hooks, isWanted } from '../harness/hooks.ts';
import type { Answer, HookInput, HookName, Said, Teller } from '../harness/hooks.ts';
import { isItemOver, messageOf, noWritesWords } from '../ledger/errors.ts';
import { withoutSecrets } from '../secrets/known.ts';
import { forget, sessionsAt } from './sessions.ts';
import type { Session, Sessions } from './sessions.ts';
import type { LedgerAddress } from './lazyLedger.ts';
import { planSave, taskCompleted, taskCreated } from './tasks.ts';

export type LedgerHookOptions = LedgerAddress & {
  /** The project of the sessions (default: that of their directory), see projectOf(). */
  project?: string;
  /**
   * Whether actions of tools are read from the transcript that a LedgerSessionStore keeps; see ledgerSession(). Default: hooks report them.
   */
  isTranscriptKept?: boolean;
  /** How many milliseconds to wait for a hook (default: 300). What the ledger says after that is delivered by the next hook. */
  patience?: number;
  /** Called with one line about what failed in a hook (default: writes it to stderr). */
  complain?: (line: string) => void;
};

/** Events whose answer can hold text for the model. */
type Speaking = 'SessionStart' | 'UserPromptSubmit' | 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure' | 'SubagentStart';
type Silent = 'PreCompact' | 'SubagentStop' | 'Stop' | 'SessionEnd' | 'TaskCreated' | 'TaskCompleted';
type Event = Speaking | Silent;

/** The type of a hook as the SDK calls it. The input is validated, so it is declared unknown. */
export type LedgerHook<Name extends Event> = (
  input: unknown,
  toolUseId?: string,
  options?: { signal?: AbortSignal },
) => Promise<Name extends Speaking ? Answer<Name> | Nothing : Nothing>;
export type Nothing = { hookSpecificOutput?: never };

/** For the SDK's Options['hooks']. */
export type LedgerHooks = { [Name in Event]: Matcher<Name>[] };
type Matcher<Name extends Event> = { matcher?: string; timeout?: number; hooks: LedgerHook<Name>[] };

const PATIENCE_MS = 300;
/** How many late texts of a session are kept for its next hook. */
const MAX_LATE = 10;
/** How many hooks may be late before further ones are skipped at once. */
const MAX_BEHIND = 100;
/** In seconds, far above `patience`, so that the SDK never has to abort a hook. */
const SDK_TIMEOUT = 30;

/** The hooks of a program. One ledger and one pool serve all of its sessions, and the tools of ledgerTools(). */
export function ledgerHooks(options: LedgerHookOptions = {}): LedgerHooks {
  const runner = new Runner(options);
  const on = <Name extends Event>(name: Name, matcher?: string): Matcher<Name>[] => [
    {
      ...(matcher !== undefined && { matcher }),
      timeout: SDK_TIMEOUT,
      hooks: [async (input, toolUseId) => (await runner.run(name, input, toolUseId)) as Awaited<ReturnType<LedgerHook<Name>>>],
    },
  ];
  return {
    SessionStart: on('SessionStart'),
    UserPromptSubmit: on('UserPromptSubmit'),
    PreToolUse: on('PreToolUse', 'Edit|MultiEdit|Write|NotebookEdit|mcp__.*'), // for the ledger's tools: to know which session's call it is
    PostToolUse: on('PostToolUse'),
    PostToolUseFailure: on('PostToolUseFailure'),
    PreCompact: on('PreCompact'),
    SubagentStart: on('SubagentStart'),
    SubagentStop: on('SubagentStop'),
    Stop: on('Stop'),
    SessionEnd: on('SessionEnd'),
    TaskCreated: on('TaskCreated'),
    TaskCompleted: on('TaskCompleted'),
  };
}

const hookOf: Record<Exclude<Event, 'TaskCreated' | 'TaskCompleted'>, HookName> = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'user-prompt',
  PreToolUse: 'pre-tool-use',
  PostToolUse: 'post-tool-use',
  PostToolUseFailure: 'post-tool-use',
  PreCompact: 'pre-compact',
  SubagentStart: 'subagent-start',
  SubagentStop: 'subagent-stop',
  Stop: 'stop',
  SessionEnd: 'session-end',
};
const speaking = new Set<Event>(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'SubagentStart']);
/** Events whose text reaches the main conversation, and which therefore also deliver texts that came too late. */
const catchingUp = new Set<Event>(['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure']);
/** Events of a session that works, even if it had stopped: a program's own hook may answer a Stop with more to do. */
const working = new Set<Event>(['PreToolUse', 'PostToolUse', 'PostToolUseFailure']);

type Asked = { event: Event; input: HookInput; session: Session; teller: Teller; whole: Record<string, unknown> };

class Runner {
  readonly #options: LedgerHookOptions;
  readonly #sessions: Sessions;
  /** Hooks that are no longer waited for and are still running. */
  #behind = 0;

  constructor(options: LedgerHookOptions) {
    this.#options = options;
    this.#sessions = sessionsAt(options);
    // The first hook comes soon and should not have to wait for a connection. That hook reports any failure.
    this.#sessions.ledger.open().catch(() => {});
  }

  async run(event: Event, given: unknown, toolUseId: string | undefined): Promise<object> {
    const errors: string[] = [];
    try {
      const input = hookInput(given);
      const session = this.#sessions.seen(input.session_id, input.cwd, this.#options.project);
      if (event === 'PreToolUse' && input.tool_name?.startsWith('mcp__')) {
        // Any of them may be ours: a program names servers as it likes, and with two ledgers it has to.
        if (toolUseId !== undefined) this.#sessions.callSeen(toolUseId, session, input.agent_id !== undefined);
        return {};
      }
      if (event.startsWith('PostToolUse') && toolUseId !== undefined) this.#sessions.callOver(toolUseId);
      const teller: Teller = {
        isHeard: true,
        isTranscriptKept: this.#options.isTranscriptKept ?? false,
        complain: (error) => {
          if (isItemOver(error)) forget(session);
          errors.push(wordsOf(error));
          return '';
        },
      };
      const said = await this.#inTime({ event, input, session, teller, whole: given as Record<string, unknown> });
      return this.#answer(event, session, input, said);
    } catch (error) {
      errors.push(wordsOf(error));
      return {};
    } finally {
      if (errors.length > 0) this.#say([...new Set(errors)].join('; '));
    }
  }

  #answer(event: Event, session: Session, input: HookInput, said: Said): object {
    const late: string[] = [];
    if (catchingUp.has(event) && input.agent_id === undefined) {
      if (event !== 'SessionStart') late.push(session.afterCompaction); // the hook of SessionStart says the same itself
      late.push(...session.late.splice(0));
      session.afterCompaction = '';
    }
    if (!speaking.has(event)) return {};
    return answerOf(event, { ...said, context: [...late, said.context].filter((text) => text !== '').join('\n\n') }) ?? {};
  }

  /**
   * The hook's answer, if it comes in time; otherwise the hook continues without an answer. While others are late, nobody waits for
   * another.
   */
  async #inTime(asked: Asked): Promise<Said> {
    if (this.#behind >= MAX_BEHIND) throw new Error('the database does not answer, and many hooks are waiting for it: this one is skipped');
    const work = this.#work(asked);
    let timer: NodeJS.Timeout | undefined;
    // A change is checked even while another session's hook is late.
    const patience = this.#behind > 0 && asked.event !== 'PreToolUse' ? 0 : (this.#options.patience ?? PATIENCE_MS);
    const isLate = new Promise<null>((resolve) => (timer = setTimeout(resolve, patience, null)));
    try {
      const said = await Promise.race([work, isLate]);
      if (said !== null) return said;
    } finally {
      clearTimeout(timer);
    }
    this.#behind++;
    void this.#follow(asked, work);
    throw new Error(
      asked.event === 'PreToolUse'
        ? 'the database does not answer: this change was not checked against those of others'
        : 'the database does not answer: the session goes on',
    );
  }

  /** Keeps a text that came too late for the next hook, because the ledger counts it as told. */
  async #follow({ event, input, session }: Asked, work: Promise<Said>): Promise<void> {
    try {
      const { context } = await work;
      if (context !== '' && event !== 'SubagentStart' && input.agent_id === undefined && session.late.length < MAX_LATE)
        session.late.push(context);
    } catch {
      // It was already reported that the database does not answer.
    } finally {
      this.#behind--;
    }
  }

  async #work(asked: Asked): Promise<Said> {
    const { event, input, session, teller, whole } = asked;
    if (!(await this.#isWanted(asked))) {
      session.rest();
      return { context: '' };
    }
    const begins = event === 'SessionStart' || event === 'UserPromptSubmit';
    const isBack = working.has(event) && session.isBegun && !session.isWorking;
    const { db, workItemId } = await this.#sessions.itemOf(session, begins);
    if (isBack) {
      await db.harness.rows('journal_session_status', workItemId, 'active');
      this.#sessions.works(session, db, workItemId);
    }
    if (event === 'TaskCreated') taskCreated(session.plan, whole);
    if (event === 'TaskCompleted') await taskCompleted(db, workItemId, session.plan, whole);
    if (event === 'TaskCreated' || event === 'TaskCompleted') return { context: '' };
    if (input.tool_name !== 'TaskCreate') await planSave(db, workItemId, session.plan).catch(teller.complain);
    const said: Said[] = [];
    const run = async (name: HookName): Promise<void> => void said.push(await hooks[name](db.harness, workItemId, input, teller));
    // The SDK has not called SessionStart so far.
    if (event === 'UserPromptSubmit' && !session.isBegun) await run('session-start');
    await run(hookOf[event]);
    if (begins) session.isBegun = true;
    if (event === 'UserPromptSubmit') this.#sessions.works(session, db, workItemId);
    // The session continues on its own while something runs in the background or is scheduled to wake it.
    const goesOn = ['background_tasks', 'session_crons'].some((key) => Array.isArray(whole[key]) && whole[key].length > 0);
    if (event === 'SessionEnd' || (event === 'Stop' && !goesOn)) session.rest();
    if (event === 'Stop' && !goesOn) await db.harness.rows('journal_session_status', workItemId, 'paused');
    if (event === 'PreCompact') {
      session.afterCompaction = said.map(({ context }) => context).join('');
      return { context: '' };
    }
    const refusal = said.find((one) => one.refusal !== undefined)?.refusal;
    return {
      context: said
        .map(({ context }) => context)
        .filter((text) => text !== '')
        .join('\n\n'),
      ...(refusal !== undefined && { refusal }),
    };
  }

  /** Whether the hook has work that it is about, or begins some; asked of the ledger only if this process knows of none. */
  async #isWanted({ event, session }: Asked): Promise<boolean> {
    if (session.item !== undefined || event === 'TaskCreated' || event === 'TaskCompleted') return true;
    const { db } = await this.#sessions.ledger.open();
    return isWanted(hookOf[event], db.harness, session.id);
  }

  #say(words: string): void {
    const line = `work-ledger: ${words.replaceAll(/\s+/g, ' ')}`;
    if (this.#options.complain) this.#options.complain(line);
    else process.stderr.write(`${line}\n`);
  }
}

const wordsOf = (error: unknown): string => withoutSecrets(noWritesWords(error) ?? messageOf(error), 'answer');
