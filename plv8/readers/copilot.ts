// Reads GitHub Copilot CLI's events.jsonl: {type, data}. It has token counts only for the whole session.

import { Conversation } from './conversation.ts';
import { field, idOf, newCall, stringOf } from './reading.ts';
import type { RecordReader } from './reading.ts';

export function isCopilot(record: unknown): boolean {
  return field(record, 'type') === 'assistant.message' && field(record, 'data') !== undefined;
}

export function readCopilot(): RecordReader {
  const run = new Conversation('copilot');
  return run.reader((record) => {
    const type = stringOf(field(record, 'type')) ?? 'unknown';
    const data = field(record, 'data');
    const content = stringOf(field(data, 'content')) ?? '';
    if (type === 'session.start') {
      const [id, cwd] = [idOf(field(data, 'sessionId')), stringOf(field(data, 'context', 'cwd'))];
      if (id !== null) run.sessionId ??= id;
      if (cwd !== null) run.cwd ??= cwd;
      run.skip('event session.start', record);
    } else if (type === 'system.message') run.system ||= content;
    else if (type === 'user.message') run.said(stringOf(field(data, 'transformedContent')) ?? content);
    else if (type === 'system.notification') run.said(content, true);
    else if (type === 'assistant.message') {
      const exchange = run.exchange(idOf(field(data, 'messageId')));
      run.model ??= stringOf(field(data, 'model'));
      const at = run.time(field(record, 'timestamp'));
      if (at !== null) exchange.at ??= at;
      if (content !== '') exchange.text = content;
      const thinking = stringOf(field(data, 'reasoningText'));
      if (thinking !== null) run.thought(exchange, thinking);
      const requests = field(data, 'toolRequests');
      for (const request of Array.isArray(requests) ? (requests as unknown[]) : []) {
        run.call(idOf(field(request, 'toolCallId')), newCall(field(request, 'name'), field(request, 'arguments')), exchange);
      }
    } else if (type === 'tool.execution_complete') {
      const error = stringOf(field(data, 'error', 'message'));
      run.result(
        idOf(field(data, 'toolCallId')),
        stringOf(field(data, 'result', 'content')) ?? error ?? '',
        field(data, 'success') !== true,
      );
    } else if (type === 'session.shutdown') run.outcome = 'shut down';
    else run.skip(`event ${type}`, record);
  });
}
