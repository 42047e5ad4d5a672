// The execute_code call: runs the agent's code in a container, and runs each tool that the code calls in the same way as a call of the
// model. The rows of those calls are the record: code that runs again after an interruption gets its results from them.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { storableText } from '../../plv8/storable.ts';
import type { CodeResult } from '../../sandbox/codeSandbox.ts';
import { generateSdk } from '../../sandbox/generateSdk.ts';
import type { CodeCall, CodeCallAnswer } from '../../sandbox/toolSocket.ts';
import { atFailpoints } from '../failpoint.ts';
import type { OpenCall } from '../ledger/answers.ts';
import { isUnstorable, messageOf } from '../ledger/errors.ts';
import type { CodeRun } from '../ledger/iteration.ts';
import { headOf, tailOf, withoutKnown } from '../secrets/known.ts';
import type { CallEnd, Focus } from './focus.ts';

const MAX_CALLS = 1000;
const MAX_WHOLE = 30_000_000;
const inputSchema = z.object({ code: z.string().min(1), timeout_seconds: z.int().min(1).optional() });

export const executeCode = {
  name: 'execute_code',
  description:
    "Execute code in a sandboxed environment with access to your tools as callable functions. Use this for multi-step operations, output filtering, conditional logic, and any task where composing tools in code is more efficient than individual tool calls. The code's return value enters your context — raw tool outputs do not.",
  inputSchema: {
    type: 'object',
    properties: {
      code: {
        type: 'string',
        description: 'Python code to execute. Your tools are available as functions. End with a top-level return of what you want to see.',
      },
      timeout_seconds: { type: 'integer', description: 'Maximum execution time. Default: 120.' },
    },
    required: ['code'],
  },
  // The calls of the code are recorded, each with its own effect, so running the code again repeats none of them.
  effect: 'idempotent',
  risk: 'safe',
  source: 'own_test',
} as const;

/** Runs a call made by the code in the same way as one of the model; false if it was left open. */
type RunCall = (call: OpenCall, signal: AbortSignal) => Promise<boolean>;

export async function runCode(call: OpenCall, focus: Focus, runCall: RunCall): Promise<CallEnd> {
  const {
    claim,
    signal,
    runtime: { db },
  } = focus;
  const input = inputSchema.safeParse(call.input);
  const settle = async (
    content: string,
    isError: boolean,
    whole: string | null = null,
    codeRun: CodeRun | null = null,
  ): Promise<CallEnd> => {
    await db.toolCallSettle(claim, call.id, { content, isError }, whole, codeRun);
    return 'settled';
  };
  if (!input.success) return settle(`[engine] The input does not match the schema of execute_code:\n${z.prettifyError(input.error)}`, true);
  const sandbox = focus.runtime.containers()?.sandbox(claim.faculty.engage);
  if (!sandbox)
    return settle(
      '[engine] This worker has no sandbox (no Docker daemon). This is not a fault in the code; work without code for now.',
      true,
    );

  const timeoutSeconds = Math.min(input.data.timeout_seconds ?? 120, claim.faculty.engage.code_execution_timeout);
  await db.toolCallBegin(claim, call.id);
  const run = async (): Promise<{ calls: NestedCalls; result: CodeResult }> => {
    const calls = new NestedCalls(call, focus, runCall);
    const result = await atFailpoints('code', () =>
      sandbox.run({
        code: input.data.code,
        sdk: generateSdk(call.code_tools ?? [], sandbox.socketPath),
        timeoutSeconds,
        ...(claim.faculty.engage.code_execution_session && { session: claim.focus_id }),
        signal: calls.signal,
        onCall: (one) => calls.answer(one),
      }),
    );
    await calls.settled();
    return { calls, result };
  };
  let { calls, result } = await run();
  // Waits for a daemon that is restarting. The calls of the code are recorded, so that it can run again.
  for (const seconds of [1, 3, 8]) {
    if (result.verdict !== 'infrastructure' || !result.isPassing || calls.isOver || signal.aborted) break;
    await sleep(seconds * 1000, undefined, { signal }).catch(() => {});
    ({ calls, result } = await run());
  }
  if (calls.isWaiting) {
    await db.toolCallSuspend(claim, call.id);
    return 'waiting';
  }
  if (signal.aborted) return 'left';
  if (calls.divergence !== null)
    return settle(
      `[engine] The code was interrupted and run again, but did not do the same as before: ${calls.divergence}. It was stopped. What it did until then is done; check before you continue.`,
      true,
      calls.whole(),
      calls.record(result, timeoutSeconds),
    );
  return settle(
    `${said(result)}\n\n${calls.receipt(result)}`,
    result.verdict !== 'ok',
    calls.whole(),
    calls.record(result, timeoutSeconds),
  );
}

