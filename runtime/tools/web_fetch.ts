// web_fetch: returns a page as text. The address is checked after its name is resolved, at every redirect, and the connection is made to
// exactly the address that was checked, so that no name can lead into a private network.

import { lookup } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { BlockList, isIP } from 'node:net';

import { z } from 'zod';

import { withoutValues } from '../secrets/known.ts';
import type { PageSettings } from './pageText.ts';
import { Thread, TooSlow } from './thread.ts';
import { defineTool, failed, ok } from './tool.ts';
import type { ToolContext } from './tool.ts';

const MAX_BYTES = 1_000_000;
const MAX_CHARS = 100_000;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;

export const webFetch = defineTool({
  name: 'web_fetch',
  description: 'Fetch a web page or text file by GET and return it as text. Private addresses cannot be reached.',
  input: z.strictObject({
    url: z.url({ protocol: /^https?$/ }).describe('http or https address.'),
    prompt: z.string().optional().describe('What you want to learn from the page: its passages that speak of this come first.'),
  }),
  effect: 'pure',
  risk: 'safe',
  source: 'web',
  async execute(input, context) {
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const page = await fetchPage(new URL(input.url), context, signal);
      const { text, isCut } = await read(page.text, { isHtml: page.isHtml, prompt: input.prompt ?? null, maxChars: MAX_CHARS });
      const head = [
        `[${page.status} ${page.url}]`,
        ...(input.prompt ? [`[question: ${input.prompt}]`] : []),
        ...(isCut || page.isCut ? ['[only the beginning of the page]'] : []),
      ];
      const content = withoutHeaders(`${head.join('\n')}\n\n${text}`, context);
      return page.status >= 400 ? failed(content) : ok(content);
    } catch (error) {
      return failed(
        error instanceof Refused
          ? error.message
          : error instanceof TooSlow
            ? 'the page takes too long to read'
            : signal.aborted
              ? 'the page took too long'
              : `the page cannot be fetched (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
      );
    }
  },
});

class Refused extends Error {}

async function read(page: string, settings: PageSettings): Promise<{ text: string; isCut: boolean }> {
  const { pageModule } = await import('./pageText.ts'); // loads 12 MB, only for the few workers that read pages
  const thread = await Thread.start<string, { text: string; isCut: boolean }>(pageModule, 'pageReader', settings);
  try {
    return await thread.ask(page);
  } finally {
    await thread.end();
  }
}

/** The headers that this worker sends to a host. Those listed for a host without a port are sent over https only. */
const headersFor = (url: URL, { webFetchHeaders }: ToolContext): Record<string, string> =>
  webFetchHeaders?.[url.host] ?? (url.protocol === 'https:' ? webFetchHeaders?.[url.hostname] : undefined) ?? {};

/** Removes our headers from the text, because a page could echo those that it was sent. */
function withoutHeaders(text: string, { webFetchHeaders }: ToolContext): string {
  // A scheme such as Bearer is not secret; what follows it is.
  const secrets = Object.values(webFetchHeaders ?? {})
    .flatMap((headers) => Object.values(headers))
    .flatMap((value) => [value, value.slice(value.lastIndexOf(' ') + 1)]);
  return withoutValues(
    text,
    secrets.filter((secret) => secret.length >= 6),
    'web_fetch',
  );
}

type Page = { url: string; status: number; isHtml: boolean; isCut: boolean; text: string };

async function fetchPage(start: URL, context: ToolContext, signal: AbortSignal): Promise<Page> {
  let url = start;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const answer = await get(url, await checkedAddress(url, context), headersFor(url, context), signal);
    const location = answer.headers.location;
    if (answer.status < 300 || answer.status >= 400 || !location) {
      const type = answer.headers['content-type'] ?? '';
      if (!/^(text\/|application\/(json|xml|xhtml|javascript|x-yaml|yaml)|$)/.test(type))
        throw new Refused(`${url.href} is ${type}, not text`);
      return {
        url: url.href,
        status: answer.status,
        isHtml: type.includes('html'),
        isCut: answer.isCut,
        text: answer.body.toString('utf8').replaceAll('\0', '␀'),
      };
    }
    url = new URL(location, url);
    if (!/^https?:$/.test(url.protocol)) throw new Refused(`the page redirects to ${url.protocol}`);
  }
  throw new Refused(`more than ${MAX_REDIRECTS} redirects`);
}

/** Returns an address of the host that may be reached: all its addresses must be public, unless the faculty names the host. */
async function checkedAddress(url: URL, context: ToolContext): Promise<string> {
  if (url.username !== '' || url.password !== '') throw new Refused('a URL with a user name or password is not fetched');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) ? [host] : (await lookup(host, { all: true })).map((found) => found.address);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const isAllowed = context.webFetchAllow.some((allowed) => allowed === host || allowed === `${host}:${port}`);
  const first = addresses[0];
  if (first === undefined || (!isAllowed && addresses.some(isPrivate))) throw new Refused(`${host} is not a public address`);
  return first;
}

const privateRanges = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  privateRanges.addSubnet(network, bits, 'ipv4');
// In IPv6 only global unicast is public, except ranges that wrap or tunnel IPv4 addresses or are reserved for documentation.
const publicIpv6 = new BlockList();
publicIpv6.addSubnet('2000::', 3, 'ipv6');
const wrappingIpv6 = new BlockList();
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  wrappingIpv6.addSubnet(network, bits, 'ipv6');

function isPrivate(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const plain = mapped ?? address;
  if (isIP(plain) === 4) return privateRanges.check(plain, 'ipv4');
  return !publicIpv6.check(plain, 'ipv6') || wrappingIpv6.check(plain, 'ipv6');
}

type Answer = { status: number; headers: http.IncomingHttpHeaders; body: Buffer; isCut: boolean };

function get(url: URL, address: string, own: Record<string, string>, signal: AbortSignal): Promise<Answer> {
  const client = url.protocol === 'https:' ? https : http;
  const family = isIP(address);
  return new Promise((resolve, reject) => {
    const request = client.get(
      url,
      {
        signal,
        agent: false, // a connection serves one request: a kept one would be reused by name, even if the name now resolves elsewhere
        headers: { 'user-agent': 'work-ledger', accept: 'text/html, text/*, application/json', 'accept-encoding': 'identity', ...own },
        // Connects only to the checked address.
        lookup: (_host, options, callback) => (options.all ? callback(null, [{ address, family }]) : callback(null, address, family)),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let length = 0;
        const done = (isCut: boolean): void =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).subarray(0, MAX_BYTES),
            isCut,
          });
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          length += chunk.length;
          if (length > MAX_BYTES) {
            done(true);
            response.destroy();
          }
        });
        response.on('end', () => done(false));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
  });
}
