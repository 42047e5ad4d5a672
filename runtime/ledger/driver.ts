// A slonik driver that uses our connections.

import { BackendTerminatedError, createDriverFactory } from 'slonik';
import type { DriverCommand, DriverFactory, DriverTypeParser } from 'slonik';
import pg from 'pg';

import { configOfCalls } from './connection.ts';
import { PinnedClient } from './pinned.ts';

/** The types for which slonik is given parsers, by name, with the ids of their array types. */
const typeIds: Record<string, [type: number, array: number]> = {
  int8: [20, 1016],
  date: [1082, 1182],
  interval: [1186, 1187],
  numeric: [1700, 1231],
  timestamp: [1114, 1115],
  timestamptz: [1184, 1185],
};

/**
 * `holdsProcess` false: the process may end while connections are open, but not while one is in use. `open`: a connection made with
 * configOfCalls(), which is used first.
 */
export const pinnedDriver = ({ holdsProcess, open }: { holdsProcess: boolean; open: PinnedClient | undefined }): DriverFactory =>
  createDriverFactory(async ({ driverConfiguration: { connectionUri, connectionTimeout, typeParsers } }) => {
    const types = { getTypeParser: typesOf(typeParsers) };
    let ready = open;
    open?.once('end', () => (ready = undefined)); // lost before it was used
    return {
      createPoolClient: async ({ clientEventEmitter }) => {
        const isOpen = ready !== undefined;
        const client =
          ready ??
          new PinnedClient({
            ...configOfCalls(connectionUri),
            ...(connectionTimeout !== 'DISABLE_TIMEOUT' && { connectionTimeoutMillis: connectionTimeout }),
          });
        ready = undefined;
        client.on('error', (error) => clientEventEmitter.emit('error', wrapped(error)));
        client.on('notice', ({ message }) => message !== undefined && clientEventEmitter.emit('notice', { message }));
        return {
          connect: async () => {
            if (!isOpen) await client.connect();
            client.hold(holdsProcess);
          },
          end: () => client.end(),
          query: async (text, values) => {
            if (!holdsProcess) client.hold(true);
            try {
              const { command, fields, rowCount, rows } = await client.query<Record<string, unknown>>({
                text,
                values: values ?? [],
                types,
              });
              return {
                command: command as DriverCommand,
                fields: fields.map(({ dataTypeID, name }) => ({ dataTypeId: dataTypeID, name })),
                rowCount,
                rows,
              };
            } catch (error) {
              throw wrapped(error);
            } finally {
              if (!holdsProcess) client.hold(false);
            }
          },
          stream: () => {
            throw new Error('nothing here streams');
          },
        };
      },
    };
  });

/** An error that slonik recognises as the end of a connection. */
const wrapped = (error: unknown): Error =>
  error instanceof Error && (error.message.startsWith('Connection terminated') || ('code' in error && error.code === '57P01'))
    ? new BackendTerminatedError(error)
    : (error as Error);

/** Parses an array into its elements, as text. */
const texts = pg.types.getTypeParser(1009 as number) as (value: string) => (string | null)[];

function typesOf(parsers: readonly DriverTypeParser[]): (id: number) => (value: string) => unknown {
  const byId = new Map<number, (value: string) => unknown>();
  for (const { name, parse } of parsers) {
    const [type, array] = typeIds[name] ?? [];
    if (type === undefined || array === undefined) throw new Error(`the id of type ${name} is not known`);
    byId.set(type, parse);
    byId.set(array, (value) => texts(value).map((one) => (one === null ? null : parse(one))));
  }
  return (id) => byId.get(id) ?? pg.types.getTypeParser(id);
}
