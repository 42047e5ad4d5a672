// Where commands run: an agent's commands where its faculty says, with its files; an operator's commands on this host.

import { runProcess } from '../../sandbox/hostProcess.ts';
import { HostWorkspace } from '../../sandbox/hostWorkspace.ts';
import type { ServedDirectories } from '../../sandbox/servedDirectories.ts';
import { WorkspaceUnavailable } from '../../sandbox/workspace.ts';
import type { Workspace } from '../../sandbox/workspace.ts';
import type { Claimed } from '../ledger/answers.ts';
import type { Focus } from './focus.ts';
import { namedBy } from './namedDirectory.ts';

/** The workspace that the faculty grants; null if it grants none, or if it requires a container and this worker has no Docker. */
export function workspaceOf({ claim, runtime }: Focus): Workspace | null {
  const { workspace } = claim.faculty.engage;
  if (workspace === 'host') return hostWorkspace(claim, runtime.directories);
  return workspace === 'container' ? (runtime.containers()?.workspace(claim) ?? null) : null;
}

/** If nobody named a directory, it is the one in which this worker was started. */
function hostWorkspace(claim: Claimed, directories: ServedDirectories): HostWorkspace {
  const named = namedBy(claim);
  if (named === null) return new HostWorkspace(process.cwd());
  return new HostWorkspace(named.path, { open: () => directories.open(named), isOwn: (directory) => directories.isOwn(directory) });
}

/**
 * Where the faculty's own commands run: in the item's workspace if that is on this host, otherwise in the worker's directory. They run as
 * the same user as the agent's, so the agent could have changed them.
 */
export function operatorPlace(focus: Focus): Pick<Workspace, 'run'> {
  if (focus.claim.faculty.engage.workspace === 'host') return workspaceOf(focus) ?? workerPlace;
  return workerPlace;
}

const workerPlace: Pick<Workspace, 'run'> = { run: (command, options) => runProcess(command, { cwd: process.cwd(), ...options }) };

/** Where the check of finished work runs: with the agent's files, wherever they are. */
export function checkPlace(focus: Focus): Pick<Workspace, 'run'> {
  if (focus.claim.faculty.engage.workspace !== 'container') return operatorPlace(focus);
  const workspace = workspaceOf(focus);
  if (workspace === null) throw new WorkspaceUnavailable('the check must run in the workspace container, and this worker has no Docker');
  return workspace;
}
