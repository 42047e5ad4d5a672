// All work: whether it is slow, expensive or stuck, in the first row; details below. Days and hours are in UTC, so that they are the same
// on every machine and in work_totals().

import type { Gauge, Totals } from '../../ledger/cost.ts';
import type { DailyOwner } from '../../ledger/submit.ts';
import { money } from '../../money.ts';
import { drawBars, drawLines } from '../drawFleet.ts';
import { count, k, lasting, num, percent } from '../format.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { empty, form, panel } from '../page.ts';
import type { Page, View } from '../page.ts';
import { inProject, projectSwitch } from '../projects.ts';
import { budgetLine, dailyLabel } from './item.ts';

const spans = [1, 14, 90] as const;
const keys = ['faculty', 'model', 'project'] as const;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** This many have a distinct colour. */
const NAMED = 3;

export const fleet: Page = {
  pattern: /^\/fleet$/,
  section: 'fleet',
  parts: { figures, spend, latency, sums, tools, failures, queue, budgets },
  inputs: Object.fromEntries(
    ['figures', 'spend', 'latency', 'sums', 'tools', 'failures', 'queue', 'budgets'].map((part) => [part, ['every 30 s'] as const]),
  ),
  async whole(view, part) {
    const [top, spent, took, by, called, failed, waits, limits] = await Promise.all(
      ['figures', 'spend', 'latency', 'sums', 'tools', 'failures', 'queue', 'budgets'].map(part),
    );
    return {
      title: 'Fleet',
      body: html`<header class="head"><div class="row spread wrap"><h1>Fleet</h1>${choices(view)}</div>${await projectSwitch(view)}</header>
<div class="stack">${top ?? ''}<div class="cols even">${spent ?? ''}${took ?? ''}</div>${by ?? ''}<div class="cols even">${called ?? ''}<div class="stack">${limits ?? ''}${failed ?? ''}${waits ?? ''}</div></div></div>`,
    };
  },
};

type Chosen = { days: (typeof spans)[number]; by: (typeof keys)[number] };
type Asked = Chosen & { today: string; from: string; step: 'hour' | 'day'; at: readonly string[] };

const chosenOf = ({ query }: View): Chosen => ({
  days: spans.find((one) => String(one) === query.get('days')) ?? 14,
  by: keys.find((one) => one === query.get('by')) ?? 'model',
});

/** What the address requests: the period by the database's clock, as the instants of its steps, and the grouping. */
async function askedOf(view: View): Promise<Asked> {
  const { days, by } = chosenOf(view);
  const now = await view.db.journal.now();
  const lastOf = (size: number): number => Math.floor(now / size) * size;
  const [size, steps] = days === 1 ? [HOUR, 24] : [DAY, days];
  const at = Array.from({ length: steps }, (_, n) => new Date(lastOf(size) - (steps - 1 - n) * size).toISOString());
  return { days, by, today: new Date(lastOf(DAY)).toISOString(), from: at[0] ?? '', step: days === 1 ? 'hour' : 'day', at };
}

function choices(view: View): Html {
  const { days, by } = chosenOf(view);
  const chip = (label: string, change: Record<string, string>, isChosen: boolean): Html =>
    html`<a class="chip" href="${inProject(`/fleet?${new URLSearchParams({ days: String(days), by, ...change }).toString()}`, view.project)}"${isChosen ? html` aria-current="true"` : ''}>${label}</a>`;
  return html`<nav class="chips" aria-label="Time and key">${spans.map((one) => chip(one === 1 ? '1 day' : `${one} days`, { days: String(one) }, one === days))}${keys.map((one) => chip(`by ${one}`, { by: one }, one === by))}</nav>`;
}

