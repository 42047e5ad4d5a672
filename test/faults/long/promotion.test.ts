// The primary dies under work and its standby, which has confirmed every commit, takes its place: nothing that was acknowledged is lost.

import { expect, test } from 'vitest';

import { installLedger } from '../../../runtime/install/installLedger.ts';
import { startThrowaway } from '../../../runtime/install/throwaway.ts';
import { withConnection } from '../../../runtime/ledger/connection.ts';
import { seed } from '../../random.ts';
import { startStandby } from '../../standby.ts';
import { crash, marker, socketOf, terminate } from '../ground.ts';
import type { Ground } from '../ground.ts';
import { startProxy } from '../proxy.ts';
import { scorecardText } from '../scorecard.ts';
import { storm } from '../storm.ts';
import { ownWorkload } from '../workload.ts';

test(`a standby is promoted while workers die (SEED=${seed})`, async () => {
  const primary = await startThrowaway({ isDurable: true });
  await installLedger(primary.url, 'work_ledger');
  const standby = await startStandby(primary);
  await withConnection({ connectionString: primary.url }, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '*'`);
    await client.query('select pg_reload_conf()');
  });
  const server = { path: socketOf(primary.url) };
  const front = await startProxy(server);
  const at = (port: number, name = ''): string => `postgresql://postgres@127.0.0.1:${port}/work_ledger?application_name=${name}`;
  const ground: Ground = {
    url: at(front.port),
    schema: 'work_ledger',
    server,
    behind: (port) => at(port, marker),
    terminate: terminate(at(front.port)),
    async crash() {
      if (server.path === socketOf(standby.url)) return;
      await crash(primary.dataDir, 'kill');
      await standby.promote();
      await withConnection({ connectionString: standby.url }, async (client) => {
        await client.query(`alter system reset synchronous_standby_names`);
        await client.query('select pg_reload_conf()');
      });
      server.path = socketOf(standby.url);
    },
    remove: async () => {},
  };
  try {
    const card = await storm({
      ground,
      workload: ownWorkload({ hasCode: false }),
      seed,
      kills: 6,
      databaseFaults: 3,
      places: 2,
      leaseSeconds: 3,
      hasDocker: false,
      patienceSeconds: 120,
      first: {
        faults: [
          { kind: 'cut_after', text: 'iteration_step' },
          { kind: 'kill', text: '' },
          { kind: 'terminate', text: '' },
        ],
      },
    });
    console.log(scorecardText(card));
    expect(card).toMatchObject({ lost: [], doubled: [], stuck: [], failed: [], violations: [] });
    expect(server.path).toBe(socketOf(standby.url));
  } finally {
    await front.close();
    await standby.stop();
    await primary.stop();
  }
});
