-- Hash chains of recorded rows. Each entry contains the hash of the previous one, so that none can be changed, moved or removed unnoticed.
-- Words are hashed separately, with a salt: erasing them keeps that hash, and the chain stays valid.

create or replace function _sized(p_text text)
  returns bytea
  language sql
  stable
  parallel safe
  return coalesce(int4send(octet_length(p_text)) || convert_to(p_text, 'UTF8'), int4send(-1));

comment on function _sized(text) is 'A text behind its length in bytes (-1 for null), so that no two lists of texts are hashed alike.';

create or replace function _salt(p_work_item_id uuid)
  returns uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select salt from fences where work_item_id = p_work_item_id;
$$;

comment on function _salt(uuid) is 'What is hashed before the words of a work item. Null: it has no chain, or is erased.';

create or replace function _is_chained()
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce((select is_on from ledger_chain), true);
$$;

comment on function _is_chained() is 'Whether a work item that is made now gets a chain, see ledger_chain_save().';

create or replace function _entry_hash(p_salt uuid, p_entry work_ledger)
  returns bytea
  language sql
  stable
  parallel safe
  return coalesce(p_entry.erased_hash,
    sha256(uuid_send(p_salt) || _sized(p_entry.content) || _sized(p_entry.data::text) || _sized(p_entry.keep::text)));

comment on function _entry_hash(uuid, work_ledger) is 'The salted hash of an entry''s words; of an erased one, what it was.';

-- Written so that PostgreSQL inlines it, and the functions it calls, into the caller: every append pays for it.
create or replace function _entry_link(p_previous bytea, p_salt uuid, p_entry work_ledger)
  returns bytea
  language sql
  stable
  parallel safe
  return sha256(
    coalesce(p_previous, sha256(uuid_send(p_entry.work_item_id))) || _entry_hash(p_salt, p_entry) || timestamptz_send(p_entry.created_at)
    || convert_to(row(
         p_entry.work_item_id, p_entry.seq, p_entry.id, p_entry.entry_type, p_entry.retracts, p_entry.trust, p_entry.attempt, p_entry.focus_id,
         p_entry.turn_id, p_entry.tool_call_id, p_entry.is_auto, p_entry.is_child_work, p_entry.is_inherited, p_entry.idempotency_key)::text, 'UTF8'));

comment on function _entry_link(bytea, uuid, work_ledger) is 'work_ledger.link: the hash of the link before it (null: it is the first), of the entry''s words and of all that is known of it.';
