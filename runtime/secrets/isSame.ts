import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two secrets are the same. Compares hashes, which have equal length, in constant time. */
export const isSame = (given: string, wanted: string): boolean => timingSafeEqual(hash(given), hash(wanted));

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
