// An OTLP collector over HTTP: what it received, parsed from protobuf (opentelemetry/proto/trace/v1/trace.proto), and how it misbehaves
// when told to.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: number;
  /** Nanoseconds. */
  start: bigint;
  end: bigint;
  attributes: Record<string, unknown>;
  events: { name: string; at: bigint; attributes: Record<string, unknown> }[];
  links: { traceId: string; spanId: string; attributes: Record<string, unknown> }[];
  /** 0 unset, 2 error. */
  status: number;
};

/** A value as a collector keeps it: the newest of each series, which the resource, the scope, the name and the attributes tell apart. */
export type ReceivedSeries = {
  resource: Record<string, unknown>;
  scope: { name: string; version: string };
  name: string;
  attributes: Record<string, unknown>;
  /** Of a histogram how many observations. */
  value: number;
};

export type OtlpReceiver = {
  url: string;
  spans: ReceivedSpan[];
  resource: Record<string, unknown>;
  scopes: { name: string; version: string }[];
  /** Of metrics: by what tells series apart. */
  series: Map<string, ReceivedSeries>;
  /** Requests so far. */
  count: number;
  /** What it does with the next requests. hang: it never answers. */
  mode: 'accept' | 'refuse' | 'hang';
  close(): Promise<void>;
};

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        receiver.count++;
        if (receiver.mode === 'hang') return;
        const path = request.url ?? '';
        if (
          receiver.mode === 'refuse' ||
          !['/v1/traces', '/v1/metrics'].includes(path) ||
          request.headers['content-type'] !== 'application/x-protobuf'
        ) {
          response.writeHead(400).end();
          return;
        }
        const body = Buffer.concat(chunks);
        const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
        if (path === '/v1/metrics') {
          for (const one of seriesOf(plain))
            receiver.series.set(
              JSON.stringify([one.resource, one.scope, one.name, Object.entries(one.attributes).map(String).toSorted()]),
              one,
            );
        } else {
          const { spans, resource, scopes } = requestOf(plain);
          receiver.spans.push(...spans);
          receiver.resource = resource;
          receiver.scopes = scopes;
        }
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    resource: {},
    scopes: [],
    series: new Map(),
    count: 0,
    mode: 'accept',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

/** The fields of a protobuf message, by number. */
type Message = Map<number, (bigint | Buffer)[]>;

function parse(bytes: Buffer): Message {
  const fields: Message = new Map();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
  };
  const take = (length: number): Buffer => bytes.subarray(at, (at += length));
  while (at < bytes.length) {
    const key = Number(varint());
    const wire = key & 7;
    const value = wire === 0 ? varint() : wire === 1 ? take(8) : wire === 2 ? take(Number(varint())) : wire === 5 ? take(4) : null;
    if (value === null) throw new Error(`wire type ${wire}`);
    const list = fields.get(key >> 3);
    if (list) list.push(value);
    else fields.set(key >> 3, [value]);
  }
  return fields;
}

const messages = (of: Message, field: number): Message[] => (of.get(field) ?? []).map((bytes) => parse(bytes as Buffer));
const bytes = (of: Message, field: number): Buffer => (of.get(field)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
const text = (of: Message, field: number): string => bytes(of, field).toString('utf8');
const hex = (of: Message, field: number): string => bytes(of, field).toString('hex');
const fixed = (of: Message, field: number): bigint => bytes(of, field).readBigUInt64LE(0);
const number = (of: Message, field: number): number => Number(of.get(field)?.[0] ?? 0n);

/** AnyValue. */
function valueOf(of: Message): unknown {
  if (of.has(1)) return text(of, 1);
  if (of.has(2)) return of.get(2)?.[0] === 1n;
  if (of.has(3)) return Number(BigInt.asIntN(64, of.get(3)?.[0] as bigint));
  if (of.has(4)) return bytes(of, 4).readDoubleLE(0);
  if (of.has(5)) return messages(parse(bytes(of, 5)), 1).map(valueOf);
  return null;
}

const attributesOf = (of: Message, field: number): Record<string, unknown> =>
  Object.fromEntries(messages(of, field).map((pair) => [text(pair, 1), valueOf(parse(bytes(pair, 2)))]));

const scopeOf = (scoped: Message): { name: string; version: string } => {
  const scope = parse(bytes(scoped, 1));
  return { name: text(scope, 1), version: text(scope, 2) };
};

/** opentelemetry/proto/metrics/v1/metrics.proto. */
function seriesOf(body: Buffer): ReceivedSeries[] {
  return messages(parse(body), 1).flatMap((one) => {
    const resource = attributesOf(parse(bytes(one, 1)), 1);
    return messages(one, 2).flatMap((scoped) =>
      messages(scoped, 2).flatMap((metric) => {
        const at = { resource, scope: scopeOf(scoped), name: text(metric, 1) };
        const numbers = [5, 7].flatMap((field) => messages(parse(bytes(metric, field)), 1));
        const histograms = messages(parse(bytes(metric, 9)), 1);
        return [
          ...numbers.map((point) => ({ ...at, attributes: attributesOf(point, 7), value: numberOf(point) })),
          ...histograms.map((point) => ({ ...at, attributes: attributesOf(point, 9), value: Number(fixed(point, 4)) })),
        ];
      }),
    );
  });
}

const numberOf = (point: Message): number => (point.has(4) ? bytes(point, 4).readDoubleLE(0) : Number(bytes(point, 6).readBigInt64LE(0)));

function requestOf(body: Buffer): {
  spans: ReceivedSpan[];
  resource: Record<string, unknown>;
  scopes: { name: string; version: string }[];
} {
  const [resourceSpans] = messages(parse(body), 1);
  if (!resourceSpans) return { spans: [], resource: {}, scopes: [] };
  return {
    resource: attributesOf(parse(bytes(resourceSpans, 1)), 1),
    scopes: messages(resourceSpans, 2).map(scopeOf),
    spans: messages(resourceSpans, 2)
      .flatMap((scope) => messages(scope, 2))
      .map((span) => ({
        traceId: hex(span, 1),
        spanId: hex(span, 2),
        parentSpanId: hex(span, 4),
        name: text(span, 5),
        kind: number(span, 6),
        start: fixed(span, 7),
        end: fixed(span, 8),
        attributes: attributesOf(span, 9),
        events: messages(span, 11).map((event) => ({ name: text(event, 2), at: fixed(event, 1), attributes: attributesOf(event, 3) })),
        links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2), attributes: attributesOf(link, 4) })),
        status: number(parse(bytes(span, 15)), 3),
      })),
  };
}
