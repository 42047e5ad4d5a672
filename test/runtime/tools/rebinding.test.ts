// web_fetch against names that change their mind: the system's own resolver asks a name server in a network namespace of the test,
// in which public and private addresses are served. Without user namespaces it is skipped, and says so.

import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { beforeAll, describe, expect, test } from 'vitest';

type Fetched = { url: string; content: string; hits: string[] };
const fixture = fileURLToPath(new URL('../../fixtures/rebinding.ts', import.meta.url));
const inNamespace = (script: string): string[] => [
  '--user',
  '--map-root-user',
  '--net',
  '--mount',
  'sh',
  '-ec',
  `
  ip link set lo up
  for address in 93.184.216.34/32 169.254.169.254/32; do ip addr add $address dev lo; done
  ip -6 addr add 2606:2800:220:1::1/128 dev lo nodad
  printf 'nameserver 127.0.0.1\\noptions timeout:5 attempts:1\\n' >/tmp/resolv.$$
  mount --bind /tmp/resolv.$$ "$(readlink -f /etc/resolv.conf)"
  rm /tmp/resolv.$$
  ${script}`,
  'namespace',
];
const lack = ((): string | null => {
  try {
    execFileSync('unshare', inNamespace('true'), { stdio: ['ignore', 'ignore', 'pipe'] });
    return null;
  } catch (error) {
    return String(error);
  }
})();
if (lack !== null) process.stderr.write(`skipped: names that change their mind, for want of a network namespace with IPv6: ${lack}\n`);

const BAD = ['127.0.0.1', '169.254.169.254', '0.0.0.0', '::1', '::ffff:127.0.0.1', '::ffff:169.254.169.254', '::', '64:ff9b::7f00:1'];
const fetched = new Map<string, Fetched>();
const refused: [string, string][] = [
  ...BAD.flatMap((address, n): [string, string][] => [
    [`a name of ${address}`, `http://is${n}.test:PORT/`],
    [`a public name that is ${address}, too`, `http://both${n}.test:PORT/`],
  ]),
  ['the end of a chain of eight aliases', 'http://chain0.test:PORT/'],
  ...[
    'localhost',
    'localhost.',
    '127.1',
    '0177.0.0.1',
    '0x7f000001',
    '2130706433',
    '127.0.0.1.',
    '0',
    '[::]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '%31%32%37.0.0.1',
    '①②⑦.0.0.1',
  ].map((host): [string, string] => [host, `http://${host}:PORT/`]),
];
const redirected: [string, string][] = refused
  .filter(([name]) => !name.startsWith('①'))
  .map(([name, url]) => [name, `http://public.test:PORT/?to=${encodeURIComponent(url.replace('PORT', '8080'))}`]);
const turning = BAD.map((address, n): [string, string] => [address, `http://becomes${n}.test:PORT/`]);

describe.skipIf(lack !== null)('names that change their mind', () => {
  beforeAll(async () => {
    const asked = [
      ...['http://public.test:PORT/', 'http://public6.test:PORT/', ...[...refused, ...redirected, ...turning].map(([, url]) => url)].map(
        (url) => ({ url }),
      ),
      { url: 'http://moves.test:PORT/?first', allow: ['moves.test'] },
      { url: 'http://moves.test:PORT/?then' },
    ];
    const { stdout } = await promisify(execFile)(
      'unshare',
      inNamespace(`exec '${process.execPath}' '${fixture}' '${JSON.stringify(asked)}'`),
      { maxBuffer: 1 << 24 },
    );
    for (const [n, one] of (JSON.parse(stdout) as Fetched[]).entries()) fetched.set(asked[n]?.url ?? '', one);
  });

  test('a public name is fetched', () => {
    expect(fetched.get('http://public.test:PORT/')).toMatchObject({
      content: expect.stringContaining('this is 93.184.216.34'),
      hits: ['93.184.216.34'],
    });
    expect(fetched.get('http://public6.test:PORT/')).toMatchObject({
      content: expect.stringContaining('this is 2606:2800:220:1::1'),
      hits: ['2606:2800:220:1::1'],
    });
  });
  test.each(refused)('%s is refused', (_, url) => {
    expect(fetched.get(url)).toMatchObject({ content: expect.stringContaining('is not a public address'), hits: [] });
  });
  test.each(redirected)('%s is refused to a redirect', (_, url) => {
    expect(fetched.get(url)).toMatchObject({ content: expect.stringContaining('is not a public address'), hits: ['93.184.216.34'] });
  });
  test.each(turning)(
    'a name that was public when it was checked and is %s when it is asked for again leads to where it was checked',
    (_, url) => {
      expect(fetched.get(url)?.hits).toEqual([expect.stringMatching(/^93\.184\.216\.34$|^2606:2800:220:1::1$/)]);
    },
  );
  test('a connection that was allowed to a private address is not used for whom it is not', () => {
    expect(fetched.get('http://moves.test:PORT/?first')?.hits).toEqual(['127.0.0.1']);
    expect(fetched.get('http://moves.test:PORT/?then')).toMatchObject({
      content: expect.stringContaining('this is 93.184.216.34'),
      hits: ['93.184.216.34'],
    });
  });
});
