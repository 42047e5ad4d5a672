// What parseRecordedRun() makes of small records written here, and its counts for the recorded files, where they are.

import { existsSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { parseRecordedRun } from '../../plv8/recordedRun.ts';
import type { RecordedRun } from '../../plv8/recordedRun.ts';

type Message = Record<string, unknown>;

const user = (content: unknown): Message => ({ role: 'user', content });
const says = (content: string, more: Message = {}): Message => ({ role: 'assistant', content, ...more });
const bash = (command: string): string => `THOUGHT: let us see.\n\n\`\`\`bash\n${command}\n\`\`\``;
const mini = (...messages: Message[]): RecordedRun =>
  parseRecordedRun(JSON.stringify({
    trajectory_format: 'mini-swe-agent-1',
    info: { exit_status: 'Submitted', config: { model: { model_name: 'vendor/model' } } },
    messages: [{ role: 'system', content: 'You are helpful.' }, user('Mend it.'), ...messages],
  }));
const swe = (...history: Message[]): RecordedRun =>
  parseRecordedRun(JSON.stringify({
    replay_config: JSON.stringify({ agent: { model: { name: 'gpt-4o' } } }),
    info: { exit_status: 'submitted' },
    history: [{ role: 'system', content: 'SETTING' }, user('The issue.'), ...history].map((message) => ({ agent: 'main', ...message })),
  }));
const sameId = (name: string, given: unknown): Message => ({ tool_calls: [{ id: 'same', function: { name, arguments: given } }] });
const sameTool = (content: unknown): Message => ({ role: 'tool', content, tool_call_ids: ['same'] });
const bashCall = (command: string, result: string | null, isError = false) => ({ name: 'bash', input: { command }, result, isError });

describe('mini-swe-agent', () => {
  it('reads a fenced block as a call, the next user message as its result, and the tokens that no cache served', () => {
    const usage = { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 60 } };
    expect(mini(says(bash('ls -F'), { extra: { response: { usage } } }), user('<returncode>0</returncode>\na.py'))).toEqual({
      format: 'mini-swe-agent',
      model: 'vendor/model',
      system: 'You are helpful.',
      prompt: 'Mend it.',
      exchanges: [{
        text: bash('ls -F'),
        calls: [bashCall('ls -F', '<returncode>0</returncode>\na.py')],
        usage: { inputTokens: 40, outputTokens: 7, cachedInputTokens: 60 },
      }],
      outcome: 'Submitted',
      skipped: [],
    });
  });

  it('marks what returned other than 0 or timed out as failed', () => {
    const run = mini(
      says(bash('false')), user('<returncode>1</returncode>'),
      says(bash('sleep 999')), user('The last command <command>sleep 999</command> timed out and has been killed.'),
      says(bash('true')), user('<returncode>0</returncode>'),
    );
    expect(run.exchanges.map(({ calls }) => calls[0]?.isError)).toEqual([true, true, false]);
  });

  it('reads a message with two blocks as one call, which was refused', () => {
    const { exchanges } = mini(says(`${bash('cd a')}\nand\n${bash('ls')}`), user('Please always provide EXACTLY ONE action in triple backticks, found 2 actions.'));
    expect(exchanges[0]?.calls).toEqual([bashCall('cd a\nls', 'Please always provide EXACTLY ONE action in triple backticks, found 2 actions.', true)]);
  });

  it('keeps what a text without a call was told as its follow-up', () => {
    const { exchanges } = mini(says('I wonder.'), user('Please wrap your command.'), user('Really.'), says(bash('ls')), user('out'), user('A human: stop that.'));
    expect(exchanges).toEqual([
      { text: 'I wonder.', calls: [], usage: null, followUp: 'Please wrap your command.\n\nReally.' },
      { text: bash('ls'), calls: [bashCall('ls', 'out')], usage: null, followUp: 'A human: stop that.' },
    ]);
  });

  it('keeps a last call that nobody answered, but for the submit', () => {
    expect(mini(says(bash('ls'))).exchanges[0]?.calls).toEqual([bashCall('ls', null)]);
    const submitted = mini(says(bash('echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')));
    expect(submitted.exchanges[0]?.calls).toEqual([]);
    expect(submitted.skipped).toEqual([{ reason: 'submit that ended the run and has no answer', count: 1 }]);
  });

  it('reads the tool calls of version 2', () => {
    const run = mini(
      says('Both.', { tool_calls: [{ id: 'a', function: { name: 'bash', arguments: '{"command":"ls"}' } }, { id: 'b', function: { name: 'bash', arguments: '{"command":"id"}' } }] }),
      { role: 'tool', tool_call_id: 'b', content: 'root' },
      { role: 'tool', tool_call_id: 'a', content: 'a.py' },
      { role: 'exit', content: 'diff' },
    );
    expect(run.exchanges[0]?.calls).toEqual([bashCall('ls', 'a.py'), bashCall('id', 'root')]);
    expect(run.skipped).toEqual([{ reason: 'exit record of the harness', count: 1 }]);
  });
});

