// What people change from the console, in a real browser against a real worker; each with what the rows say afterwards.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import pg from 'pg';
import { describe, expect, test } from 'vitest';

import { longItem } from '../longItem.ts';
import { until } from '../workerProcess.ts';
import { missing } from './browser.ts';
import { look } from './look.ts';

const { context, crew, database, faults, go, page, stateOf } = await look({ unchecked: 'turns put in by hand' });

describe.skipIf(missing !== null)('in a browser', () => {
  const fixture = fileURLToPath(new URL('../fixtures/claudeCode.jsonl', import.meta.url));

  type Decided = { decision: string | null; reason: string | null; status: string; result: string };
  const decidedOn = async (item: string): Promise<Decided | undefined> =>
    (
      await database.query<Decided>(
        `select a.decision, a.reason, k.status, k.result #>> '{}' as result from approvals a join tool_calls k on k.id = a.tool_call_id where a.work_item_id = '${item}'`,
      )
    )[0];

  test('a call is rejected by key: Enter behind the reason rejects, and the agent is told why', async () => {
    const { operate } = crew.ids;
    await go('/');
    await page.locator('.ask .btn[value="reject"]:enabled').waitFor();
    await page.locator('.ask').focus();
    await page.keyboard.press('x');
    expect(await page.evaluate<string>('document.activeElement.name')).toBe('reason');
    await page.keyboard.type('Not before six');
    await page.keyboard.press('Enter');
    await page.locator('.ask').waitFor({ state: 'detached' });
    await until(async () => (await stateOf(operate)) === 'completed');
    expect(await decidedOn(operate)).toEqual({
      decision: 'rejected',
      reason: 'Not before six',
      status: 'failed',
      result: expect.stringContaining('a person rejected this call: Not before six'),
    });
    await go(`/work/${operate}/journal?type=tool_rejected`);
    await page.locator('[data-entries]', { hasText: 'Not before six' }).waitFor();
  });

  test('a call is rejected by its button, without a reason', async () => {
    const item = await crew.db.workSubmit({ workType: 'operate', description: 'Clear the old partitions.' });
    await until(async () => (await crew.db.console.approvals(item.id)).length === 1);
    await go(`/work/${item.id}`);
    await page.locator('.ask').getByRole('button', { name: 'Reject' }).click();
    await page.locator('.ask').waitFor({ state: 'detached' });
    await until(async () => (await stateOf(item.id)) === 'completed');
    expect(await decidedOn(item.id)).toEqual({
      decision: 'rejected',
      reason: null,
      status: 'failed',
      result: expect.stringContaining('a person rejected this call.'),
    });
  });

  test('a session of another program that was paused, and one that crashed, go on; no worker takes them', async () => {
    const begun = await crew.db.journal.sessionCreate('an editor', 'Rename the module');
    const rowOf = async (): Promise<unknown> =>
      (
        await database.query(
          `select state, heartbeat_ends_at > now() as is_alive, _journal_state(w) as status from work_items w where id = '${begun.id}'`,
        )
      )[0];
    await crew.db.journal.sessionStatus(begun.id, 'paused');
    await go(`/sessions?packet=${begun.id}`);
    await page.getByRole('button', { name: 'Resume here' }).click();
    await until(async () => (await stateOf(begun.id)) !== 'paused');
    expect(await rowOf()).toEqual({ state: 'created', is_alive: true, status: 'active' });
    await database.query(`update work_items set heartbeat_ends_at = now() - interval '1 minute' where id = '${begun.id}'`);
    await go(`/sessions?packet=${begun.id}`);
    await page.locator(`[data-key="${begun.id}"]`, { hasText: 'crashed' }).waitFor();
    await page.getByRole('button', { name: 'Resume here' }).click();
    await page.locator(`[data-key="${begun.id}"]`, { hasText: 'crashed' }).waitFor({ state: 'detached' });
    expect(await rowOf()).toEqual({ state: 'created', is_alive: true, status: 'active' });
    await crew.db.workPause(begun.id, 'for the night');
    await go(`/work/${begun.id}`);
    await page.keyboard.press('p');
    await page.keyboard.press('Enter');
    await page.getByText('Pause', { exact: false }).first().waitFor();
    await until(async () => (await stateOf(begun.id)) !== 'paused');
    expect(await rowOf()).toEqual({ state: 'created', is_alive: true, status: 'active' });
  });

  test('work is completed by hand, with what was done', async () => {
    const { untaken } = crew.ids;
    await go(`/work/${untaken}`);
    await page.getByText('More', { exact: true }).click();
    await page.getByText('Complete…').click();
    await page.getByLabel('Summary').fill('Translated by a colleague');
    await page.getByRole('button', { name: 'Complete', exact: true }).click();
    await page.locator('.outcome', { hasText: 'Translated by a colleague' }).waitFor();
    expect(
      await database.query(
        `select state, outcome_data ->> 'summary' as summary, resolved_at is not null as is_over from work_items where id = '${untaken}'`,
      ),
    ).toEqual([{ state: 'completed', summary: 'Translated by a colleague', is_over: true }]);
    expect(await page.getByText('Say something').count()).toBe(0);
  });

  test('an entry is taken back: it stays in the log, and agents no longer read it', async () => {
    const { done } = crew.ids;
    const [entry] = await database.query<{ seq: number; content: string }>(
      `select seq, content from work_ledger where work_item_id = '${done}' and entry_type = 'decision'`,
    );
    await go(`/work/${done}/ledger`);
    const row = page.locator(`#entry-${entry?.seq}`);
    await row.getByText('Take back…').click();
    await row.getByLabel('Reason').fill('The trigger lost rows');
    await row.getByRole('button', { name: 'Take it back' }).click();
    await row.locator('s').waitFor();
    await page.getByText('taken back: The trigger lost rows').waitFor();
    expect(await row.getByText('Take back…').count()).toBe(0);
    expect(
      await database.query(`select retracts, content from work_ledger where work_item_id = '${done}' and retracts is not null`),
    ).toEqual([{ retracts: entry?.seq, content: 'The trigger lost rows' }]);
    expect(await database.query(`select content from work_ledger where work_item_id = '${done}' and seq = ${entry?.seq}`)).toEqual([
      { content: entry?.content },
    ]);
    const [read] = await database.query<{ text: string }>(`select ledger_read_formatted('${done}') as text`);
    expect(read?.text).not.toContain(`- ${entry?.content}`);
  });

  test('a journal is exported: the file is what the ledger says', async () => {
    const { done } = crew.ids;
    await go(`/work/${done}`);
    await page.getByText('More', { exact: true }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Export' }).click()]);
    expect(download.suggestedFilename()).toBe(`journal-${done}.json`);
    const file: unknown = JSON.parse(await readFile(await download.path(), 'utf8'));
    const [row] = await database.query<{ exported: unknown }>(`select journal_export('${done}') as exported`);
    expect(file).toEqual(row?.exported);
  });

  test('a checkpoint says where the work stands', async () => {
    const { root } = crew.ids;
    await go(`/work/${root}/journal?type=checkpoint`);
    const before = await page.locator('[data-entries] > li').count();
    await page.getByRole('button', { name: 'Checkpoint' }).click();
    await until(async () => (await page.locator('[data-entries] > li').count()) > before);
    const rows = await database.query<{ trigger: string; summary: string; files: string[] }>(
      `select trigger, summary, files_modified as files from work_checkpoints where work_item_id = '${root}' order by created_at desc, id desc`,
    );
    expect(rows[0]).toEqual({
      trigger: 'manual',
      summary: expect.stringContaining('The statement uses the index'),
      files: expect.arrayContaining(['src/import.js']),
    });
    expect(rows.filter(({ trigger }) => trigger === 'manual')).toHaveLength(1);
    await page.locator('[data-entries] > li summary').first().click();
    await page.locator('[data-entries] > li').first().getByText('The statement uses the index').first().waitFor();
  });

  test('the digest is seen as another item sees it', async () => {
    const { review } = crew.ids;
    await go('/knowledge');
    await page.getByLabel('Seen by').selectOption(review);
    await page.waitForURL((url) => url.searchParams.get('as') === review);
    const digestOf = async (reader: string): Promise<string> =>
      (await database.query<{ text: string }>(`select awareness_digest(${reader}) as text`))[0]?.text.replace(/ \(.*$/gm, '') ?? '';
    const shown = async (): Promise<string> =>
      (await page.locator('[aria-label="The digest"] pre').textContent())?.replace(/ \(.*$/gm, '').trim() ?? '';
    expect(await shown()).toBe((await digestOf(`'${review}'`)).trim());
    expect(await page.getByLabel('Seen by').inputValue()).toBe(review);
    expect(await shown()).not.toBe((await digestOf('null')).trim()); // its own findings are not news to it
    await page.getByLabel('Seen by').selectOption('');
    await page.waitForURL((url) => (url.searchParams.get('as') ?? '') === '');
    expect(await shown()).toBe((await digestOf('null')).trim());
  });

  /** Files let fall on a place, as the browser is told of it by the system. */
  async function drop(selector: string, files: string[]): Promise<void> {
    const box = await page.locator(selector).boundingBox();
    if (!box) throw new Error(`nothing to drop on: ${selector}`);
    const session = await context.newCDPSession(page);
    const at = { x: box.x + box.width / 2, y: box.y + box.height / 2, data: { items: [], files, dragOperationsMask: 1 } };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) await session.send('Input.dispatchDragEvent', { type, ...at });
    await session.detach();
  }
  const imported = (): Promise<{ file: string; turns: number }[]> =>
    database.query(
      `select w.params ->> 'file' as file, (select count(*)::int from turns t where t.work_item_id = w.id) as turns from work_items w where w.work_type = 'import' order by w.id`,
    );

  test('a recorded session is imported by letting its file fall on the page; one that is none is refused there', async () => {
    await go('/sessions');
    await drop('[data-drop]', [fileURLToPath(import.meta.url)]);
    await page.locator('.refused', { hasText: 'browserActions.test.ts' }).waitFor();
    expect(await imported()).toEqual([]);
    await drop('[data-drop]', [fixture]);
    await page.waitForURL(/\/context/);
    await page.locator('svg.tl').first().waitFor();
    expect(await imported()).toEqual([{ file: 'claudeCode.jsonl', turns: 2 }]);
    expect(page.url()).toContain(
      (await database.query<{ id: string }>(`select id from work_items where work_type = 'import'`))[0]?.id ?? '',
    );
    await go('/sessions');
    await drop('body', [fixture]); // beside the field, too: nobody means to leave the page for the file
    await page.waitForURL(/\/context/);
    expect(await imported()).toHaveLength(1); // the same recording is there already
  });

  test('an entry of a megabyte opens in part, does not run, and is read whole behind a link', async () => {
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query('set search_path = ledger');
    const item = await longItem(client, 1);
    const hostile = `\u202E</pre><script>document.title = "owned"</script>${'x'.repeat(1_000_000)} the end`;
    await client.query(
      `alter table tool_calls disable trigger refuse_rewrite; update tool_calls set result = to_json(${client.escapeLiteral(hostile)}::text) where work_item_id = '${item}'; alter table tool_calls enable always trigger refuse_rewrite`,
    );
    await client.end();
    await crew.db.journal.log(item, 'user_feedback', { message: `Long ${'y'.repeat(60_000)}`, isInterrupt: false }, 'high');
    await go(`/work/${item}/journal?type=user_feedback`);
    const said = page.locator('[data-entries] > li', { hasText: 'Long yyy' });
    await said.locator('summary').first().click();
    await said.getByText(/y… \([\d,]+ characters more\)/).waitFor();
    await go(`/work/${item}/journal?type=tool_result`);
    const entry = page.locator('[data-entries] > li').first();
    await entry.locator('summary').first().click();
    await entry.locator('dt', { hasText: 'truncated' }).waitFor();
    expect(await page.evaluate<number>('document.body.textContent.length')).toBeLessThan(100_000);
    await entry.getByRole('link', { name: 'The whole call' }).click();
    await page.getByText('⟨U+202E⟩</pre><script>').waitFor();
    const whole = page.getByRole('link', { name: /^all 1,000,\d\d\d characters$/ });
    expect(await page.title()).toBe('look · Work Ledger');
    await whole.click();
    await until(async () =>
      (await page.evaluate<string>(`[...document.querySelectorAll('pre.fence')].at(-1).textContent`)).endsWith('the end'),
    );
    const [row] = await database.query<{ result: string }>(
      `select result #>> '{}' as result from tool_calls where work_item_id = '${item}'`,
    );
    expect(await page.evaluate<string>(`[...document.querySelectorAll('pre.fence')].at(-1).textContent`)).toBe(
      row?.result.replace('\u202E', '⟨U+202E⟩'),
    );
    expect(await page.locator('main script').count()).toBe(0);
  });

  test('nothing went wrong in the page meanwhile', () => {
    expect(faults).toEqual([]);
  });
});
