import { hostname } from 'node:os';

import { afterEach, expect, test, vi } from 'vitest';

import { hostName, webFetchHeaders } from '../../runtime/config.ts';

afterEach(() => vi.unstubAllEnvs());

test('headers for web_fetch come from the environment, and what is wrong with them is said without them', () => {
  expect(webFetchHeaders()).toBeNull();
  vi.stubEnv('WORK_LEDGER_WEB_FETCH_HEADERS', '{"api.example.org": {"Authorization": "Bearer t0ken"}, "localhost:81": {"x-key": "k"}}');
  expect(webFetchHeaders()).toEqual({ 'api.example.org': { Authorization: 'Bearer t0ken' }, 'localhost:81': { 'x-key': 'k' } });
  for (const wrong of [
    's3cret',
    '["s3cret"]',
    '{"https://api.example.org/": {"a": "s3cret"}}',
    '{"a": {"b c": "s3cret"}}',
    '{"a": {"b": "s3cret\\n"}}',
    '{"a": "s3cret"}',
  ]) {
    vi.stubEnv('WORK_LEDGER_WEB_FETCH_HEADERS', wrong);
    expect(webFetchHeaders).toThrow(/^WORK_LEDGER_WEB_FETCH_HEADERS must be JSON such as (?!.*s3cret)/);
  }
});

test('a machine has the name that it is given, first by whoever asks, then by the environment, then by its system', () => {
  vi.stubEnv('WORK_LEDGER_HOST', '');
  expect(hostName()).toBe(hostname());
  vi.stubEnv('WORK_LEDGER_HOST', 'gpu-1');
  expect([hostName(), hostName('gpu-2')]).toEqual(['gpu-1', 'gpu-2']);
});
