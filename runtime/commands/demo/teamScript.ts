// What the models of the team scene say when no API key is set: it depends on their task, on how far they are, and on what
// they were shown since they began (`later`).

import type { ContentBlock, ModelRequest } from '../../model/message.ts';
import type { Script, ScriptedReply } from '../../model/script.ts';

export const leadTask =
  'A test of this project fails. Let one colleague read the sources and another one the test, then fix the source and show that all tests pass.';
export const reviewTask = 'Review how amounts are rounded in this project. Say what colleagues who work on it just now have found.';
const sourcesTask = 'Read src/money.js and src/invoice.js. Where could a cent be lost?';
const testTask = 'Run the tests. Which one fails, and with which amounts?';

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const call = (name: string, input: Record<string, unknown>): ContentBlock => ({ type: 'tool_use', name, input });
const append = (entry_type: string, content: string): ContentBlock => call('ledger_append', { entry_type, content });
const say = (...content: ContentBlock[]): ScriptedReply => ({ content, delayMs: 300 });

const roles: Record<string, (seen: { exchange: number; later: string }) => ScriptedReply> = {
  [leadTask]: ({ exchange, later }) => {
    const children = [...later.matchAll(/Child work item ([0-9a-f-]{36}) is/g)].map((match) => match[1] ?? '');
    return (
      [
        say(
          append('plan', '1. Delegate the reading 2. Wait 3. Fix 4. Run the tests'),
          call('spawn_child_work', { work_type: 'demo-read', description: sourcesTask }),
          call('spawn_child_work', { work_type: 'demo-read', description: testTask }),
        ),
        say(text('Both read; I wait.'), call('await_child_work', { work_item_ids: children })),
        say(
          append('decision', 'Round in toCents(): every caller has the same fault.'),
          call('edit_file', { path: 'src/money.js', old_string: 'Math.trunc(amount * 100)', new_string: 'Math.round(amount * 100)' }),
        ),
        say(append('step', 'Replaced Math.trunc by Math.round in toCents().'), call('bash', { command: 'node --test', timeout: 60 })),
        say(call('work_complete', { summary: 'toCents() truncated; it rounds now. All tests pass.', evidence: ['node --test'] })),
      ][exchange] ?? say(text('Done.'))
    );
  },
  [sourcesTask]: ({ exchange }) =>
    [
      say(call('read_file', { path: 'src/money.js' }), call('read_file', { path: 'src/invoice.js' })),
      say(append('finding', 'toCents() in src/money.js truncates instead of rounding: 19.99 becomes 1998 cents.')),
    ][exchange] ?? say(text('toCents() in src/money.js truncates instead of rounding.')),
  [testTask]: ({ exchange }) =>
    [
      say(call('bash', { command: 'node --test', timeout: 60 })),
      say(append('finding', 'Only "no cent is lost" fails: 3 x 19.99 and 100 x 0.29 come out too low.')),
    ][exchange] ?? say(text('"no cent is lost" fails, with 19.99 and 0.29.')),
  [reviewTask]: ({ exchange, later }) => {
    // Only the finding of another agent, shown while this one is working, can have these words.
    const told = /- (toCents\(\) in src\/money\.js truncates[^(]*)/.exec(later)?.[1]?.trim();
    if (told !== undefined)
      return say(
        append('note', `Told by the digest: ${told}`),
        call('work_complete', { summary: `A colleague found it before me: ${told}` }),
      );
    return exchange < 40 ? say(text('Nothing yet.'), call('glob', { pattern: 'src/*.js' })) : say(text('Nobody found anything.'));
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
