// The directory of this host that a work item or its faculty names, as the database answers a claim, and whether this worker serves it.

import type { NamedDirectory, ServedDirectories } from '../../sandbox/servedDirectories.ts';
import type { Claimed } from '../ledger/answers.ts';

/** Null: none is named. One of which the database does not say who named it is nobody's word. */
export function namedBy({ directory, faculty: { engage } }: Claimed): NamedDirectory | null {
  if (engage.workspace_dir === null) return null;
  return {
    path: engage.workspace_dir,
    namedBy: directory?.named_by ?? null,
    isAdministered: directory?.path === engage.workspace_dir && directory.is_administered,
  };
}

/** Why this worker does not serve the directory of an item; null: it does, or the item has none. */
export async function directoryRefused(claim: Claimed, directories: ServedDirectories): Promise<string | null> {
  const named = claim.faculty.engage.workspace === 'none' ? null : namedBy(claim);
  return named === null ? null : directories.refusal(named);
}
