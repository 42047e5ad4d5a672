// What the console's queries have in common.

import { sql } from 'slonik';
import { z } from 'zod';

import type { Calls } from './pool.ts';

export const text = z.string().nullable();
export const number = z.number().nullable();
/** numeric and sums arrive as text or number. */
export const figure = z
  .union([z.number(), z.string()])
  .nullable()
  .transform((value) => (value === null ? null : Number(value)));

/** u: what w has used. */
export const usageOf = (named: Calls['named']) =>
  sql.fragment`left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.work_item_id) u on true`;
