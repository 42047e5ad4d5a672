// The forms: makes a person's change in their name and redirects; a rejection is shown next to its control.

import type { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';

import type { Db } from '../ledger/db.ts';
import { actionAt } from './actions.ts';
import { errorWords } from './page.ts';
import type { Primary } from './primary.ts';
import { inProject, pageAddress } from './projects.ts';
import type { Serving } from './serving.ts';
import type { Visitors } from './visitors.ts';

const MOST_BYTES = 512 * 1024 * 1024;

/** `primary`: where the ledger is changed, if it is read elsewhere. */
export function formRoute(
  app: Hono,
  { db, primary, serving: { show, shellOf }, visitors }: { db: Db; primary: Primary | null; serving: Serving; visitors: Visitors },
): void {
  app.post('*', bodyLimit({ maxSize: MOST_BYTES }), async (c) => {
    const path = new URL(c.req.url).pathname;
    const action = actionAt(path);
    const wantsJson = c.req.header('accept') === 'application/json';
    const from = (): URL => pageAddress(fields['back']);
    const refuse = (says: string, status: 403 | 404 | 409): Response | Promise<Response> => {
      if (wantsJson) return c.json({ says }, status);
      const { pathname, searchParams } = from();
      return status === 409 ? show(c, pathname, searchParams, 409, { action: path, says, fields }) : c.text(`${says}\n`, status);
    };
    // The body of a request is not read before it is known to come from a page of the console.
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
      const address = inProject(to ?? from().href, from().searchParams.get('project'));
      return wantsJson ? c.json({ to: address }) : c.redirect(address, 303);
    } catch (error) {
      return refuse(errorWords(error), 409);
    }
  });
}
