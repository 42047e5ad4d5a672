// Logging in with a personal token, and out.

import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';

import { html } from './html.ts';
import type { Html } from './html.ts';
import type { Visitors } from './visitors.ts';

const MOST_BYTES = 4096;

/** Must come before every route that requires a known visitor. */
export function loginRoutes(app: Hono, visitors: Visitors): void {
  app.get('/login', (c) => c.html(loginPage(c.req.query('back') ?? '/', false)));
  app.post('/login', bodyLimit({ maxSize: MOST_BYTES }), async (c) => {
    if (!visitors.isOwnPage(c)) return c.text('This request did not come from a page of the console.\n', 403);
    const fields = await c.req.parseBody();
    const [token, back] = [fields['token'], fields['back']].map((value) => (typeof value === 'string' ? value.trim() : ''));
    if (!(await visitors.enter(c, token ?? ''))) return c.html(loginPage(back ?? '/', true), 403);
    return c.redirect(withinHere(back ?? '/'), 303);
  });
  app.post('/logout', bodyLimit({ maxSize: MOST_BYTES }), async (c) => {
    const objection = visitors.objection(c, await c.req.parseBody());
    if (objection !== null) return c.text(`${objection}\n`, 403);
    visitors.leave(c);
    return c.redirect('/', 303);
  });
}

/** What an unknown visitor sees of a console that others can reach. */
export const stranger = (c: Context, visitors: Visitors): Response | Promise<Response> =>
  c.req.header('accept')?.includes('text/html') === true
    ? c.html(loginPage(new URL(c.req.url).pathname, false), 403)
    : c.text(
        visitors.token === null
          ? 'Log in at /login of this console.\n'
          : 'Open the address that was printed when this console started, which has the token, or log in at /login.\n',
        403,
      );

/** Loads nothing: an unknown visitor gets nothing else. */
const loginPage = (back: string, isWrong: boolean): Html => html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Log in · Work Ledger</title></head>
<body>
<main>
<h1>Work Ledger</h1>
<form method="post" action="/login">
<input type="hidden" name="back" value="${withinHere(back)}">
<p><label>Your token <input type="password" name="token" autocomplete="current-password" required autofocus></label> <button>Log in</button></p>
${isWrong ? html`<p role="alert">This token is wrong or was revoked.</p>` : ''}
<p>An administrator of the ledger creates one: <code>work-ledger person add NAME</code></p>
</form>
</main>
</body>
</html>
`;

/** An address within this console: never another host, whatever was requested. */
function withinHere(back: string): string {
  const url = URL.parse(back, 'http://127.0.0.1');
  return url === null ? '/' : `${url.pathname.replace(/^\/+/, '/')}${url.search}`;
}
