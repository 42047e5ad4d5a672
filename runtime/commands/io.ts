// Where a command reads and writes and how it ends: the process itself, unless main() was called with other streams.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable, Writable } from 'node:stream';

type Input = Readable & { isTTY?: boolean };
export type Output = Writable & { isTTY?: boolean; columns?: number };

export type Io = { readonly stdin: Input; readonly stdout: Output; readonly stderr: Output; exitCode?: number | string | null | undefined };

const given = new AsyncLocalStorage<Io>();

/** Calls `act`; commands use `streams` until everything that it started has ended. */
export const withIo = <Answer>(streams: Io, act: () => Answer): Answer => given.run(streams, act);

export const io = (): Io => given.getStore() ?? process;
