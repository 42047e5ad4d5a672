-- The state of another program's session, for others that may continue it.

create or replace function _worker_lost_at(p_item work_items)
  returns timestamptz
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select f.lease_expires_at from foci f
   where f.id = p_item.focus_id and p_item.state in ('claimed', 'running') and f.lease_owner is not null and f.lease_expires_at <= _now();
$$;

comment on function _worker_lost_at(work_items) is 'When the lease of an item ran out without being renewed: its worker is dead, and the next sweep of another one takes the item. Null: it is driven, or waits.';

create or replace function _journal_state(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case
           when p_item.state in ('completed', 'failed', 'cancelled') then 'completed'
           when p_item.state = 'dead' then 'crashed'
           when p_item.state = 'paused' then 'paused'
           when p_item.state = 'created' and p_item.work_type = 'journal' and p_item.heartbeat_ends_at <= _now() then 'crashed'
           when _worker_lost_at(p_item) is not null then 'crashed'
           else 'active'
         end;
$$;

comment on function _journal_state(work_items) is 'active, paused, completed or crashed. Crashed is never stored: it follows from an expired lease, or from another program''s heartbeat that stopped.';

create or replace function _is_recorded(p_item work_items)
  returns boolean
  language sql
  immutable
  parallel safe
  return p_item.work_type in ('import', 'journal') and p_item.external_id like 'import:%';

comment on function _is_recorded(work_items) is 'Whether the turns of an item are those of another program, read from its record: a file, or a transcript stored here.';