class NestedCalls {
  readonly signal: AbortSignal;
  isWaiting = false;
  divergence: string | null = null;
  readonly #stop = new AbortController();
  readonly #call: OpenCall;
  readonly #focus: Focus;
  readonly #runCall: RunCall;
  readonly #raw: { ordinal: number; text: string }[] = [];
  readonly #open = new Set<Promise<unknown>>();
  #bytes = 0;
  #failure: unknown;

  constructor(call: OpenCall, focus: Focus, runCall: RunCall) {
    this.#call = call;
    this.#focus = focus;
    this.#runCall = runCall;
    this.signal = AbortSignal.any([focus.signal, this.#stop.signal]);
  }

  /** Answers a call of the code. Never throws; settled() throws the failures. */
  answer(call: CodeCall): Promise<CodeCallAnswer> {
    const answering = this.#answer(call).catch((error: unknown): CodeCallAnswer => {
      if (isUnstorable(error)) return { error: `this call cannot be stored: ${messageOf(error)}` };
      this.#failure ??= error;
      return this.#end('the engine stopped this code');
    });
    this.#open.add(answering);
    void answering.finally(() => this.#open.delete(answering));
    return answering;
  }

  /** Whether one of its calls has ended the code. */
  get isOver(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Waits for the calls that are still running; throws if one of them failed to run. */
  async settled(): Promise<void> {
    await Promise.all(this.#open);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Everything that the calls returned, to be stored as an artifact. */
  whole(): string | null {
    if (this.#raw.length === 0) return null;
    return withoutKnown(
      storableText(
        this.#raw
          .toSorted((a, b) => a.ordinal - b.ordinal)
          .map(({ text }) => text)
          .join('\n\n'),
      ),
    ).slice(0, MAX_WHOLE);
  }

  record(result: CodeResult, timeoutSeconds: number): CodeRun {
    return {
      verdict: result.verdict,
      calls: this.#raw.length,
      bytes_seen: this.#bytes,
      bytes_returned: Buffer.byteLength(result.returned ?? result.output),
      duration_ms: Math.round(result.durationMs),
      timeout_seconds: timeoutSeconds,
    };
  }

  receipt(result: CodeResult): string {
    const whole = this.whole();
    const returned = Buffer.byteLength(result.returned ?? result.output);
    const ratio = this.#bytes > returned && returned > 0 ? ` (${Math.round(this.#bytes / returned)} : 1)` : '';
    const raw = whole === null ? '' : `; raw outputs: artifact_read("${createHash('sha256').update(whole).digest('hex').slice(0, 16)}")`;
    const count = this.#raw.length;
    return `[code: ${count} call${count === 1 ? '' : 's'}, ${this.#bytes} bytes seen, ${returned} returned${ratio}, ${(result.durationMs / 1000).toFixed(1)} s${raw}]`;
  }

  async #answer({ ordinal, name, input }: CodeCall): Promise<CodeCallAnswer> {
    const {
      claim,
      runtime: { db, inputs },
    } = this.#focus;
    if (ordinal >= MAX_CALLS) return { error: `this code has made ${MAX_CALLS} calls, the maximum`, is_final: true };
    for (;;) {
      if (this.signal.aborted) return this.#end('the engine stopped this code');
      const nested = await db.toolCallNested(claim, this.#call.id, ordinal, name, input);
      switch (nested.kind) {
        case 'run':
          if (!nested.is_rewritten) inputs.keepOne(nested.call, input); // else the hook's input runs, whatever the code says again
          if (!(await this.#runCall(nested.call, this.signal))) return this.#end('the engine stopped this code');
          break;
        case 'waiting':
          this.isWaiting = true;
          return this.#end('a person has to approve this call first');
        case 'diverged':
          this.divergence = nested.reason;
          return this.#end(nested.reason);
        case 'unknown':
          return { error: nested.reason };
        case 'settled':
          this.#bytes += Buffer.byteLength(nested.content);
          this.#raw.push({ ordinal, text: `# ${ordinal + 1}. ${name} ${headOf(JSON.stringify(input), 2000)}\n${nested.content}` });
          return nested.value !== null ? { value: nested.value } : nested.is_error ? { error: nested.content } : { value: nested.content };
      }
    }
  }

  #end(reason: string): CodeCallAnswer {
    this.#stop.abort();
    return { error: reason, is_final: true };
  }
}

function said(result: CodeResult): string {
  if (result.verdict === 'infrastructure')
    return `[engine] The code did not run, or not to its end: ${result.error ?? 'the sandbox failed'}. This is an environment problem, not a fault in the code; work without code for now, or try again later.`;
  if (result.verdict === 'ok')
    return (
      result.returned ??
      (result.output === '' ? '(the code returned nothing)' : `${result.output.trimEnd()}\n(printed; the code returned nothing)`)
    );
  const printed = result.output.trim() === '' ? '' : `\n\nIt had printed:\n${tailOf(result.output.trimEnd(), 2000)}`;
  return `${result.error ?? result.verdict}${printed}`;
}
