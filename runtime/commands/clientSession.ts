// Which session of an interactive client a hook and an MCP server belong to.

/**
 * The conversation by which both find the session, and its directory. The conversation is the client's own id, so that two sessions in one
 * directory are separate; clients that pass no id get one per directory. A conversation given by name has no directory.
 */
export function clientSession(
  conversation: string | undefined,
  told: { id: string | undefined; directory: string },
): { conversation: string; directory?: string } {
  return conversation === undefined ? { conversation: told.id || told.directory, directory: told.directory } : { conversation };
}
