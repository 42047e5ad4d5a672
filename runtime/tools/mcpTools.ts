// Tools of MCP servers, from the usual .mcp.json: {"mcpServers": {"name": {"command", "args", "env"} or {"url",
// "headers"}}}. Each tool is named mcp__SERVER__TOOL. If a server has ended, the next call starts it again.

import { createHash } from 'node:crypto';

import { Client, SdkError, SdkErrorCode, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';

import { version } from '../../sql/extensionSource.ts';
import { messageOf, UsageError } from '../ledger/errors.ts';
import { keepHeader } from '../secrets/ofEnvironment.ts';
import { fitting } from './fitting.ts';
import { imageOf, imageTypeOf } from './image.ts';
import { parsedAs } from './parsedAs.ts';
import { failed } from './tool.ts';
import type { Effect, Risk, Tool, ToolImage, ToolOutcome } from './tool.ts';

const texts = z.record(z.string(), z.string()).default({});
const serverSettings = z
  .looseObject({
    command: z.string().optional(),
    args: z.array(z.string()).default([]),
    env: texts,
    cwd: z.string().optional(),
    url: z.url().optional(),
    headers: z.record(z.string(), z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'a header is one line of plain text')).default({}),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), 'a server has a command or a url');
const mcpFile = z.looseObject({
  mcpServers: z.record(
    z.string().regex(/^[a-zA-Z0-9_-]{1,30}$/, 'a server is called by 1 to 30 of a-z, A-Z, 0-9, _ and -'),
    serverSettings,
  ),
});
type ServerSettings = z.infer<typeof serverSettings>;

/** Replaces ${VARIABLE} and ${VARIABLE:-default} in every string. */
function withVariables(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withVariables);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withVariables(inner)]));
  if (typeof value !== 'string') return value;
  return value.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise?: string) => {
    const found = process.env[name] ?? otherwise;
    if (found === undefined) throw new UsageError(`the environment has no ${name}`);
    return found;
  });
}

const CALL_SECONDS = 600;
const MAX_IMAGES = 5;
const MAX_NAME_CHARS = 64;

export type McpTools = { tools: Tool[]; close(): Promise<void> };

/**
 * Starts the servers of a parsed .mcp.json and asks each for its tools. Throws UsageError if the file is wrong, or an Error that says how a
 * server failed.
 */
