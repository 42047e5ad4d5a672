// The functions of sql/api as their sources have them: where each is, and what it calls.

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type Fn = { name: string; file: string; text: string; calls: Set<string> };

export const root = fileURLToPath(new URL('../sql/api/', import.meta.url));
export const sources = new Map(
  globSync('**/*.sql', { cwd: root })
    .toSorted()
    .map((file) => [file, readFileSync(root + file, 'utf8')]),
);

export const withoutComments = (sql: string): string => sql.replaceAll(/--.*/g, '');
const withoutLiterals = (sql: string): string => sql.replaceAll(/--.*|'(?:[^']|'')*'/g, '');
const named = (sql: string): Set<string> =>
  new Set([...sql.matchAll(/\b(\w+)\s*\(|execute function (\w+)/g)].map((found) => found[1] ?? found[2] ?? ''));

export const functions: Fn[] = [];
/** Per file, what stands outside of functions: triggers, views, rows that a ledger brings. */
export const statements = new Map<string, Set<string>>();
for (const [file, sql] of sources) {
  const definition = /^create or replace function (\w+)\([\s\S]*?;(?=\n\n(?:comment|create)|\s*(?![\s\S]))/gm;
  for (const [text, name = ''] of sql.matchAll(definition))
    functions.push({ name, file, text, calls: named(withoutLiterals(text.replace(/^.*/, ''))) });
  statements.set(file, named(withoutComments(sql.replaceAll(definition, '').replaceAll(/^comment on [\s\S]*?;$/gm, ''))));
}

export const isPublic = ({ name }: Fn): boolean => !name.startsWith('_');

/** The public functions by which a function is reached: itself, or the first ones among those that call it. */
export function doorsOf(name: string): string[] {
  const doors = new Set<string>();
  const seen = new Set<string>();
  const waiting = [name];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    if (!at.startsWith('_')) doors.add(at);
    else waiting.push(...functions.filter(({ calls }) => calls.has(at)).map((caller) => caller.name));
  }
  return [...doors].toSorted();
}
