// The tools of a workspace as the model meets them, on the host and in a container: what they say, and what they say when
// they refuse.

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { builtinTools } from '../../../runtime/tools/builtinTools.ts';
import type { ToolOutcome } from '../../../runtime/tools/tool.ts';
import { ContainerWorkspace, removeVolume } from '../../../sandbox/containerWorkspace.ts';
import { HostWorkspace } from '../../../sandbox/hostWorkspace.ts';
import type { Workspace } from '../../../sandbox/workspace.ts';
import { docker, image, noDocker } from '../../docker.ts';
import { noLedger } from '../../noLedger.ts';

let workspace: Workspace | null = null;

async function call(name: string, input: Record<string, unknown>): Promise<ToolOutcome> {
  const tool = builtinTools.find((one) => one.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool.execute(tool.input.parse(input), {
    workspace,
    webFetchAllow: [],
    workItemId: 'w',
    toolCallId: 't',
    ledger: noLedger,
    isFromCode: false,
    signal: new AbortController().signal,
  });
}
const put = async (path: string, content: string | Buffer): Promise<void> => workspace?.writeFile(path, content);
const contentOf = async (path: string): Promise<string | undefined> => (await workspace?.readFile(path, 1_000_000))?.toString('latin1');

test('every tool names its effect, its risk and its inputs', () => {
  expect(
    builtinTools.map((tool) => [tool.name, tool.effect, tool.risk]),
    'each of builtinTools.ts is listed here',
  ).toEqual([
    ['read_file', 'pure', 'safe'],
    ['write_file', 'idempotent', 'moderate'],
    ['edit_file', 'unsafe', 'moderate'],
    ['glob', 'pure', 'safe'],
    ['grep', 'pure', 'safe'],
    ['bash', 'unsafe', 'dangerous'],
    ['web_fetch', 'pure', 'safe'],
  ]);
});

test('without a workspace the file tools and bash say so', async () => {
  for (const [name, input] of [
    ['read_file', { path: 'a' }],
    ['write_file', { path: 'a', content: '' }],
    ['bash', { command: 'id' }],
    ['glob', { pattern: '*' }],
  ] as const) {
    expect(await call(name, input)).toMatchObject({ isError: true, content: expect.stringContaining('no workspace') });
  }
});

async function onHost(): Promise<{ place: Workspace; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'tools-test-'));
  return { place: new HostWorkspace(root), remove: () => rm(root, { recursive: true, force: true }) };
}

async function inContainer(): Promise<{ place: Workspace; remove(): Promise<void> }> {
  const id = randomUUID();
  const place = new ContainerWorkspace(
    docker,
    id,
    { image, memoryBytes: 256 * 1024 * 1024, cpus: 1, sizeBytes: 64 * 1024 * 1024, seed: null },
    async () => {},
  );
  return {
    place,
    remove: async () => {
      await place.close();
      expect(await removeVolume(docker, id)).toBe(true);
    },
  };
}

