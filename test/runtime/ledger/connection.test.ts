import { expect, test } from 'vitest';

import { shownUrl } from '../../../runtime/ledger/address.ts';

test.each([
  ['postgresql://me:s3cret@db.example:5432/app', 'postgresql://me:***@db.example:5432/app'],
  ['postgres://me:p%40ss@h/app?sslmode=require', 'postgres://me:***@h/app?sslmode=require'],
  ['postgresql://postgres@%2Ftmp%2Frun/work_ledger', 'postgresql://postgres@%2Ftmp%2Frun/work_ledger'],
  ['postgresql://h/app', 'postgresql://h/app'],
])('%s is printed without its password', (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});
