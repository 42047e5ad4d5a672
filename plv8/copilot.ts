// GitHub Copilot CLI's events.jsonl: {type, data}. It counts tokens for the whole session only.

import { conversation, field, stringOf, timeOf, toolName } from './reading.ts';
import type { RecordedRun } from './reading.ts';

export function isCopilot(records: readonly unknown[]): boolean {
  return records.some((record) => field(record, 'type') === 'assistant.message' && field(record, 'data') !== undefined);
}

export function readCopilot(records: readonly unknown[]): RecordedRun {
  const run = conversation('copilot');
  for (const record of records) {
    const type = stringOf(field(record, 'type')) ?? 'unknown';
    const data = field(record, 'data');
    const content = stringOf(field(data, 'content')) ?? '';
    if (type === 'session.start') {
      const [id, cwd] = [stringOf(field(data, 'sessionId')), stringOf(field(data, 'context', 'cwd'))];
      if (id !== null) run.sessionId ??= id;
      if (cwd !== null) run.cwd ??= cwd;
      run.skip('event session.start');
    } else if (type === 'system.message') run.system ||= content;
    else if (type === 'user.message') run.said(stringOf(field(data, 'transformedContent')) ?? content);
    else if (type === 'system.notification') run.said(content);
    else if (type === 'assistant.message') {
      const exchange = run.exchange(stringOf(field(data, 'messageId')));
      run.model ??= stringOf(field(data, 'model'));
      const at = timeOf(field(record, 'timestamp'));
      if (at !== null) exchange.at ??= at;
      if (content !== '') exchange.text = content;
      const thinking = stringOf(field(data, 'reasoningText'));
      if (thinking !== null) exchange.thinking = [{ thinking, signature: '' }];
      const requests = field(data, 'toolRequests');
      for (const request of Array.isArray(requests) ? (requests as unknown[]) : []) {
        const input = field(request, 'arguments');
        run.call(stringOf(field(request, 'toolCallId')), {
          name: toolName(stringOf(field(request, 'name')) ?? ''),
          input: typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as Record<string, unknown>) : { input: input ?? null },
          result: null,
          isError: false,
        });
      }
    } else if (type === 'tool.execution_complete') {
      const error = stringOf(field(data, 'error', 'message'));
      run.result(stringOf(field(data, 'toolCallId')), stringOf(field(data, 'result', 'content')) ?? error ?? '', field(data, 'success') !== true);
    } else if (type === 'session.shutdown') run.outcome = 'shut down';
    else run.skip(`event ${type}`);
  }
  return run.finish();
}
