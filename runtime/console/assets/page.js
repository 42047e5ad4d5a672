// The current page: its address, and finding elements in it.

export const page = () => location.pathname + location.search;
/** An address in the project of this page. */
export function inProject(path) {
  const project = new URLSearchParams(location.search).get('project');
  return project === null ? path : `${path}?project=${encodeURIComponent(project)}`;
}
export const $ = (selector, within = document) => within.querySelector(selector);
export const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

/** Other parts of the same page, as rendered by the server. */
export async function fetched(names, { pathname, search } = location) {
  const answer = await fetch(`${pathname === '/' ? '' : pathname}/part/${names.join(',')}${search}`, { headers: { accept: 'text/html' } });
  if (!answer.ok) throw new Error(`the console answers ${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), 'text/html');
}

/** Functions applied to whatever has been added to the page. */
const decorators = [];
export const onArrival = (decorator) => decorators.push(decorator);
export const decorate = (within) => decorators.forEach((decorator) => decorator(within));
