// The models' replies in the team scene if no API key is set. They depend on the model's task, on how far it is, and on what it was shown
// since it began (`later`).

import type { ContentBlock, ModelRequest } from '../../model/message.ts';
import type { Script, ScriptedReply } from '../../model/script.ts';

export const leadTask =
  'A test of this project fails. Have one colleague fix it (demo-fix) and another one check that (demo-check), then run all tests.';
export const reviewTask = 'Say in a comment of src/money.js how amounts are rounded. Ask whoever decided it.';
const fixTask = 'Fix src/money.js, so that no cent is lost. Answer what colleagues ask before you end.';
const checkTask = 'Say which amounts come out wrong, and if what your colleague decides is enough.';

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const call = (name: string, input: Record<string, unknown>): ContentBlock => ({ type: 'tool_use', name, input });
const append = (entry_type: string, content: string): ContentBlock => call('ledger_append', { entry_type, content });
const edit = (old_string: string, new_string: string): ContentBlock => call('edit_file', { path: 'src/money.js', old_string, new_string });
const comment = 'so that sums are exact.';
const question = 'I want to say in src/money.js how amounts are rounded. Which way does a half go?';
const answer = 'Up, with Math.round. The file is yours as soon as I end.';
const say = (...content: ContentBlock[]): ScriptedReply => ({ content, delayMs: 300 });
/** Looks again for as long as the awaited message may still come. */
const lookAgain = (exchange: number): ScriptedReply =>
  exchange < 40
    ? { ...say(text('Nothing yet.'), call('glob', { pattern: 'src/*.js' })), delayMs: 600 }
    : say(text('Nobody said anything.'));

const roles: Record<string, (seen: { exchange: number; later: string }) => ScriptedReply> = {
  [leadTask]: ({ exchange, later }) => {
    const children = [...later.matchAll(/Child work item ([0-9a-f-]{36}) is/g)].map((match) => match[1] ?? '');
    return (
      [
        say(
          append('plan', '1. Delegate the fix and the check 2. Wait 3. Run the tests'),
          call('spawn_child_work', { work_type: 'demo-fix', description: fixTask }),
          call('spawn_child_work', { work_type: 'demo-check', description: checkTask }),
        ),
        say(text('Both are at it; I wait.'), call('await_child_work', { work_item_ids: children })),
        say(append('step', 'Both are done.'), call('bash', { command: 'node --test', timeout: 60 })),
        say(call('work_complete', { summary: 'toCents() truncated; it rounds now. All tests pass.', evidence: ['node --test'] })),
      ][exchange] ?? say(text('Done.'))
    );
  },
  [fixTask]: ({ exchange, later }) => {
    const first = [
      say(call('read_file', { path: 'src/money.js' }), call('read_file', { path: 'src/invoice.js' })),
      say(append('decision', 'Round in toCents(), not in total(): every caller has the same fault.')),
      say(edit('Math.trunc(amount * 100)', 'Math.round(amount * 100)')),
    ][exchange];
    if (first) return first;
    if (later.includes('To Demo Reviewer/')) return say(text('toCents() rounds now.'));
    return later.includes(question) ? say(call('reply', { text: answer })) : lookAgain(exchange);
  },
  [checkTask]: ({ exchange, later }) => {
    if (exchange === 0) return say(call('bash', { command: 'node --test', timeout: 60 }));
    if (later.includes('Recorded as')) return say(text('Rounding in toCents() is enough.'));
    // Only another agent's decision, told while this agent works, can contain these words.
    return later.includes('- Decision: Round in toCents()')
      ? say(append('finding', '3 x 19.99 and 100 x 0.29 come out too low. Rounding in toCents() is enough.'))
      : lookAgain(exchange);
  },
  [reviewTask]: ({ exchange, later }) => {
    const [, holder, key] = /\(work item ([0-9a-f-]{36})\).*wait_for "([^"]+)"/.exec(later) ?? [];
    return (
      [
        say(call('ledger_search', { query: 'toCents' })),
        say(edit(comment, `${comment} Amounts are rounded in toCents().`)),
        say(call('tell_agent', { to: holder, text: question }), call('wait_for', { claim: key })),
        say(edit(comment, `${comment} toCents() rounds halves ${later.includes(answer) ? 'up' : 'somehow'}.`)),
        say(
          call('work_complete', { summary: `The comment says that toCents() rounds halves ${later.includes(answer) ? 'up' : 'somehow'}.` }),
        ),
      ][exchange] ?? say(text('Done.'))
    );
  },
};

export const teamScript: Script = (request: ModelRequest, { exchange }) => {
  const texts = request.messages.map(({ content }) => blocksOf(content).map(textOf).join('\n'));
  // An agent's own task is the third paragraph it is shown; the tasks of others are in its digest.
  const task =
    blocksOf(request.messages[0]?.content ?? '')
      .map(textOf)[0]
      ?.split('\n\n')[2] ?? '';
  return roles[task]?.({ exchange, later: texts.slice(1).join('\n') }) ?? say(text(`This scene has no part for: ${task}`));
};

const blocksOf = (content: string | ContentBlock[]): ContentBlock[] => (typeof content === 'string' ? [text(content)] : content);
const textOf = (block: ContentBlock): string => {
  const words = block['text'] ?? block['content'] ?? '';
  return typeof words === 'string' ? words : JSON.stringify(words);
};
