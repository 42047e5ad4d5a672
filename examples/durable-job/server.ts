// An HTTP server whose jobs are agents: a job survives the process, a request that is sent twice makes one job, and what the agent does is
// streamed to whoever asks.
//   POST /jobs {"task": "…"}   with an Idempotency-Key    → 202 {id}
//   GET /jobs/ID                                           → {state, result}
//   GET /jobs/ID/events                                    → server-sent events, from the beginning or after Last-Event-ID

import { serve } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import {
  builtinTools,
  createModelClient,
  ensureEmbedded,
  eventResponse,
  LedgerClient,
  LedgerError,
  readyLedger,
  startWorker,
} from 'work-ledger';
import type { CountedItem, StreamedEvent } from 'work-ledger';

const url = process.env['DATABASE_URL'] ?? (await ensureEmbedded()).url;
const schema = process.env['WORK_LEDGER_SCHEMA'] ?? 'work_ledger';
await readyLedger(url, schema);
const ledger = await LedgerClient.open({ databaseUrl: url, schema });
await ledger.saveFaculty({
  name: 'jobs',
  accepts: ['job'],
  engage: { model: 'claude-sonnet-5-5', tools: ['read_file', 'grep'], workspace: 'host', workspace_dir: process.cwd() },
});
// As many servers as you like may run: each job has one worker at a time, and another one if that dies.
const worker = await startWorker({ url, schema, model: createModelClient(), tools: builtinTools, concurrency: 4, leaseSeconds: 10 });

async function jobOf(id: string): Promise<CountedItem> {
  const item = await ledger.item(id).catch((error: unknown) => {
    if (error instanceof LedgerError && ['WL001', '22P02'].includes(error.code)) return null; // no such item, or no id
    throw error;
  });
  if (item?.work_type !== 'job') throw new HTTPException(404, { message: 'there is no such job' });
  return item;
}

/** What the world is told; of entries not all that the ledger has. */
function show(event: StreamedEvent): object {
  if (event.kind === 'entry') return { type: event.entry.entry_type, content: event.entry.content };
  return event.kind === 'end' ? { state: event.item.state, result: event.item.outcome_data?.['summary'] ?? null } : event;
}

const app = new Hono();
app.post('/jobs', async (c) => {
  const { task } = await c.req.json<{ task?: unknown }>().catch(() => ({ task: null }));
  const key = c.req.header('idempotency-key');
  if (typeof task !== 'string' || task.trim() === '' || key === undefined)
    throw new HTTPException(400, { message: 'a job is {"task": "…"} with an Idempotency-Key' });
  const { id } = await ledger.submit({ workType: 'job', description: task, idempotencyKey: `job:${key}`, budget: { tokens: 200_000 } });
  return c.json({ id }, 202, { location: `/jobs/${id}` });
});
app.get('/jobs/:id', async (c) => {
  const { state, state_reason: reason, outcome_data: outcome } = await jobOf(c.req.param('id'));
  return c.json({ state, reason, result: outcome?.['summary'] ?? null });
});
app.get('/jobs/:id/events', async (c) => {
  const { id } = await jobOf(c.req.param('id'));
  return eventResponse(ledger, id, c.req.raw, { show });
});
app.onError((error, c) => {
  if (error instanceof HTTPException) return c.json({ error: error.message }, error.status);
  if (error instanceof LedgerError && error.code === 'WL002') return c.json({ error: error.message }, 400); // such as a Last-Event-ID of no job
  if (error instanceof LedgerError && error.code === 'WL006') return c.json({ error: 'this Idempotency-Key is that of another task' }, 409);
  console.error(error);
  return c.json({ error: 'internal error' }, 500);
});

const server = serve({ fetch: app.fetch, port: Number(process.env['PORT'] ?? 3000), hostname: '127.0.0.1' }, (info: AddressInfo) =>
  console.log(`http://127.0.0.1:${info.port}`),
);
process.once('SIGTERM', () => {
  server.close();
  void worker.stop().then(() => ledger.close()); // what is under way goes on elsewhere
});
