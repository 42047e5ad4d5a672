// Images in the form that the model's API accepts.

import { isObject } from '../../plv8/isObject.ts';
import type { ToolImage } from './tool.ts';

/** The API's limit on the size in base64. */
const MAX_IMAGE_CHARS = 5 * 1024 * 1024;

/** The type according to the first bytes; null if it is not an image type that a model can see. */
export function imageTypeOf(bytes: Buffer): ToolImage['media_type'] | null {
  const begins = (hex: string): boolean => bytes.subarray(0, hex.length / 2).equals(Buffer.from(hex, 'hex'));
  if (begins('89504e470d0a1a0a')) return 'image/png';
  if (begins('ffd8ff')) return 'image/jpeg';
  if (begins('474946383761') || begins('474946383961')) return 'image/gif';
  return begins('52494646') && bytes.subarray(8, 12).toString('latin1') === 'WEBP' ? 'image/webp' : null;
}

/** Null if the image is too large. */
export function imageOf(mediaType: ToolImage['media_type'], bytes: Buffer): ToolImage | null {
  const data = bytes.toString('base64');
  return data.length > MAX_IMAGE_CHARS ? null : { media_type: mediaType, data };
}

/** Whether the ledger can store it: _check_images() in SQL checks the same. */
export const isImage = (value: unknown): value is ToolImage =>
  isObject(value) &&
  /^image\/(?:png|jpeg|gif|webp)$/.test(String(value['media_type'])) &&
  typeof value['data'] === 'string' &&
  value['data'].length <= MAX_IMAGE_CHARS &&
  /^[A-Za-z0-9+/]+=*$/.test(value['data']);
