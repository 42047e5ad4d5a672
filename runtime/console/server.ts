// The console's server: pages, their parts, their events, and the forms that change something. safety.ts says
// who may do what.

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';

import { createAdaptorServer } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono } from 'hono';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { streamSSE } from 'hono/streaming';

import type { Project } from '../ledger/consoleShapes.ts';
import { openChecked } from '../ledger/db.ts';
import type { Db } from '../ledger/db.ts';
import type { Person } from '../ledger/pool.ts';
import { LedgerError, UsageError } from '../ledger/errors.ts';
import { untilRefused } from '../ledger/refused.ts';
import { isOwnAddress } from '../ownAddress.ts';
import { healthOf } from '../telemetry/health.ts';
import { actionAt } from './actions.ts';
import { follow, Hints } from './events.ts';
import { html } from './html.ts';
import { loginRoutes, stranger } from './login.ts';
import { digest, errorWords, frame, renderPart, uuid, versionsOf } from './page.ts';
import type { Page, Shell, View } from './page.ts';
import { because } from './pages/because.ts';
import { compare } from './pages/compare.ts';
import { blockPage, context } from './pages/context.ts';
import { fleet } from './pages/fleet.ts';
import { item } from './pages/item.ts';
import { costView, ledgerView, turnsView } from './pages/itemViews.ts';
import { keys } from './pages/keys.ts';
import { knowledge } from './pages/knowledge.ts';
import { editNote, note, notes } from './pages/notes.ts';
import { now } from './pages/now.ts';
import { nextMark, run } from './pages/run.ts';
import { sessions } from './pages/sessions.ts';
import { waterfall } from './pages/waterfall.ts';
import { callPage, workList } from './pages/workList.ts';
import { Primary } from './primary.ts';
import { inProject, isProject, keeping, unknownProject } from './projects.ts';
import { onlyUnder, withHeaders } from './safety.ts';
import { Pace, sharedLooks, Streams } from './streams.ts';
import { isRefusedName, nameOfUser, Visitors } from './visitors.ts';
import type { Proxy } from './visitors.ts';

const pages: readonly Page[] = [
  now,
  workList,
  callPage,
  run,
  item,
  ledgerView,
  turnsView,
  context,
  blockPage,
  costView,
  waterfall,
  because,
  fleet,
  sessions,
  compare,
  knowledge,
  notes,
  note,
  editNote,
  keys,
];
/** What is at every other address: it is live, too, and has nothing that changes. */
const nowhere: Page = { pattern: /^/, section: 'keys', parts: {}, inputs: {}, whole: async () => null };
const MOST_BYTES = 512 * 1024 * 1024;

export type ConsoleOptions = {
  url: string;
  /** What is changed is changed there; `url` is read, and is a standby of it. Default: the same. */
  primaryUrl?: string;
  schema: string;
  /** 0: any that is free. */
  port: number;
  /** The address to listen on (default: 127.0.0.1). At any but this machine's own, reading takes the token, too. */
  host?: string;
  /** Other names under which it is reached, as they are written in a URL; then reading takes the token, too. */
  hostnames?: readonly string[];
  /** Nothing can be changed from this console, whatever the database would allow. */
  isReadOnly?: boolean;
  /** There is no token for everybody: each logs in with one of their own. */
  hasPeople?: boolean;
  /** There is a proxy that says who is logged in, and nobody else is let in. */
  proxy?: Proxy;
  /** Answers at /mcp; it checks for itself who asks. */
  mcp?: (request: Request) => Response | Promise<Response>;
};

export type Console = {
  port: number;
  /** Without the token. */
  address: string;
  /** For everybody; empty: there is none. */
  token: string;
  /** In whose name whoever has that token acts; null: in nobody's. */
  osUser: string | null;
  /** Others can reach it: reading takes the token. */
  isOpen: boolean;
  /** Resolves with the reason when the ledger was upgraded and does not serve this program any more. */
  refused: Promise<Error>;
  close(): Promise<void>;
};

/** Of those for pages: a new one needs a tenth of a second to compile what assembles a request. */
const WARM_CONNECTIONS = 2;

