// A real Prometheus (Debian's, 2.42 or later), which scrapes what a test starts. Where there is none, what needs it is skipped and says so.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { z } from 'zod';

import { until } from './workerProcess.ts';

const isThere = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

/** Why there is no Prometheus; null: there is one. */
export const noPrometheus = isThere('prometheus') && isThere('promtool') ? null : 'no prometheus and promtool: apt-get install prometheus';
if (noPrometheus !== null) console.log(`skipped: ${noPrometheus}`);

export const rules = fileURLToPath(new URL('../deploy/alerts.yaml', import.meta.url));

const answer = z.object({ status: z.literal('success'), data: z.object({ result: z.array(z.unknown()) }) });
const ruled = z.object({
  data: z.object({ groups: z.array(z.object({ rules: z.array(z.object({ name: z.string(), health: z.string() })) })) }),
});

export type Prometheus = {
  /** The series that an expression has now. */
  query(expression: string): Promise<unknown[]>;
  /** The rules, alerts and what they are made of, and whether each could be evaluated: ok, err or unknown. */
  rules(): Promise<{ name: string; health: string }[]>;
  close(): Promise<void>;
};

/** `targets`: HOST:PORT each. They are scraped every second. */
export async function startPrometheus(targets: readonly string[]): Promise<Prometheus> {
  const directory = await mkdtemp(join(tmpdir(), 'prometheus-'));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'work-ledger', static_configs: [{ targets }] }],
  };
  await writeFile(join(directory, 'prometheus.yml'), JSON.stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [`--config.file=${directory}/prometheus.yml`, `--storage.tsdb.path=${directory}/data`, `--web.listen-address=${address}`],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  const get = async (path: string): Promise<unknown> => (await fetch(`http://${address}${path}`)).json();
  await until(async () => {
    if (child.exitCode !== null) throw new Error('Prometheus ended');
    return fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return {
    query: async (expression) => answer.parse(await get(`/api/v1/query?query=${encodeURIComponent(expression)}`)).data.result,
    rules: async () => ruled.parse(await get('/api/v1/rules')).data.groups.flatMap((group) => group.rules),
    async close() {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
