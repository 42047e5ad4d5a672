// Answers a request: with the page at its address, for its visitor and the project that is shown.

import type { Context } from 'hono';

import type { Project } from '../ledger/consoleShapes.ts';
import type { Db } from '../ledger/db.ts';
import { html } from './html.ts';
import { frame, renderPart, versionsOf } from './page.ts';
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
import { run } from './pages/run.ts';
import { sessions } from './pages/sessions.ts';
import { waterfall } from './pages/waterfall.ts';
import { callPage, workList } from './pages/workList.ts';
import { isProject, keeping, unknownProject } from './projects.ts';
import type { Visitors } from './visitors.ts';

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
/** The page at every other address: it is live, too, and has no parts that change. */
const nowhere: Page = { pattern: /^/, section: 'keys', parts: {}, inputs: {}, whole: async () => null };

/** The name of a part of the page at an address. */
export const partAt = (path: string, query: URLSearchParams, part: string): string => `${path}?${query.toString()} ${part}`;

export type Serving = ReturnType<typeof serving>;

/** `isReadOnly`: nothing can be changed from this console; `hasPrimary`: changes are made on another server than the one that is read. */
export function serving({
  db,
  visitors,
  schema,
  isReadOnly,
  hasPrimary,
}: {
  db: Db;
  visitors: Visitors;
  schema: string;
  isReadOnly: boolean;
  hasPrimary: boolean;
}) {
  const shellOf = async (c: Context, project: Project, at = db): Promise<Shell> => {
    const shell = await at.console.shell(project);
    const visitor = visitors.of(c);
    return {
      ...shell,
      schema,
      is_read_only: (shell.is_read_only && !hasPrimary) || isReadOnly,
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
  /** The page at an address, and the project that it shows; null: all projects. An unknown project has no pages. */
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
    // Its control may be gone by now: finished items accept no messages.
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

  return { shellOf, canAct, viewOf, pageAt, show };
}