const input = (one: Pick<Totals, 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens'>): number =>
  one.input_tokens + one.cached_input_tokens + one.cache_write_tokens;
const seconds = (value: number | null): string =>
  value === null ? '–' : value < 0.1 ? `${Math.round(value * 1000)} ms` : value < 90 ? `${value.toFixed(1)} s` : lasting(value);
/** Money, if there are prices; else tokens. */
const spentOf = (one: Totals): string => (one.cost === null ? `${k(input(one) + one.output_tokens)} tokens` : money(one.cost));

async function figures(view: View): Promise<Html> {
  const { from, today } = await askedOf(view);
  const { db, project } = view;
  const [[all], [now], [period], failed, gauges] = await Promise.all([
    db.workTotals({ by: 'total', project }),
    db.workTotals({ by: 'total', from: today, project }),
    db.workTotals({ by: 'total', from, project }),
    db.workTotals({ by: 'failure', from, project }),
    db.workGauges(),
  ]);
  const due = standing(gauges, 'work.queue.due', project).reduce((sum, { value }) => sum + value, 0);
  const oldest = Math.max(0, ...standing(gauges, 'work.queue.oldest_age', project).map(({ value }) => value));
  const waiting = standing(gauges, 'work.approvals.waiting', project).reduce((sum, { value }) => sum + value, 0);
  const waited = Math.max(0, ...standing(gauges, 'work.approvals.oldest_age', project).map(({ value }) => value));
  const figure = (name: string, value: string | Html, more: string | Html, className = ''): Html =>
    html`<div><dt>${name}</dt><dd><span class="${className}">${value}</span> <small>${more}</small></dd></div>`;
  return html`<dl class="figs six" data-figures>
${figure('Today', now ? spentOf(now) : money(0), html`all: ${all ? spentOf(all) : money(0)}`)}
${figure('From the cache', period ? percent(period.cached_input_tokens, input(period)) : '–', 'of all input')}
${figure('Due now', num(due), due > 0 ? `oldest ${lasting(oldest)}` : 'nothing waits', oldest > 900 ? 'warn' : '')}
${figure('Approvals', num(waiting), waiting > 0 ? `for ${lasting(waited)}` : 'none waits', waiting > 0 ? 'warn' : '')}
${figure('Ended well', period ? percent(period.completed_items, period.items) : '–', period && period.items > 0 ? `${num(period.completed_items)} of ${num(period.items)}` : 'nothing ended')}
${figure(
  'Requests that failed',
  num(period?.failed_requests ?? 0),
  failed
    .slice(0, 3)
    .map((one) => `${num(one.failed_requests)} ${one.key}`)
    .join(', ') || 'none',
  (period?.failed_requests ?? 0) > 0 ? 'bad' : '',
)}
</dl>`;
}

/** For a project: its own gauges and those without a project, as everywhere. */
const standing = (gauges: readonly Gauge[], metric: string, project: string | null): Gauge[] =>
  gauges.filter(
    (one) => one.metric === metric && (project === null || (one.labels['project'] ?? '') === '' || one.labels['project'] === project),
  );

/** 14:00, or 23 Nov. */
const labelOf = (at: string, step: 'hour' | 'day'): string =>
  step === 'hour'
    ? `${at.slice(11, 13)}:00`
    : new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const instantOf = (at: string | null): number => Date.parse(at ?? '');

async function spend(view: View): Promise<Html> {
  const { by, from, step, at, days } = await askedOf(view);
  const all = await view.db.workTotals({ by, from, step, project: view.project });
  const isPriced = all.some((one) => (one.cost ?? 0) > 0);
  const worth = (one: Totals): number => (isPriced ? (one.cost ?? 0) : input(one) + one.output_tokens);
  const says = (value: number): string => (isPriced ? money(value) : k(value));
  const byKey = [...Map.groupBy(all, ({ key }) => key)]
    .map(([key, rows]): [string, number] => [key, rows.reduce((sum, one) => sum + worth(one), 0)])
    .filter(([, sum]) => sum > 0)
    .toSorted(([, a], [, b]) => b - a);
  const title = `${isPriced ? 'Spend' : 'Tokens'} ${step === 'hour' ? 'an hour' : 'a day'}`;
  if (byKey.length === 0) return panel(title, null, empty('No model calls in this period.'));
  const named = byKey.slice(0, NAMED).map(([key]) => key);
  const names = [...named.map((key) => key || 'none'), ...(byKey.length > NAMED ? ['others'] : [])];
  const columns = at.map((instant) => {
    const rows = all.filter((one) => instantOf(one.at) === instantOf(instant));
    const of = (keep: (key: string) => boolean): number => rows.filter(({ key }) => keep(key)).reduce((sum, one) => sum + worth(one), 0);
    const values = [...named.map((key) => of((one) => one === key)), ...(byKey.length > NAMED ? [of((one) => !named.includes(one))] : [])];
    return { label: labelOf(instant, step), values };
  });
  const legend = names.map((name, i) => html`<span class="key k${i + 1}">${name}</span> `);
  const rows = columns.filter(({ values }) => values.some((value) => value > 0)).toReversed();
  return panel(
    title,
    html`<span class="legend">${legend}</span>`,
    html`<div class="body chart">${drawBars(columns, names, says, `${title}, ${days === 1 ? 'the last 24 hours' : `${days} days`}, by ${by}`)}<details class="table"><summary class="small quiet">In figures</summary><div class="wide" tabindex="0"><table><thead><tr><th>UTC</th>${names.map((name) => html`<th class="n">${name}</th>`)}</tr></thead><tbody>${rows.map(({ label, values }) => html`<tr><td class="nowrap">${label}</td>${values.map((value) => html`<td class="n">${says(value)}</td>`)}</tr>`)}</tbody></table></div></details></div>`,
  );
}

async function latency(view: View): Promise<Html> {
  const { from, step, at } = await askedOf(view);
  const all = await view.db.workTotals({ by: 'total', from, step, project: view.project });
  const title = 'A model call takes';
  const columns = at.map((instant) => {
    const row = all.find((one) => instantOf(one.at) === instantOf(instant));
    return { label: labelOf(instant, step), values: [row?.request_p50 ?? null, row?.request_p95 ?? null, row?.first_token_p50 ?? null] };
  });
  if (columns.every(({ values }) => values.every((value) => value === null)))
    return panel(title, null, empty('No model calls in this period.'));
  const rows = columns.filter(({ values }) => values.some((value) => value !== null)).toReversed();
  return panel(
    title,
    html`<span class="legend"><span class="key l50">median</span> <span class="key l95">p95</span> <span class="key l1">first token</span></span>`,
    html`<div class="body chart">${drawLines(
      columns,
      [
        ['p50', 'median'],
        ['p95', 'p95'],
        ['first', 'first token, median'],
      ],
      seconds,
      `${title}: median, p95, and median until the first token`,
    )}<details class="table"><summary class="small quiet">In figures</summary><div class="wide" tabindex="0"><table><thead><tr><th>UTC</th><th class="n">Median</th><th class="n">p95</th><th class="n">First token, median</th></tr></thead><tbody>${rows.map(({ label, values }) => html`<tr><td class="nowrap">${label}</td>${values.map((value) => html`<td class="n">${seconds(value)}</td>`)}</tr>`)}</tbody></table></div></details></div>`,
  );
}

const headings: Record<Asked['by'], string> = { faculty: 'Faculties', model: 'Models', project: 'Projects' };

async function sums(view: View): Promise<Html> {
  const { by, from, days } = await askedOf(view);
  const all = (await view.db.workTotals({ by, from, project: view.project })).filter(
    (one) => one.requests + one.failed_requests + one.items > 0,
  );
  const title = headings[by];
  if (all.length === 0) return panel(title, null, empty('No work in this period.'));
  const hasItems = by !== 'model';
  const row = (one: Totals): Html =>
    html`<tr data-key="${one.key}"><td class="wrapped" dir="auto">${one.key || 'none'}</td>${hasItems ? html`<td class="n">${num(one.items)}</td><td class="n">${percent(one.completed_items, one.items)}</td>` : ''}<td class="n">${num(one.iterations)}</td><td class="n">${num(one.requests)}</td><td class="n">${one.failed_requests > 0 ? html`<span class="bad">${num(one.failed_requests)}</span>` : '0'}</td><td class="n">${k(input(one))}</td><td class="n">${percent(one.cached_input_tokens, input(one))}</td><td class="n">${k(one.output_tokens)}</td><td class="n">${seconds(one.request_p50)}</td><td class="n">${seconds(one.request_p95)}</td><td class="n">${seconds(one.first_token_p50)}</td><td class="n">${money(one.cost)}</td></tr>`;
  const unpriced = all.reduce((sum, one) => sum + one.unpriced_requests, 0);
  return panel(
    title,
    days === 1 ? 'the last 24 hours' : `${days} days`,
    html`<div class="body"><div class="wide" tabindex="0"><table><thead><tr><th>Name</th>${hasItems ? html`<th class="n">Items</th><th class="n">Ended well</th>` : ''}<th class="n">Iterations</th><th class="n">Requests</th><th class="n">Failed</th><th class="n">Input</th><th class="n">Cached</th><th class="n">Output</th><th class="n">Median</th><th class="n">p95</th><th class="n">First token</th><th class="n">Cost</th></tr></thead><tbody>${all.map(row)}</tbody></table></div>${unpriced > 0 ? html`<p class="small quiet">${count(unpriced, 'request is', 'requests are')} of models without a price: <code>select model_price_save('MODEL', INPUT, OUTPUT)</code>, of a million tokens.</p>` : ''}</div>`,
  );
}

async function tools(view: View): Promise<Html> {
  const { from } = await askedOf(view);
  const all = (await view.db.workTotals({ by: 'tool', from, project: view.project })).toSorted((a, b) => b.call_seconds - a.call_seconds);
  if (all.length === 0) return panel('Tools', null, empty('No tool calls in this period.'));
  const row = (one: Totals): Html =>
    html`<tr data-key="${one.key}"><td class="mono wrapped">${one.key}</td><td class="n">${num(one.calls)}</td><td class="n">${one.failed_calls > 0 ? html`<span class="${one.failed_calls > one.calls / 4 ? 'bad' : 'warn'}">${percent(one.failed_calls, one.calls)}</span>` : '0 %'}</td><td class="n">${seconds(one.call_p50)}</td><td class="n">${seconds(one.call_p95)}</td><td class="n">${seconds(one.call_seconds)}</td></tr>`;
  return panel(
    'Tools',
    'by time, waits left out',
    html`<div class="body"><div class="wide" tabindex="0"><table><thead><tr><th>Name</th><th class="n">Calls</th><th class="n">Failed</th><th class="n">Median</th><th class="n">p95</th><th class="n">In all</th></tr></thead><tbody>${all.slice(0, 30).map(row)}</tbody></table></div></div>`,
  );
}

async function failures(view: View): Promise<Html> {
  const { from } = await askedOf(view);
  const [failed, ended] = await Promise.all([
    view.db.workTotals({ by: 'failure', from, project: view.project }),
    view.db.workTotals({ by: 'state', from, project: view.project }),
  ]);
  const list = (rows: readonly [string, number][], none: string): Html =>
    rows.length === 0
      ? html`<dt class="quiet">${none}</dt><dd></dd>`
      : html`${rows.map(([key, n]) => html`<dt>${key}</dt><dd>${num(n)}</dd>`)}`;
  return panel(
    'Errors and ends',
    'requests by class, items by state',
    html`<div class="body"><dl class="kv">${list(
      failed.map((one) => [one.key, one.failed_requests]),
      'no request failed',
    )}</dl><dl class="kv next">${list(
      ended.map((one) => [one.key, one.items]),
      'no item ended',
    )}</dl></div>`,
  );
}

async function queue(view: View): Promise<Html> {
  const gauges = await view.db.workGauges();
  const of = (metric: string, faculty: string): Gauge[] => standing(gauges, metric, view.project).filter((one) => refOf(one) === faculty);
  const names = [...new Set(['work.queue.due', 'work.slots.taken'].flatMap((metric) => standing(gauges, metric, view.project).map(refOf)))];
  const value = (metric: string, faculty: string): number => of(metric, faculty).reduce((sum, one) => sum + one.value, 0);
  const row = (name: string): Html => {
    const due = value('work.queue.due', name);
    const oldest = Math.max(0, ...of('work.queue.oldest_age', name).map((one) => one.value));
    const hasSlots = of('work.slots.taken', name).length > 0;
    return html`<tr data-key="${name}"><td class="wrapped">${name}</td><td class="n">${num(due)}</td><td class="n">${due > 0 ? lasting(oldest) : '–'}</td><td class="n">${hasSlots ? `${num(value('work.slots.taken', name))} of ${num(value('work.slots.taken', name) + value('work.slots.free', name))}` : '–'}</td></tr>`;
  };
  const alone = (metric: string): number => gauges.find((one) => one.metric === metric)?.value ?? 0;
  return panel(
    'Queue and slots',
    `${count(alone('work.workers.alive'), 'worker')} alive, ${num(alone('work.workers.free'))} free`,
    names.length === 0
      ? empty('There is no faculty.')
      : html`<div class="body"><div class="wide" tabindex="0"><table><thead><tr><th>Faculty</th><th class="n">Due</th><th class="n">Oldest</th><th class="n">Slots</th></tr></thead><tbody>${names.map(row)}</tbody></table></div></div>`,
  );
}

/** For a project: its own budgets, and those of faculties that it may use; without a project, all budgets. */
async function budgets(view: View): Promise<Html> {
  const isSeen = ({ scope, name }: DailyOwner): boolean =>
    view.project === null || (scope === 'project' ? name === view.project : !name.includes('@') || name.endsWith(`@${view.project}`));
  const [all, owners] = await Promise.all([view.db.dailyBudgets(), view.formToken === null ? [] : view.db.dailyOwners()]);
  const lines = all.filter(isSeen).map((one) =>
    budgetLine(dailyLabel(one), {
      ...one,
      amount: Number(one.amount),
      spent: Number(one.spent),
      reserved: Number(one.reserved),
    }),
  );
  return panel(
    'Budgets by day',
    'today, until midnight UTC',
    html`${lines.length === 0 ? empty('No project or faculty has one.') : html`<div class="body stack gap-s" data-budgets>${lines}</div>`}${owners.some(isSeen) ? html`<div class="foot-actions">${budgetForm(view, owners.filter(isSeen))}</div>` : ''}`,
  );
}

const BUDGET = '/fleet/budget';

function budgetForm(view: View, owners: readonly DailyOwner[]): Html {
  const typed = (name: string): string | null => {
    const value = view.refused?.action === BUDGET ? view.refused.fields[name] : null;
    return typeof value === 'string' ? value : null;
  };
  const option = (value: string, label: string, chosen: string | null): Html =>
    html`<option value="${value}"${value === chosen ? html` selected` : ''}>${label}</option>`;
  return form(
    view,
    BUDGET,
    html`<div class="row wrap"><select class="field narrow" name="of" aria-label="Of which project or faculty">${owners.map(({ scope, name }) => option(`${scope}:${encodeURIComponent(name)}`, `${scope} ${name}`, typed('of')))}</select><select class="field narrow" name="resource" aria-label="Of what">${['money', 'tokens', 'calls', 'seconds'].map((one) => option(one, one, typed('resource')))}</select><input class="field grow" name="amount" inputmode="decimal" value="${typed('amount')}" aria-label="Amount a day" placeholder="Amount per day; empty: no limit"><button class="btn">Set</button></div>`,
  );
}

const refOf = ({ labels }: Gauge): string =>
  [labels['faculty'] ?? '', labels['faculty_project'] ?? ''].filter((one) => one !== '').join('@');
