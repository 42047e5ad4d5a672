-- How long a claim holds, and what happens when it ends. 45_ledger/claims.sql creates claims.

create or replace function _claim_stands(p_claim claims, p_item work_items)
  returns boolean
  language sql
  stable
  return p_claim.ends_at > _now() and p_claim.focus_id is not distinct from p_item.focus_id;

comment on function _claim_stands(claims, work_items) is 'Whether a claim belongs to the running attempt, or the session, and has not expired.';

create or replace function _claim_holds(p_claim claims, p_item work_items)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Heartbeats do not renew claims: a claim lives as long as the attempt's lease or the session's heartbeat, which are read here.
  select _claim_stands(p_claim, p_item) and _journal_state(p_item) = 'active';
$$;

comment on function _claim_holds(claims, work_items) is 'Whether a claim of an item holds now.';

create or replace function _claims_held(p_item work_items)
  returns integer
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_claims integer := (select count(*) from claims c where c.work_item_id = p_item.id and _claim_stands(c, p_item));
begin
  -- Check once what all of them depend on: a _claim_holds() for each would take a millisecond.
  return case when v_claims > 0 and _journal_state(p_item) = 'active' then v_claims else 0 end;
end
$$;

comment on function _claims_held(work_items) is 'How many claims of an item hold now.';

create or replace function _claims_lapse()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- No fence is needed: everyone who reads a lapsed row already treats it as absent.
  delete from claims c
   where (c.work_item_id, c.key) in (
     select k.work_item_id, k.key from claims k join work_items w on w.id = k.work_item_id
      where not _claim_holds(k, w)
      order by k.work_item_id, k.key
      limit 1000
        for no key update of k skip locked);
end
$$;

comment on function _claims_lapse() is 'Removes claims that have lapsed: their time is over, or the program of their session is silent. The sweep calls it; even before that, lapsed claims hold nobody up.';

create or replace function _claim_released(p_scope text, p_key text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _enqueue_all(array(select k.work_item_id from _claim_waiters(p_key) k));
end
$$;

comment on function _claim_released(text, text) is
  'Wakes items that wait for a claim that has ended in any way: with its attempt, a pause, a lost lease, its time, or by claim_release() or claim_break(). It runs at commit, after all locks except those on jobs, with the rights of the ledger''s owner. p_scope: the project of its work, else its directory. Each item finds out under its own lock whether it is next, see _claim_held_by().';

create or replace function _claim_ended()
  returns trigger
  language plpgsql
  security definer -- at commit the current user is again the one who is logged in, who may only call functions
  set search_path = pg_catalog, @extschema@, pg_temp
  -- It runs after the transaction has locked jobs, and locks more of them in no fixed order, so this is shorter than deadlock_timeout.
  set lock_timeout = '100ms'
as $$
begin
  begin
    perform _claim_released(old.scope, old.key);
  exception when lock_not_available or deadlock_detected then
    null; -- the sweep will notice that the wait is over
  end;
  return null;
end
$$;

comment on function _claim_ended() is 'Trigger: a claim has ended, see _claim_released().';

do $do$
begin
  -- Constraint triggers have no "create or replace".
  if not exists (select from pg_trigger where tgrelid = 'claims'::regclass and tgname = 'claim_ended') then
    create constraint trigger claim_ended after delete on claims deferrable initially deferred
      for each row execute function _claim_ended();
  end if;
end
$do$;
