// What the console's queries have in common.

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

/** What is looked at of the ledger: a project, by any of its names, with what is in none; '': what is in none; null: all. */
export type Project = string | null;

/** That a row is of it, `column` being that of its project; of few rows. Nothing is asked of a ledger that is looked at as a whole. */
export const isOf = (invoked: Calls['invoked'], project: Project, column: string): FragmentSqlToken =>
  project === null ? sql.fragment`true` : invoked('project_has', [project, sql.fragment`${sql.identifier(column.split('.'))}`]);

/** As what its work is stored; null: all. To be asked for first, so that the planner knows how much that is. */
export type Names = readonly string[] | null;
export const namesOf = ({ call }: Calls, project: Project): Promise<Names> =>
  project === null ? Promise.resolve(null) : call('project_names', [project], z.array(z.string()));

/** `isOf` of many rows, by the index on `stored_project`. */
export const isStoredAs = (names: Names): FragmentSqlToken =>
  names === null ? sql.fragment`true` : sql.fragment`stored_project = any (${sql.array([...names], 'text')})`;

/** So many parts of a query are planned for their order; of more names all rows are read. */
const PARTS = 20;

/** The first rows in an order, of `rows`, which have `stored_project`: those of each name by index, whatever there is of others. */
export const firstOf = (names: Names, rows: FragmentSqlToken, order: FragmentSqlToken, limit: number): FragmentSqlToken => {
  const first = (of: FragmentSqlToken) => sql.fragment`select * from (${rows}) r where ${of} order by ${order} limit ${limit}`;
  if (names === null || names.length > PARTS) return first(isStoredAs(names));
  const parts = names.map((name) => sql.fragment`(${first(sql.fragment`stored_project = ${name}`)})`);
  return sql.fragment`select * from (${sql.join(parts, sql.fragment` union all `)}) f order by ${order} limit ${limit}`;
};

export const newestFirst = sql.fragment`created_at desc, work_item_id desc`;

/** u: what w has used. */
export const usageOf = (named: Calls['named']) =>
  sql.fragment`left join lateral (select * from ${named('v_usage')} u where u.work_item_id = w.work_item_id) u on true`;
