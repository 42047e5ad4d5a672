// A worker's tools: those that come with Work Ledger and a user's own TypeScript or JavaScript modules.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { builtinTools } from '../tools/builtinTools.ts';
import type { Tool } from '../tools/tool.ts';
import { UsageError } from './output.ts';

/** Each file's default export is a tool or an array of them; a tool of a built-in name takes its place. */
export async function loadTools(files: readonly string[]): Promise<Tool[]> {
  const tools = new Map(builtinTools.map((tool) => [tool.name, tool]));
  for (const file of files) {
    const module = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown };
    const exported = Array.isArray(module.default) ? module.default : [module.default];
    for (const tool of exported) {
      if (!isTool(tool)) throw new UsageError(`${file} does not export a tool as its default: see "Your own tools" in the README`);
      tools.set(tool.name, tool);
    }
  }
  return [...tools.values()];
}

function isTool(value: unknown): value is Tool {
  if (typeof value !== 'object' || value === null) return false;
  const tool = value as Partial<Tool>;
  return typeof tool.name === 'string' && typeof tool.description === 'string' && typeof tool.execute === 'function' && tool.input !== undefined;
}
