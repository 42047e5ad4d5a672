// The ledger for any MCP client, over stdio: the registry's abilities as tools of one work item, digest and ledger as
// resources. Nothing but the protocol goes to stdout. A client that starts many servers waits for none of them: what every
// ledger offers is listed before the database is queried, or even reached; what users registered follows.

import { setTimeout as sleep } from 'node:timers/promises';

import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

import { schemaErrors } from '../../plv8/jsonSchema.ts';
import { builtinAbilities, version } from '../../sql/extensionSource.ts';
import type { BuiltinAbility } from '../../sql/extensionSource.ts';
import { isFinal } from '../ledger/answers.ts';
import type { Db } from '../ledger/db.ts';
import { LedgerError, messageOf } from '../ledger/errors.ts';

const instructions = `Work Ledger keeps what matters of this work in Postgres, beyond this conversation: record plans, findings, decisions, completed steps and errors with ledger_append as you go. awareness_digest tells what other agents do; spawn_child_work hands a part to a background worker, check_child_work and await_child_work ask for its result.`;

const waitInput = z.object({ work_item_ids: z.array(z.string()), timeout_seconds: z.number().min(0).max(3600).optional() });

const resources = [
  { uri: 'work-ledger://digest', name: 'digest', title: 'What else is going on', mimeType: 'text/plain' },
  { uri: 'work-ledger://ledger', name: 'ledger', title: 'The ledger of this work', mimeType: 'text/plain' },
];

/** A ledger, and the work item that stands for the client; call leave() when the client is gone. */
export type Seat = { db: Db; workItemId: string; leave(): Promise<void> };

/** Serves until the client leaves. The ledger is opened after the first list of tools; if that failed, again at the next call. */
export async function serveMcp(open: () => Promise<Seat>): Promise<void> {
  const gone = new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve));
  const servers = new Set<Server>();
  let tools = builtinAbilities().map(toolOf);
  let opening = null as Promise<Seat> | null; // type inference does not see the assignments in other functions

  const seat = (): Promise<Seat> => (opening ??= takeSeat().catch((error: unknown) => {
    opening = null;
    throw error;
  }));
  async function takeSeat(): Promise<Seat> {
    const taken = await open();
    const all = (await taken.db.abilitiesForClients().catch(async (error: unknown) => {
      await taken.leave();
      throw error;
    })).map(toolOf);
    const isNews = JSON.stringify(all) !== JSON.stringify(tools);
    tools = all;
    if (isNews) await Promise.allSettled([...servers].map((server) => server.sendToolListChanged()));
    return taken;
  }
  const seatBehindThis = (): void => {
    setImmediate(() => void seat().catch((error: unknown) => process.stderr.write(`work-ledger: ${errorText(error)}\n`)));
  };

  /** Checks against the whole schema, which the database can only do with a JavaScript engine. */
  function check(name: string, input: Record<string, unknown>): void {
    const schema = tools.find((tool) => tool.name === name)?.inputSchema;
    if (!schema) return; // the database will report that there is no such ability
    const errors = schemaErrors(schema, input);
    if (errors.length > 0) throw new LedgerError('WL002', `the input of ${name} does not fit its schema`, '', errors.join('\n'));
  }

  const handle = serveStdio(() => {
    const server = new Server({ name: 'work-ledger', version: version() }, { instructions, capabilities: { tools: { listChanged: true }, resources: {} } });
    servers.add(server);
    server.setRequestHandler('tools/list', () => {
      if (opening === null) seatBehindThis();
      return { tools };
    });
    server.setRequestHandler('tools/call', ({ params: { name, arguments: input = {} } }) => answered(async () => {
      const { db, workItemId } = await seat();
      check(name, input);
      return name === 'await_child_work' ? awaitChildren(db, workItemId, input) : db.abilityInvoke(name, input, workItemId);
    }));
    server.setRequestHandler('resources/list', () => ({ resources }));
    server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
      if (!resources.some((resource) => resource.uri === uri)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no resource ${uri}`);
      const { db, workItemId } = await seat();
      const text = uri.endsWith('digest') ? String(await db.abilityInvoke('awareness_digest', {}, workItemId)) : await db.ledgerReadFormatted(workItemId);
      return { contents: [{ uri, mimeType: 'text/plain', text }] };
    });
    return server;
  });
  await gone;
  await handle.close();
  await opening?.then((taken) => taken.leave(), () => {});
}

const toolOf = ({ name, description, input_schema }: BuiltinAbility): Tool => ({ name, description, inputSchema: input_schema as Tool['inputSchema'] });

/** The result of an ability, or its error as a result that the model reads. */
async function answered(act: () => Promise<unknown>): Promise<CallToolResult> {
  try {
    const value = await act();
    return { content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: errorText(error) }] };
  }
}

function errorText(error: unknown): string {
  const hint = error instanceof LedgerError && error.hint !== '' ? `\n${error.hint}` : '';
  return `${messageOf(error)}${hint}`;
}

/** In a focus the loop waits; here the client waits, and nothing is held meanwhile. */
async function awaitChildren(db: Db, workItemId: string, input: Record<string, unknown>): Promise<unknown> {
  const { work_item_ids: ids, timeout_seconds: seconds = 300 } = waitInput.parse(input);
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const states = await Promise.all(ids.map(async (id) => (await db.workItem(id))?.state));
    const said = await db.abilityInvoke('check_child_work', { work_item_ids: ids }, workItemId);
    if (states.every((state) => state !== undefined && isFinal(state)) || Date.now() >= deadline) return said;
    await sleep(500);
  }
}
