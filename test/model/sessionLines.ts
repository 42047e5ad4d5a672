// The lines of a session as Claude Code writes them: a prompt, responses with a line for each block, the results of their calls; now and then
// a line without a uuid. Its second response starts a subagent, whose transcript is apart. All but the prompt holds a word by which it is found again:
// what it does is told to others by its prompt.

export type Block = { type: string; id?: string; text?: string };
/** `response`: of which it is a part; null: of none. */
export type Line = { uuid: string; entry: string; response: string | null; blocks: readonly Block[] };

const responses = 9;

export const nameOf = ({ id, text }: Block): string => id ?? text ?? '';

type Message = { role: 'user' | 'assistant'; id?: string; content: readonly Block[] | string };

export function linesOf(sessionId: string, word: string): { main: Line[]; agent: Line[] } {
  const short = sessionId.slice(0, 8);
  const answersOf = (name: string, count: number): Message[] =>
    Array.from({ length: count }, (_, n) => n).flatMap((n): Message[] => {
      const id = `${name}${n}_${short}`;
      const isTask = name === 'm' && n === 1;
      const calls = [`toolu_${id}_a`, `toolu_${id}_b`];
      const inputOf = (at: number): object =>
        isTask && at === 1 ? { prompt: 'Look there', description: word } : { file_path: `${word}/${n}` };
      return [
        { type: 'text', text: `I look at ${n} ${word}` },
        ...calls.map((call, at) => ({ type: 'tool_use', id: call, name: isTask && at === 1 ? 'Task' : 'Read', input: inputOf(at) })),
        ...calls.map((call) => ({ type: 'tool_result', tool_use_id: call, content: `content of ${call} ${word}` })),
      ].map((block) =>
        block.type === 'tool_result' ? { role: 'user', content: [block] } : { role: 'assistant', id: `msg_${id}`, content: [block] },
      );
    });
  return {
    main: lined([{ role: 'user', content: 'Mend the import' }, ...answersOf('m', responses)], sessionId, 'm', {}),
    agent: lined([{ role: 'user', content: 'Look there' }, ...answersOf('a', 3)], sessionId, 'a', {
      isSidechain: true,
      agentId: 'a1',
    }),
  };
}

function lined(messages: readonly Message[], sessionId: string, name: string, more: object): Line[] {
  return messages.flatMap((message, n): Line[] => {
    const uuid = `${sessionId}-${name}${n}`;
    const isAnswer = message.role === 'assistant';
    const blocks = typeof message.content === 'string' ? [] : message.content;
    const record = {
      ...more,
      type: message.role,
      uuid,
      parentUuid: n === 0 ? null : `${sessionId}-${name}${n - 1}`,
      sessionId,
      timestamp: new Date(Date.UTC(2030, 0, 1, 0, 0, n)).toISOString(),
      message: { ...message, ...(isAnswer && { model: 'claude-opus-5', usage: { input_tokens: 10, output_tokens: 5 } }) },
      ...(JSON.stringify(blocks).includes(`toolu_m1_${sessionId.slice(0, 8)}_b`) && !isAnswer && { toolUseResult: { agentId: 'a1' } }),
    };
    const line = { uuid, entry: JSON.stringify(record), response: message.id ?? null, blocks };
    const mode = { uuid: `~${uuid}`, entry: JSON.stringify({ type: 'mode', mode: 'default', sessionId, n }), response: null, blocks: [] };
    return n % 4 === 2 ? [line, mode] : [line];
  });
}
