// For trying the console by hand and for the screenshots: a crew at work in a cluster of its own, and the console beside it.

import { randomBytes } from 'node:crypto';

import pg from 'pg';

import { startConsole } from '../../runtime/console/server.ts';
import type { Console } from '../../runtime/console/server.ts';
import { startCluster, template } from '../globalSetup.ts';
import { startCrew } from './crew.ts';
import type { Crew } from './crew.ts';

/** `before`: what is in the ledger before the crew begins. */
export async function play(
  port = 0,
  before: (url: string) => Promise<void> = async () => {},
): Promise<{ url: string; crew: Crew; running: Console; close(): Promise<void> }> {
  const cluster = await startCluster();
  const name = `play_${randomBytes(4).toString('hex')}`;
  const admin = new pg.Client({ connectionString: `${cluster.serverUrl}postgres` });
  await admin.connect();
  await admin.query(`create database ${name} template ${template}`);
  // As a server that people use: what doctor finds is on the page.
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) await admin.query(`alter system set ${setting} = on`);
  await admin.query('select pg_reload_conf()');
  await admin.end();
  const url = `${cluster.serverUrl}${name}`;
  await before(url);
  const crew = await startCrew(url);
  const running = await startConsole({ url, schema: 'ledger', port });
  return {
    url,
    crew,
    running,
    async close() {
      await running.close();
      await crew.close();
      await cluster.stop();
    },
  };
}

if (import.meta.main) {
  const playing = await play(4848);
  process.stdout.write(`${playing.running.address}?token=${playing.running.token}\n${playing.url}\n`);
  process.once('SIGINT', () => void playing.close());
}
