// Which server and key an iteration uses: the worker's, or those that its faculty names.

import { createModelClient } from './callModel.ts';
import type { ModelClient } from './message.ts';

/** The part of a faculty's configuration that says where its model is. */
export type ModelAddress = { base_url?: string | null | undefined; api_key_env?: string | null | undefined };

/** The client for a faculty. The worker's key is never sent to an address that a faculty names: that requires a separate key, or none. */
export function facultyModels(ofWorker: ModelClient): (engage: ModelAddress) => ModelClient {
  const clients = new Map<string, ModelClient>();
  return ({ base_url: baseURL, api_key_env: variable }) => {
    if (!baseURL && !variable) return ofWorker;
    const apiKey = variable ? process.env[variable] : 'none'; // the SDK sends no request without a key
    if (!apiKey) return withoutKey(`${variable} is not set for this worker, and the faculty names it as api_key_env`);
    const name = JSON.stringify([baseURL, variable]);
    const known = clients.get(name);
    if (known) return known;
    const made = createModelClient({ apiKey, ...(baseURL && { baseURL, isOther: true }) });
    clients.set(name, made);
    return made;
  };
}

/** A client whose calls fail with this message, like those of a provider that rejects a key. */
export function withoutKey(message: string): ModelClient {
  return {
    call: async () => ({
      kind: 'error',
      error: { class: 'authentication', message, status: null, retryAfterSeconds: null, requestId: null },
    }),
  };
}
