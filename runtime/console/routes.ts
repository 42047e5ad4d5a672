// Every address of the console, in matching order: who may ask is checked before what is there.

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';

import { Hono } from 'hono';

import type { Db } from '../ledger/db.ts';
import { LedgerError } from '../ledger/errors.ts';
import { healthOf } from '../telemetry/health.ts';
import { eventRoute } from './eventRoute.ts';
import type { Hints } from './events.ts';
import { formRoute } from './formRoute.ts';
import { html } from './html.ts';
import { linkRoutes } from './linkRoutes.ts';
import { loginRoutes, stranger } from './login.ts';
import { errorWords, frame, renderPart, versionsOf } from './page.ts';
import type { Primary } from './primary.ts';
import { keeping } from './projects.ts';
import { onlyUnder, withHeaders } from './safety.ts';
import { partAt, serving } from './serving.ts';
import type { Serving } from './serving.ts';
import { Pace, sharedLooks } from './streams.ts';
import type { Visitors } from './visitors.ts';

export type Parts = {
  db: Db;
  /** The ledger from which open pages read what has changed. */
  streamed: Db;
  /** Where the ledger is changed, if it is read elsewhere. */
  primary: Primary | null;
  hints: Hints;
  visitors: Visitors;
  schema: string;
  isReadOnly: boolean;
  /** Others can reach it: reading requires the token. */
  isOpen: boolean;
  hostnames: readonly string[];
  mcp: ((request: Request) => Response | Promise<Response>) | undefined;
  over: AbortSignal;
};

export function routes(given: Parts): Hono {
  const { db, streamed, primary, hints, visitors, schema, isReadOnly, isOpen, hostnames, mcp, over } = given;
  const app = new Hono();
  const pace = new Pace();
  const { looks, looked } = sharedLooks(streamed, pace);
  if (mcp) app.all('/mcp', (c) => mcp(c.req.raw));
  const health = healthOf({ db, isStopping: () => over.aborted });
  // A probe knows no host name of this console, and learns nothing worth protecting.
  for (const path of ['/healthz', '/readyz']) app.get(path, async (c) => (await health.answer(path)) ?? c.notFound());
  app.use(onlyUnder(hostnames), withHeaders, visitors.identify);
  app.get('/metrics', async (c) =>
    isOpen && visitors.of(c) === null && !(await visitors.bears(c))
      ? c.text('Log in, or send the token as Authorization: Bearer.\n', 401, { 'www-authenticate': 'Bearer' })
      : ((await health.answer('/metrics')) ?? c.notFound()),
  );
  loginRoutes(app, visitors);
  if (isOpen) app.use(async (c, next) => (visitors.of(c) === null ? stranger(c, visitors) : next()));
  for (const [address, body] of assets()) {
    app.get(address, (c) =>
      c.body(body, 200, { 'content-type': `${types[extname(address)]}; charset=utf-8`, 'cache-control': 'no-cache' }),
    );
  }

  const served = serving({ db, visitors, schema, isReadOnly, hasPrimary: primary !== null });
  eventRoute(app, { serving: served, visitors, looks, pace, hints, over });
  linkRoutes(app, db);
  partRoute(app, { db, looked, pace, serving: served });
  formRoute(app, { db, primary, serving: served, visitors });

  app.notFound((c) => served.show(c, '/nowhere', new URLSearchParams()));
  app.onError((error, c) =>
    error instanceof LedgerError && error.code === 'WL001'
      ? served.show(c, '/nowhere', new URLSearchParams())
      : c.html(
          html`<!doctype html><html lang="en"><head><title>Work Ledger</title><link rel="stylesheet" href="/assets/style.css"></head><body><main class="main"><h1>The ledger does not answer</h1><p class="bad">${errorWords(error)}</p><p class="quiet">This page can be loaded again when the database is back.</p></main></body></html>`,
          503,
        ),
  );
  return app;
}

/** Pages, and single parts of them. */
function partRoute(
  app: Hono,
  {
    db,
    looked,
    pace,
    serving: { show, pageAt, shellOf, canAct, viewOf },
  }: { db: Db; looked: (at: Db) => Db; pace: Pace; serving: Serving },
): void {
  app.get('*', async (c) => {
    const { pathname, searchParams } = new URL(c.req.url);
    const [, path = pathname, name] = /^(.*?)\/part\/(\w+(?:,\w+)*)$/.exec(pathname) ?? [];
    if (name === undefined) return show(c, pathname, searchParams);
    const { page, project } = await pageAt(path || '/', searchParams);
    const names = new Set(name.split(','));
    const isNav = names.delete('nav');
    const shell = await shellOf(c, project, isNav || names.size === 0 ? db : looked(db));
    if ([...names].some((one) => !Object.hasOwn(page.parts, one))) return c.notFound();
    if (names.size === 0) return c.html(keeping(frame('', page.section, shell, canAct(c, shell), html``), project));
    const view = viewOf(c, path || '/', page, searchParams, shell);
    const versions = await versionsOf(page, { ...view, db: looked(db) });
    const parts = await Promise.all(
      [...names].map((one) => pace.read(partAt(path || '/', searchParams, one), () => renderPart(page, one, view, versions))),
    );
    return c.html(keeping(isNav ? frame('', page.section, shell, canAct(c, shell), html`${parts}`) : html`${parts}`, project));
  });
}

const types: Record<string, string> = { '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml' };

/** Everything that pages load, by its address. */
function assets(): [string, string][] {
  const own = new URL('assets/', import.meta.url);
  const plot = (name: string): string => readFileSync(createRequire(import.meta.url).resolve(`uplot/dist/${name}`), 'utf8');
  return [
    ...readdirSync(own).map((name): [string, string] => [`/assets/${name}`, readFileSync(new URL(name, own), 'utf8')]),
    ['/assets/uplot.js', plot('uPlot.esm.js')],
    ['/assets/uplot.css', plot('uPlot.min.css')],
  ];
}
