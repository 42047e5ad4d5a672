// A recording in the form that a scripted model and tools replay: the model's answers in order, and the result of each call.

import { z } from 'zod';

import { parseRecordedRuns, stepsOf } from '../../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../../plv8/readers/recordedRun.ts';
import { storableText } from '../../plv8/storable.ts';
import { builtinAbilities } from '../../sql/extensionSource.ts';
import { executeCode } from '../focus/runCode.ts';
import { UsageError } from '../ledger/errors.ts';
import type { ContentBlock } from '../model/message.ts';
import type { Script, ScriptedReply } from '../model/script.ts';
import type { Tool, ToolImage } from '../tools/tool.ts';

type RecordedCall = { name: string; input: unknown; result: string | null; isError: boolean; images?: ToolImage[] };
export type Recording = { task: string; replies: readonly ScriptedReply[]; calls: readonly RecordedCall[] };

/** Reads the output of `work-ledger export`, or the file of any program whose runs can be imported. Throws for anything else. */
export function recordingIn(text: string): Recording {
  const first = text.slice(0, text.search(/\n|$/));
  if (/^\{"(relation|row)":/.test(first)) return ofExport(text);
  const [run] = parseRecordedRuns(text);
  if (!run) throw new UsageError('there is no run in this recording');
  return ofRun(run);
}

/** With `closeEvery`, a step is added to the next calls after every `closeEvery` calls, so that blocks close as with our own agents. */
export function ofRun(run: RecordedRun, closeEvery = Infinity): Recording {
  const steps = stepsOf(run, closeEvery);
  const replies = run.exchanges.map((exchange, n) => replyOf(exchange, steps[n] ?? null, n < run.exchanges.length - 1));
  return {
    task: taskOf(run),
    replies: [...replies, ...lastWords(run)],
    calls: run.exchanges.flatMap((exchange) => exchange.calls.map(callOf)),
  };
}

const callOf = ({ images, ...call }: RecordedRun['exchanges'][number]['calls'][number]): RecordedCall => ({
  ...call,
  ...(images && { images: images as ToolImage[] }),
});

/** A valid description of a work item: not blank, and at most 64 KiB. */
function taskOf(run: RecordedRun): string {
  const prompt = Buffer.from(storableText(run.prompt));
  if (prompt.toString().trim() === '') return 'A run whose beginning was not recorded.';
  return prompt.length <= 65_536
    ? prompt.toString()
    : `${prompt
        .subarray(0, 65_000)
        .toString()
        .replace(/\uFFFD$/, '')}\n[the rest of the prompt is left out]`;
}

function replyOf(exchange: RecordedRun['exchanges'][number], step: string | null, goesOn: boolean): ScriptedReply {
  const content = [
    // Thinking without a signature cannot be sent back.
    ...(exchange.thinking ?? []).filter((block) => block.signature !== '').map((block) => ({ type: 'thinking', ...block })),
    ...(exchange.text.trim() === '' ? [] : [{ type: 'text', text: exchange.text }]),
    ...(step === null ? [] : [{ type: 'tool_use', name: 'ledger_append', input: { entry_type: 'step', content: step } }]),
    ...exchange.calls.map((call) => ({ type: 'tool_use', name: call.name, input: call.input })),
  ];
  // A response without a call would end the work; if the record continues, the replay must too.
  const isPause = exchange.calls.length === 0 && step === null && goesOn;
  return {
    content,
    ...(isPause && { stopReason: 'pause_turn' }),
    ...(exchange.usage && {
      usage: {
        input_tokens: exchange.usage.inputTokens,
        output_tokens: exchange.usage.outputTokens,
        cache_read_input_tokens: exchange.usage.cachedInputTokens,
      },
    }),
  };
}

const lastWords = (run: RecordedRun): ScriptedReply[] =>
  run.exchanges.at(-1)?.calls.length === 0
    ? []
    : [{ content: [{ type: 'text', text: `The record ends here${run.outcome ? `: ${run.outcome}` : ''}.` }] }];

const block = z.looseObject({ type: z.string() });
const ofTables = {
  work_items: z.object({ id: z.string(), description: z.string() }),
  turns: z.object({ id: z.string(), work_item_id: z.string().nullable(), turn_type: z.string(), status: z.string() }),
  messages: z.object({ turn_id: z.string(), role: z.string(), content: z.array(block) }),
  tool_calls: z.object({
    turn_id: z.string(),
    tool_name: z.string(),
    input: z.unknown(),
    rewritten_input: z.unknown().nullish(),
    result: z.union([z.string(), z.array(block)]).nullish(),
    is_error: z.boolean().nullish(),
  }),
} as const;
const line = z.object({ relation: z.string(), row: z.record(z.string(), z.unknown()) });

/** The first item in the output of `work-ledger export`; items delegated below it are not replayed. */
function ofExport(text: string): Recording {
  const rows = text
    .split('\n')
    .filter((one) => one.trim() !== '')
    .map((one) => line.parse(JSON.parse(one)));
  const of = <Table extends keyof typeof ofTables>(table: Table): z.infer<(typeof ofTables)[Table]>[] =>
    rows.filter(({ relation }) => relation === table).map(({ row }) => ofTables[table].parse(row) as z.infer<(typeof ofTables)[Table]>);
  const [item] = of('work_items');
  if (!item) throw new UsageError('there is no work item in this recording');
  const turns = of('turns')
    .filter((turn) => turn.work_item_id === item.id && turn.turn_type === 'normal' && turn.status === 'completed')
    .map(({ id }) => id)
    .toSorted(); // these ids begin with the time
  const answers = of('messages').filter(({ role }) => role === 'assistant');
  const replies = turns.map((turn) => ({
    content: answers.filter(({ turn_id: id }) => id === turn).flatMap(({ content }): ContentBlock[] => content),
  }));
  if (replies.length === 0 || replies.some(({ content }) => content.length === 0))
    throw new UsageError(`${item.id} has no answers of a model to be played: none was asked, or they were erased`);
  const calls = of('tool_calls')
    .filter(({ turn_id: id }) => turns.includes(id))
    .map((call): RecordedCall => ({
      name: call.tool_name,
      input: call.rewritten_input ?? call.input,
      isError: call.is_error ?? false,
      ...shown(call.result),
    }));
  return { task: item.description, replies, calls };
}

/** A stored result in the form in which a tool returns it. */
function shown(result: string | readonly z.infer<typeof block>[] | null | undefined): Pick<RecordedCall, 'result' | 'images'> {
  if (typeof result === 'string' || !result) return { result: result ?? null };
  const images = result.flatMap(({ type, source }) => (type === 'image' ? [source as ToolImage] : []));
  return {
    result: result.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n'),
    ...(images.length > 0 && { images: images.map(({ media_type, data }) => ({ media_type, data })) }),
  };
}

/**
 * Gives the n-th request the n-th reply. Requests are not counted by their messages, since elision removes some; a repeated request gets
 * the same reply. A request for a summary has no tools and uses up no reply. `left`: how many replies have not been requested.
 */
export function inOrder(replies: readonly ScriptedReply[]): { script: Script; left: () => number } {
  const answered = new Map<string, number>();
  return {
    script: (request) => {
      const asked = JSON.stringify(request);
      if (request['tools'] === undefined && !answered.has(asked))
        return { content: [{ type: 'text', text: 'What was done is in the ledger.' }] };
      const n = answered.get(asked) ?? answered.size;
      answered.set(asked, n);
      return replies[n] ?? { content: [{ type: 'text', text: 'Done.' }] };
    },
    left: () => Math.max(0, replies.length - answered.size),
  };
}

/** One tool for each recorded name except the engine's. Calls are answered from the record; calls with equal input, in order. */
export function recordedTools(calls: readonly RecordedCall[]): { tools: Tool[]; strangeCalls: () => readonly string[] } {
  const strange: string[] = [];
  const results = new Map<string, RecordedCall[]>();
  const keyOf = (name: string, input: unknown): string => `${name} ${JSON.stringify(input)}`;
  for (const call of calls) {
    const key = keyOf(call.name, call.input);
    results.set(key, [...(results.get(key) ?? []), call]);
  }
  const own = new Set([executeCode.name, ...builtinAbilities().map(({ name }) => name)]);
  const names = [...new Set(calls.map(({ name }) => name))].filter((name) => !own.has(name));
  const tools = names.map((name): Tool => ({
    name,
    description: `The tool ${name} of the recorded run.`,
    input: z.looseObject({}),
    effect: 'pure',
    risk: 'safe',
    execute: async (input) => {
      const key = keyOf(name, input);
      const recorded = results.get(key)?.shift();
      if (!recorded) {
        strange.push(key);
        return { content: 'The record has no such call.', isError: true };
      }
      const { result, isError, images } = recorded;
      return { content: result ?? 'The record has no result for this call.', isError, ...(images && { images }) };
    },
  }));
  return { tools, strangeCalls: () => strange };
}
