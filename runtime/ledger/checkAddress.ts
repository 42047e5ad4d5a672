// Checks that a text can be the address of a database.

import { shownUrl } from './address.ts';
import { UsageError } from './errors.ts';
import { checkText } from './given.ts';

/** Throws UsageError if the value cannot be the address of a database. */
export function checkAddress(address: unknown): asserts address is string {
  checkText('the address of a database', address);
  if (!/^(postgres(ql)?:\/\/|socket:|\/)/.test(address))
    throw new UsageError(`"${shownUrl(address)}" is not the address of a database, such as postgresql://user@host:5432/database`);
}
