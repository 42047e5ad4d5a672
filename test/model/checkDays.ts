// Budgets by day against the rows: never more calls than there may be, none forgotten that was reserved, and nothing held in the end.

import { expect } from './expect.ts';
import type { Play } from './conversation.ts';

/** The names of this conversation's projects and faculties end with its key, or have it in them. */
const mine = (play: Play): string => `%${play.key}%`;

export async function checkDays(play: Play): Promise<void> {
  const wrong = await play.ledger.rows<{ says: string }>(
    `select format('%s "%s" has used %s and reserved %s of %s calls', b.scope, b.name, s.spent, s.reserved, b.amount) as says
       from ledger.daily_budgets b join ledger.daily_spending s using (scope, name, resource)
      where b.resource = 'calls' and b.name like $1 and s.day = ledger._today() and s.spent + s.reserved > b.amount
     union all
     select format('%s "%s" has used %s of %s on %s, and %s were answered', b.scope, b.name, s.spent, b.resource, s.day, n.calls)
       from ledger.daily_budgets b join ledger.daily_spending s using (scope, name, resource)
      cross join lateral (
        select case b.resource when 'calls' then count(*) else coalesce(sum(t.total_tokens), 0) end as calls
          from ledger.turns t
          join ledger.work_items w on w.id = t.work_item_id
          join ledger.foci f on f.id = t.focus_id
          join ledger.faculties c on c.content_hash = f.faculty_hash
         where t.status = 'completed' and t.reserved_on = s.day
           and case b.scope when 'faculty' then concat_ws('@', c.name, c.project)
                            else coalesce((select p.renamed_to from ledger.projects p where p.name = w.project), w.project) end = b.name) n
      -- One that was removed meanwhile is another one.
      where b.name like $1 and b.resource in ('calls', 'tokens') and s.day > (b.created_at at time zone 'UTC')::date and s.spent < n.calls`,
    mine(play),
  );
  expect(wrong.length === 0, () => wrong.map(({ says }) => says).join('; '));
}

/** When all work is over. */
export async function checkDaysAreOver(play: Play): Promise<void> {
  const held = await play.ledger.rows<{ name: string; resource: string; reserved: string }>(
    'select name, resource, reserved from ledger.daily_spending where name like $1 and reserved <> 0',
    mine(play),
  );
  expect(held.length === 0, () => `${JSON.stringify(held)} is held, and no work is under way`);
  const late = await play.ledger.rows<{ work_item_id: string }>(
    `select distinct work_item_id from ledger.turns where reserved_on < (completed_at at time zone 'UTC')::date and status = 'completed' and work_item_id = any ($1::uuid[])`,
    play.world.items.map(({ id }) => id),
  );
  for (const item of play.world.items)
    if (late.some((one) => one.work_item_id === item.id)) play.world.note(item, 'settled after midnight');
}
