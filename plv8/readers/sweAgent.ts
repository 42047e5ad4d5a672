// Reads SWE-agent's .traj: {history, trajectory, info, replay_config}, some with only a history. The history is what the model saw; the
// trajectory repeats it step by step and is read only if there is no history.

import { field, stringOf, toolName } from './reading.ts';
import type { Reading, RecordedCall } from './reading.ts';

/** First words of actions that are SWE-agent's own commands; all others are for the shell. */
const commands = new Set([
  'append',
  'create',
  'edit',
  'exit_forfeit',
  'filemap',
  'find_file',
  'goto',
  'insert',
  'open',
  'scroll_down',
  'scroll_up',
  'search_dir',
  'search_file',
  'str_replace_editor',
  'submit',
  'undo_edit',
  'view_image',
  'connect_exec',
  'connect_sendline',
  'connect_start',
  'connect_stop',
  'decompile',
  'disassemble',
  'debug_add_breakpoint',
  'debug_continue',
  'debug_exec',
  'debug_start',
  'debug_step',
  'debug_stop',
]);

export function readSweAgent(document: unknown): Reading {
  const messages = messagesOf(document);
  const agent = stringOf(field(messages[0], 'agent'));
  return {
    format: 'swe-agent',
    model: modelOf(field(document, 'replay_config')),
    outcome: stringOf(field(document, 'info', 'exit_status')),
    messages,
    skipReason: (message) => {
      if (field(message, 'is_demo') === true) return 'demonstration';
      if (stringOf(field(message, 'agent')) !== agent) return 'message of another agent';
      return /^exit_(?!forfeit)/.test(actionOf(message)) ? 'exit record of the harness' : null;
    },
    callsInText: (message) => callsInAction(actionOf(message)),
    fileOf,
    usage: () => null,
    isFailure: () => false,
    endsRun: (call) => call.name === 'submit' || call.name === 'exit_forfeit',
  };
}

function messagesOf(document: unknown): unknown[] {
  const history = field(document, 'history');
  if (Array.isArray(history) && history.length > 0) return history;
  const steps = field(document, 'trajectory');
  if (!Array.isArray(steps)) return [];
  const start = field(steps[0], 'query');
  const conversation = steps.flatMap((step: unknown) => [
    { role: 'assistant', content: field(step, 'response'), action: field(step, 'action') },
    { role: 'user', content: field(step, 'observation') },
  ]);
  return [
    ...(Array.isArray(start)
      ? start.map((message: unknown) => ({ role: field(message, 'role'), content: field(message, 'content') }))
      : []),
    ...conversation,
  ];
}

/** replay_config is an object or, as SWE-agent writes it, its JSON as text. */
function modelOf(given: unknown): string | null {
  try {
    const config: unknown = typeof given === 'string' ? JSON.parse(given) : given;
    return stringOf(field(config, 'agent', 'model', 'name'));
  } catch {
    return null;
  }
}

function actionOf(message: unknown): string {
  return (stringOf(field(message, 'action')) ?? '').trim();
}

function callsInAction(action: string): RecordedCall[] {
  if (action === '') return [];
  const [, word = '', rest = ''] = /^(\S+)(?:\s+([^]*))?$/.exec(action) ?? [];
  const call = commands.has(word) ? { name: toolName(word), input: { arguments: rest } } : { name: 'bash', input: { command: action } };
  return [{ ...call, result: null, isError: false }];
}

/** An edit concerns the open file; other textual commands name the file first, and the editor's command names it after its subcommand. */
function fileOf(call: RecordedCall, shown: string): string | null {
  if (call.name === 'edit' || call.name === 'insert' || call.name === 'append')
    return /\(Open file: (?!n\/a\))(.+)\)\n\(Current directory: /.exec(shown)?.[1] ?? null;
  const place = { open: 0, create: 0, filemap: 0, str_replace_editor: 1 }[call.name];
  const given = call.input['arguments'];
  const word = typeof given === 'string' && place !== undefined ? given.match(/"[^"]*"|'[^']*'|\S+/g)?.[place] : undefined;
  return word?.replace(/^(["'])(.*)\1$/, '$2') ?? null;
}
