-- Change markers, for programs that show a ledger and do not want to read all of it again: one text for each part of what is shown, which differs
-- after a change. Nothing that has ended is read.

create or replace function ledger_changes()
  returns table (under_way text, queued text, ended text, approvals text, workers text, written text, newest text)
  language sql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Creating or answering a turn adds it to or removes it from the turns in progress; the same goes for calls. The sums do not depend on order.
  select (select nullif(concat_ws('/',
                   bit_xor(hashtextextended(concat_ws('/', w.id, w.state, w.state_reason, e.ledger_count, e.attempt, e.lease_hash is null), 0)),
                   (select bit_xor(hashtextextended(concat_ws('/', t.id, t.xmin), 0)) from turns t where t.status in ('pending', 'streaming')),
                   (select bit_xor(hashtextextended(concat_ws('/', k.id, k.xmin), 0)) from tool_calls k where k.completed_at is null),
                   (select bit_xor(hashtextextended(concat_ws('/', c.work_item_id, c.key, c.focus_id), 0)) from claims c where c.focus_id is not null)), '')
            from work_items w join fences e on e.work_item_id = w.id
           where w.resolved_at is null
             and (w.state in ('claimed', 'running', 'waiting', 'paused') or (w.state = 'queued' and w.focus_id is not null))),
         (select md5(string_agg(concat_ws('/', q.id, q.state_reason, q.priority, q.run_at), ' '))
            from (select * from work_items where state = 'queued' order by priority desc, run_at limit 20) q),
         (select concat_ws('/', w.id, w.resolved_at) from work_items w where w.state = 'completed' order by w.resolved_at desc limit 1),
         (select bit_xor(uuid_hash_extended(a.tool_call_id, 0))::text from approvals a where a.decision is null),
         (select md5(string_agg(concat_ws('/', v.id, v.is_alive, v.busy), ' ' order by v.id)) from v_workers v),
         (select s.id::text from search_entries s order by s.id desc limit 1),
         (select w.id::text from work_items w order by w.created_at desc, w.id desc limit 1);
$$;

comment on function ledger_changes() is
  'Change markers for the whole ledger: under_way (items that are worked on or wait in the middle of it), queued (the 20 most urgent), ended (the newest completed item), approvals (calls that wait for one), workers, written (the newest thing that a search finds), newest (item). Each is an opaque text that differs after a change; null: there is nothing of that kind.';

create or replace function work_changes(p_work_item_id uuid)
  returns table (
    item text, focus text, turn text, calls text, approvals text, inbox text, journal text, below text, budgets text, forks text, claims text)
  language sql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with w as (select * from work_items where id = p_work_item_id),
       t as (select t.*, t.xmin as made from turns t where t.work_item_id = p_work_item_id order by t.id desc limit 1)
  select (select concat_ws('/', w.state, w.state_reason, e.ledger_count, w.ledger_epoch, w.attempts, w.is_pausing, e.lease_hash is null, w.run_at)
            from w join fences e on e.work_item_id = w.id),
         (select concat_ws('/', f.id, f.iteration, f.session_label, f.compaction_trigger, f.lease_owner)
            from w join foci f on f.work_item_id = w.id order by f.attempt desc limit 1),
         (select concat_ws('/', t.id, t.made) from t),
         (select md5(string_agg(k.xmin::text, '/' order by k.ordinal)) from t join tool_calls k on k.turn_id = t.id),
         (select string_agg(a.tool_call_id::text, '/' order by a.tool_call_id) from approvals a where a.work_item_id = p_work_item_id and a.decision is null),
         (select concat_ws('/', i.id, i.consumed_at)
            from inbox i where i.work_item_id = p_work_item_id and i.kind <> 'child_result' order by i.created_at desc limit 1),
         nullif(concat_ws('/',
           (select md5(string_agg(concat_ws('/', j.id, j.deleted_at), ' '))
              from (select j.id, j.deleted_at from journal_entries j where j.work_item_id = p_work_item_id order by j.created_at desc, j.id desc limit 60) j),
           (select c.id from work_checkpoints c where c.work_item_id = p_work_item_id order by c.created_at desc, c.id desc limit 1)), ''),
         (select md5(string_agg(concat_ws('/', c.id, c.state, c.state_reason, u.calls), ' ' order by c.id))
            from w join work_items c on c.root_id = w.root_id and c.id <> w.id
            left join lateral (select sum(u.model_calls) as calls from work_usage u where u.work_item_id = c.id) u on true),
         (select string_agg(concat_ws('/', b.resource, b.amount, b.spent, b.reserved), ' ' order by b.resource)
            from budgets b where b.work_item_id = p_work_item_id),
         (select max(f.created_at)::text from work_items f where f.fork_turn_id is not null),
         (select md5(string_agg(concat_ws('/', c.key, c.mode, c.is_binding, c.changed_at, c.ends_at, c.focus_id), ' ' order by c.key))
            from claims c where c.work_item_id = p_work_item_id);
$$;

comment on function work_changes(uuid) is
  'Change markers for one work item: item (its state), focus (the attempt), turn (the newest), calls (its calls), approvals (calls that wait for one), inbox (the newest message to it), journal (the newest entries of journal_log(), and the checkpoint), below (the other items of its tree), budgets, forks (of any item), claims (that it holds). See ledger_changes(). All null: there is no such item.';
