// examples/agent-sdk-crew as somebody runs it, with the Claude Agent SDK itself against a model that follows a script.
// WORK_LEDGER_AGENT_SDK names the folder in whose node_modules the SDK is (test/fetchAgentSdk.sh fetches it).

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import { answerWith, use } from '../claudeClient.ts';
import type { Request } from '../claudeClient.ts';
import { createDatabase } from '../database.ts';

const sdk = process.env['WORK_LEDGER_AGENT_SDK'] ?? '';
if (sdk === '')
  console.warn('agentSdkExample.test.ts is skipped: WORK_LEDGER_AGENT_SDK is not set (test/fetchAgentSdk.sh DIRECTORY fetches the SDK)');

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

test.skipIf(sdk === '')('two sessions of the SDK are two items, with their turns and what they recorded', async () => {
  const database = await createDatabase();
  const root = await mkdtemp(join(tmpdir(), 'agent-sdk-example-'));
  const model = createServer((request, response) => {
    void text(request).then((body) => {
      if (!request.url?.startsWith('/v1/messages') || body === '') return response.writeHead(404).end('{}');
      const asked = JSON.parse(body) as Request;
      const isFirst = asked.messages.every(({ role }) => role !== 'assistant');
      const note = use('mcp__work-ledger__ledger_append', { entry_type: 'finding', content: 'Amounts are in cents' });
      return answerWith(response, asked, isFirst && asked.tools?.length ? [note] : [{ type: 'text', text: 'Done.' }]);
    });
  });
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  try {
    // Where it is installed: beside its own program.
    await mkdir(join(root, 'crew'));
    await cp(path('examples/agent-sdk-crew/main.ts'), join(root, 'crew', 'main.ts'));
    await symlink(join(sdk, 'node_modules'), join(root, 'crew', 'node_modules'));
    await writeFile(join(root, 'crew', 'package.json'), '{"type": "module"}');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', path('test/asPackage.ts'), 'main.ts', 'Fix the rounding', 'Write tests for the rounding'],
      {
        cwd: join(root, 'crew'),
        env: {
          PATH: process.env['PATH'],
          HOME: root,
          DATABASE_URL: database.url,
          WORK_LEDGER_SCHEMA: 'ledger',
          ANTHROPIC_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}`,
          ANTHROPIC_API_KEY: 'sk-test',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          ENABLE_TOOL_SEARCH: 'false',
          IS_SANDBOX: '1', // tests may run as root
        },
      },
    );
    expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/: Done\.$/), expect.stringMatching(/: Done\.$/)]);
    expect(
      await database.query(`
        select description, (select count(*)::int from ledger.turns t where t.work_item_id = w.id) as turns,
               (select count(*)::int from ledger.work_ledger e where e.work_item_id = w.id) as entries
          from ledger.work_items w order by description`),
    ).toEqual([
      { description: 'Fix the rounding', turns: 2, entries: 1 },
      { description: 'Write tests for the rounding', turns: 2, entries: 1 },
    ]);
  } finally {
    model.closeAllConnections();
    model.close();
    await database.drop();
    await rm(root, { recursive: true, force: true });
  }
});
