// Who may speak to the server over HTTP: whoever has the token, and no web page that a browser of this network was lured to.

import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  OAuthError,
  OAuthErrorCode,
  originValidationResponse,
  requireBearerAuth,
} from '@modelcontextprotocol/server';

import { isSame } from '../secrets/isSame.ts';

/** What a request is refused with; null: it may pass. */
export type Access = (request: Request) => Promise<Response | null>;

/**
 * `hostnames`: the names, besides those of this machine to itself, that a request's Host and Origin may have, as they are written in a URL.
 */
export function accessFor(token: string, hostnames: readonly string[]): Access {
  const names = [...localhostAllowedHostnames(), ...hostnames];
  const verifier = {
    async verifyAccessToken(given: string) {
      if (!isSame(given, token)) throw new OAuthError(OAuthErrorCode.InvalidToken, 'wrong token');
      return { token: '', clientId: '', scopes: [], expiresAt: Infinity }; // nothing that is passed on knows the token
    },
  };
  const authorize = requireBearerAuth({ verifier });
  return async (request) => {
    const refusal = hostHeaderValidationResponse(request, names) ?? originValidationResponse(request, names) ?? (await authorize(request));
    return refusal instanceof Response ? refusal : null;
  };
}
