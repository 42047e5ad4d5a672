// The official conformance tool against `work-ledger mcp --http`, at the wire of each revision that it knows requirements of.
// It was made for a reference server with tools, prompts and resources of fixed names: what needs those is left out, below, each
// with its reason; all else must pass, and what is left out must still fail, so that the list stays true.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { createDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { startMcpHttp } from '../mcpHttpProcess.ts';
import type { McpHttpProcess } from '../mcpHttpProcess.ts';

const tool = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
const token = 'conformance-'.repeat(4);

const [noPrompts, noTasks] = ['the server offers no prompts', 'the server does not offer the tasks extension'];
const [onlyText, asksNothing] = ['the abilities of a ledger answer with text', 'no ability asks anything of its client'];
const ownResources = "the reference server's own resources are asked for; test/long/mcpHttp.test.ts has ours";

/** Scenarios, and by scenario/check single checks, that need what this server does not offer. */
const leftOut: Record<string, Record<string, string>> = {
  '2025-11-25': {
    'completion-complete': 'the server completes no arguments',
    'logging-set-level': 'the server sends no log messages',
    'tools-call-with-logging': 'the server sends no log messages',
    'tools-call-with-progress': "the reference server's own tool reports; test/long/mcpHttp.test.ts has await_child_work",
    'server-sse-polling': "the reference server's own tool breaks its stream off; test/long/mcpHttp.test.ts has one that broke",
    ...reasons(onlyText, 'tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource', 'tools-call-mixed-content'),
    ...reasons(asksNothing, 'tools-call-sampling', 'tools-call-elicitation', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums'),
    ...reasons(
      ownResources,
      'resources-read-text',
      'resources-read-binary',
      'resources-templates-read',
      'resources-subscribe',
      'resources-unsubscribe',
    ),
    ...reasons(
      noPrompts,
      'prompts-list',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
    ),
  },
  '2026-07-28': {
    'completion-complete': 'the server completes no arguments',
    'tools-call-with-progress': "the reference server's own tool reports; test/long/mcpHttp.test.ts has await_child_work",
    'http-custom-header-server-validation': 'no ability wants an argument in a header',
    ...reasons(onlyText, 'tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource', 'tools-call-mixed-content'),
    ...reasons(ownResources, 'resources-read-text', 'resources-read-binary', 'resources-templates-read'),
    ...reasons(
      noPrompts,
      'prompts-list',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
    ),
    ...reasons(noPrompts, 'caching/sep-2549-prompts-list-caching-hints'),
    ...reasons(
      asksNothing,
      'server-stateless/sep-2575-server-rejects-undeclared-capability',
      'server-stateless/sep-2575-missing-capability-http-400',
    ),
    ...reasons(
      asksNothing,
      'input-required-result-basic-elicitation',
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'input-required-result-request-state',
      'input-required-result-multiple-input-requests',
      'input-required-result-multi-round',
      'input-required-result-non-tool-request',
      'input-required-result-result-type',
      'input-required-result-tampered-state',
      'input-required-result-capability-check',
    ),
    ...reasons(
      noTasks,
      'tasks-lifecycle',
      'tasks-capability-negotiation',
      'tasks-wire-fields',
      'tasks-request-state-removal',
      'tasks-mrtr-input',
      'tasks-request-headers',
      'tasks-dispatch-and-envelope',
      'tasks-required-task-error',
      'tasks-mrtr-composition',
    ),
  },
};

/** As the scenario json-schema-2020-12 wants it listed. */
const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

let database: TestDatabase;
let server: McpHttpProcess;
const proxy = createServer();

beforeAll(async () => {
  database = await createDatabase();
  // The tools of the reference server that a ledger can have: registered as any user registers abilities.
  await database.query(
    `create function public.said(jsonb) returns text language sql as $$ select 'This is a simple text response for testing.' $$`,
  );
  await database.query(
    `create function public.fails(jsonb) returns text language plpgsql as $$ begin raise exception 'This tool intentionally returns an error for testing'; end $$`,
  );
  for (const [name, input, call] of [
    ['test_simple_text', { type: 'object' }, 'said'],
    ['test_error_handling', { type: 'object' }, 'fails'],
    ['json_schema_2020_12_tool', schema2020, 'said'],
  ] as const) {
    await database.query(
      `select ledger.ability_register('${name}', 'For the conformance tool.', '${JSON.stringify(input)}', 'pure', 'safe', 'public.${call}(jsonb)')`,
    );
  }
  server = await startMcpHttp({ databaseUrl: database.url, token });
  // The tool has no token to give: this adds it, and changes nothing else.
  proxy.on('request', (incoming, answer) => {
    const passed = request(
      {
        host: '127.0.0.1',
        port: server.url.port,
        path: incoming.url,
        method: incoming.method,
        headers: { ...incoming.headers, authorization: `Bearer ${token}` },
      },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      },
    );
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await server?.end('SIGTERM');
  await database?.drop();
});

test.for(Object.keys(leftOut))('what the conformance tool can check of such a server passes at revision %s', async (revision) => {
  const checks = await run(revision);
  const failed = checks.filter(({ status }) => status === 'FAILURE');
  const isLeftOut = ({ scenario, id }: Check): boolean => [scenario, `${scenario}/${id}`].some((name) => name in (leftOut[revision] ?? {}));
  expect(failed.filter((check) => !isLeftOut(check)).map(({ scenario, id, errorMessage }) => `${scenario}/${id}: ${errorMessage}`)).toEqual(
    [],
  );
  const stale = Object.keys(leftOut[revision] ?? {}).filter(
    (name) => !failed.some(({ scenario, id }) => name === scenario || name === `${scenario}/${id}`),
  );
  expect(stale, 'left out, but it passes or is gone').toEqual([]);
  const passed = new Set(
    checks
      .filter(({ scenario, status }) => status === 'SUCCESS' && !(scenario in (leftOut[revision] ?? {})))
      .map(({ scenario }) => scenario),
  );
  expect([...passed]).toEqual(
    expect.arrayContaining([
      'tools-list',
      'tools-call-simple-text',
      'tools-call-error',
      'json-schema-2020-12',
      'resources-list',
      'dns-rebinding-protection',
      'server-sse-multiple-streams',
    ]),
  );
});

type Check = { scenario: string; id: string; status: string; errorMessage?: string };

/** All scenarios that a revision knows, those of extensions and those not scored among them. */
async function run(revision: string): Promise<Check[]> {
  const directory = mkdtempSync(join(tmpdir(), 'conformance-'));
  try {
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp?conversation=conformance`;
    const child = spawn(process.execPath, [tool, 'server', '--url', url, '--requirements', revision, '--output-dir', directory], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    expect(said, complained).toContain('=== SUMMARY ===');
    return readdirSync(directory).flatMap((name) => {
      const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1] ?? name;
      return (JSON.parse(readFileSync(join(directory, name, 'checks.json'), 'utf8')) as Omit<Check, 'scenario'>[]).map((check) => ({
        ...check,
        scenario,
      }));
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function reasons(reason: string, ...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]));
}
