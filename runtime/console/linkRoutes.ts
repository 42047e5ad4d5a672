// Addresses that redirect to a page, or are not pages: a turn, the next mark of a run, a request as it was sent, an image, a journal.

import type { Hono } from 'hono';

import type { Db } from '../ledger/db.ts';
import { uuid } from './page.ts';
import { nextMark } from './pages/run.ts';
import { inProject } from './projects.ts';

export function linkRoutes(app: Hono, db: Db): void {
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
}
