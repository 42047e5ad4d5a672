// Reads and parses the body of a request within bounds: size, encoding and depth are checked before it is used.

import { depthOf } from '../../sandbox/jsonDepth.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 64;

/** The JSON of a body, or the response that rejects the request. */
export async function jsonBody(request: Request): Promise<{ json: unknown } | Response> {
  const bytes = await bytesOf(request).catch(() => new Uint8Array());
  if (bytes === null) return refused(413, -32000, `a request holds at most ${MAX_BYTES} bytes`);
  if (depthOf(bytes) > MAX_DEPTH) return refused(400, -32600, `a request can be at most ${MAX_DEPTH} levels deep`);
  try {
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown };
  } catch {
    return refused(400, -32700, 'the body is no JSON in UTF-8');
  }
}

/** Null if the body exceeds the maximum size. */
async function bytesOf(request: Request): Promise<Uint8Array | null> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BYTES) return null;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** An error in JSON-RPC form. */
export function refused(status: number, code: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}
