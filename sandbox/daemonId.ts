// Identifies a Docker daemon by a volume, because volumes belong to one daemon. The id that a daemon reports is shared by the daemons of
// one machine (20.10) and by copies of a machine, or is different each time (Podman), and it stays when the volumes are gone.

import { randomUUID } from 'node:crypto';

import type Docker from 'dockerode';

const MARK = 'work-ledger-daemon';

/** Returns the daemon's id, which is created if there is none yet. Throws the daemon's errors. */
export async function daemonId(docker: Docker): Promise<string> {
  const mark = docker.getVolume(MARK);
  const marked = async (): Promise<string> => {
    const { Labels } = await mark.inspect();
    const id = Labels[MARK];
    if (!id) throw new Error(`the volume ${MARK} does not belong to Work Ledger: it has no label ${MARK}`);
    return id;
  };
  return marked().catch(async (error: { statusCode?: number }) => {
    if (error.statusCode !== 404) throw error;
    // if two processes do this at once, the first one's label stays
    await docker.createVolume({ Name: MARK, Driver: 'local', Labels: { [MARK]: randomUUID() } });
    return marked();
  });
}
