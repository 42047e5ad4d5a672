// Who may talk to the server over HTTP: only clients with the token, and no web page that a browser in this network was lured to.

import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  OAuthError,
  OAuthErrorCode,
  originValidationResponse,
  requireBearerAuth,
} from '@modelcontextprotocol/server';

import { isSame } from '../secrets/isSame.ts';

/** Returns the response that rejects a request; null if it is allowed. */
export type Access = (request: Request) => Promise<Response | null>;

/**
 * `hostnames`: the names that a request's Host and Origin may have besides the loopback names, as written in a URL.
 */
export function accessFor(token: string, hostnames: readonly string[]): Access {
  const names = [...localhostAllowedHostnames(), ...hostnames];
  const verifier = {
    async verifyAccessToken(given: string) {
      if (!isSame(given, token)) throw new OAuthError(OAuthErrorCode.InvalidToken, 'wrong token');
      return { token: '', clientId: '', scopes: [], expiresAt: Infinity }; // the token is not passed on
    },
  };
  const authorize = requireBearerAuth({ verifier });
  return async (request) => {
    const refusal = hostHeaderValidationResponse(request, names) ?? originValidationResponse(request, names) ?? (await authorize(request));
    return refusal instanceof Response ? refusal : null;
  };
}
