// The stream of an open page: which of its parts have changed, and the text of the agents that it shows.

import { getConnInfo } from '@hono/node-server/conninfo';
import type { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';

import type { Db } from '../ledger/db.ts';
import { follow } from './events.ts';
import type { Hints } from './events.ts';
import { digest, versionsOf } from './page.ts';
import { pageAddress } from './projects.ts';
import { partAt } from './serving.ts';
import type { Serving } from './serving.ts';
import { Streams } from './streams.ts';
import type { Pace } from './streams.ts';
import type { Visitors } from './visitors.ts';

/** `looks`: the ledger from which open pages read what has changed. */
export const eventRoute = (
  app: Hono,
  {
    serving,
    visitors,
    looks,
    pace,
    hints,
    over,
  }: { serving: Serving; visitors: Visitors; looks: Db; pace: Pace; hints: Hints; over: AbortSignal },
): void => {
  const { shellOf, viewOf, pageAt } = serving;
  const streams = new Streams();
  app.get('/events', async (c) => {
    const { pathname: path, searchParams: query } = pageAddress(c.req.query('page'));
    const visitor = visitors.of(c);
    const closed = streams.open(visitor?.session ?? visitor?.name ?? getConnInfo(c).remote.address ?? '', visitor !== null);
    if (closed === null) return c.text('Too many pages are open at once.\n', 503, { 'retry-after': '10' });
    const gone = new AbortController();
    c.req.raw.signal.addEventListener('abort', closed);
    try {
      const { page, project } = await pageAt(path, query);
      const shell = await shellOf(c, project, looks);
      const view = viewOf(c, path, page, query, shell, null, looks);
      return streamSSE(c, async (stream) => {
        stream.onAbort(() => gone.abort());
        const signal = AbortSignal.any([gone.signal, over]);
        const toldOf = pace.forPage((part) => partAt(path, query, part));
        const watched = {
          isReadOnly: shell.is_read_only,
          async versions() {
            if (visitor !== null && !(await visitors.isStill(visitor))) gone.abort();
            const versions = toldOf(await versionsOf(page, view));
            const nav = digest(await shellOf(c, project, looks));
            return versions.set('nav', nav);
          },
          agents: async (changed: ReadonlySet<string>) =>
            page.watchesWith === undefined || changed.has(page.watchesWith)
              ? (page.watches?.({ ...view }) ?? []) // a fresh view for each look, since what a page reads once is cached by its view
              : null,
        };
        try {
          for await (const { event, data } of follow(watched, looks, hints, signal))
            await stream.writeSSE({ event, data: JSON.stringify(data) });
        } finally {
          closed();
        }
      });
    } catch (error) {
      closed();
      throw error;
    }
  });
};
