// The list of tasks that a model of the SDK keeps, as the plan of its session.

import type { Functions } from '../harness/hooks.ts';
import { UsageError } from '../ledger/errors.ts';

/** By the id of each task. `isNew`: changed since it was recorded. */
export type Plan = { tasks: Map<string, { text: string; isDone: boolean }>; isNew: boolean };

/** As many as a plan has. */
const MAX_ITEMS = 100;

/** A task more: recorded with the next thing that happens, so that a list is one plan and not one for each of its lines. */
export function taskCreated(plan: Plan, input: Record<string, unknown>): void {
  const { id, text } = taskIn(input);
  if (plan.tasks.size >= MAX_ITEMS && !plan.tasks.has(id)) return;
  plan.tasks.set(id, { text, isDone: false });
  plan.isNew = true;
}

/** A step that says so. A task that this process did not see made stands in no plan, but the step stands. */
export async function taskCompleted(ledger: Functions, sessionId: string, plan: Plan, input: Record<string, unknown>): Promise<void> {
  const { id, text } = taskIn(input);
  await planSave(ledger, sessionId, plan);
  const task = plan.tasks.get(id);
  if (task?.isDone) return;
  const done = task === undefined ? null : `{${[...plan.tasks.keys()].indexOf(id) + 1}}`;
  await ledger.rows('ledger_append', sessionId, 'step', `Done: ${text}`, null, null, `task ${id} done`, null, null, done);
  if (task) task.isDone = true;
}

/** The session goes on with other work, which has no plan yet: the list is its plan, too, if something of it is open. */
export function planAnew(plan: Plan): void {
  plan.isNew = [...plan.tasks.values()].some(({ isDone }) => !isDone);
}

/** Records the list if it has changed. */
export async function planSave(ledger: Functions, sessionId: string, plan: Plan): Promise<void> {
  if (!plan.isNew) return;
  plan.isNew = false;
  const items = [...plan.tasks.values()].map(({ text, isDone }) => ({ text, state: isDone ? 'done' : 'open' }));
  try {
    await ledger.rows('ledger_append', sessionId, 'plan', '', null, null, null, null, JSON.stringify(items));
  } catch (error) {
    plan.isNew = true;
    throw error;
  }
}

function taskIn({ task_id: id, task_subject: text }: Record<string, unknown>): { id: string; text: string } {
  if (typeof id !== 'string' || typeof text !== 'string' || text.trim() === '') throw new UsageError('a task has an id and a subject');
  return { id, text };
}
