// A worker's tools: the built-in ones and the user's: modules, commands, MCP servers.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { loadPackage } from '../../sandbox/optionalPackage.ts';
import { parseToml, TomlError } from '../faculty/toml.ts';
import { jsonOfFile } from '../jsonFile.ts';
import { messageOf, UsageError } from '../ledger/errors.ts';
import { builtinTools } from '../tools/builtinTools.ts';
import { commandTools } from '../tools/commandTool.ts';
import type { Tool } from '../tools/tool.ts';

type LoadedTools = { tools: Tool[]; close(): Promise<void> };

/**
 * Loads tools from each file: a module's default export (a tool or an array of them), the commands of a .toml, the servers of a .json. A
 * tool with the name of a built-in one replaces it.
 */
export async function withTools<T>(files: readonly string[], use: (tools: Tool[]) => Promise<T>): Promise<T> {
  const tools = new Map(builtinTools.map((tool) => [tool.name, tool]));
  const loaded: LoadedTools[] = [];
  try {
    for (const file of files) {
      const more = await toolsOf(file);
      loaded.push(more);
      for (const tool of more.tools) tools.set(tool.name, tool);
    }
    return await use([...tools.values()]);
  } finally {
    await Promise.all(loaded.map((one) => one.close()));
  }
}

async function toolsOf(file: string): Promise<LoadedTools> {
  if (!existsSync(file)) throw new UsageError(`there is no ${file}`);
  const nothing = async (): Promise<void> => {};
  const kind = extname(file);
  if (kind === '.toml' || kind === '.json') {
    try {
      const text = await readFile(file, 'utf8');
      if (kind === '.toml') return { tools: commandTools(jsonOf(text)), close: nothing };
      const { mcpTools } = await loadPackage('@modelcontextprotocol/client', 'a file of MCP servers', () => import('../tools/mcpTools.ts'));
      return await mcpTools(jsonOfFile(text));
    } catch (error) {
      if (error instanceof TomlError) throw new UsageError(`${file}:${error.position.line}:${error.position.column}: ${error.message}`);
      throw new UsageError(`${file}: ${messageOf(error)}`);
    }
  }
  const module = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown };
  const exported: unknown[] = Array.isArray(module.default) ? module.default : [module.default];
  if (!exported.every(isTool)) throw new UsageError(`${file} does not export a tool as its default: see docs/tools.md`);
  return { tools: exported, close: nothing };
}

function jsonOf(toml: string): unknown {
  const {
    value,
    beyondJson: [beyond],
    positionOf,
  } = parseToml(toml);
  if (beyond) throw new TomlError(`${beyond.path.join('.')} cannot be ${beyond.what}`, positionOf(beyond.path));
  return value;
}

function isTool(value: unknown): value is Tool {
  if (typeof value !== 'object' || value === null) return false;
  const tool = value as Partial<Tool>;
  return (
    typeof tool.name === 'string' && typeof tool.description === 'string' && typeof tool.execute === 'function' && tool.input !== undefined
  );
}
