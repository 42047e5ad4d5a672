// Handles output whose reader is gone, as in `work-ledger list | head -1`, or that cannot be written, as on a full disk.

/** The exit code that a shell reports for a program ended by SIGPIPE. */
const CODE = 141;

/**
 * Ends the command when the reader of stdout or stderr is gone (quietly) or when they cannot be written (with the reason). A command that
 * holds leases or has created something gives that back first, as after SIGTERM. `hook` still records its input, and `mcp` handles the case
 * itself.
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
