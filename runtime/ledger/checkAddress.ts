// Checks that a text can be the address of a database.

import { shownUrl } from './address.ts';
import { UsageError } from './errors.ts';

/** Throws UsageError if the text cannot be the address of a database. */
export function checkAddress(address: string): void {
  if (!/^(postgres(ql)?:\/\/|socket:|\/)/.test(address))
    throw new UsageError(`"${shownUrl(address)}" is not the address of a database, such as postgresql://user@host:5432/database`);
}
