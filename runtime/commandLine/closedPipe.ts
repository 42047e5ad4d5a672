// Output that nobody reads any more, as in `work-ledger list | head -1`.

/** As a shell says of a program that SIGPIPE has ended. */
const CODE = 141;

/**
 * Ends the command quietly once the reader of stdout or stderr is gone. One that holds leases or has made something gives that back first,
 * as after SIGTERM. A hook still records what it was told, and `mcp` says itself what becomes of it.
 */
export function endWithReader(command: string | undefined): void {
  let isOver = ['hook', 'mcp'].includes(command ?? '');
  const onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error;
    if (isOver) return;
    isOver = true;
    process.once('exit', () => (process.exitCode = CODE));
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit();
  };
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onError);
}
