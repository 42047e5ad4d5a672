// Text that does not compress: PostgreSQL stores and logs every byte of it.

import { randomBytes } from 'node:crypto';

export const plainText = (length: number): string =>
  randomBytes(Math.ceil((length * 3) / 4))
    .toString('base64')
    .slice(0, length);
