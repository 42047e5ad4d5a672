// Addresses on TLS: what libpq would do with them, to a server that requires it.

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

import { withConnection } from '../../../runtime/ledger/connection.ts';
import { tlsOf } from '../../../runtime/ledger/tls.ts';
import { noDebian, startDebian } from '../../debian.ts';
import type { DebianServer } from '../../debian.ts';

const at = 'postgresql://me:p%40ss@h:1/app';
const unverified = { rejectUnauthorized: false };

test.each([
  ['', {}, false],
  ['?sslmode=disable', {}, false],
  ['?sslmode=allow', {}, false],
  ['?sslmode=prefer', {}, unverified],
  ['?sslmode=require', {}, unverified],
  ['?sslmode=verify-ca', {}, {}],
  ['?sslmode=verify-full', {}, {}],
  ['?sslmode=require&sslrootcert=system', {}, {}],
  ['', { PGSSLMODE: 'require' }, unverified],
  ['', { PGSSLMODE: 'verify-full' }, {}],
  ['?sslmode=disable', { PGSSLMODE: 'require' }, false],
])('an address with "%s" and %o in the environment asks for TLS as %o', (more, env, ssl) => {
  expect(tlsOf(at + more, env)).toEqual({ connectionString: at, ssl });
});

test('the rest of an address stays as it is', () => {
  expect(tlsOf(`${at}?application_name=x&sslmode=require&host=a`, {}).connectionString).toBe(`${at}?application_name=x&host=a`);
});

test.each(['/tmp/run app', 'socket:/tmp/run?db=app', 'postgresql://me@%2Ftmp%2Frun/app', 'postgresql:///app?host=/tmp/run'])(
  'a socket is never encrypted: %s',
  (address) => {
    expect(tlsOf(address, { PGSSLMODE: 'require' })).toEqual({ connectionString: address, ssl: false });
  },
);

test.each([`${at}?ssl=true`, `${at}?uselibpqcompat=true&sslmode=require`])("one in pg's own words is left to it: %s", (address) => {
  expect(tlsOf(address, { PGSSLMODE: 'disable' })).toEqual({ connectionString: address });
});

test('a mode that there is not, and a file that is not there, are named', () => {
  expect(() => tlsOf(`${at}?sslmode=required`, {})).toThrow('sslmode of an address is one of disable, allow, prefer');
  expect(() => tlsOf(`${at}?sslmode=verify-full&sslrootcert=/no/ca.crt`, {})).toThrow('sslrootcert: there is no file /no/ca.crt');
});

const missing = noDebian(15) ?? (spawnSync('openssl', ['version']).status === 0 ? null : 'there is no openssl (apt-get install openssl)');
if (missing !== null) console.warn(`no server with TLS is tested: ${missing}`);

describe.skipIf(missing !== null)('a server that takes only TLS', () => {
  let folder: string;
  let server: DebianServer;
  let port: number;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wl-tls-'));
    chmodSync(folder, 0o755);
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    for (const name of ['ca', 'other'])
      openssl('req', '-x509', ...key, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.crt`);
    openssl('req', ...key, '-subj', '/CN=localhost', '-keyout', 'server.key', '-out', 'server.csr');
    writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost\n');
    const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names', '-out', 'server.crt'];
    openssl('x509', '-req', '-in', 'server.csr', ...signed);
    port = await unusedPort();
    server = await startDebian(15, ['listen_addresses=localhost', `port=${port}`]);
    const data = join(decodeURIComponent(folderOf(server)), 'data');
    const { uid, gid } = statSync(data);
    for (const name of ['server.crt', 'server.key']) {
      writeFileSync(join(data, name), readFileSync(join(folder, name)), { mode: 0o600 });
      chownSync(join(data, name), uid, gid);
    }
    writeFileSync(join(data, 'pg_hba.conf'), 'local all all trust\nhostssl all all all trust\n');
    await withConnection({ connectionString: socket() }, async (client) => {
      await client.query('alter system set ssl = on');
      await client.query('select pg_reload_conf()');
    });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => vi.unstubAllEnvs());

  const socket = (): string => `${server.serverUrl}postgres?port=${port}`;
  const file = (name: string): string => join(folder, `${name}.crt`);
  const address = (host: string, more: string): string => `postgresql://postgres@${host}:${port}/postgres?${more}`;
  const isEncrypted = (connectionString: string): Promise<boolean> =>
    withConnection({ connectionString }, async (client) => {
      const { rows } = await client.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      return rows[0]?.ssl ?? false;
    });

  test('is connected to as the address says', async () => {
    expect(await isEncrypted(address('localhost', 'sslmode=require'))).toBe(true);
    expect(await isEncrypted(address('127.0.0.1', `sslmode=verify-ca&sslrootcert=${file('ca')}`))).toBe(true);
    expect(await isEncrypted(address('localhost', `sslmode=verify-full&sslrootcert=${file('ca')}`))).toBe(true);
    vi.stubEnv('PGSSLMODE', 'verify-full');
    vi.stubEnv('PGSSLROOTCERT', file('ca'));
    expect(await isEncrypted(address('localhost', ''))).toBe(true);
    expect(await isEncrypted(socket())).toBe(false);
  });

  test('is not, where it is another one than the address says, or TLS is not asked for', async () => {
    const refused = (host: string, more: string) => expect(isEncrypted(address(host, more))).rejects;
    for (const mode of ['require', 'verify-ca', 'verify-full'])
      await refused('localhost', `sslmode=${mode}&sslrootcert=${file('other')}`).toThrow('(sslrootcert names the file');
    for (const mode of ['verify-ca', 'verify-full']) await refused('localhost', `sslmode=${mode}`).toThrow('(sslrootcert names the file');
    await refused('127.0.0.1', `sslmode=verify-full&sslrootcert=${file('ca')}`).toThrow("does not match certificate's altnames");
    await refused('localhost', '').toThrow('(if it wants TLS, add sslmode=require to the address)');
  });

  test('is found next to others, each by its own way', async () => {
    expect(await isEncrypted(`postgresql://postgres@%2Fnowhere,localhost:${port}/postgres?sslmode=require`)).toBe(true);
    expect(await isEncrypted(`postgresql://postgres@localhost:1,${folderOf(server)}:${port}/postgres?sslmode=require`)).toBe(false);
  });
});

/** Of its socket, as addresses name it. */
const folderOf = ({ serverUrl }: DebianServer): string => /@([^/]+)/.exec(serverUrl)?.[1] ?? '';

async function unusedPort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
