-- What a fence copies from its item is the same at every moment, and the lease is in no table: only its hash is.
begin;
select plan(15);

create function pg_temp.fence(p_id uuid default item()) returns text language sql as $$
  select format('attempt %s%s%s%s', e.attempt, case when e.focus_id is not null then ', under way' end, case when e.lease_hash is not null then ', driven' end, case when e.is_over then ', over' end)
    from fences e join work_items w on w.id = e.work_item_id
   where e.work_item_id = p_id and e.focus_id is not distinct from w.focus_id and e.attempt = w.attempts and e.is_over = (w.resolved_at is not null) $$;

select agent('{"tools": ["look"]}', '{"recover": {"max_attempts": 3}}');
select submit();
select is(pg_temp.fence(), 'attempt 0', 'submitted');
select claim();
select is(pg_temp.fence(), 'attempt 1, under way, driven', 'claimed');
select is((select lease_hash from item), sha256(uuid_send(lease())), 'the fence has the hash of the lease');
select is_empty($$ select from work_items w where to_jsonb(w)::text like '%' || lease() || '%' union all select from fences e where to_jsonb(e)::text like '%' || lease() || '%'
  union all select from foci f where to_jsonb(f)::text like '%' || lease() || '%' $$, 'nobody reads the lease itself');
select begin_iteration(), iteration_release(item(), lease());
select is(pg_temp.fence(), 'attempt 1, under way', 'given back');
select drive();
select answer('[["look"]]'), run(), iteration_finish(item(), lease());
select is(pg_temp.fence(), 'attempt 1, under way', 'between two iterations');
select claim();
update work_items set focus_id = null, state = 'queued' where id = item();
select is(pg_temp.fence(), 'attempt 1', 'a lease ends with its attempt, also by hand');
update foci set lease_owner = null, lease_expires_at = null, outcome = 'failed', ended_at = _now();
select claim();
select is(pg_temp.fence(), 'attempt 2, under way, driven', 'the next attempt');
select from work_complete(item(), 'Done', p_lease => lease());
select is(pg_temp.fence(), 'attempt 2, over', 'completed');
select throws_ok($$ select ledger_append(item(), 'note', 'late', p_lease => lease()) $$, 'WL003', null, 'and nothing more is written');

-- Every way to an item.
select is(pg_temp.fence((journal_session_create('c', 'Do it')).id), 'attempt 0', 'a session that another program journals');
select is((select is_journal from fences e join work_items w on w.id = e.work_item_id where w.work_type = 'journal'), true, 'is known as one');
select is((session_import('{"format": "codex", "sessionId": "s", "exchanges": [], "raw": []}') ->> 'session'), 'codex:s', 'a recorded run');
select ability_invoke('ldg:task:save', '{"task": {"id": "t", "systemPrompt": "x", "createdAt": 1, "updatedAt": 1}}');
select is_empty($$ select id from work_items w where pg_temp.fence(w.id) is null $$, 'every item has a fence that agrees');
select is_empty($$ select from work_ledger_doctor() where code = 'invariants' and severity <> 'fine' $$, 'and the doctor finds none that does not');

select * from finish();
rollback;
