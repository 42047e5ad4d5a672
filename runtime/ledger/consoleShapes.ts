// Shared parts of the console's queries.

import { sql } from 'slonik';
import type { FragmentSqlToken } from 'slonik';
import { z } from 'zod';

import type { Calls } from './pool.ts';

export const text = z.string().nullable();
export const number = z.number().nullable();
/** numeric and sums arrive as text or number. */
export const figure = z
  .union([z.number(), z.string()])
  .nullable()
  .transform((value) => (value === null ? null : Number(value)));

/**
 * The part of the ledger to show: a project, by any of its names, together with work without a project; '': only work without a project;
 * null: everything.
 */
export type Project = string | null;

/** A condition that a row belongs to the project whose name is in `column`; for few rows. Always true if the whole ledger is shown. */
export const isOf = (invoked: Calls['invoked'], project: Project, column: string): FragmentSqlToken =>
  project === null ? sql.fragment`true` : invoked('project_has', [project, sql.fragment`${sql.identifier(column.split('.'))}`]);

/** The names under which a project's work is stored; null: everything. Query them first, so that the planner knows how many there are. */
export type Names = readonly string[] | null;
export const namesOf = ({ call }: Calls, project: Project): Promise<Names> =>
  project === null ? Promise.resolve(null) : call('project_names', [project], z.array(z.string()));

/** Like `isOf`, for many rows: uses the index on `stored_project`. */
export const isStoredAs = (names: Names): FragmentSqlToken =>
  names === null ? sql.fragment`true` : sql.fragment`stored_project = any (${sql.array([...names], 'text')})`;

/** Up to this many names, each gets its own ordered subquery; with more, all rows are read. */
const PARTS = 20;

/** The first of `rows`, which have `stored_project`, in an order. Reads those of each name by index, however many rows others have. */
export const firstOf = (names: Names, rows: FragmentSqlToken, order: FragmentSqlToken, limit: number): FragmentSqlToken => {
  const first = (of: FragmentSqlToken) => sql.fragment`select * from (${rows}) r where ${of} order by ${order} limit ${limit}`;
  if (names === null || names.length > PARTS) return first(isStoredAs(names));
  const parts = names.map((name) => sql.fragment`(${first(sql.fragment`stored_project = ${name}`)})`);
  return sql.fragment`select * from (${sql.join(parts, sql.fragment` union all `)}) f order by ${order} limit ${limit}`;
};

export const newestFirst = sql.fragment`created_at desc, work_item_id desc`;

/** Joins v_usage as u to w: what the item has used. Without the offset the planner turns it into a join that adds up all turns of the ledger. */
export const usageOf = (named: Calls['named']) =>
  sql.fragment`left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.work_item_id offset 0) u on true`;
