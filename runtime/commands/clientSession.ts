// Which session of an interactive client a hook and an MCP server belong to.

/**
 * The conversation by which both find it, and the directory that it works in: the client's own id, so that two sessions in one directory
 * are two; a client that tells none has one for each directory. A conversation that was given by name is in no directory.
 */
export function clientSession(
  conversation: string | undefined,
  told: { id: string | undefined; directory: string },
): { conversation: string; directory?: string } {
  return conversation === undefined ? { conversation: told.id || told.directory, directory: told.directory } : { conversation };
}
