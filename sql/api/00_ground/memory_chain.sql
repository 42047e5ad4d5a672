-- The hash chain of a notes file: each version contains the hash of the previous one. Words are hashed separately; that hash stays when they are erased.

create or replace function _memory_words(p_version memory_versions)
  returns bytea
  language sql
  stable
  parallel safe
  return coalesce(p_version.erased_hash, sha256(uuid_send(p_version.salt) || _sized(p_version.content) || _sized(p_version.why)));

comment on function _memory_words(memory_versions) is 'The salted hash of the words of a version; of an erased one, what it was. Null: its file has no chain.';

create or replace function _memory_link(p_previous bytea, p_version memory_versions)
  returns bytea
  language sql
  stable
  parallel safe
  return sha256(
    coalesce(p_previous, sha256(uuid_send(p_version.file_id))) || _memory_words(p_version) || timestamptz_send(p_version.created_at)
    || convert_to(row(
         p_version.file_id, p_version.version, p_version.command, p_version.path, p_version.work_item_id, p_version.tool_call_id,
         p_version.written_by, p_version.person, p_version.idempotency_key)::text, 'UTF8'));

comment on function _memory_link(bytea, memory_versions) is 'memory_versions.link: the hash of the link before it (null: it is the first), of the version''s words and of all that is known of it.';

create or replace function _seal_version()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_file memory_files := (select f from memory_files f where f.id = new.file_id);
begin
  -- A dump may restore versions before their file, and replication may bring them before the file's row counts them.
  if new.version not between 1 and coalesce(v_file.version, new.version) and not _is_replicating() then
    raise exception using errcode = 'WL002', message = format('version %s of a note file is not the next one', new.version),
      hint = 'memory_command() and memory_write() number versions.';
  end if;
  -- A restored row brings its own link. This trigger's name sorts after redact, so it hashes what is stored.
  if new.link = '' then
    new.salt := case when v_file.is_chained then gen_random_uuid() end;
    new.link := case when v_file.is_chained then
      _memory_link((select v.link from memory_versions v where v.file_id = new.file_id and v.version < new.version order by v.version desc limit 1),
                   new) end;
  end if;
  return new;
end
$$;

comment on function _seal_version() is 'Trigger: a version of a file of notes has the next number, and is linked to the one before it, if the file has a chain. Raises WL002.';

create or replace trigger seal_version before insert on memory_versions for each row execute function _seal_version();
alter table memory_versions enable always trigger seal_version;
