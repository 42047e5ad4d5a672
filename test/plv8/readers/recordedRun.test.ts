// What parseRecordedRun() makes of small records written here, and its counts for the recorded files, where they are.

import { existsSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { LinesReader, parseRecordedRun, parseRecordedRuns } from '../../../plv8/readers/recordedRun.ts';
import type { RecordedRun } from '../../../plv8/readers/recordedRun.ts';

type Message = Record<string, unknown>;

const user = (content: unknown): Message => ({ role: 'user', content });
const says = (content: string, more: Message = {}): Message => ({ role: 'assistant', content, ...more });
const bash = (command: string): string => `THOUGHT: let us see.\n\n\`\`\`bash\n${command}\n\`\`\``;
const mini = (...messages: Message[]): RecordedRun =>
  parseRecordedRun(
    JSON.stringify({
      trajectory_format: 'mini-swe-agent-1',
      info: { exit_status: 'Submitted', config: { model: { model_name: 'vendor/model' } } },
      messages: [{ role: 'system', content: 'You are helpful.' }, user('Mend it.'), ...messages],
    }),
  );
const swe = (...history: Message[]): RecordedRun =>
  parseRecordedRun(
    JSON.stringify({
      replay_config: JSON.stringify({ agent: { model: { name: 'gpt-4o' } } }),
      info: { exit_status: 'submitted' },
      history: [{ role: 'system', content: 'SETTING' }, user('The issue.'), ...history].map((message) => ({ agent: 'main', ...message })),
    }),
  );
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
      exchanges: [
        {
          text: bash('ls -F'),
          calls: [bashCall('ls -F', '<returncode>0</returncode>\na.py')],
          usage: { inputTokens: 40, outputTokens: 7, cachedInputTokens: 60 },
        },
      ],
      tools: ['bash'],
      outcome: 'Submitted',
      skipped: [],
    });
  });

  it('marks what returned other than 0 or timed out as failed', () => {
    const run = mini(
      says(bash('false')),
      user('<returncode>1</returncode>'),
      says(bash('sleep 999')),
      user('The last command <command>sleep 999</command> timed out and has been killed.'),
      says(bash('true')),
      user('<returncode>0</returncode>'),
    );
    expect(run.exchanges.map(({ calls }) => calls[0]?.isError)).toEqual([true, true, false]);
  });

  it('reads a message with two blocks as one call, which was refused', () => {
    const { exchanges } = mini(
      says(`${bash('cd a')}\nand\n${bash('ls')}`),
      user('Please always provide EXACTLY ONE action in triple backticks, found 2 actions.'),
    );
    expect(exchanges[0]?.calls).toEqual([
      bashCall('cd a\nls', 'Please always provide EXACTLY ONE action in triple backticks, found 2 actions.', true),
    ]);
  });

  it('keeps what a text without a call was told as its follow-up', () => {
    const { exchanges } = mini(
      says('I wonder.'),
      user('Please wrap your command.'),
      user('Really.'),
      says(bash('ls')),
      user('out'),
      user('A human: stop that.'),
    );
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
      says('Both.', {
        tool_calls: [
          { id: 'a', function: { name: 'bash', arguments: '{"command":"ls"}' } },
          { id: 'b', function: { name: 'bash', arguments: '{"command":"id"}' } },
        ],
      }),
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
      says('Open it.', { action: 'open a.py 12\n' }),
      user('[File: a.py]\n(Open file: /work/a.py)\n(Current directory: /work)\nbash-$'),
      says('Change it.', { action: 'edit 1:1\nimport os\nend_of_edit\n' }),
      user('File updated.'),
      says('Run it.', { action: 'python a.py\n' }),
      user('8.2'),
      says('Look.', { action: `str_replace_editor view '/work/a b.py'` }),
      user('x'),
    );
    expect(run.exchanges.map(({ calls }) => calls)).toEqual([
      [
        {
          name: 'open',
          input: { arguments: 'a.py 12' },
          result: '[File: a.py]\n(Open file: /work/a.py)\n(Current directory: /work)\nbash-$',
          isError: false,
          file: 'a.py',
        },
      ],
      [{ name: 'edit', input: { arguments: '1:1\nimport os\nend_of_edit' }, result: 'File updated.', isError: false, file: '/work/a.py' }],
      [bashCall('python a.py', '8.2')],
      [{ name: 'str_replace_editor', input: { arguments: `view '/work/a b.py'` }, result: 'x', isError: false, file: '/work/a b.py' }],
    ]);
    expect(run).toMatchObject({
      format: 'swe-agent',
      model: 'gpt-4o',
      system: 'SETTING',
      prompt: 'The issue.',
      outcome: 'submitted',
      skipped: [],
    });
  });

  it('takes a final submit without an answer for the end of the run, and one with an answer for a call', () => {
    const ended = swe(says('Look.', { action: 'ls' }), user('a.py'), says('Done.', { action: 'submit\n' }));
    expect(ended.exchanges.map(({ text, calls }) => [text, calls.length])).toEqual([
      ['Look.', 1],
      ['Done.', 0],
    ]);
    expect(ended.skipped).toEqual([{ reason: 'submit that ended the run and has no answer', count: 1 }]);
    const answered = swe(says('Done.', { action: 'submit', tool_calls: [{ id: 'x', function: { name: 'submit', arguments: '{}' } }] }), {
      role: 'tool',
      content: 'diff',
      tool_call_ids: ['x'],
    });
    expect(answered.exchanges[0]?.calls).toEqual([{ name: 'submit', input: {}, result: 'diff', isError: false }]);
  });

  it('answers a call id that comes again with the result that follows, and makes names and inputs fit', () => {
    const { exchanges, skipped } = swe(
      says('', sameId('find file!', '{broken')),
      sameTool('one'),
      says('', sameId('open', '{"path":"a"}')),
      sameTool([{ type: 'text', text: 'two' }, { type: 'image_url' }]),
      sameTool('late'),
    );
    expect(exchanges.flatMap(({ calls }) => calls)).toEqual([
      { name: 'find_file_', input: { input: '{broken' }, result: 'one', isError: false },
      { name: 'open', input: { path: 'a' }, result: 'two', isError: false },
    ]);
    expect(skipped).toEqual([
      { reason: 'content block of type image_url', count: 1 },
      { reason: 'result without a call', count: 1 },
    ]);
  });

  it('takes no user message for the result of a tool call', () => {
    const { exchanges } = swe(says('Open it.', sameId('open', '{"path":"a"}')), user('A human: not that one.'), sameTool('[File: a]'));
    expect(exchanges).toMatchObject([{ calls: [{ result: '[File: a]' }], followUp: 'A human: not that one.' }]);
  });

  it('leaves out demonstrations, other agents and what the harness wrote itself, and counts them', () => {
    const run = swe(
      { ...user('A demonstration'), is_demo: true },
      { ...says('demo', { action: 'ls' }), is_demo: true },
      says('Sub-agent', { agent: 'other', action: 'ls' }),
      says('Mine', { action: 'ls' }),
      user('a.py'),
      says('Exit due to cost limit', { action: 'exit_cost' }),
    );
    expect(run.exchanges.map(({ text }) => text)).toEqual(['Mine']);
    expect(run.skipped).toEqual([
      { reason: 'demonstration', count: 2 },
      { reason: 'message of another agent', count: 1 },
      { reason: 'exit record of the harness', count: 1 },
    ]);
  });

  it('reads the trajectory where there is no history', () => {
    const run = parseRecordedRun(
      JSON.stringify({
        trajectory: [
          {
            query: [
              { role: 'system', content: 'S' },
              { role: 'user', content: 'P' },
            ],
            response: 'Look.',
            action: 'ls\n',
            observation: 'a.py',
          },
        ],
      }),
    );
    expect(run).toMatchObject({ model: null, system: 'S', prompt: 'P', exchanges: [{ text: 'Look.', calls: [bashCall('ls', 'a.py')] }] });
  });
});

