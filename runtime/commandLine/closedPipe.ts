// Output that nobody reads any more, as in `work-ledger list | head -1`, or that cannot be written, as on a full disk.

/** As a shell says of a program that SIGPIPE has ended. */
const CODE = 141;

/**
 * Ends the command once the reader of stdout or stderr is gone, quietly, or once they cannot be written, with the reason. One that holds leases or has made something gives that back first,
 * as after SIGTERM. A hook still records what it was told, and `mcp` says itself what becomes of it.
 */
export function endWithReader(command: string | undefined): void {
  let isOver = ['hook', 'mcp'].includes(command ?? '');
  const onError = (error: NodeJS.ErrnoException): void => {
    if (isOver) return;
    isOver = true;
    const isReaderGone = error.code === 'EPIPE';
    if (!isReaderGone) process.stderr.write(`error: the output cannot be written: ${error.message}\n`);
    process.once('exit', () => (process.exitCode = isReaderGone ? CODE : 1));
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit();
  };
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onError);
}
