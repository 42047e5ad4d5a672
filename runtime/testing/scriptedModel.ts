// A model for tests: answers from a script, over HTTP and as strictly as the real API, and remembers the requests.

import { createModelClient } from '../model/callModel.ts';
import type { ModelClient, ModelRequest } from '../model/message.ts';
import { mistakeIn, plainReply, replies as listOfReplies } from '../model/replies.ts';
import type { Reply } from '../model/replies.ts';
import { scriptOf } from '../model/script.ts';
import type { Position, Script } from '../model/script.ts';
import { startScriptedModel } from '../model/scriptedModel.ts';

export type TestModel = AsyncDisposable & {
  /** For run() and startWorker(). */
  client: ModelClient;
  /** For programs that read ANTHROPIC_BASE_URL; any key works. */
  url: string;
  /** The requests so far, in order. */
  requests: () => ModelRequest[];
  close: () => Promise<void>;
};

/**
 * Answers the n-th request of a conversation with the n-th reply, and later ones with "Done."; or as the function decides. A request that
 * is repeated after a crash gets the same reply. Throws for a reply with neither text nor calls.
 */
export async function scriptedModel(
  replies: readonly Reply[] | ((request: ModelRequest, position: Position) => Reply),
): Promise<TestModel> {
  const { error } = typeof replies === 'function' ? {} : listOfReplies.safeParse(replies);
  if (error) throw new TypeError(`scriptedModel: ${mistakeIn(error)}`);
  return testModel(
    typeof replies === 'function' ? (request, position) => plainReply(replies(request, position)) : scriptOf(replies.map(plainReply)),
  );
}

export async function testModel(script: Script): Promise<TestModel> {
  const model = await startScriptedModel(script);
  return {
    client: createModelClient({ apiKey: 'scripted', baseURL: model.url }),
    url: model.url,
    requests: () => model.requests.map(({ body }) => JSON.parse(body) as ModelRequest),
    close: () => model.close(),
    [Symbol.asyncDispose]: () => model.close(),
  };
}
