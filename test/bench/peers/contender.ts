// What takes part in a comparison: it does work in steps, each of which is durable, with 4 KB of text, before the next begins.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

export type Contender = {
  /** One unit of work, from handing it over to its end. */
  work(steps: number): Promise<void>;
  /** Hands work over, and resolves at its first line of code. */
  begin?(): Promise<void>;
  close(): Promise<void>;
};

export type Peer = {
  name: string;
  content: 'empty' | 'ledger';
  /** Once for its database; why it cannot take part, if it cannot. */
  prepare?(url: string): Promise<string | null>;
  open(url: string): Promise<Contender>;
};

export const STEP_BYTES = 4096;

const bench = join(import.meta.dirname, '..');

/** Asks npm for the packages of test/bench/package.json, unless they are there. */
export async function installPeers(): Promise<void> {
  if (!existsSync(join(bench, 'node_modules', '.package-lock.json')))
    await promisify(execFile)('npm', ['ci', '--loglevel=error'], { cwd: bench });
}

/** One of them, with the part of its face that is used here. */
export async function peerPackage<Face>(name: string): Promise<Face> {
  await installPeers();
  return (await import(pathToFileURL(createRequire(join(bench, 'package.json')).resolve(name)).href)) as Face;
}
