// Keeps the task list of an SDK model as the plan of its session.

import type { Db } from '../ledger/db.ts';
import type { PlanItem } from '../ledger/entries.ts';
import { UsageError } from '../ledger/errors.ts';

/**
 * `tasks`: in list order, by the id of each task, or by `recorded N` if another process saw it created. `isNew`: changed since it was
 * recorded. `before`: reads what was recorded of the session before this process saw any task of it.
 */
export type Plan = { tasks: Map<string, Omit<PlanItem, 'n'>>; isNew: boolean; before: Promise<void> | undefined };
type Ledger = Pick<Db, 'harness' | 'planItems'>;

/** The maximum number of items of a plan. */
const MAX_ITEMS = 100;

const isLeft = ({ state }: Omit<PlanItem, 'n'>): boolean => state === 'open' || state === 'doing';
/** Compares texts as plans store them: on one line each, and cut if long. */
const isSame = (one: string, other: string): boolean => start(one) === start(other);
const start = (text: string): string => text.trim().replaceAll(/\s+/g, ' ').slice(0, 500);

/** Adds a task. It is recorded with the session's next event, so that a list becomes one plan rather than one for each of its lines. */
export function taskCreated(plan: Plan, input: Record<string, unknown>): void {
  const { id, text } = taskIn(input);
  if (plan.tasks.size >= MAX_ITEMS && !plan.tasks.has(id)) return;
  plan.tasks.set(id, { text, state: 'open' });
  plan.isNew = true;
}

/** Appends a step for a completed task. An unknown task is in no plan, but the step is appended. */
export async function taskCompleted(ledger: Ledger, sessionId: string, plan: Plan, input: Record<string, unknown>): Promise<void> {
  const { id, text } = taskIn(input);
  await takeUp(ledger, sessionId, plan);
  await planSave(ledger, sessionId, plan);
  const key = plan.tasks.has(id) ? id : [...plan.tasks].find(([at, task]) => at.startsWith('recorded ') && isSame(task.text, text))?.[0];
  const task = plan.tasks.get(key ?? '');
  if (task?.state === 'done') return;
  const done = key === undefined ? null : `{${[...plan.tasks.keys()].indexOf(key) + 1}}`;
  await ledger.harness.rows('ledger_append', sessionId, 'step', `Done: ${text}`, null, null, `task ${id} done`, null, null, done);
  if (task) task.state = 'done';
}

/** The session continues with other work, which has no plan yet: the list becomes its plan too, if part of it is open. */
export function planAnew(plan: Plan): void {
  plan.isNew = [...plan.tasks.values()].some(isLeft);
}

/** Records the list if it has changed. */
export async function planSave(ledger: Ledger, sessionId: string, plan: Plan): Promise<void> {
  if (!plan.isNew) return;
  await takeUp(ledger, sessionId, plan);
  if (!plan.isNew) return; // another hook has saved it
  plan.isNew = false;
  try {
    await ledger.harness.rows('ledger_append', sessionId, 'plan', '', null, null, null, null, JSON.stringify([...plan.tasks.values()]));
  } catch (error) {
    plan.isNew = true;
    throw error;
  }
}

/** A resumed session continues its plan: recorded items come before those that this process saw created. */
function takeUp(ledger: Ledger, sessionId: string, plan: Plan): Promise<void> {
  return (plan.before ??= readBefore(ledger, sessionId, plan).catch((error: unknown) => {
    plan.before = undefined;
    throw error;
  }));
}

async function readBefore(ledger: Ledger, sessionId: string, plan: Plan): Promise<void> {
  const recorded = await ledger.planItems(sessionId);
  const made = [...plan.tasks];
  plan.tasks.clear();
  const room = MAX_ITEMS - made.length;
  for (const { n, text, state } of recorded.length <= room ? recorded : recorded.filter(isLeft).slice(0, room)) {
    const again = made.findIndex(([, task]) => isSame(task.text, text));
    const [id = `recorded ${n}`] = again < 0 ? [] : (made.splice(again, 1)[0] ?? []);
    plan.tasks.set(id, { text, state });
  }
  for (const [id, task] of made) plan.tasks.set(id, task);
}

function taskIn({ task_id: id, task_subject: text }: Record<string, unknown>): { id: string; text: string } {
  if (typeof id !== 'string' || typeof text !== 'string' || text.trim() === '') throw new UsageError('a task has an id and a subject');
  return { id, text };
}
