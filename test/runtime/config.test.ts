import { afterEach, expect, test, vi } from 'vitest';

import { shownUrl, webFetchHeaders } from '../../runtime/config.ts';

test.each([
  ['postgresql://me:s3cret@db.example:5432/app', 'postgresql://me:***@db.example:5432/app'],
  ['postgres://me:p%40ss@h/app?sslmode=require', 'postgres://me:***@h/app?sslmode=require'],
  ['postgresql://postgres@%2Ftmp%2Frun/work_ledger', 'postgresql://postgres@%2Ftmp%2Frun/work_ledger'],
  ['postgresql://h/app', 'postgresql://h/app'],
])('%s is printed without its password', (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});

afterEach(() => vi.unstubAllEnvs());

test('headers for web_fetch come from the environment, and what is wrong with them is said without them', () => {
  expect(webFetchHeaders()).toBeNull();
  vi.stubEnv('WORK_LEDGER_WEB_FETCH_HEADERS', '{"api.example.org": {"Authorization": "Bearer t0ken"}, "localhost:81": {"x-key": "k"}}');
  expect(webFetchHeaders()).toEqual({ 'api.example.org': { Authorization: 'Bearer t0ken' }, 'localhost:81': { 'x-key': 'k' } });
  for (const wrong of ['s3cret', '["s3cret"]', '{"https://api.example.org/": {"a": "s3cret"}}', '{"a": {"b c": "s3cret"}}', '{"a": {"b": "s3cret\\n"}}', '{"a": "s3cret"}']) {
    vi.stubEnv('WORK_LEDGER_WEB_FETCH_HEADERS', wrong);
    expect(webFetchHeaders).toThrow(/^WORK_LEDGER_WEB_FETCH_HEADERS must be JSON such as (?!.*s3cret)/);
  }
});
