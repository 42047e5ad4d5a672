// Tools of MCP servers, as the usual .mcp.json names them: {"mcpServers": {"name": {"command", "args", "env"} or {"url",
// "headers"}}}. Each tool is called mcp__SERVER__TOOL. A server that went away is started again by the next call.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';

import { version } from '../extensionSource.ts';
import { failed, fromSchema } from './tool.ts';
import type { Effect, Risk, Tool, ToolImage, ToolOutcome } from './tool.ts';

const texts = z.record(z.string(), z.string()).default({});
const serverSettings = z.looseObject({
  command: z.string().optional(), args: z.array(z.string()).default([]), env: texts, cwd: z.string().optional(),
  url: z.url().optional(), headers: texts,
}).refine(({ command, url }) => (command === undefined) !== (url === undefined), 'a server has a command or a url');
const mcpFile = z.looseObject({
  mcpServers: z.record(z.string().regex(/^[a-zA-Z0-9_-]{1,30}$/, 'a server is called by 1 to 30 of a-z, A-Z, 0-9, _ and -'), serverSettings),
});
type ServerSettings = z.infer<typeof serverSettings>;

/** Every text with its ${VARIABLE} and ${VARIABLE:-otherwise} put in. */
function withVariables(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withVariables);
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withVariables(inner)]));
  if (typeof value !== 'string') return value;
  return value.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise?: string) => {
    const found = process.env[name] ?? otherwise;
    if (found === undefined) throw new Error(`the environment has no ${name}`);
    return found;
  });
}

const CALL_SECONDS = 600;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const imageTypes = new Set<string>(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export type McpTools = { tools: Tool[]; close(): Promise<void> };

/** Starts the servers of a parsed .mcp.json and asks each for its tools. Throws a ZodError, or an Error that says what is missing or what a server failed with. */
export async function mcpTools(document: unknown): Promise<McpTools> {
  const servers = Object.entries(mcpFile.parse(withVariables(document)).mcpServers).map(([name, settings]) => new Server(name, settings));
  const close = async (): Promise<void> => void (await Promise.allSettled(servers.map((server) => server.close())));
  try {
    return { tools: (await Promise.all(servers.map((server) => server.tools()))).flat(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

class Server {
  readonly #name: string;
  readonly #settings: ServerSettings;
  #client: Promise<Client> | undefined;

  constructor(name: string, settings: ServerSettings) {
    this.#name = name;
    this.#settings = settings;
  }

  async tools(): Promise<Tool[]> {
    const client = await this.#connected();
    const { tools } = await client.listTools();
    return tools.map(({ name, description, inputSchema, annotations = {} }): Tool => {
      const effect: Effect = annotations.readOnlyHint === true ? 'pure' : annotations.idempotentHint === true ? 'idempotent' : 'unsafe';
      const risk: Risk = annotations.readOnlyHint === true ? 'safe' : annotations.destructiveHint === false ? 'moderate' : 'dangerous';
      return {
        name: `mcp__${this.#name}__${name.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}`.slice(0, 64),
        description: description ?? name, effect, risk, ...fromSchema(inputSchema),
        execute: (input, { signal }) => this.#call(name, input as Record<string, unknown>, signal),
      };
    });
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await (await client?.catch(() => undefined))?.close();
  }

  async #call(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<ToolOutcome> {
    let client: Client;
    try {
      client = await this.#connected();
    } catch (error) {
      return failed(`[engine] The MCP server "${this.#name}" does not start: ${messageOf(error)}. It is not your fault.`);
    }
    try {
      return outcomeOf(await client.callTool({ name, arguments: input }, { signal, timeout: CALL_SECONDS * 1000, resetTimeoutOnProgress: true }));
    } catch (error) {
      return failed(signal.aborted ? '[engine] The call was ended.' : `[engine] The MCP server "${this.#name}" did not answer: ${messageOf(error)}. Look what was done before you try again.`);
    }
  }

  #connected(): Promise<Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const settings = this.#settings;
    const client = new Client({ name: 'work-ledger', version: version() });
    Object.assign(client, { onclose: () => (this.#client = undefined) });
    // Of the worker's environment a server is given what every program needs, and what its settings name.
    await client.connect(settings.command === undefined
      ? new StreamableHTTPClientTransport(new URL(settings.url ?? ''), { requestInit: { headers: settings.headers } })
      : new StdioClientTransport({ command: settings.command, args: settings.args, env: settings.env, stderr: 'ignore', ...(settings.cwd !== undefined && { cwd: settings.cwd }) }));
    return client;
  }
}

function outcomeOf(result: Record<string, unknown>): ToolOutcome {
  const blocks = (Array.isArray(result['content']) ? result['content'] : []) as { type: string; text?: string; data?: string; mimeType?: string; uri?: string; resource?: { uri?: string; text?: string } }[];
  const images: ToolImage[] = [];
  const parts = blocks.map((block) => {
    if (block.type === 'text') return block.text ?? '';
    if (block.type === 'image' && block.data !== undefined && imageTypes.has(block.mimeType ?? '') && block.data.length * 0.75 <= MAX_IMAGE_BYTES && images.length < 5) {
      images.push({ media_type: block.mimeType as ToolImage['media_type'], data: block.data });
      return '';
    }
    if (block.type === 'resource') return block.resource?.text ?? `[resource ${block.resource?.uri ?? ''}]`;
    return block.type === 'resource_link' ? `[resource ${block.uri ?? ''}]` : `[${block.type}]`;
  });
  const content = parts.filter((part) => part !== '').join('\n') || (images.length > 0 ? '(an image)' : '(no output)');
  return {
    content, isError: result['isError'] === true,
    ...(images.length > 0 && { images }), ...(result['structuredContent'] !== undefined && { value: result['structuredContent'] }),
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
