// The project that a command shows: that of the current directory, or all.

import { projectOf } from '../project.ts';

export type Where = { project?: string; all?: boolean };

/** Null: all. */
export const whereOf = async ({ project, all }: Where): Promise<string | null> =>
  all ? null : (project ?? (await projectOf(process.cwd())));