/** Serves the console until it is closed. */
export async function startConsole(options: ConsoleOptions): Promise<Console> {
  const db = await openChecked(options.url, options.schema, { maximumPoolSize: 4 });
  const streamed = await openChecked(options.url, options.schema, { maximumPoolSize: 2 }); // no page waits for those that are open
  const primary = options.primaryUrl === undefined ? null : new Primary(options.primaryUrl, db);
  const hints = new Hints(options.url);
  const over = new AbortController();
  const hostnames = (options.hostnames ?? []).filter((name) => !isOwnAddress(name));
  const isNamed = options.hasPeople === true || options.proxy !== undefined;
  const isOpen = isNamed || !isOwnAddress(options.host) || hostnames.length > 0;
  const token = isNamed ? null : randomBytes(24).toString('base64url');
  const nameOf = (person: Person): Promise<string | null> =>
    db
      .as(person)
      .personCurrent()
      .catch((error: unknown) => {
        if (isRefusedName(error)) return null;
        throw error;
      });
  let app = new Hono();
  let osUser: string | null = null;
  const server = createAdaptorServer({ fetch: (request, env) => app.fetch(request, env) });
  try {
    if (!isOpen) osUser = await nameOf({ name: nameOfUser() });
    if (options.proxy && (await nameOf({ name: 'proxy' })) === null)
      throw new UsageError(
        'the role that is logged in does not vouch for people, whom the proxy names: grant it the role console, see work_roles_create()',
      );
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.host ?? '127.0.0.1', resolve);
    });
  } catch (error) {
    await hints.close();
    await streamed.close();
    await db.close();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  const visitors = new Visitors({ token, osUser, port, hostnames, proxy: options.proxy ?? null, nameOf });
  void db.warm(WARM_CONNECTIONS, 'look').catch(() => {}); // a ledger without a request, or a database that is away: then the first look compiles
  app = routes(db, streamed, primary, hints, visitors, { ...options, hostnames, isOpen }, over.signal);
  return {
    port,
    token: token ?? '',
    osUser,
    isOpen,
    refused: untilRefused(db, over.signal),
    address: addressOf(server.address() as AddressInfo),
    async close() {
      over.abort();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      });
      await hints.close();
      await primary?.close();
      await streamed.close();
      await db.close();
    },
  };
}

/** For a browser of this machine; one that listens everywhere is there on 127.0.0.1, too. */
const addressOf = ({ address, family, port }: AddressInfo): string =>
  `http://${/^(0\.0\.0\.0|::)$/.test(address) ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address}:${port}/`;

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

type Served = Omit<ConsoleOptions, 'hostnames'> & { hostnames: readonly string[]; isOpen: boolean };

