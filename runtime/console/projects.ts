// The project that is shown: held in the address (?project=NAME; empty: work without a project; absent: all), and kept by every link, form
// and redirection of a page.

import type { Project } from '../ledger/consoleShapes.ts';
import type { Db } from '../ledger/db.ts';
import { html, markup } from './html.ts';
import type { Html } from './html.ts';
import type { View } from './page.ts';

/** Where relative addresses of pages are looked up; only their paths and queries matter. */
const CONSOLE = 'http://127.0.0.1';
/** Longer names are shortened. */
const LONG = 80;
/** Parameters that are a position within the work of one project, and mean nothing in another. */
const places = ['before', 'after', 'imported', 'packet', 'as'];

/** Whether the ledger knows the project by any of its names: no other text from an address is used in queries. */
export const isProject = async (db: Db, project: Project): Promise<boolean> =>
  project === null || project === '' || (await db.console.projects()).some((one) => isCalled(one, project));

type Named = { project: string; earlier_names: readonly string[] };
const isCalled = ({ project, earlier_names: earlier }: Named, name: string): boolean => project === name || earlier.includes(name);

/** The project switch: empty if there is only one project and none is chosen. */
export async function projectSwitch(view: View): Promise<Html> {
  const all = await view.db.console.projects();
  const { project } = view;
  if (all.length < 2 && project === null) return html``;
  const now = all.find((one) => project !== null && isCalled(one, project))?.project ?? project;
  const link = (to: Project, label: Html | string): Html =>
    html`<li><a class="chip" dir="auto" href="${addressIn(view, to)}"${to === now ? html` aria-current="true"` : ''}>${label}</a></li>`;
  const chosen = now === null ? 'All projects' : now === '' ? 'In no project' : now;
  return html`<details class="projects"><summary class="btn" title="${chosen}"><span class="quiet">Project</span> <span class="cut" dir="auto">${ended(chosen)}</span></summary><ul class="chips" aria-label="Projects">${link(null, 'all projects')}${link('', 'in no project')}${all.map((one) => link(one.project, html`<span title="${one.project}">${ended(one.project)}</span>`))}</ul></details>${
    now === null || now === '' ? '' : html`<p class="small quiet">With work in no project.</p>`
  }`;
}

/** The page of a project that does not exist. */
export const unknownProject = (name: string): Html =>
  html`<header class="head"><h1>There is no such project</h1><p class="quiet">No work of this ledger is in <span class="strong" dir="auto">${ended(name, 500)}</span>.</p><p class="actions"><a class="btn" href="?">All projects</a></p></header>`;

/** Paths differ at their ends. */
const ended = (name: string, length = LONG): string => (name.length > length ? `…${name.slice(1 - length)}` : name);

/** The same page of another project. The link is relative, so that `keeping` does not add the current project. */
function addressIn(view: View, project: Project): string {
  const query = new URLSearchParams([...view.query].filter(([name]) => name !== 'project' && !places.includes(name)));
  if (project !== null) query.set('project', project);
  return `?${query.toString()}`;
}

/** The page that a browser says it is on; the first one if it says none that can be read. */
export const pageAddress = (said: unknown): URL => (typeof said === 'string' ? URL.parse(said, CONSOLE) : null) ?? new URL(CONSOLE);

/** An address within the console, in a project unless it names one. */
export function inProject(address: string, project: Project): string {
  const { pathname, searchParams, hash } = new URL(address, CONSOLE);
  if (project !== null && !searchParams.has('project')) searchParams.set('project', project);
  return `${pathname.replace(/^\/+/, '/')}${searchParams.size > 0 ? `?${searchParams.toString()}` : ''}${hash}`;
}

/**
 * Adds the project to the links and forms of a page that lead to pages. Text in markup contains no quotation marks, so nothing else is
 * mistaken for a link.
 */
export function keeping(page: Html, project: Project): Html {
  if (project === null) return page;
  const field = `project=${encodeURIComponent(project)}`;
  return markup(
    String(page)
      .replaceAll(/ href="(\/(?!assets\/)[^"#]*)/g, (link, to: string) =>
        /[?;]project=/.test(to) ? link : `${link}${to.includes('?') ? '&amp;' : '?'}${field}`,
      )
      .replaceAll(
        /<form\b[^>]*\bmethod="get"[^>]*>/g,
        (form) => `${form}${String(html`<input type="hidden" name="project" value="${project}">`)}`,
      ),
  );
}
