-- Completes and checks every ledger entry, whoever inserts its row: it is within its limits, contains no secrets, is linked to the previous entry, and its
-- words can be searched. For an entry of plain words, ledger_append() does all of this except the search itself. Such a row comes with its link, as do
-- restored and replicated rows, and is not checked again.

create or replace function _complete_entry()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_changes json;
  v_broken text;
  v_count integer;
  v_salt uuid;
  v_previous bytea;
begin
  -- Checked here and not in a WHEN condition, which would be prepared again for each statement.
  if new.link = '' then
    if _hints_at_secret(new.content) or new.data is not null or new.keep is not null then
      if _may_hold_secret(new.content) or _may_hold_secret(new.data::text) or _may_hold_secret(new.keep::text) then
        v_changes := _redact_columns('work_ledger', to_json(new), '{content,data,keep}');
        if v_changes is not null then
          new := json_populate_record(new, v_changes);
        end if;
      end if;
    end if;
    -- One expression checks all limits, and is short for an entry of plain words: every expression is prepared again in each transaction.
    if (new.content ~ '\S' and octet_length(new.content) <= 16384 and new.data is null and new.keep is null
        and new.retracts is null and new.entry_type <> 'retraction' and new.trust is null) is not true then
      v_broken := case
        when new.content !~ '\S' then 'content_is_not_blank'
        when octet_length(new.content) > 16384 then 'content_is_at_most_16_kib'
        when octet_length(new.data::text) > 65536 then 'data_is_at_most_64_kib'
        when new.keep is not null and new.entry_type <> 'step' then 'only_steps_keep'
        when not cardinality(new.keep) between 1 and 20 then 'keep_names_at_most_20'
        when (new.entry_type = 'retraction') <> (new.retracts is not null) then 'retractions_name_an_entry'
        when not new.trust = any (_trust_classes()) then 'trust_is_known' end;
      if v_broken is not null then
        raise exception using
          errcode = 'check_violation',
          message = format('new row for relation "%s" violates check constraint "%s"', tg_table_name, v_broken),
          schema = tg_table_schema, table = tg_table_name, constraint = v_broken;
      end if;
    end if;
    -- Only the newest number that the counter gave out is free: the primary key rejects earlier ones. Entries that are restored before the fence of their
    -- item pass.
    select f.ledger_count, f.salt, case when f.salt is not null then
             -- In this form, without a sequential scan, no plan is as good as the primary key, even if the table is new and has no statistics. The
             -- scan ends at that entry; with only an upper bound on the number it would look at all entries of the page.
             (select l.link from work_ledger l
               where l.work_item_id = new.work_item_id and l.seq >= new.seq - 1 and l.seq < new.seq order by l.seq desc limit 1) end
      into v_count, v_salt, v_previous
      from fences f where f.work_item_id = new.work_item_id;
    if new.seq not between 1 and coalesce(v_count, new.seq) then
      raise exception using
        errcode = 'WL002',
        message = format('entry %s of work item %s does not come next: its ledger has %s', new.seq, new.work_item_id, v_count),
        hint = 'ledger_append() numbers entries.';
    end if;
    new.link := case when v_salt is not null then _entry_link(v_previous, v_salt, new) end;
  end if;
  if current_setting('session_replication_role') = 'replica' then
    null; -- search_entries is replicated or restored separately
  elsif new.retracts is not null then
    delete from search_entries
     where source = 'ledger' and id = (select l.id from work_ledger l where l.work_item_id = new.work_item_id and l.seq = new.retracts);
  elsif new.is_inherited or new.erased_hash is not null then
    null; -- a search finds the original
  elsif octet_length(new.content) > 1000 then
    perform _search_add('ledger', new.id, new.work_item_id, new.content, new.created_at);
  else
    -- Does without _search_add(), whose changed setting takes a tenth of an append: no word of a short text is too long.
    insert into search_entries (source, id, work_item_id, words, created_at)
    values ('ledger', new.id, new.work_item_id, _search_words(new.content), new.created_at)
    on conflict do nothing;
  end if;
  return new;
end
$$;

comment on function _complete_entry() is
  'Trigger: a ledger entry that does not bring its link loses its secrets, is within its limits, has a number that the counter in its item''s fence has given out and is linked to the one before it, if the item has a chain. Each is added to search_entries; what a retraction names is taken out there. Instead of CHECKs, which cost more, and with their errors. Raises 23514, WL002.';

create or replace trigger complete_entry before insert on work_ledger for each row execute function _complete_entry();
alter table work_ledger enable always trigger complete_entry;
