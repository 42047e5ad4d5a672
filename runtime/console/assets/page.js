// The page at hand: its address, finding things in it.

export const page = () => location.pathname + location.search;
/** An address in the project that this page is of. */
export function inProject(path) {
  const project = new URLSearchParams(location.search).get('project');
  return project === null ? path : `${path}?project=${encodeURIComponent(project)}`;
}
export const $ = (selector, within = document) => within.querySelector(selector);
export const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

/** The same page with other parts: as the server renders them. */
export async function fetched(names, { pathname, search } = location) {
  const answer = await fetch(`${pathname === '/' ? '' : pathname}/part/${names.join(',')}${search}`, { headers: { accept: 'text/html' } });
  if (!answer.ok) throw new Error(`the console answers ${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), 'text/html');
}

/** What is done to whatever has come into the page. */
const decorators = [];
export const onArrival = (decorator) => decorators.push(decorator);
export const decorate = (within) => decorators.forEach((decorator) => decorator(within));