describe('SWE-agent', () => {
  it('reads an action as its own command or as a command of the shell', () => {
    const run = swe(
      says('Open it.', { action: 'open a.py 12\n' }), user('[File: a.py]'),
      says('Change it.', { action: 'edit 1:1\nimport os\nend_of_edit\n' }), user('File updated.'),
      says('Run it.', { action: 'python a.py\n' }), user('8.2'),
    );
    expect(run.exchanges.map(({ calls }) => calls)).toEqual([
      [{ name: 'open', input: { arguments: 'a.py 12' }, result: '[File: a.py]', isError: false }],
      [{ name: 'edit', input: { arguments: '1:1\nimport os\nend_of_edit' }, result: 'File updated.', isError: false }],
      [bashCall('python a.py', '8.2')],
    ]);
    expect(run).toMatchObject({ format: 'swe-agent', model: 'gpt-4o', system: 'SETTING', prompt: 'The issue.', outcome: 'submitted', skipped: [] });
  });

  it('takes a final submit without an answer for the end of the run, and one with an answer for a call', () => {
    const ended = swe(says('Look.', { action: 'ls' }), user('a.py'), says('Done.', { action: 'submit\n' }));
    expect(ended.exchanges.map(({ text, calls }) => [text, calls.length])).toEqual([['Look.', 1], ['Done.', 0]]);
    expect(ended.skipped).toEqual([{ reason: 'submit that ended the run and has no answer', count: 1 }]);
    const answered = swe(
      says('Done.', { action: 'submit', tool_calls: [{ id: 'x', function: { name: 'submit', arguments: '{}' } }] }),
      { role: 'tool', content: 'diff', tool_call_ids: ['x'] },
    );
    expect(answered.exchanges[0]?.calls).toEqual([{ name: 'submit', input: {}, result: 'diff', isError: false }]);
  });

  it('answers a call id that comes again with the result that follows, and makes names and inputs fit', () => {
    const { exchanges, skipped } = swe(
      says('', sameId('find file!', '{broken')), sameTool('one'),
      says('', sameId('open', '{"path":"a"}')), sameTool([{ type: 'text', text: 'two' }, { type: 'image_url' }]), sameTool('late'),
    );
    expect(exchanges.flatMap(({ calls }) => calls)).toEqual([
      { name: 'find_file_', input: { arguments: '{broken' }, result: 'one', isError: false },
      { name: 'open', input: { path: 'a' }, result: 'two', isError: false },
    ]);
    expect(skipped).toEqual([{ reason: 'content block of type image_url', count: 1 }, { reason: 'result without a call', count: 1 }]);
  });

  it('takes no user message for the result of a tool call', () => {
    const { exchanges } = swe(says('Open it.', sameId('open', '{"path":"a"}')), user('A human: not that one.'), sameTool('[File: a]'));
    expect(exchanges).toMatchObject([{ calls: [{ result: '[File: a]' }], followUp: 'A human: not that one.' }]);
  });

  it('leaves out demonstrations, other agents and what the harness wrote itself, and counts them', () => {
    const run = swe(
      { ...user('A demonstration'), is_demo: true }, { ...says('demo', { action: 'ls' }), is_demo: true },
      says('Sub-agent', { agent: 'other', action: 'ls' }),
      says('Mine', { action: 'ls' }), user('a.py'),
      says('Exit due to cost limit', { action: 'exit_cost' }),
    );
    expect(run.exchanges.map(({ text }) => text)).toEqual(['Mine']);
    expect(run.skipped).toEqual([{ reason: 'demonstration', count: 2 }, { reason: 'message of another agent', count: 1 }, { reason: 'exit record of the harness', count: 1 }]);
  });

  it('reads the trajectory where there is no history', () => {
    const run = parseRecordedRun(JSON.stringify({
      trajectory: [{ query: [{ role: 'system', content: 'S' }, { role: 'user', content: 'P' }], response: 'Look.', action: 'ls\n', observation: 'a.py' }],
    }));
    expect(run).toMatchObject({ model: null, system: 'S', prompt: 'P', exchanges: [{ text: 'Look.', calls: [bashCall('ls', 'a.py')] }] });
  });
});

describe('other files', () => {
  it.each([
    ['{"type":"user"}\n{"type":"assistant"}', /not one JSON document/],
    ['[]', /neither mini-swe-agent .* nor SWE-agent/],
    ['{"steps":[]}', /but: steps$/],
    ['{"messages":[{"role":"assistant","content":"hi"}]}', /but: messages$/],
    ['{"messages":[],"trajectory_format":"other"}', /neither mini-swe-agent/],
    ['{"history":[{"role":"user","content":"hi"}]}', /the recorded swe-agent run has no model call/],
  ])('%s are refused', (text, message) => {
    expect(() => parseRecordedRun(text)).toThrow(message);
  });
});

const transcripts = new URL('../../../shared/transcripts/', import.meta.url);
const index = new URL('INDEX.md', transcripts);
const isHere = existsSync(index);
if (!isHere) console.warn('recorded files: skipped, ../shared/transcripts/INDEX.md is not here');

describe.skipIf(!isHere)('the recorded files have the model calls and tool calls of their index', () => {
  const rows = isHere ? [...readFileSync(index, 'utf8').matchAll(/^\| `((?:mini-swe-agent|swe-agent)\/[^`]+)` \|[^|]*\| (\d+) \| (\d+) \|/gm)] : [];

  it('lists nine of them', () => {
    expect(rows).toHaveLength(9);
  });

  it.each(rows.map(([, file = '', modelCalls, toolCalls]) => ({ file, modelCalls: Number(modelCalls), toolCalls: Number(toolCalls) })))('$file: $modelCalls, $toolCalls', ({ file, modelCalls, toolCalls }) => {
    const { exchanges, system, prompt } = parseRecordedRun(readFileSync(new URL(file, transcripts), 'utf8'));
    const calls = exchanges.flatMap((exchange) => exchange.calls);
    expect({ modelCalls: exchanges.length, toolCalls: calls.length }).toEqual({ modelCalls, toolCalls });
    expect(calls.filter((call) => call.result === null)).toEqual([]);
    expect(calls.filter((call) => !/^[a-zA-Z0-9_-]{1,64}$/.test(call.name))).toEqual([]);
    expect([system, prompt]).not.toContain('');
  });
});