/** `streamed`: where open pages look for what has changed. */
function routes(db: Db, streamed: Db, primary: Primary | null, hints: Hints, visitors: Visitors, options: Served, over: AbortSignal): Hono {
  const app = new Hono();
  const streams = new Streams();
  const pace = new Pace();
  const { looks, looked } = sharedLooks(streamed, pace);
  const { mcp } = options;
  if (mcp) app.all('/mcp', (c) => mcp(c.req.raw));
  const health = healthOf({ db, isStopping: () => over.aborted });
  // A probe knows no name of this console, and is told nothing that is worth one.
  for (const path of ['/healthz', '/readyz']) app.get(path, async (c) => (await health.answer(path)) ?? c.notFound());
  app.use(onlyUnder(options.hostnames), withHeaders, visitors.identify);
  app.get('/metrics', async (c) =>
    options.isOpen && visitors.of(c) === null && !(await visitors.bears(c))
      ? c.text('Log in, or send the token as Authorization: Bearer.\n', 401, { 'www-authenticate': 'Bearer' })
      : ((await health.answer('/metrics')) ?? c.notFound()),
  );
  loginRoutes(app, visitors);
  if (options.isOpen) app.use(async (c, next) => (visitors.of(c) === null ? stranger(c, visitors) : next()));
  for (const [address, body] of assets()) {
    app.get(address, (c) =>
      c.body(body, 200, { 'content-type': `${types[extname(address)]}; charset=utf-8`, 'cache-control': 'no-cache' }),
    );
  }

  const shellOf = async (c: Context, project: Project, at = db): Promise<Shell> => {
    const shell = await at.console.shell(project);
    const visitor = visitors.of(c);
    return {
      ...shell,
      schema: options.schema,
      is_read_only: (shell.is_read_only && primary === null) || (options.isReadOnly ?? false),
      who: visitor?.name ?? null,
      leaves: visitor?.session ? visitor.formToken : null,
      mayEnter: visitor === null,
    };
  };
  const canAct = (c: Context, shell: Shell): boolean => visitors.of(c) !== null && !shell.is_read_only;
  const viewOf = (
    c: Context,
    path: string,
    page: Page,
    query: URLSearchParams,
    shell: { is_read_only: boolean },
    refused: View['refused'] = null,
    at = db,
  ): View => ({
    db: at,
    path,
    query,
    project: query.get('project'),
    refused,
    id: page.pattern.exec(path)?.groups?.['id'] ?? '',
    formToken: shell.is_read_only ? null : (visitors.of(c)?.formToken ?? null),
  });
  /** What a part of the page at an address is called. */
  const partAt = (path: string, query: URLSearchParams, part: string): string => `${path}?${query.toString()} ${part}`;
  /** The page at an address, and the project that it is looked at for; null: all, and nothing is there of one that is unknown. */
  const pageAt = async (path: string, query: URLSearchParams): Promise<{ page: Page; project: Project; isKnown: boolean }> => {
    const project = query.get('project');
    const isKnown = await isProject(db, project);
    return isKnown
      ? { page: pages.find(({ pattern }) => pattern.test(path)) ?? nowhere, project, isKnown }
      : { page: nowhere, project: null, isKnown };
  };

  /** The whole page at an address. */
  async function show(
    c: Context,
    path: string,
    query: URLSearchParams,
    status: 200 | 409 = 200,
    refused: View['refused'] = null,
  ): Promise<Response> {
    const { page, project, isKnown } = await pageAt(path, query);
    const shell = await shellOf(c, project);
    if (!isKnown)
      return c.html(frame('No such project', nowhere.section, shell, canAct(c, shell), unknownProject(query.get('project') ?? '')), 404);
    const view = viewOf(c, path, page, query, shell, refused);
    const versions = await versionsOf(page, view);
    const whole = await page.whole(view, (name) => renderPart(page, name, view, versions));
    if (!whole) {
      return c.html(
        keeping(
          frame(
            'Not here',
            nowhere.section,
            shell,
            canAct(c, shell),
            html`<header class="head"><h1>There is nothing here</h1><p class="quiet">Nothing in this ledger has this address.</p><p class="actions"><a class="btn" href="/">Now</a></p></header>`,
          ),
          project,
        ),
        404,
      );
    }
    // Its control may be gone by now: a finished item is not spoken to.
    const isSaid = refused === null || String(whole.body).includes(`action="${refused.action}"`);
    return c.html(
      keeping(
        frame(
          whole.title,
          page.section,
          shell,
          canAct(c, shell),
          html`${isSaid ? '' : html`<p class="bad" role="alert">${refused.says}</p>`}${whole.body}`,
        ),
        project,
      ),
      status,
    );
  }

  app.get('/events', async (c) => {
    const { pathname: path, searchParams: query } = new URL(c.req.query('page') ?? '/', 'http://127.0.0.1');
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
              ? (page.watches?.({ ...view }) ?? []) // what a page reads once is read once for each look
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

  app.get('/turn/:id', async (c) => {
    const at = new RegExp(`^${uuid}$`).test(c.req.param('id')) ? await db.console.turnAt(c.req.param('id')) : null;
    return at
      ? c.redirect(
          inProject(
            `/work/${at.work_item_id}/context?turn=${at.id}${at.session === null ? '' : `&session=${encodeURIComponent(at.session)}`}#request`,
            c.req.query('project') ?? null,
          ),
          303,
        )
      : c.notFound();
  });
  app.get('/turn/:id/request', async (c) => {
    if (!new RegExp(`^${uuid}$`).test(c.req.param('id'))) return c.notFound();
    return c.text(await db.contextAt(c.req.param('id')), 200, { 'content-type': 'text/plain; charset=utf-8' });
  });
  app.get('/work/:id/next/:mark', async (c) => {
    const { id, mark } = c.req.param();
    if (!new RegExp(`^${uuid}$`).test(id)) return c.notFound();
    const [after, project] = [c.req.query('after') ?? null, c.req.query('project') ?? null];
    const to = await nextMark({ db, id }, mark, after);
    return c.redirect(inProject(to ?? `/work/${id}?at=${encodeURIComponent(after ?? '')}&none=${encodeURIComponent(mark)}`, project), 303);
  });
  app.get('/image/:hash', async (c) => {
    const image = /^[0-9a-f]{64}$/.test(c.req.param('hash')) ? await db.console.image(c.req.param('hash')) : null;
    if (!image || !/^image\/(?:png|jpeg|gif|webp)$/.test(image.media_type)) return c.notFound();
    return c.body(Buffer.from(image.content, 'base64'), 200, {
      'content-type': image.media_type,
      'cache-control': 'private, max-age=86400',
    });
  });
  app.get('/work/:id/export', async (c) => {
    const id = c.req.param('id');
    if (!new RegExp(`^${uuid}$`).test(id)) return c.notFound();
    return c.body(JSON.stringify(await db.journal.export(id), null, 2), 200, {
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': `attachment; filename="journal-${id}.json"`,
    });
  });

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

  app.post('*', bodyLimit({ maxSize: MOST_BYTES }), async (c) => {
    const path = new URL(c.req.url).pathname;
    const action = actionAt(path);
    const wantsJson = c.req.header('accept') === 'application/json';
    const back = (): string => (typeof fields['back'] === 'string' ? fields['back'] : '/');
    const refuse = (says: string, status: 403 | 404 | 409): Response | Promise<Response> => {
      if (wantsJson) return c.json({ says }, status);
      const from = new URL(back(), 'http://127.0.0.1');
      return status === 409 ? show(c, from.pathname, from.searchParams, 409, { action: path, says, fields }) : c.text(`${says}\n`, status);
    };
    // Nothing of a request is read before it is known to come from a page of the console.
    const visitor = visitors.of(c);
    const early = visitors.objection(c, { form_token: visitor?.formToken });
    let fields: Record<string, unknown> = {};
    if (early !== null) return refuse(early, 403);
    fields = await c.req.parseBody({ all: true });
    const objection = visitors.objection(c, fields);
    if (objection !== null) return refuse(objection, 403);
    if ((await shellOf(c, null)).is_read_only) return refuse('This console is read-only.', 403);
    if (!action) return refuse('There is no such form.', 404);
    const named = (at: Db): Db => (visitor?.person ? at.as(visitor.person) : at);
    try {
      const to = await (primary ? primary.act((at) => action(named(at), fields)) : action(named(db), fields));
      const from = back();
      const address = inProject(to ?? from, new URL(from, 'http://127.0.0.1').searchParams.get('project'));
      return wantsJson ? c.json({ to: address }) : c.redirect(address, 303);
    } catch (error) {
      return refuse(errorWords(error), 409);
    }
  });

  app.notFound((c) => show(c, '/nowhere', new URLSearchParams()));
  app.onError((error, c) =>
    error instanceof LedgerError && error.code === 'WL001'
      ? show(c, '/nowhere', new URLSearchParams())
      : c.html(
          html`<!doctype html><html lang="en"><head><title>Work Ledger</title><link rel="stylesheet" href="/assets/style.css"></head><body><main class="main"><h1>The ledger does not answer</h1><p class="bad">${errorWords(error)}</p><p class="quiet">This page can be loaded again when the database is back.</p></main></body></html>`,
          503,
        ),
  );
  return app;
}
