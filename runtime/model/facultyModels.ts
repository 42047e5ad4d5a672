// Which server an iteration asks, with which key: the worker's, or those that its faculty names.

import { createModelClient } from './callModel.ts';
import type { ModelClient } from './message.ts';

/** Of a faculty's configuration. */
export type ModelAddress = { base_url?: string | null | undefined; api_key_env?: string | null | undefined };

/** The client for a faculty. The worker's own key never goes to an address that a faculty names: that has a key of its own, or none. */
export function facultyModels(ofWorker: ModelClient): (engage: ModelAddress) => ModelClient {
  const clients = new Map<string, ModelClient>();
  return ({ base_url: baseURL, api_key_env: variable }) => {
    if (!baseURL && !variable) return ofWorker;
    const apiKey = variable ? process.env[variable] : 'none'; // the SDK sends no request without one
    if (!apiKey) return withoutKey(`${variable} is not set for this worker, and the faculty names it as api_key_env`);
    const name = JSON.stringify([baseURL, variable]);
    const known = clients.get(name);
    if (known) return known;
    const made = createModelClient({ apiKey, ...(baseURL && { baseURL, isOther: true }) });
    clients.set(name, made);
    return made;
  };
}

/** Says why it cannot ask, as a provider that refuses a key would. */
export function withoutKey(message: string): ModelClient {
  return {
    call: async () => ({
      kind: 'error',
      error: { class: 'authentication', message, status: null, retryAfterSeconds: null, requestId: null },
    }),
  };
}
