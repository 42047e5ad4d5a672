// LangGraph with its PostgresSaver: a node that adds a text to the state, again and again; a step is durable before the next begins.

import { randomUUID } from 'node:crypto';

import { plainText } from '../harness/text.ts';
import { peerPackage, STEP_BYTES } from './contender.ts';
import type { Peer } from './contender.ts';

type State = { texts: string[]; steps: number };
type Graph = { invoke(state: Partial<State>, config: Record<string, unknown>): Promise<unknown> };
type Builder = {
  addNode(name: string, run: (state: State) => Partial<State>): Builder;
  addEdge(from: string, to: string): Builder;
  addConditionalEdges(from: string, next: (state: State) => string): Builder;
  compile(options: { checkpointer: unknown }): Graph;
};
type Face = {
  Annotation: { <T>(options?: { reducer(a: T, b: T): T; default(): T }): unknown; Root(spec: Record<string, unknown>): unknown };
  StateGraph: new (state: unknown) => Builder;
  START: string;
  END: string;
};
type Saver = { PostgresSaver: { fromConnString(url: string): { setup(): Promise<void>; end(): Promise<void> } } };

export const langGraph: Peer = {
  name: 'LangGraph, step',
  content: 'empty',
  async open(url) {
    const { Annotation, StateGraph, START, END } = await peerPackage<Face>('@langchain/langgraph');
    const { PostgresSaver } = await peerPackage<Saver>('@langchain/langgraph-checkpoint-postgres');
    const checkpointer = PostgresSaver.fromConnString(url);
    await checkpointer.setup();
    const state = Annotation.Root({
      texts: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
      steps: Annotation<number>(),
    });
    const graph = new StateGraph(state)
      .addNode('step', () => ({ texts: [plainText(STEP_BYTES)] }))
      .addEdge(START, 'step')
      .addConditionalEdges('step', ({ texts, steps }) => (texts.length < steps ? 'step' : END))
      .compile({ checkpointer });
    return {
      async work(steps) {
        await graph.invoke(
          { steps, texts: [] },
          { configurable: { thread_id: randomUUID() }, recursionLimit: steps + 10, durability: 'sync' },
        );
      },
      close: () => checkpointer.end(),
    };
  },
};
