// Which Docker daemon this is. Volumes are a daemon's own, so its mark is one of them: what a daemon says of itself is shared by the
// daemons of one machine (20.10) and by copies of a machine, or is another with each question (Podman), and stays when its volumes go.

import { randomUUID } from 'node:crypto';

import type Docker from 'dockerode';

const MARK = 'work-ledger-daemon';

/** Marks the daemon, unless it is marked already. Throws the daemon's errors. */
export async function daemonId(docker: Docker): Promise<string> {
  const mark = docker.getVolume(MARK);
  const marked = async (): Promise<string> => {
    const { Labels } = await mark.inspect();
    const id = Labels[MARK];
    if (!id) throw new Error(`the volume ${MARK} is not of Work Ledger: it has no label ${MARK}`);
    return id;
  };
  return marked().catch(async (error: { statusCode?: number }) => {
    if (error.statusCode !== 404) throw error;
    // where two do it at once, the first one's label stays
    await docker.createVolume({ Name: MARK, Driver: 'local', Labels: { [MARK]: randomUUID() } });
    return marked();
  });
}
