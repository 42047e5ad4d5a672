// The keys of work-ledger.toml. Separate from configFile.ts, because most commands run where there is no such file, and loading its parser
// takes time.

import { z } from 'zod';

import { parseToml, TomlError } from '../faculty/toml.ts';
import type { Position } from '../faculty/toml.ts';
import { UsageError } from '../ledger/errors.ts';

const paths = z.union([z.string().transform((one) => [one]), z.array(z.string())]).optional();
const keys = z.strictObject({
  database_url: z.string().min(1).optional(),
  listen_url: z.string().min(1).optional(),
  read_url: z.string().min(1).optional(),
  schema: z.string().min(1).optional(),
  project: z.string().min(1).optional(),
  host: z.string().min(1).optional(),
  faculties: paths,
  tools: paths,
  workspace_roots: paths,
  secrets: z.array(z.string().regex(/^[A-Za-z_]\w*$/)).optional(),
});

/** Throws UsageError with line and column. */
export function configKeys(path: string, text: string): z.infer<typeof keys> {
  const at = ({ line, column }: Position, says: string): UsageError => new UsageError(`${path}:${line}:${column}: ${says}`);
  try {
    const { value, positionOf } = parseToml(text);
    const { data, error } = keys.safeParse(value);
    if (data) return data;
    const [issue] = error.issues;
    if (issue?.code === 'unrecognized_keys')
      throw at(positionOf([issue.keys[0] ?? '']), `unknown key ${issue.keys[0]}; there are ${Object.keys(keys.shape).join(', ')}`);
    const key = String(issue?.path[0] ?? '');
    throw at(
      positionOf([key]),
      `${key} must be ${key === 'secrets' ? 'a list of names of environment variables' : ['faculties', 'tools', 'workspace_roots'].includes(key) ? 'a list of paths' : 'a text that is not empty'}`,
    );
  } catch (error) {
    if (error instanceof TomlError) throw at(error.position, error.message);
    throw error;
  }
}
