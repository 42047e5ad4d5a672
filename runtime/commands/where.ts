// Of which project a command tells: that of the directory in which it is typed, or all.

import { projectOf } from '../project.ts';

export type Where = { project?: string; all?: boolean };

/** Null: all. */
export const whereOf = async ({ project, all }: Where): Promise<string | null> =>
  all ? null : (project ?? (await projectOf(process.cwd())));
