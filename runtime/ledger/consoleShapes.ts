// What the console's queries have in common.

import { sql } from 'slonik';
import { z } from 'zod';

import type { Calls } from './pool.ts';

export const text = z.string().nullable();
export const number = z.number().nullable();
/** numeric and sums arrive as text or number. */
export const figure = z.union([z.number(), z.string()]).nullable().transform((value) => (value === null ? null : Number(value)));

/** f: the newest attempt at w. */
export const newestFocus = (named: Calls['named']) => sql.fragment`left join lateral (select * from ${named('foci')} f where f.work_item_id = w.id order by f.attempt desc limit 1) f on true`;
