// What people do with a work item, in a real browser against a real worker.

import { describe, expect, test } from 'vitest';

import { until } from '../workerProcess.ts';
import { missing } from './browser.ts';
import { leadIsForked } from './crew.ts';
import { look } from './look.ts';

const { crew, database, faults, go, page, stateOf } = await look();

describe.skipIf(missing !== null)('in a browser', () => {
  test('words of two agents stream into the page, and an approval given by key ends the wait', async () => {
    await go('/');
    await page.locator('.stream', { hasText: 'The rounding of the tax line' }).waitFor();
    await page.locator('.ask').focus();
    await page.keyboard.press('x');
    expect(await page.evaluate<string>('document.activeElement.name')).toBe('reason');
    await page.keyboard.press('Escape');
    await page.locator('.ask .btn[value="approve"]:enabled').waitFor();
    await page.locator('.ask').focus();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter'); // it is dangerous
    await page.locator('.ask').waitFor({ state: 'detached' });
    await until(async () => (await stateOf(crew.ids.operate)) === 'completed');
    await page.locator(`[data-key="${crew.ids.operate}"].is-approval`).waitFor({ state: 'detached' });
  });

  test('every action of an item, with what the ledger says when it refuses', async () => {
    const { root } = crew.ids;
    await go(`/work/${root}`);
    await page.keyboard.press('m');
    await page.keyboard.type('Look at the index first');
    await page.getByRole('button', { name: 'Say it' }).click();
    await page.locator('.turn.person', { hasText: 'Look at the index first' }).waitFor();
    await page.getByRole('button', { name: 'Checkpoint' }).click();
    await page.getByText('More', { exact: true }).click();
    await page.getByText('Feedback…').click();
    await page.getByLabel('Feedback', { exact: true }).fill('Well measured');
    await page.getByRole('button', { name: 'Note it' }).click();
    await page.locator('.turn.person', { hasText: 'Well measured' }).waitFor();
    await page.getByText('More', { exact: true }).click();
    await page.getByText('Compact…').click();
    await page.getByRole('button', { name: 'Compact', exact: true }).click();
    await page.locator('.refused', { hasText: 'Nothing would be gained now' }).waitFor();
    expect(await database.query(`select compaction_trigger from ledger.foci where work_item_id = '${root}'`)).toEqual([
      { compaction_trigger: 'manual' },
    ]);
    await page.getByText('Complete…').click();
    await page.getByLabel('Summary').fill('By hand');
    await page.getByRole('button', { name: 'Complete', exact: true }).click();
    await page.locator('.refused', { hasText: 'WL005' }).waitFor();
  });

  test('an entry is deleted, a turn is forked, and a fork is compared', async () => {
    const { root, paused } = crew.ids;
    await go(`/work/${root}/journal?type=user_feedback`);
    const row = page.locator('.fold', { hasText: 'Well measured' });
    await row.locator('summary').first().click();
    await row.getByText('Delete…').click();
    await row.getByRole('button', { name: 'Delete the content' }).click();
    await page.locator('.fold', { hasText: 'Well measured' }).waitFor({ state: 'detached' });
    await go(`/sessions?packet=${root}`);
    leadIsForked();
    await page.locator('[data-part="points"] .act > summary').first().click();
    await page.locator('[data-part="points"] input[name="message"]').first().fill('Try an index on the expression');
    await page.locator('[data-part="points"] .act[open] button').click();
    await page.waitForURL(/\/work\//);
    const fork = page.url().split('/').at(-1) ?? '';
    await until(async () => (await stateOf(fork)) === 'completed');
    await go(`/sessions?packet=${root}`);
    await page.getByRole('link', { name: 'compare', exact: true }).first().click();
    await page.getByText('Two ways from turn').waitFor();
    await go(`/sessions?packet=${paused}`);
    await page.getByText('In another conversation…').click();
    await page.getByLabel('Conversation', { exact: true }).fill('my other shell');
    await page.getByRole('button', { name: 'Resume there' }).click();
    await page.waitForURL(/\/work\//);
  });

  test('a paused item is resumed, paused again and cancelled; the line says what cancelling does', async () => {
    const { paused } = crew.ids;
    await go(`/work/${paused}`);
    await page.keyboard.press('p');
    await page.keyboard.press('Enter');
    await until(async () => (await stateOf(paused)) !== 'paused');
    await page.getByRole('button', { name: 'Resume' }).waitFor({ state: 'detached' });
    await page.keyboard.press('p');
    await page.keyboard.type('once more');
    await page.keyboard.press('Enter');
    await until(async () => (await stateOf(paused)) === 'paused');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByText('More', { exact: true }).click();
    await page.getByText('Cancel…').click();
    await page.getByText('Cancels this work item. That is final.').waitFor();
    await page.getByRole('button', { name: 'Cancel it' }).click();
    await until(async () => (await stateOf(paused)) === 'cancelled');
    await page.locator('.is-cancelled').first().waitFor();
  });

  test('an interruption is heard at once', async () => {
    const { root } = crew.ids;
    await go(`/work/${root}`);
    await page.getByText('Interrupt', { exact: true }).first().click();
    await page.locator('[data-action="interrupt"] textarea').fill('What do you have?');
    await page.locator('[data-action="interrupt"] button').click();
    await page.locator('.turn.person', { hasText: 'What do you have?' }).waitFor();
  });

  test('a form that is clicked twice is sent once, whether it stays on the page or leads to another one', async () => {
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname.split('/').at(-1) ?? ''));
    const { id } = await crew.db.workSubmit({ workType: 'translate', description: 'Said once' });
    await go(`/work/${id}`);
    await page.keyboard.press('m');
    await page.keyboard.type('Said once');
    await page.locator('[data-action="message"] button').dblclick();
    await page.locator('[data-action="message"]:not([open])').waitFor();
    await go(`/sessions?packet=${crew.ids.root}`);
    await page.locator('[data-part="points"] .act > summary').first().click();
    await page.locator('[data-part="points"] .act[open] button').dblclick();
    await page.waitForURL(/\/work\//);
    expect(sent).toEqual(['message', 'fork']);
  });

  test('what is typed for one action never stands in another one, and is refused in words when the item has ended', async () => {
    const say = async (description: string): Promise<string> => {
      const { id } = await crew.db.workSubmit({ workType: 'translate', description });
      await go(`/work/${id}`);
      await page.keyboard.press('m');
      await page.keyboard.type('Please hurry');
      return id;
    };
    const ended = async (id: string): Promise<void> => {
      await database.query(`select work_cancel('${id}', 'no longer needed')`);
      await page.locator('details[data-action="retry"]').waitFor();
    };
    const one = await say('One');
    await page.locator('h1').click();
    await ended(one);
    expect(await page.locator('details.act[open]').count()).toBe(0);
    expect(await page.locator('[data-action="retry"] textarea').inputValue()).toBe('');
    await ended(await say('Two'));
    await page.getByRole('button', { name: 'Say it' }).click();
    await page.locator('.refused', { hasText: 'WL003' }).waitFor();
    expect(await page.locator('[data-action="message"] textarea').inputValue()).toBe('Please hurry');
  });

  test('a recorded session is imported by choosing its file', async () => {
    await go('/sessions');
    await page.locator('input[type=file]').setInputFiles(new URL('../fixtures/claudeCode.jsonl', import.meta.url).pathname);
    await page.waitForURL(/\/context/);
    await page.locator('svg.tl').first().waitFor();
  });

  test('nothing went wrong in the page meanwhile', () => {
    expect(faults).toEqual([]);
  });
});
