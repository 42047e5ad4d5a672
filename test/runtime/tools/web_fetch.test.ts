// web_fetch against a real server on this machine, which is exactly what it must not reach unless it is told to.

import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, expect, test } from 'vitest';

import type { HostHeaders } from '../../../runtime/tools/tool.ts';
import { webFetch } from '../../../runtime/tools/web_fetch.ts';
import { heldWhile } from './heldWhile.ts';
import { noLedger } from '../../noLedger.ts';

let server: Server;
let port: number;
let hits = 0;
/** What a page may repeat for a megabyte. */
const hostile = [
  '<!--',
  '<a ',
  '<',
  '<script>',
  '<a href=',
  '<a>',
  '<div><p>',
  '<b>x</i>',
  '&#',
  '&amp',
  '<a a=',
  '</x>',
  '<pre> ',
  '<ul><li>',
  '<!',
  '<![CDATA[',
  '<svg><p>',
  '\n',
  ' ',
  '<x y="',
];

beforeAll(async () => {
  server = createServer((request: IncomingMessage, response: ServerResponse) => {
    hits++;
    if (request.url === '/page') {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end('<html><head><title>T</title><script>evil()</script></head><body><h1>Hello</h1><p>a &amp; b<br>c</p></body></html>');
    } else if (request.url === '/to-private') {
      response.writeHead(302, { location: 'http://127.0.0.2:1/' }).end();
    } else if (request.url === '/to-file') {
      response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    } else if (request.url === '/loop') {
      response.writeHead(302, { location: '/loop' }).end();
    } else if (request.url === '/big') {
      response.setHeader('content-type', 'text/plain');
      response.end('x'.repeat(3_000_000));
    } else if (request.url === '/echo') {
      response.setHeader('content-type', 'text/plain');
      response.end(`you said ${JSON.stringify(request.headers)}`);
    } else if (request.url === '/away') {
      response.writeHead(302, { location: `http://localhost:${port}/echo` }).end();
    } else if (request.url === '/long') {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<h1>Manual</h1>${Array.from({ length: 200 }, (_, n) => `<h2>Chapter ${n}</h2><p>${n === 150 ? 'The backoff doubles after each retry, up to ten minutes.' : `Words about words, number ${n}, which retry nothing.`}</p>`).join('')}`,
      );
    } else if (request.url?.startsWith('/hostile/')) {
      response.setHeader('content-type', 'text/html');
      response.end((hostile[Number(request.url.slice(9))] ?? '').repeat(1_000_000).slice(0, 999_990));
    } else if (request.url === '/binary') {
      response.setHeader('content-type', 'image/png');
      response.end('png');
    } else response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

const fetchIt = (url: string, webFetchAllow: string[] = [], prompt?: string, webFetchHeaders: HostHeaders = {}) =>
  webFetch.execute(
    { url, prompt },
    {
      workspace: null,
      webFetchAllow,
      webFetchHeaders,
      workItemId: 'w',
      toolCallId: 't',
      ledger: noLedger,
      isFromCode: false,
      signal: new AbortController().signal,
    },
  );
const allowed = (path: string, prompt?: string) => fetchIt(`http://127.0.0.1:${port}${path}`, [`127.0.0.1:${port}`], prompt);

test('a page comes back as its words', async () => {
  const { content, isError } = await allowed('/page', 'What does it say?');
  expect(isError).toBe(false);
  expect(content).toBe(`[200 http://127.0.0.1:${port}/page]\n[question: What does it say?]\n\n# T\n\n# Hello\n\na & b\nc`);
});

test.each([
  'http://127.0.0.1:PORT/page',
  'http://localhost:PORT/page',
  'http://[::1]:PORT/page',
  'http://[::ffff:127.0.0.1]:PORT/page',
  'http://2130706433:PORT/page',
  'http://0x7f.1:PORT/page',
  'http://0.0.0.0:PORT/page',
  'http://169.254.169.254/latest/meta-data',
  'http://10.0.0.1/',
  'http://192.168.1.1/',
  'http://172.16.0.1/',
  'http://100.64.0.1/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
  'http://[2002:7f00:1::]/',
  'http://[64:ff9b::7f00:1]/',
  'http://224.0.0.1/',
])('%s is refused before anything is sent', async (url) => {
  const before = hits;
  const { content, isError } = await fetchIt(url.replace('PORT', String(port)));
  expect(isError).toBe(true);
  expect(content).toContain('not a public address');
  expect(hits).toBe(before);
});

test('a redirect into a private network is refused, whatever may be reached otherwise', async () => {
  expect((await allowed('/to-private')).content).toContain('not a public address');
  expect((await allowed('/to-file')).content).toContain('redirects to file:');
  expect((await allowed('/loop')).content).toContain('redirects');
});

test('what is too large is cut, what is no text is refused, an error of the server is one', async () => {
  expect((await allowed('/big')).content).toContain('only the beginning');
  expect((await allowed('/binary')).content).toContain('not text');
  expect(await allowed('/missing')).toMatchObject({ isError: true, content: expect.stringContaining('404') });
});

test('credentials in an address are refused', async () => {
  expect((await fetchIt(`http://user:pw@127.0.0.1:${port}/`, ['127.0.0.1'])).content).toContain('not fetched');
});

test('what a page says of the question comes first', async () => {
  const { content } = await allowed('/long', 'How long is the backoff after retries?');
  const [said, page] = content.split('\n\n[the page]\n');
  expect(said).toMatch(/\n\n\[what speaks of it\]\n(?=[^]*## Chapter 150\n\nThe backoff doubles after each retry)/);
  expect(page).toMatch(/^# Manual\n\n## Chapter 0\n/);
  expect((await allowed('/long', 'Zebras?')).content).toContain('[no passage contains words of the question]');
});

test('headers of the environment go to their host alone, and come back to nobody', async () => {
  const headers = { [`127.0.0.1:${port}`]: { authorization: 'Bearer t0psecret' }, localhost: { 'x-other': 'for https alone' } };
  const both = [`127.0.0.1:${port}`, `localhost:${port}`];
  const echoed = (await fetchIt(`http://127.0.0.1:${port}/echo`, both, undefined, headers)).content;
  expect(echoed).toContain('"authorization":"[redacted]"');
  expect(echoed).not.toContain('t0psecret');
  for (const url of [`http://127.0.0.1:${port}/away`, `http://localhost:${port}/echo`]) {
    const { content } = await fetchIt(url, both, undefined, headers);
    expect(content).toContain('you said');
    expect(content).not.toMatch(/authorization|x-other/);
  }
});

test.each(hostile.map((text, n) => [JSON.stringify(text), n]))('a megabyte of %s holds up nothing', async (_, n) => {
  const { result, wasHeld } = await heldWhile(() => allowed(`/hostile/${n}`, 'What is it?'));
  expect(result.content).toMatch(/^\[200 /); // read to its end, not given up
  expect(wasHeld).toBe(false);
});
