// How a connection is encrypted. Addresses say so in libpq's words (sslmode, sslrootcert, sslcert, sslkey, or PGSSLMODE and so on), which pg
// reads otherwise: there, require also verifies the server, and a socket is encrypted too, which no server does.

import { existsSync, readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

import { parametersOf } from './address.ts';

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;
type Mode = (typeof modes)[number];

/**
 * What to give to pg: the address without its words on TLS, and what they say. libpq may try both ways; here prefer wants a server that has
 * TLS, and allow or no word uses none. An address in pg's own words (`ssl`, `uselibpqcompat`) is left to pg.
 */
export function tlsOf(
  address: string,
  env: NodeJS.ProcessEnv = process.env,
): { connectionString: string; ssl?: false | ConnectionOptions } {
  const { given, host, rest } = parametersOf(address, ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']);
  if (given.has('ssl') || given.has('uselibpqcompat')) return { connectionString: address };
  const word = (key: string): string | undefined => given.get(key) || env[`PG${key.toUpperCase()}`] || undefined;
  const ca = word('sslrootcert');
  // The system's certificates vouch for any server, so only its name tells it from others.
  const mode = ca === 'system' ? 'verify-full' : (word('sslmode') ?? (given.has('sslrootcert') ? 'verify-full' : 'disable'));
  if (!isMode(mode)) throw new Error(`sslmode of an address is one of ${modes.slice(0, -1).join(', ')}, not "${mode}"`);
  if ((host || env['PGHOST'] || '').startsWith('/') || mode === 'disable' || mode === 'allow')
    return { connectionString: rest, ssl: false };
  const [cert, key] = [word('sslcert'), word('sslkey')];
  return {
    connectionString: rest,
    ssl: {
      ...(ca !== undefined && ca !== 'system' && { ca: contentOf('sslrootcert', ca) }),
      ...(cert !== undefined && { cert: contentOf('sslcert', cert) }),
      ...(key !== undefined && { key: contentOf('sslkey', key) }),
      ...(mode === 'no-verify' || mode === 'prefer' || (mode === 'require' && ca === undefined)
        ? { rejectUnauthorized: false }
        : // Without a certificate of its own authority, only the server's name tells it from others.
          mode !== 'verify-full' && ca !== undefined && { checkServerIdentity: () => undefined }),
    },
  };
}

const isMode = (text: string): text is Mode => (modes as readonly string[]).includes(text);

function contentOf(key: string, file: string): string {
  if (!existsSync(file)) throw new Error(`${key}: there is no file ${file}`); // readFileSync would say ENOENT, as of a socket to wait for
  return readFileSync(file, 'utf8');
}