describe.each([
  ['on the host', onHost, null],
  ['in a container', inContainer, noDocker],
] as const)('%s', (_, open, problem) => {
  if (problem !== null) {
    test.skip(`no container: ${problem}`); // test/docker.ts prints it too
    return;
  }
  let opened: Awaited<ReturnType<typeof open>> | undefined;

  beforeAll(async () => {
    opened = await open();
    workspace = opened.place;
  });
  afterEach(() => call('bash', { command: 'find . -mindepth 1 -delete' }));
  afterAll(async () => {
    workspace = null;
    await opened?.remove();
  });

  describe('read_file', () => {
    test('returns lines, or some of them with a word on how to go on', async () => {
      await put('a.txt', 'one\ntwo\nthree\n');
      expect(await call('read_file', { path: 'a.txt' })).toEqual({
        content: 'one\ntwo\nthree',
        isError: false,
        value: 'one\ntwo\nthree\n',
      });
      expect((await call('read_file', { path: 'a.txt', offset: 1, limit: 1 })).content).toBe(
        'two\n[lines 2 to 2 of 3; go on with offset 2]',
      );
      expect((await call('read_file', { path: 'a.txt', offset: 9 })).content).toBe('[the file has only 3 lines]');
    });

    test('caps what it returns, also of one long line', async () => {
      await put('long.txt', 'x'.repeat(1_000_000));
      const long = (await call('read_file', { path: 'long.txt' })).content;
      expect(long.length).toBeLessThanOrEqual(200_100);
      expect(long).toMatch(/x\n\[line 1 has 800000 more characters\]$/);
      await put('many.txt', 'line\n'.repeat(100_000));
      const { content } = await call('read_file', { path: 'many.txt' });
      expect(content).toMatch(/go on with offset 40000\]$/);
    });

    test('shows NUL and invalid UTF-8 as replacements', async () => {
      await put('b.bin', Buffer.from([0x61, 0, 0xff, 0x62]));
      expect((await call('read_file', { path: 'b.bin' })).content).toBe('a␀\ufffdb');
    });

    test('shows an image as one', async () => {
      const png = Buffer.from('89504e470d0a1a0a0000', 'hex');
      await put('a.png', png);
      expect(await call('read_file', { path: 'a.png' })).toEqual({
        content: 'a.png: image/png, 10 bytes',
        isError: false,
        images: [{ media_type: 'image/png', data: png.toString('base64') }],
      });
      await put('huge.png', Buffer.concat([png, Buffer.alloc(4_000_000)]));
      expect((await call('read_file', { path: 'huge.png' })).isError).toBe(true);
    });

    test('a refusal names no path of the host', async () => {
      const { content, isError } = await call('read_file', { path: '../../etc/passwd' });
      expect(isError).toBe(true);
      expect(content).toBe('../../etc/passwd is outside the workspace');
    });
  });

  describe('edit_file', () => {
    test('replaces the one occurrence', async () => {
      await put('a.txt', 'x = 1\ny = 2\n');
      expect((await call('edit_file', { path: 'a.txt', old_string: 'y = 2', new_string: 'y = $&3' })).isError).toBe(false);
      expect(await contentOf('a.txt')).toBe('x = 1\ny = $&3\n');
    });

    test('refuses none and several, and says where they are', async () => {
      await put('a.txt', 'a\nb\na\n');
      expect((await call('edit_file', { path: 'a.txt', old_string: 'c', new_string: 'd' })).content).toContain('does not occur');
      expect((await call('edit_file', { path: 'a.txt', old_string: 'a', new_string: 'd' })).content).toContain(
        '2 times in a.txt (lines 1, 3)',
      );
      expect(await contentOf('a.txt')).toBe('a\nb\na\n');
      await put('dos.txt', 'a\r\nb\r\n');
      expect((await call('edit_file', { path: 'dos.txt', old_string: 'a\nb', new_string: 'c' })).content).toContain('end with \\r\\n');
      expect((await call('edit_file', { path: 'a.txt', old_string: 'a', new_string: 'd', replace_all: true })).content).toContain(
        '2 occurrences',
      );
    });

    test('says on which lines without counting them all', async () => {
      await put('a.txt', 'a\n'.repeat(500_000));
      expect((await call('edit_file', { path: 'a.txt', old_string: 'a\n', new_string: 'd' })).content).toContain(
        `500000 times in a.txt (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)`,
      );
    });

    test('fails in words where somebody else was there, and so does write_file', async () => {
      await put('a.txt', 'one\ntwo\n');
      const place = workspace!;
      // Somebody who writes just after the tool has read.
      const meddle = async <T>(read: Promise<T>): Promise<T> => {
        const seen = await read;
        await place.writeFile('a.txt', 'theirs\ntwo\n');
        return seen;
      };
      workspace = {
        root: place.root,
        readFile: (path, most) => meddle(place.readFile(path, most)),
        hashFile: (path) => meddle(place.hashFile(path)),
        writeFile: (...args) => place.writeFile(...args),
        files: (...args) => place.files(...args),
        run: (...args) => place.run(...args),
      };
      const refused = { content: 'someone else changed a.txt since it was read; read it again', isError: true };
      expect(await call('edit_file', { path: 'a.txt', old_string: 'two', new_string: 'three' })).toEqual(refused);
      await place.writeFile('a.txt', 'one\n');
      expect(await call('write_file', { path: 'a.txt', content: 'mine' })).toEqual(refused);
      workspace = place;
      expect(await contentOf('a.txt')).toBe('theirs\ntwo\n');
      expect((await call('write_file', { path: 'a.txt', content: 'mine' })).isError).toBe(false);
      expect((await call('write_file', { path: 'b/new.txt', content: 'new' })).isError).toBe(false);
      expect([await contentOf('a.txt'), await contentOf('b/new.txt')]).toEqual(['mine', 'new']);
      expect((await call('glob', { pattern: '**' })).value).toHaveLength(2);
    });

    test('does not touch what is not text', async () => {
      await put('b.bin', Buffer.from([0x61, 0xff]));
      expect((await call('edit_file', { path: 'b.bin', old_string: 'a', new_string: 'b' })).isError).toBe(true);
      expect(await contentOf('b.bin')).toBe('a\xff');
    });
  });

  describe('glob', () => {
    test('finds by pattern, newest first, a bare name anywhere', async () => {
      await put('src/old.ts', '');
      await put('src/deep/new.ts', '');
      await put('node_modules/x/x.ts', '');
      await call('bash', { command: 'touch -d @1000 src/old.ts' });
      expect((await call('glob', { pattern: '**/*.ts' })).content).toBe('src/deep/new.ts\nsrc/old.ts');
      expect((await call('glob', { pattern: '*.ts', path: 'src' })).content).toBe('src/deep/new.ts\nsrc/old.ts');
      expect((await call('glob', { pattern: 'node_modules/**/*.ts' })).content).toBe('node_modules/x/x.ts');
      expect((await call('glob', { pattern: '*.py' })).content).toBe('No files match.');
    });
  });

  test('glob and grep find hidden files, but for .git, from any directory and however it is named', async () => {
    for (const path of ['.github/workflows/ci.yml', '.env', '.git/config.yml', 'src/.env']) await put(path, 'secret');
    const found = async (pattern: string, path = '.'): Promise<string[]> =>
      ((await call('glob', { pattern, path })).value as string[]).toSorted();
    expect(await found('**/*.yml')).toEqual(['.github/workflows/ci.yml']);
    expect(await found('*')).toEqual(['.env', '.github/workflows/ci.yml', 'src/.env']);
    expect(await found('.{env,github}*')).toEqual(['.env', 'src/.env']);
    expect(await found('./*')).toEqual(['.env']);
    for (const path of ['.github', './.github/', 'src/../.github', `${workspace!.root}/.github`])
      expect(await found('workflows/*.yml', path), path).toEqual(['.github/workflows/ci.yml']);
    expect((await call('grep', { pattern: 'secret', glob: '**/*.yml' })).content).toBe('.github/workflows/ci.yml:1:secret');
  });

  describe('grep', () => {
    test('returns path, line and content, of one file or of many', async () => {
      await put('a.txt', 'alpha\nbeta\n');
      await put('src/b.ts', 'const beta = 1;\n');
      await put('c.bin', Buffer.from('beta\0'));
      expect((await call('grep', { pattern: 'b.ta' })).content).toBe('a.txt:2:beta\nsrc/b.ts:1:const beta = 1;');
      expect((await call('grep', { pattern: 'beta', glob: '*.ts' })).content).toBe('src/b.ts:1:const beta = 1;');
      expect((await call('grep', { pattern: 'beta', path: 'a.txt' })).content).toBe('a.txt:2:beta');
      expect((await call('grep', { pattern: 'gamma' })).content).toBe('No matches.');
      await put('dos.txt', 'delta\r\n');
      expect((await call('grep', { pattern: 'ta$' })).content).toBe('a.txt:2:beta\ndos.txt:1:delta');
    });

    test('caps matches and lines', async () => {
      await put('a.txt', `${'x'.repeat(5000)}\n`.repeat(500));
      const { content } = await call('grep', { pattern: 'x' });
      expect(content.split('\n')).toHaveLength(201);
      expect(content.length).toBeLessThan(120_000);
    });

    test('a pattern that is none is an error', async () => {
      expect((await call('grep', { pattern: '(' })).content).toContain('not a regular expression');
    });
  });

  describe('bash', () => {
    test('returns output, errors under a line of their own, and how it ended', async () => {
      expect(await call('bash', { command: 'echo hi' })).toMatchObject({
        content: 'hi',
        isError: false,
        value: { stdout: 'hi\n', stderr: '', exit_code: 0, line_count: 1, timed_out: false },
      });
      expect(await call('bash', { command: 'echo out; echo err >&2; exit 4' })).toMatchObject({
        content: 'out\n[stderr]\nerr\n[exit code 4]',
        isError: true,
      });
      expect((await call('bash', { command: 'sleep 30', timeout: 1 })).content).toBe('[killed after 1 s: timeout]');
      expect((await call('bash', { command: 'true' })).content).toBe('(no output)');
    });

    test('runs in the workspace', async () => {
      await put('here.txt', '');
      expect((await call('bash', { command: 'ls' })).content).toBe('here.txt');
    });
  });
});