type Line = Record<string, unknown>;
const lines = (...records: (Line | string)[]): RecordedRun =>
  parseRecordedRun(records.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));

describe('Claude Code', () => {
  let n = 0;
  const record = (type: string, message: Line, more: Line = {}): Line => ({
    type,
    uuid: `u${n++}`,
    parentUuid: null,
    sessionId: 's',
    isSidechain: false,
    message,
    ...more,
  });
  const usage = (output: number) => ({
    input_tokens: 3,
    cache_creation_input_tokens: 10,
    cache_read_input_tokens: 100,
    output_tokens: output,
  });
  const block = (id: string, content: Line, output = 1): Line =>
    record('assistant', { id, model: 'claude-opus-4-6', content: [content], usage: usage(output) });
  const use = (id: string, command: string): Line => ({ type: 'tool_use', id, name: 'Bash', input: { command } });
  const answer = (id: string, content: unknown, more: Line = {}): Line =>
    record('user', { content: [{ type: 'tool_result', tool_use_id: id, content, ...more }] });
  const prompt = record('user', { content: 'Mend it.' });

  it('joins the lines of one message, which results may lie between, and counts its usage once', () => {
    const run = lines(
      prompt,
      block('m1', { type: 'thinking', thinking: 'Hm.', signature: 'sig' }),
      block('m1', { type: 'text', text: 'Look.' }),
      block('m1', use('a', 'ls')),
      answer('a', 'a.py'),
      block('m1', use('b', 'cat a.py'), 40),
      answer('b', [{ type: 'text', text: 'x' }, { type: 'image' }], { is_error: true }),
    );
    expect(run).toMatchObject({ format: 'claude-code', model: 'claude-opus-4-6', prompt: 'Mend it.' });
    expect(run.exchanges).toEqual([
      {
        id: expect.stringMatching(/^u\d+$/),
        thinking: [{ thinking: 'Hm.', signature: 'sig' }],
        text: 'Look.',
        calls: [bashCall('ls', 'a.py'), bashCall('cat a.py', 'x\n[image]', true)].map((call, i) => ({
          ...call,
          name: 'Bash',
          id: 'ab'[i],
        })),
        usage: { inputTokens: 13, outputTokens: 40, cachedInputTokens: 100 },
        responseId: 'm1',
        records: [{ thoughts: 1 }, { text: 'Look.' }, { calls: 1 }, { calls: 1 }].map((of) => ({
          ...of,
          id: expect.stringMatching(/^u\d+$/),
        })),
      },
    ]);
  });

  it('says which record of a response was missed, and keeps a result whose call was', () => {
    const text = block('m1', { type: 'text', text: 'Look.' });
    const one = { ...block('m1', use('b', 'cat a.py')), parentUuid: 'missed' };
    const nobodys = { ...block('m1', use('c', 'ls')), uuid: undefined };
    const [gap, unknown] = [lines(prompt, text, one, answer('a', 'a.py'), answer('b', 'x')), lines(prompt, text, one, nobodys)];
    expect(gap.exchanges[0]).toMatchObject({
      records: [{ text: 'Look.' }, { calls: 1, after: 'missed' }],
      results: [{ id: 'a', result: 'a.py' }],
    });
    expect(unknown.exchanges[0]!.records).toBeUndefined();
  });

  it('leaves out summaries of compactions and what the client wrote, and counts them; subagents are runs of their own', () => {
    const run = lines(
      prompt,
      block('m1', use('a', 'ls')),
      answer('a', 'a.py'),
      { ...block('m2', { type: 'text', text: 'In the side chain.' }), isSidechain: true },
      { type: 'system', subtype: 'compact_boundary', uuid: 'c', parentUuid: null, sessionId: 's' },
      record('user', { content: 'This session is being continued.' }, { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
      record('assistant', { id: 'm3', model: '<synthetic>', content: [{ type: 'text', text: 'API Error' }] }),
      block('m4', { type: 'text', text: 'Done.' }),
      record('user', { content: 'Thanks.' }),
    );
    expect(run.exchanges.map(({ text, followUp }) => [text, followUp])).toEqual([
      ['', undefined],
      ['Done.', 'Thanks.'],
    ]);
    expect(run.skipped.map(({ reason }) => reason)).toEqual([
      'record of type system',
      'summary of a compaction',
      'message written by the client',
    ]);
    expect(run.raw?.map(({ line, reason }) => [line, reason])).toEqual([
      [5, 'record of type system'],
      [7, 'message written by the client'],
    ]);
  });

  it('counts calls by their records where a provider gives the same id again, and each result goes to the first that waits', () => {
    const run = lines(
      prompt,
      block('m1', use('same', 'ls')),
      block('m1', use('same', 'pwd')),
      answer('same', 'a.py'),
      answer('same', '/tmp'),
      block('m2', use('same', 'ls')),
      answer('same', 'b.py'),
      block('m3', use('same', 'left open')),
      block('m4', use('same', 'ls')),
      answer('same', 'c.py'),
      answer('same', 'late'),
    );
    expect(run.exchanges.map(({ calls }) => calls.map(({ input, result }) => [input['command'], result]))).toEqual([
      [
        ['ls', 'a.py'],
        ['pwd', '/tmp'],
      ],
      [['ls', 'b.py']],
      [['left open', 'late']],
      [['ls', 'c.py']],
    ]);
    expect(run.skipped).toEqual([]);
  });

  it('takes records that a continued session repeats once, two on one line both, and broken ones never', () => {
    const call = block('m1', use('a', 'ls'));
    const run = lines(
      prompt,
      call,
      call,
      `${JSON.stringify(answer('a', 'a.py'))}${JSON.stringify(block('m2', { type: 'text', text: 'Done {"' }))}`,
      '{"type":"user","mess',
      '{"type":"unfini',
    );
    expect(run.exchanges.map(({ text, calls }) => [text, calls.length])).toEqual([
      ['', 1],
      ['Done {"', 0],
    ]);
    expect(run.skipped).toEqual([
      { reason: 'repeated record', count: 1, line: 3 },
      { reason: 'line that is no JSON', count: 1, line: 5 },
    ]); // the last one was not finished
    expect(run.raw).toEqual([{ line: 5, reason: 'line that is no JSON', content: '{"type":"user","mess' }]);
  });
});

describe('Codex', () => {
  const item = (payload: Line): Line => ({ timestamp: 't', type: 'response_item', payload });
  const event = (payload: Line): Line => ({ timestamp: 't', type: 'event_msg', payload });
  const counted = (total: number, input: number): Line =>
    event({
      type: 'token_count',
      info: {
        total_token_usage: { total_tokens: total },
        last_token_usage: { input_tokens: input, cached_input_tokens: 60, output_tokens: 7 },
      },
    });
  const call = (id: string, cmd: string): Line =>
    item({ type: 'function_call', name: 'exec_command', arguments: JSON.stringify({ cmd }), call_id: id });
  const output = (id: string, text: string): Line => item({ type: 'function_call_output', call_id: id, output: text });

  it('takes the items between two outputs for one response and a repeated total for no call', () => {
    const run = lines(
      { type: 'session_meta', payload: { base_instructions: { text: 'You code.' } } },
      { type: 'turn_context', payload: { model: 'gpt-5.5' } },
      item({ type: 'message', role: 'user', content: [{ text: 'Mend it.' }] }),
      event({ type: 'user_message', message: 'Mend it.' }),
      item({ type: 'reasoning', summary: [], encrypted_content: 'e' }),
      item({ type: 'message', role: 'assistant', content: [{ text: 'Look.' }] }),
      call('a', 'ls'),
      call('b', 'false'),
      output('a', 'a.py'),
      output('b', 'Wall time: 1\nProcess exited with code 1\nOutput:\n'),
      counted(107, 100),
      counted(107, 100),
      item({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch', call_id: 'c' }),
      item({ type: 'custom_tool_call_output', call_id: 'c', output: 'Done' }),
      counted(300, 193),
    );
    expect(run).toMatchObject({ format: 'codex', model: 'gpt-5.5', system: 'You code.', prompt: 'Mend it.' });
    expect(run.exchanges).toEqual([
      {
        thinking: [{ thinking: '', signature: 'e' }],
        text: 'Look.',
        usage: { inputTokens: 40, outputTokens: 7, cachedInputTokens: 60 },
        calls: [
          { id: 'a', name: 'exec_command', input: { cmd: 'ls' }, result: 'a.py', isError: false },
          {
            id: 'b',
            name: 'exec_command',
            input: { cmd: 'false' },
            result: 'Wall time: 1\nProcess exited with code 1\nOutput:\n',
            isError: true,
          },
        ],
      },
      {
        text: '',
        usage: { inputTokens: 133, outputTokens: 7, cachedInputTokens: 60 },
        calls: [{ id: 'c', name: 'apply_patch', input: { input: '*** Begin Patch' }, result: 'Done', isError: false }],
      },
    ]);
  });
});

describe('Copilot', () => {
  it('reads messages with their requests and what came of them', () => {
    const run = lines(
      { type: 'system.message', data: { content: 'You help.' } },
      { type: 'user.message', data: { content: 'Mend it.', transformedContent: '<now/> Mend it.' } },
      {
        type: 'assistant.message',
        data: {
          messageId: 'm',
          model: 'claude-sonnet-4.6',
          content: 'Look.',
          reasoningText: 'Hm.',
          toolRequests: [{ toolCallId: 'a', name: 'bash', arguments: { command: 'ls' } }],
        },
      },
      { type: 'tool.execution_complete', data: { toolCallId: 'a', success: false, error: { message: 'denied' } } },
    );
    expect(run).toMatchObject({ format: 'copilot', model: 'claude-sonnet-4.6', system: 'You help.', prompt: '<now/> Mend it.' });
    expect(run.exchanges).toEqual([
      {
        text: 'Look.',
        usage: null,
        thinking: [{ thinking: 'Hm.', signature: '' }],
        calls: [{ ...bashCall('ls', 'denied', true), id: 'a' }],
        responseId: 'm',
      },
    ]);
  });
});

describe('pi', () => {
  it('reads whole messages with their results, and no response that was stopped before it said anything', () => {
    const message = (content: Line): Line => ({ type: 'message', timestamp: '2026-01-01T00:00:00Z', message: content });
    const run = lines(
      { type: 'session', id: 's', cwd: '/work' },
      message({ role: 'user', content: [{ type: 'text', text: 'Mend it.' }] }),
      message({ role: 'assistant', content: [], stopReason: 'aborted' }),
      message({
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        usage: { input: 3, cacheWrite: 10, cacheRead: 100, output: 7 },
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'text', text: 'Look.' },
          { type: 'toolCall', id: 'a', name: 'bash', arguments: { command: 'ls' } },
        ],
      }),
      message({ role: 'toolResult', toolCallId: 'a', content: [{ type: 'text', text: 'denied' }], isError: true }),
      { type: 'compaction', summary: 'So far.' },
      message({ role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }),
    );
    expect(run).toMatchObject({
      format: 'pi',
      sessionId: 's',
      cwd: '/work',
      prompt: 'Mend it.',
      skipped: [
        { reason: 'response without content', count: 1, line: 3 },
        { reason: 'thinking without a signature', count: 1, line: 4 },
      ],
    });
    expect(run.exchanges).toMatchObject([
      {
        text: 'Look.',
        usage: { inputTokens: 13, outputTokens: 7, cachedInputTokens: 100 },
        thinking: [{ thinking: 'Hm.', signature: '' }],
        calls: [{ ...bashCall('ls', 'denied', true), id: 'a' }],
      },
      { text: 'Done.', compactSummary: 'So far.' },
    ]);
  });
});

describe('Gemini CLI and ATIF', () => {
  it('read lines of which a message is written again, taken back or replaced', () => {
    const message = (id: string, more: object = {}): object => ({
      id,
      type: 'gemini',
      content: id,
      tokens: { input: 3, output: 1 },
      ...more,
    });
    const call = { id: 'a', name: 'bash', args: { command: 'ls' }, status: 'success' };
    const result = [{ functionResponse: { response: { output: 'a.py' } } }];
    const begun = { sessionId: 's', projectHash: 'h', startTime: '2026-01-01T00:00:00Z' };
    const linesOf = (...records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');
    const all = [
      begun,
      { id: 'u', type: 'user', content: 'Mend it.' },
      message('g1', { toolCalls: [call] }),
      message('g1', { toolCalls: [{ ...call, result }] }),
      { $set: { lastUpdated: '2026-01-01T00:00:01Z' } },
      message('g2'),
      { $rewindTo: 'g2' },
      message('g3'),
    ];
    const [run] = parseRecordedRuns(linesOf(...all));
    expect(run).toMatchObject({ format: 'gemini-cli', sessionId: 's', prompt: 'Mend it.' });
    expect(run?.exchanges.map(({ id, calls }) => [id, calls.map((one) => one.result)])).toEqual([
      ['g1', ['a.py']],
      ['g3', []],
    ]);
    expect(parseRecordedRuns(linesOf(...all, { $set: { messages: [message('g4')] } }))[0]?.exchanges.map(({ id }) => id)).toEqual(['g4']);
    expect(() => parseRecordedRuns(linesOf(begun))).toThrow('no model call');
  });

  it('tell what a person wrote from what the client and its hooks wrote there', () => {
    const hook = (text: string): string => `<hook_context>${text}</hook_context>`;
    const messages = [
      { id: 'c', type: 'user', content: [{ text: '<session_context>\nThis is the Gemini CLI.\n</session_context>' }] },
      { id: 'u', type: 'user', content: [{ text: `${hook('at the start')}\n\nMend it.` }, { text: hook('with the prompt') }] },
      { id: 'g', type: 'gemini', content: 'Done.', tokens: { input: 3, output: 1 } },
    ];
    expect(parseRecordedRun(JSON.stringify({ sessionId: 's', messages }))).toMatchObject({
      task: 'Mend it.',
      promptParts: [
        { text: '<session_context>\nThis is the Gemini CLI.\n</session_context>', isByHarness: true },
        { text: 'Mend it.' },
        { text: expect.stringContaining(hook('with the prompt')), isByHarness: true },
      ],
    });
  });

  it('read calls with the results that stand beside them', () => {
    const gemini = parseRecordedRun(
      JSON.stringify(
        {
          sessionId: 's',
          messages: [
            { type: 'user', content: 'Mend it.' },
            {
              id: 'g',
              type: 'gemini',
              model: 'gemini-2.5-flash',
              content: 'Look.',
              tokens: { input: 100, cached: 60, output: 7, thoughts: 3 },
              thoughts: [{ subject: 'Hm', description: 'what' }],
              toolCalls: [
                {
                  id: 'a',
                  name: 'bash',
                  args: { command: 'ls' },
                  status: 'success',
                  result: [{ functionResponse: { response: { output: 'a.py' } } }],
                },
              ],
            },
          ],
        },
        null,
        2,
      ),
    );
    expect(gemini).toMatchObject({
      format: 'gemini-cli',
      prompt: 'Mend it.',
      exchanges: [
        {
          id: 'g',
          text: 'Look.',
          usage: { inputTokens: 40, outputTokens: 10, cachedInputTokens: 60 },
          calls: [{ ...bashCall('ls', 'a.py'), id: 'a' }],
        },
      ],
    });
    const atif = parseRecordedRun(
      JSON.stringify({
        schema_version: 'ATIF-v1.7',
        session_id: 's',
        agent: { name: 'terminus', model_name: 'gpt-4o' },
        steps: [
          { source: 'system', message: 'You code.' },
          { source: 'user', message: 'Mend it.' },
          {
            source: 'agent',
            message: 'Look.',
            tool_calls: [{ tool_call_id: 'a', function_name: 'bash', arguments: { command: 'ls' } }],
            observation: { results: [{ source_call_id: 'a', content: 'a.py' }] },
            metrics: { prompt_tokens: 100, cached_tokens: 60, completion_tokens: 7 },
          },
          { source: 'agent', message: 'keys', observation: { results: [{ content: 'screen' }] } },
          { source: 'system', message: 'So far.', extra: { context_management: { type: 'compaction' } } },
          { source: 'agent', message: 'Done.' },
        ],
      }),
    );
    expect(atif).toMatchObject({
      format: 'atif',
      sessionId: 'terminus/s',
      system: 'You code.',
      prompt: 'Mend it.',
      exchanges: [
        { usage: { inputTokens: 40, outputTokens: 7, cachedInputTokens: 60 }, calls: [{ ...bashCall('ls', 'a.py'), id: 'a' }] },
        { text: 'keys', followUp: 'screen', isFollowUpByHarness: true },
        { text: 'Done.', compactSummary: 'So far.' },
      ],
    });
  });
});

describe('Claude Code, who speaks', () => {
  it('tells a human from the client, and finds what was asked first', () => {
    let n = 0;
    const said = (content: string, more: Line = {}): Line => ({
      type: 'user',
      uuid: `w${n++}`,
      sessionId: 's',
      message: { role: 'user', content },
      ...more,
    });
    const answered = (): Line => ({
      type: 'assistant',
      uuid: `w${n}`,
      sessionId: 's',
      message: { id: `m${n++}`, model: 'claude-opus-5', content: [{ type: 'text', text: 'Yes.' }] },
    });
    const run = lines(
      said('Caveat: The messages below were generated by the user'),
      said('<command-name>/model</command-name>'),
      said('Mend it.'),
      answered(),
      said('[Request interrupted by user]'),
      answered(),
      said('A skill.', { isMeta: true }),
      said('Go on.'),
      answered(),
    );
    expect(run.task).toBe('Mend it.');
    expect(run.exchanges.map(({ followUp, isFollowUpByHarness }) => [followUp, isFollowUpByHarness])).toEqual([
      ['[Request interrupted by user]', true],
      ['A skill.\n\nGo on.', undefined],
      [undefined, undefined],
    ]);
  });
});

describe('Claude Code, what stands beside the messages', () => {
  it('takes prompts typed meanwhile, changed and attached files and memory for words of the conversation, and knows whose they are', () => {
    let n = 0;
    const record = (more: Line): Line => ({ uuid: `v${n++}`, sessionId: 's', timestamp: '2026-01-01T00:00:00Z', ...more });
    const said = (content: string): Line => record({ type: 'user', message: { content } });
    const answered = (): Line =>
      record({ type: 'assistant', message: { id: `m${n}`, model: 'claude-opus-5', content: [{ type: 'text', text: 'Yes.' }] } });
    const beside = (attachment: Line): Line => record({ type: 'attachment', attachment });
    const run = lines(
      beside({ type: 'nested_memory', path: 'CLAUDE.md', content: { path: 'CLAUDE.md', content: 'Be terse.' } }),
      said('Fix it.'),
      answered(),
      beside({ type: 'queued_command', prompt: 'Only the tests.', commandMode: 'prompt', origin: { kind: 'human' } }),
      beside({ type: 'queued_command', prompt: [{ type: 'text', text: 'And hurry.' }], commandMode: 'prompt' }),
      beside({ type: 'queued_command', prompt: '<task-notification>done</task-notification>', commandMode: 'task-notification' }),
      beside({ type: 'edited_text_file', filename: 'a.ts', snippet: '1 x' }),
      beside({ type: 'file', filename: 'b.ts', content: { type: 'text', file: { filePath: 'b.ts', content: 'y' } } }),
      beside({ type: 'task_reminder', content: [] }),
      answered(),
      said('Thanks.'),
      answered(),
    );
    const changed = '<task-notification>done</task-notification>\n\nThe file a.ts has changed:\n\n1 x\n\nThe file b.ts:\n\ny';
    expect(run).toMatchObject({
      task: 'Fix it.',
      prompt: 'The memory file CLAUDE.md:\n\nBe terse.\n\nFix it.',
      promptParts: [{ text: 'The memory file CLAUDE.md:\n\nBe terse.', isByHarness: true }, { text: 'Fix it.' }],
    });
    expect(run.exchanges.map(({ followUp, followUpParts, isFollowUpByHarness }) => [followUp, followUpParts, isFollowUpByHarness])).toEqual(
      [
        [
          `Only the tests.\n\nAnd hurry.\n\n${changed}`,
          [{ text: 'Only the tests.' }, { text: 'And hurry.' }, { text: changed, isByHarness: true }],
          undefined,
        ],
        ['Thanks.', undefined, undefined],
        [undefined, undefined, undefined],
      ],
    );
    expect(run.skipped).toEqual([{ reason: 'record of type attachment', count: 1, line: 9 }]);
  });
});

describe('Codex, who speaks and what fails', () => {
  it("takes instructions for nobody's word, keeps what a compaction kept, and knows failures of several versions", () => {
    const item = (payload: Line): Line => ({ timestamp: '2026-01-01T00:00:00Z', type: 'response_item', payload });
    const said = (role: string, text: string): Line => item({ type: 'message', role, content: [{ type: 'input_text', text }] });
    const ran = (id: string, output: string): Line[] => [
      item({ type: 'function_call', name: 'shell', arguments: '{}', call_id: id }),
      item({ type: 'function_call_output', call_id: id, output }),
    ];
    const run = lines(
      { type: 'session_meta', payload: { id: 's' } },
      { type: 'turn_context', payload: { model: 'gpt-5.5' } },
      said('developer', 'Permissions.'),
      said('user', '# AGENTS.md instructions for /work'),
      item({
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Mend it.' },
          { type: 'input_image', image_url: 'data:' },
        ],
      }),
      item({ type: 'ghost_snapshot' }),
      ...ran('a', 'Exit code: 1\nWall time: 1'),
      ...ran('b', '{"output":"","metadata":{"exit_code":2}}'),
      ...ran('c', 'apply_patch verification failed: no such line'),
      ...ran('d', 'Exit code: 0\nWall time: 1'),
      {
        type: 'compacted',
        payload: { message: '', replacement_history: [{ type: 'message', role: 'user', content: [{ text: 'Mend it.' }] }] },
      },
      { type: 'turn_context', payload: { model: 'gpt-5.6' } },
      said('assistant', 'Done.'),
    );
    expect(run).toMatchObject({ task: 'Mend it.', model: 'gpt-5.5' });
    expect(run.skipped.map(({ reason }) => reason)).toEqual([
      'content block of type input_image',
      'item ghost_snapshot',
      'record of type compacted',
    ]);
    expect(run.exchanges.flatMap(({ calls }) => calls.map(({ isError }) => isError))).toEqual([true, true, true, false]);
    expect(run.exchanges.at(-1)).toMatchObject({ text: 'Done.', model: 'gpt-5.6', compactSummary: 'Mend it.' });
  });
});

describe('a conversation', () => {
  it('without ids of records takes a call of a response again as a copy, in another response as another call', () => {
    const gemini = (id: string): Line => ({
      id,
      type: 'gemini',
      content: '',
      toolCalls: [1, 2].map(() => ({ id: 'call_1', name: 'bash', args: { command: 'ls' } })),
    });
    const run = parseRecordedRun(
      JSON.stringify({ sessionId: 's', messages: [{ type: 'user', content: 'Fix it.' }, gemini('a'), gemini('b')] }),
    );
    expect(run.exchanges.map(({ calls }) => calls.length)).toEqual([1, 1]);
    expect(run.skipped).toEqual([{ reason: 'repeated call', count: 2 }]);
  });

  it('begins behind a compaction, puts each call on its own response, and keeps results that match nothing', () => {
    const record = (type: string, message: Line, more: Line = {}): Line => ({ type, sessionId: 's', message, ...more });
    const block = (id: string, content: Line): Line => record('assistant', { id, model: 'claude-opus-5', content: [content] });
    const run = lines(
      record('user', { content: 'So far.' }, { isCompactSummary: true }),
      block('m1', { type: 'text', text: 'One.' }),
      block('m2', { type: 'text', text: 'Two.' }),
      block('m1', { type: 'tool_use', id: 'a', name: 'Bash', input: {} }),
      record('user', { content: [{ type: 'tool_result', tool_use_id: 'nowhere', content: 'lost' }] }),
      record('assistant', { id: 'm3', model: 'claude-opus-5', content: 'as text' }),
    );
    expect(run).toMatchObject({ prompt: 'So far.', isPromptByHarness: true });
    expect(run.exchanges.map(({ text, calls }) => [text, calls.length])).toEqual([
      ['One.', 1],
      ['Two.', 0],
      ['as text', 0],
    ]);
    expect(run.raw).toEqual([{ line: 5, reason: 'result without its call', content: '{"id":"nowhere","text":"lost"}' }]);
  });

  it('read part by part says what it says at once', () => {
    const said = (n: number): Line => ({
      type: 'user',
      uuid: `w${n}`,
      sessionId: 's',
      message: { content: n % 2 ? `Word ${n}.` : `<task-notification>${n}` },
    });
    const records = [...Array(12).keys()].flatMap((n) => [
      said(n),
      {
        type: 'assistant',
        uuid: `a${n}`,
        sessionId: 's',
        message: { id: `m${n}`, model: n < 6 ? 'claude-opus-5' : 'claude-sonnet-5', content: [{ type: 'text', text: `Answer ${n}.` }] },
      },
    ]);
    const reader = new LinesReader('s');
    const parts: RecordedRun[] = [];
    records.forEach((record, n) => {
      reader.read(JSON.stringify(record));
      if (n % 5 === 4) parts.push(...reader.take(false));
    });
    parts.push(...reader.take(true));
    const whole = lines(...records);
    expect(parts.flatMap(({ exchanges }) => exchanges)).toEqual(whole.exchanges);
    expect(parts.map(({ first = 0, prompt, isPromptByHarness = false }) => [first, prompt, isPromptByHarness])).toEqual(
      parts.map(({ first = 0 }) =>
        first === 0
          ? [0, whole.prompt, true]
          : [first, whole.exchanges[first - 1]?.followUp, whole.exchanges[first - 1]?.isFollowUpByHarness ?? false],
      ),
    );
    expect(whole.exchanges.map(({ model }) => model)).toEqual([...Array(6).fill(undefined), ...Array(6).fill('claude-sonnet-5')]);
  });
});

describe('other files', () => {
  it.each([
    ['{"type":"user"}\n{"type":"assistant"}', /run: its first line is none of a program that is known, and one is lines of Claude Code/],
    ['', /run: the file is empty$/],
    ['hello\nworld', /run: line 1 is no JSON, and one is lines of/],
    ['{\n"steps": [\n{"source": "user"', /run: its JSON is broken at line 3$/],
    ['{\n"steps": [\nuser\n]\n}', /run: its JSON is broken at line 3$/],
    ['[]', /run: it is an empty list, and one is /],
    ['[1, 2]', /run: it is a list, and one is /],
    ['null', /run: it is null, and one is /],
    ['{}', /run: it is an empty object, and one is /],
    ['{"a":1,"b":2}', /run: it is an object with "a", "b", and one is .* SWE-agent/],
    ['{"steps":[]}', /run: it looks like ATIF, but its "schema_version" must begin with "ATIF" and is missing$/],
    ['{"steps":[],"schema_version":2}', /"schema_version" must begin with "ATIF" and is 2$/],
    ['{"schema_version":"ATIF-v1.2"}', /run: its "steps" must be a list and is missing$/],
    ['{"schema_version":"ATIF-v1.2","steps":{"0":1}}', /run: its "steps" must be a list and is an object$/],
    ['{"schema_version":"ATIF-v1.2","steps":[1,2]}', /atif run has no model call; left out: steps\[0\], which is 1 and must be an object$/],
    ['{"trajectory":"x"}', /run: its "trajectory" must be a list and is "x"$/],
    [
      '{"messages":[{"role":"assistant","content":"hi"}]}',
      /it has a list "messages", but neither "trajectory_format" nor "info.exit_status"/,
    ],
    ['{"messages":[],"trajectory_format":"other"}', /its "trajectory_format" must begin with "mini-swe-agent" and is "other"$/],
    ['{"history":[{"role":"user","content":"hi"}]}', /the recorded swe-agent run has no model call/],
  ])('%s are refused', (text, message) => {
    expect(() => parseRecordedRun(text)).toThrow(message);
  });
});

it('a step of ATIF that cannot be read is left out, and which one and why is said', () => {
  const agent = { source: 'agent', message: 'Done.' };
  const { exchanges, skipped } = parseRecordedRun(
    JSON.stringify({
      schema_version: 'ATIF-v1.2',
      steps: [{ source: 'user', message: 'Do it' }, 5, { ...agent, source: 7 }, { message: 'x' }, { ...agent, tool_calls: 'ls' }, agent],
    }),
  );
  expect(exchanges.map(({ text }) => text)).toEqual(['Done.']);
  expect(skipped.map(({ reason, count }) => `${count} × ${reason}`)).toEqual([
    '1 × steps[1], which is 5 and must be an object',
    '2 × steps[2], whose source is 7 and must be "system", "user" or "agent"',
    '1 × steps[4], whose tool_calls are "ls" and must be a list',
  ]);
});

const transcripts = new URL('../../../../shared/transcripts/', import.meta.url);
const index = new URL('INDEX.md', transcripts);
const isHere = existsSync(index);
if (!isHere) console.warn('recorded files: skipped, ../shared/transcripts/INDEX.md is not here');

describe.skipIf(!isHere)('the recorded files have the model calls and tool calls of their index', () => {
  const rows = isHere
    ? [
        ...readFileSync(index, 'utf8').matchAll(
          /^\| `([^`]+)` \| (?:claude|claude-sidechain|codex|copilot|miniswe|sweagent) \| (\d+) \| (\d+) \|([^\n]*)/gm,
        ),
      ]
    : [];

  it('lists thirty-seven of them', () => {
    expect(rows).toHaveLength(37);
  });

  it.each(
    rows.map(([, file = '', modelCalls, toolCalls, remarks = '']) => ({
      file,
      modelCalls: Number(modelCalls),
      toolCalls: Number(toolCalls),
      unanswered: Number(/(\d+) calls without result/.exec(remarks)?.[1] ?? 0),
    })),
  )('$file: $modelCalls, $toolCalls', ({ file, modelCalls, toolCalls, unanswered }) => {
    const { exchanges, system, prompt } = parseRecordedRun(readFileSync(new URL(file, transcripts), 'utf8'));
    const calls = exchanges.flatMap((exchange) => exchange.calls);
    expect({ modelCalls: exchanges.length, toolCalls: calls.length }).toEqual({ modelCalls, toolCalls });
    expect(calls.filter((call) => call.result === null)).toHaveLength(unanswered);
    expect(calls.filter((call) => !/^[a-zA-Z0-9_-]{1,64}$/.test(call.name))).toEqual([]);
    if (/^(mini-)?swe-agent/.test(file)) expect([system, prompt]).not.toContain('');
    expect(exchanges.filter((exchange) => exchange.text === '' && exchange.calls.length === 0 && !exchange.thinking)).toEqual([]);
  });
});
