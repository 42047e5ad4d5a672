// The ledger for any MCP client, over stdio: the registry's abilities as tools of one work item, digest and ledger as
// resources. Nothing but the protocol goes to stdout.

import { setTimeout as sleep } from 'node:timers/promises';

import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

import type { Db } from '../db.ts';
import { LedgerError } from '../errors.ts';
import { version } from '../extensionSource.ts';

const instructions = `Work Ledger keeps what matters of this work in Postgres, beyond this conversation: record plans, findings, decisions, completed steps and errors with ledger_append as you go. awareness_digest tells what other agents do; spawn_child_work hands a part to a background worker, check_child_work and await_child_work ask for its result.`;

const ended = new Set(['completed', 'failed', 'dead', 'cancelled']);
const waitInput = z.object({ work_item_ids: z.array(z.string()), timeout_seconds: z.number().min(0).max(3600).optional() });

/** Serves until the client goes. The tools are those of `workItemId`. */
export async function serveMcp(db: Db, workItemId: string): Promise<void> {
  const abilities = await db.abilitiesForClients();
  const gone = new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve));
  const handle = serveStdio(() => {
    const server = new McpServer({ name: 'work-ledger', version: version() }, { instructions });
    for (const ability of abilities) {
      const name = ability.name.replaceAll(':', '_');
      server.registerTool(name, { description: ability.description, inputSchema: fromJsonSchema<Record<string, unknown>>(ability.input_schema as never) }, async (input) =>
        answered(() => (ability.name === 'await_child_work' ? awaitChildren(db, workItemId, input) : db.abilityInvoke(ability.name, input, workItemId))));
    }
    server.registerResource('digest', 'work-ledger://digest', { title: 'What else is going on', mimeType: 'text/plain' }, async (uri) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text: String(await db.abilityInvoke('awareness_digest', {}, workItemId)) }],
    }));
    server.registerResource('ledger', 'work-ledger://ledger', { title: 'The ledger of this work', mimeType: 'text/plain' }, async (uri) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text: await db.ledgerReadFormatted(workItemId) }],
    }));
    return server;
  });
  await gone;
  await handle.close();
}

/** What an ability says, or its refusal as a result that the model reads. */
async function answered(act: () => Promise<unknown>): Promise<CallToolResult> {
  try {
    const value = await act();
    return { content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] };
  } catch (error) {
    const hint = error instanceof LedgerError && error.hint !== '' ? `\n${error.hint}` : '';
    return { isError: true, content: [{ type: 'text', text: `${error instanceof Error ? error.message : String(error)}${hint}` }] };
  }
}

/** Waiting is the loop's in a focus; here the client waits, and nothing is held meanwhile. */
async function awaitChildren(db: Db, workItemId: string, input: Record<string, unknown>): Promise<unknown> {
  const { work_item_ids: ids, timeout_seconds: seconds = 300 } = waitInput.parse(input);
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const states = await Promise.all(ids.map(async (id) => (await db.workItem(id))?.state));
    const said = await db.abilityInvoke('check_child_work', { work_item_ids: ids }, workItemId);
    if (states.every((state) => state !== undefined && ended.has(state)) || Date.now() >= deadline) return said;
    await sleep(500);
  }
}
