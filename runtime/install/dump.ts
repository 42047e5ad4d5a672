// What pg_dump wrote, read from its beginning to its end as what happens in it, whatever its format. A plain dump is read as it is, any
// other as pg_restore shows it. Rows stay the bytes that they are.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';

import { UsageError } from '../ledger/errors.ts';

export type DumpEvent =
  | { kind: 'encoding'; name: string }
  /** Its rows follow; `columns` as they are quoted in the dump. */
  | { kind: 'table'; schema: string; table: string; columns: string[] }
  /** Whole lines of COPY. */
  | { kind: 'rows'; lines: Buffer }
  | { kind: 'rowsEnd' }
  | { kind: 'sequence'; schema: string; name: string; value: string; isCalled: boolean }
  /** The dump is whole. */
  | { kind: 'complete' };

const NEWLINE = 10;
const identifier = String.raw`("(?:[^"]|"")+"|[^\s."]+)`;
const copy = new RegExp(String.raw`^COPY ${identifier}\.${identifier} \((.*)\) FROM stdin;$`);
const setval = /^SELECT pg_catalog\.setval\('((?:[^']|'')*)', (\d+), (true|false)\);$/;

export async function* readDump(file: string): AsyncGenerator<DumpEvent> {
  let isAnnounced = false; // a comment of pg_dump says that rows of a table come next: no text in a function is taken for them
  let isInRows = false;
  for await (const lines of linesOf(await textOf(file))) {
    let rows: Buffer[] = [];
    for (const line of lines) {
      if (isInRows) {
        if (line.length > 4 || line.toString().trimEnd() !== '\\.') {
          rows.push(line);
          continue;
        }
        if (rows.length > 0) yield { kind: 'rows', lines: Buffer.concat(rows) };
        rows = [];
        isInRows = false;
        yield { kind: 'rowsEnd' };
        continue;
      }
      const said = line.length > 100_000 ? '' : line.toString().trimEnd();
      const event = eventOf(said, isAnnounced, file);
      if (event !== null) yield event;
      isInRows = event?.kind === 'table';
      isAnnounced = / Type: TABLE DATA; Schema: /.test(said) || (isAnnounced && (said === '' || said === '--'));
    }
    if (rows.length > 0) yield { kind: 'rows', lines: Buffer.concat(rows) };
  }
}

function eventOf(said: string, isAnnounced: boolean, file: string): DumpEvent | null {
  if (isAnnounced && said.startsWith('COPY ')) {
    const [, schema = '', table = '', columns = ''] = copy.exec(said) ?? [];
    return { kind: 'table', schema: unquoted(schema), table: unquoted(table), columns: columns.match(/"(?:[^"]|"")*"|[^,\s"]+/g) ?? [] };
  }
  if (isAnnounced && said.startsWith('INSERT ')) throw new UsageError(`${file} has rows as INSERT: dump it again without --inserts`);
  const [, sequence, value = '', isCalled] = setval.exec(said) ?? [];
  if (sequence !== undefined) {
    const [, schema = '', name = ''] = new RegExp(`^${identifier}\\.${identifier}$`).exec(sequence.replaceAll(`''`, `'`)) ?? [];
    return { kind: 'sequence', schema: unquoted(schema), name: unquoted(name), value, isCalled: isCalled === 'true' };
  }
  const [, encoding] = /^SET client_encoding = '([\w-]+)';$/.exec(said) ?? [];
  if (encoding !== undefined) return { kind: 'encoding', name: encoding };
  return said === '-- PostgreSQL database dump complete' ? { kind: 'complete' } : null;
}

const unquoted = (name: string): string => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name);

/** Each with its newline, as many at a time as have come. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer[]> {
  let begun: Buffer[] = []; // a line may be longer than many chunks
  for await (const chunk of chunks) {
    const lines: Buffer[] = [];
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      const end = chunk.subarray(from, to + 1);
      lines.push(begun.length === 0 ? end : Buffer.concat([...begun, end]));
      begun = [];
      from = to + 1;
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (begun.length > 0) yield [Buffer.concat(begun)];
}

/** A dump as SQL. */
async function textOf(file: string): Promise<AsyncIterable<Buffer>> {
  const begin = (await stat(file)).isDirectory() ? 'PGDMP' : await beginningOf(file);
  if (begin.startsWith('PGDMP') || begin.startsWith('toc.dat')) return restored(file);
  const plain = createReadStream(file, { highWaterMark: 1 << 20 });
  if (!begin.startsWith('\u001f\u008b')) return plain;
  const unpacked = createGunzip();
  plain.on('error', (error) => unpacked.destroy(error)).pipe(unpacked);
  return unpacked;
}

async function beginningOf(file: string): Promise<string> {
  const handle = await open(file);
  try {
    return (await handle.read(Buffer.alloc(8), 0, 8, 0)).buffer.toString('latin1');
  } finally {
    await handle.close();
  }
}

async function* restored(file: string): AsyncGenerator<Buffer> {
  const child = spawn('pg_restore', ['--data-only', '--file=-', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [ended, said] = [once(child, 'close'), text(child.stderr)];
  ended.catch(() => {}); // asked for below
  try {
    yield* child.stdout;
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new UsageError(`pg_restore cannot read ${file}: ${(await said).trim().split('\n')[0]?.replace(/^pg_restore: (error: )?/, '') ?? ''}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new UsageError('pg_restore is not on PATH (on Debian: apt-get install postgresql-client)');
  } finally {
    child.kill(); // whoever reads may have had enough
  }
}
