// Where things run: an agent's commands where its faculty says, with its files; an operator's commands on this host.

import { runProcess } from '../../sandbox/hostProcess.ts';
import { HostWorkspace } from '../../sandbox/hostWorkspace.ts';
import type { ServedDirectories } from '../../sandbox/servedDirectories.ts';
import { WorkspaceUnavailable } from '../../sandbox/workspace.ts';
import type { Workspace } from '../../sandbox/workspace.ts';
import type { Claimed } from '../ledger/answers.ts';
import type { Focus } from './focus.ts';
import { namedBy } from './namedDirectory.ts';

/** The workspace that the faculty grants; null if it grants none, or wants a container and this worker has no Docker. */
export function workspaceOf({ claim, runtime }: Focus): Workspace | null {
  const { workspace } = claim.faculty.engage;
  if (workspace === 'host') return hostWorkspace(claim, runtime.directories);
  return workspace === 'container' ? (runtime.containers?.workspace(claim) ?? null) : null;
}

/** Without a directory that anybody named, it is where this worker was started. */
function hostWorkspace(claim: Claimed, directories: ServedDirectories): HostWorkspace {
  const named = namedBy(claim);
  if (named === null) return new HostWorkspace(process.cwd());
  return new HostWorkspace(named.path, { open: () => directories.open(named), isOwn: (directory) => directories.isOwn(directory) });
}

/**
 * Where the commands of the faculty itself run: in its workspace, if it has one on this host, as the same user; its agent could have
 * changed them.
 */
export function operatorPlace(focus: Focus): Pick<Workspace, 'run'> {
  if (focus.claim.faculty.engage.workspace === 'host') return workspaceOf(focus) ?? workerPlace;
  return workerPlace;
}

const workerPlace: Pick<Workspace, 'run'> = { run: (command, options) => runProcess(command, { cwd: process.cwd(), ...options }) };

/** Where a check of finished work runs: at the agent's files, wherever they are. */
export function checkPlace(focus: Focus): Pick<Workspace, 'run'> {
  if (focus.claim.faculty.engage.workspace !== 'container') return operatorPlace(focus);
  const workspace = workspaceOf(focus);
  if (workspace === null) throw new WorkspaceUnavailable('the check must run in the workspace container, and this worker has no Docker');
  return workspace;
}
