// A user's own faculties and tools as what is worked on: their tools run for real. The model of it plays the replies of a file, or calls
// each tool of the faculty once, with the least input that its schema takes.

import { scriptFile } from '../commands/scriptFile.ts';
import { withTools } from '../commands/loadTools.ts';
import { loadFaculties } from '../faculty/loadFaculties.ts';
import type { FacultyConfig } from '../faculty/loadFaculties.ts';
import { openDb } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import type { ModelRequest } from '../model/message.ts';
import type { Script } from '../model/script.ts';
import type { Ground } from './ground.ts';
import type { Workload } from './workload.ts';

export async function usersWorkload(ground: Ground, facultyFiles: readonly string[], toolFiles: string[], scripted?: string): Promise<Workload> {
  await withTools(toolFiles, async () => {}); // what cannot be loaded is said here, not by each worker
  const db = await openDb(ground.url, ground.schema, { maximumPoolSize: 1 });
  let faculties: FacultyConfig[];
  try {
    faculties = (await loadFaculties(db, facultyFiles)).map(({ config }) => unattended(config));
  } finally {
    await db.close();
  }
  const [first] = faculties;
  if (first === undefined) throw new UsageError(`there is no faculty in ${facultyFiles.join(', ')}`);
  return {
    faculties, toolFiles,
    script: scripted === undefined ? eachToolOnce : scriptFile(scripted),
    submission: (n) => ({ workType: 'storm', faculty: first.name, description: `Weather it. key:k${n}`, idempotencyKey: `k${n}` }),
  };
}

/** As it is, but that workers may die as often as they do, and that nobody has to buy or to resume anything. */
function unattended(config: FacultyConfig): FacultyConfig {
  const { budget: _, ...rest } = config;
  const table = (key: string): object => (typeof config[key] === 'object' && config[key] !== null ? config[key] : {});
  return { ...rest, recover: { ...table('recover'), max_attempts: 1000 }, engage: { ...table('engage'), stall_limit: 0, max_turns: 1000 } };
}

/** The engine's own tools, which are not a user's to try. */
const engines = new Set(['ledger_append', 'ledger_read', 'ledger_search', 'recall_block', 'artifact_read', 'spawn_child_work', 'await_child_work', 'check_child_work', 'work_complete', 'execute_code']);

const eachToolOnce: Script = (request: ModelRequest, { exchange }) => {
  const own = (request.tools ?? []).filter(({ name }) => !engines.has(String(name)));
  const tool = own[exchange];
  if (tool === undefined) return { content: [{ type: 'text', text: 'Done.' }] };
  return { content: [
    { type: 'tool_use', name: 'ledger_append', input: { entry_type: 'step', content: `${/key:(\w+)/.exec(JSON.stringify(request.messages[0]))?.[1]}.${exchange}` } },
    { type: 'tool_use', name: tool.name, input: leastInput(tool.input_schema) },
  ] };
};

/** The least value that a JSON Schema takes; for what is more than types and bounds, write the replies yourself. */
export function leastInput(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return {};
  const s = schema as Record<string, unknown>;
  for (const given of ['const', 'default']) if (given in s) return s[given];
  for (const list of ['examples', 'enum']) if (Array.isArray(s[list]) && s[list].length > 0) return (s[list] as unknown[])[0];
  for (const either of ['anyOf', 'oneOf', 'allOf']) if (Array.isArray(s[either])) return leastInput((s[either] as unknown[])[0]);
  const atLeast = (key: string): number => (typeof s[key] === 'number' ? s[key] : 0);
  switch (Array.isArray(s['type']) ? s['type'][0] : s['type']) {
    case 'string': return 'x'.repeat(Math.max(1, atLeast('minLength')));
    case 'integer': case 'number': return atLeast('minimum') + (typeof s['exclusiveMinimum'] === 'number' ? s['exclusiveMinimum'] + 1 : 0);
    case 'boolean': return false;
    case 'null': return null;
    case 'array': return Array.from({ length: atLeast('minItems') }, () => leastInput(s['items']));
    default: {
      const properties = (s['properties'] ?? {}) as Record<string, unknown>;
      return Object.fromEntries((Array.isArray(s['required']) ? (s['required'] as string[]) : []).map((name) => [name, leastInput(properties[name])]));
    }
  }
}