export async function mcpTools(document: unknown): Promise<McpTools> {
  const settings = Object.entries(parsedAs(mcpFile, withVariables(document)).mcpServers);
  for (const [, { env, headers }] of settings) [...Object.values(env), ...Object.values(headers)].forEach(keepHeader);
  const servers = settings.map(([name, one]) => new Server(name, one));
  const close = async (): Promise<void> => void (await Promise.allSettled(servers.map((server) => server.close())));
  try {
    const tools = withNames((await Promise.all(servers.map((server) => server.tools()))).flat());
    const names = tools.map(({ name }) => name);
    const twice = names.find((name, n) => names.indexOf(name) !== n);
    if (twice !== undefined) throw new Error(`two tools would have the name ${twice}`);
    return { tools, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Names the tools as the model's API allows; tools whose names would be the same end with a hash of their full ones. */
function withNames(tools: readonly Tool[]): Tool[] {
  const short = tools.map(({ name }) => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME_CHARS));
  return tools.map((tool, n) => {
    const name = short[n] ?? '';
    if (short.indexOf(name) === short.lastIndexOf(name)) return { ...tool, name };
    return { ...tool, name: `${name.slice(0, MAX_NAME_CHARS - 9)}_${createHash('sha256').update(tool.name).digest('hex').slice(0, 8)}` };
  });
}

class Server {
  readonly #name: string;
  readonly #settings: ServerSettings;
  #client: Promise<Client> | undefined;
  /** Clients of sessions that the server has forgotten. Others of their calls may still wait for the same answer, so they stay open. */
  readonly #former: Client[] = [];
  /** The last error of the connection, which a call that it ended does not name, and the end of the server's output on stderr. */
  #trouble = '';
  #complaint = '';

  constructor(name: string, settings: ServerSettings) {
    this.#name = name;
    this.#settings = settings;
  }

  /** Its tools, with the names that the server gives them: a model's API may not allow these. */
  async tools(): Promise<Tool[]> {
    const client = await this.#connected();
    const { tools } = await client.listTools();
    return tools.map(({ name, description, inputSchema, annotations = {} }): Tool => {
      const effect: Effect = annotations.readOnlyHint === true ? 'pure' : annotations.idempotentHint === true ? 'idempotent' : 'unsafe';
      const risk: Risk = annotations.readOnlyHint === true ? 'safe' : annotations.destructiveHint === false ? 'moderate' : 'dangerous';
      const { $schema: _, ...schema } = inputSchema;
      return {
        name: `mcp__${this.#name}__${name}`,
        description: description?.trim() || name,
        effect,
        risk,
        input: fitting(inputSchema, { isCheckedAgain: true }),
        inputSchema: schema,
        execute: (input, { signal }) => this.#call(name, input as Record<string, unknown>, signal),
      };
    });
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    const last = await client?.catch(() => undefined);
    await Promise.allSettled([...this.#former.splice(0), ...(last ? [last] : [])].map((one) => one.close()));
  }

  async #call(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<ToolOutcome> {
    for (let tries = 1; ; tries++) {
      const connected = this.#connected();
      let client: Client;
      try {
        client = await connected;
      } catch (error) {
        return failed(`[engine] ${withCause(error)}. This is an environment problem; retrying will not help.`);
      }
      try {
        return outcomeOf(
          await client.callTool(
            { name, arguments: input },
            { signal, timeout: CALL_SECONDS * 1000, resetTimeoutOnProgress: true, onprogress: () => {} },
          ),
        );
      } catch (error) {
        if (signal.aborted) return failed('[engine] The call was ended.');
        const isForgotten = error instanceof SdkHttpError && hasForgotten(error);
        if (isForgotten && this.#forget(connected)) this.#former.push(client);
        if (isForgotten && tries === 1) continue;
        return failed(`[engine] The MCP server "${this.#name}" ${this.#problem(error)}. Check what was done before trying again.`);
      }
    }
  }

  /** What went wrong with a call. */
  #problem(error: unknown): string {
    const code = error instanceof SdkError ? error.code : null;
    // The SDK's message would list what each kind of content must have.
    if (code === SdkErrorCode.InvalidResult)
      return 'answered with a result that is not valid, or has a kind of content that is not known here';
    const why = [withCause(error), ...(code === SdkErrorCode.ConnectionClosed ? [this.#trouble, this.#complaint.trim()] : [])];
    return `did not answer: ${why.filter((part) => part !== '').join(': ')}`;
  }

  #connected(): Promise<Client> {
    if (this.#client) return this.#client;
    const mine: Promise<Client> = this.#connect(() => void this.#forget(mine));
    mine.catch(() => this.#forget(mine));
    this.#client = mine;
    return mine;
  }

  /** Whether it was the one in use. */
  #forget(client: Promise<Client>): boolean {
    if (this.#client !== client) return false;
    this.#client = undefined;
    return true;
  }

  async #connect(onclose: () => void): Promise<Client> {
    const settings = this.#settings;
    this.#trouble = '';
    this.#complaint = '';
    const client = new Client({ name: 'work-ledger', version: version() });
    // An answer that breaks off is never completed, so the client is closed, which fails the calls that wait for it.
    const onerror = (error: Error): void => {
      this.#trouble = messageOf(error);
      if (/SSE stream disconnected/.test(error.message)) void client.close();
    };
    Object.assign(client, { onclose, onerror });
    try {
      if (settings.command === undefined)
        await client.connect(
          new StreamableHTTPClientTransport(new URL(settings.url ?? ''), { requestInit: { headers: settings.headers } }),
        );
      else {
        // From the worker's environment a server gets only what every program needs and what its settings name.
        const transport = new StdioClientTransport({
          command: settings.command,
          args: settings.args,
          env: settings.env,
          stderr: 'pipe',
          ...(settings.cwd !== undefined && { cwd: settings.cwd }),
        });
        transport.stderr?.on('data', (said: Buffer) => (this.#complaint = (this.#complaint + said.toString('utf8')).slice(-500)));
        await client.connect(transport);
      }
      return client;
    } catch (error) {
      throw new Error(
        `The MCP server "${this.#name}" does not start: ${[withCause(error), this.#complaint.trim()].filter((part) => part !== '').join(': ')}`,
        { cause: error },
      );
    }
  }
}

/**
 * Whether a server does not know the session, as after a restart, and so has not executed the call. The protocol says 404; many servers
 * are made after an example that answers 400.
 */
const hasForgotten = ({ status, message }: SdkHttpError): boolean => status === 404 || (status === 400 && /session/i.test(message));

function outcomeOf(result: Record<string, unknown>): ToolOutcome {
  const blocks = (Array.isArray(result['content']) ? result['content'] : []) as {
    type: string;
    text?: string;
    data?: string;
    uri?: string;
    resource?: { uri?: string; text?: string };
  }[];
  const images: ToolImage[] = [];
  const parts = blocks.map((block) => {
    if (block.type === 'text') return block.text ?? '';
    const bytes = Buffer.from(block.type === 'image' ? (block.data ?? '') : '', 'base64');
    const type = imageTypeOf(bytes);
    const image = type === null || images.length >= MAX_IMAGES ? null : imageOf(type, bytes);
    if (image !== null) {
      images.push(image);
      return '';
    }
    if (block.type === 'resource') return block.resource?.text ?? `[resource ${block.resource?.uri ?? ''}]`;
    if (block.type === 'resource_link') return `[resource ${block.uri ?? ''}]`;
    return type === null || images.length >= MAX_IMAGES
      ? `[${block.type}]`
      : `[an image of ${bytes.length} bytes, too large for the model]`;
  });
  const value = result['structuredContent'];
  const isError = result['isError'] === true;
  // A server should, but need not, repeat its structured content as text.
  const otherwise = value === undefined ? (images.length > 0 ? '(an image)' : '(no output)') : JSON.stringify(value);
  return {
    content: parts.filter((part) => part !== '').join('\n') || otherwise,
    isError,
    ...(images.length > 0 && { images }),
    ...(value !== undefined && !isError && { value }), // for code, a value would be a success
  };
}

/** The error's message with that of its cause: "fetch failed" alone says nothing. */
const withCause = (error: unknown): string =>
  `${messageOf(error)}${error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''}`;
