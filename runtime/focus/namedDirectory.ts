// The directory of this host that a work item or its faculty names, as the claim reports it, and whether this worker serves it.

import type { NamedDirectory, ServedDirectories } from '../../sandbox/servedDirectories.ts';
import type { Claimed } from '../ledger/answers.ts';

/** Null if no directory is named. If the database does not say who named it, namedBy is null. */
export function namedBy({ directory, faculty: { engage } }: Claimed): NamedDirectory | null {
  if (engage.workspace_dir === null) return null;
  return {
    path: engage.workspace_dir,
    namedBy: directory?.named_by ?? null,
    isAdministered: directory?.path === engage.workspace_dir && directory.is_administered,
  };
}

/** Why this worker does not serve an item's directory; null if it does, or if the item has none. */
export async function directoryRefused(claim: Claimed, directories: ServedDirectories): Promise<string | null> {
  const named = claim.faculty.engage.workspace === 'none' ? null : namedBy(claim);
  return named === null ? null : directories.refusal(named);
}
