-- Checks what may become a ledger entry: its type, its size, and its data against their schema.

-- Inlined: a function call would cost a twentieth of an append.
create or replace function _is_plain_entry(p_entry_type text, p_content text, p_data jsonb, p_keep text[])
  returns boolean
  language sql
  immutable
  parallel safe
  return p_entry_type = any (_ledger_entry_types()) and p_content ~ '\S' and octet_length(p_content) <= 1000 and p_data is null and p_keep is null;

comment on function _is_plain_entry(text, text, jsonb, text[]) is
  'True: an entry of a few words alone, as nearly all are, which _ledger_entry_check() need not look at. Otherwise false or null.';

create or replace function _ledger_entry_check(p_entry_type text, p_content text, p_data jsonb, p_keep text[])
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_entry_type = any (_ledger_entry_types()) is not true then
    perform _check_word('an entry type', p_entry_type, _ledger_entry_types());
  end if;
  if coalesce(p_content, '') !~ '\S' then
    perform _raise_invalid('a ledger entry needs content');
  end if;
  if octet_length(p_content) > 16384 then
    perform _raise_invalid(format('a ledger entry can have at most 16 KiB, not %s bytes', octet_length(p_content)),
      'Record what matters in a few sentences, or in several entries.');
  end if;
  if octet_length(p_data::text) > 65536 then
    perform _raise_invalid(format('the data of a ledger entry can have at most 64 KiB, not %s bytes', octet_length(p_data::text)));
  end if;
  if p_keep is not null then
    if p_entry_type <> 'step' then
      perform _raise_invalid(format('only a step can have keep, not %s', _an(p_entry_type)));
    elsif array_ndims(p_keep) > 1 or cardinality(p_keep) > 20
      or exists (select from unnest(p_keep) n where coalesce(n, '') !~ '\S' or octet_length(n) > 2000) then
      perform _raise_invalid('keep must be a list of at most 20 paths, URLs or artifact handles',
        'Name what you will change or quote next, most needed first.');
    end if;
  end if;
end
$$;

comment on function _ledger_entry_check(text, text, jsonb, text[]) is 'Raises WL002 for arguments that cannot be a ledger entry.';

create or replace function _ledger_warn(p_entry text, p_content text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  raise warning '% has % bytes: every agent that reads this ledger pays for it', p_entry, octet_length(p_content)
    using hint = 'Say what matters in a few sentences; put structured values into data, and long text into an artifact.';
end
$$;

comment on function _ledger_warn(text, text) is 'Warns of an entry that is over 4 KiB. p_entry: which.';

create or replace function _ledger_data_check(p_entry_type text, p_data jsonb)
  returns void
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _schema_check(format('the data of %s', _an(p_entry_type)), s.schema::jsonb, p_data) from ledger_data_schemas s where s.entry_type = p_entry_type;
$$;

comment on function _ledger_data_check(text, jsonb) is 'Checks the data of an entry against the schema of its type, if it has one. Raises WL002.';

create or replace function ledger_data_schema_save(p_entry_type text, p_schema json)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  p_schema := _storable(p_schema);
  perform _check_word('an entry type', p_entry_type, _ledger_entry_types());
  if p_schema is null then
    delete from ledger_data_schemas where entry_type = p_entry_type;
  elsif json_typeof(p_schema) <> 'object' or (p_schema ->> 'type') is distinct from 'object'
        or coalesce(json_typeof(p_schema -> 'required'), 'array') <> 'array'
        or coalesce(json_typeof(p_schema -> 'properties'), 'object') <> 'object' then
    perform _raise_invalid(
      'the schema of entries'' data must be a JSON Schema with "type": "object"', 'Its "properties" must be an object, its "required" a list.');
  else
    insert into ledger_data_schemas (entry_type, schema) values (p_entry_type, p_schema)
    on conflict (entry_type) do update set schema = excluded.schema, updated_at = _now();
  end if;
  return p_entry_type;
end
$$;

comment on function ledger_data_schema_save(text, json) is
  'Sets the schema for the data of an entry type, a JSON Schema of type object; null: no schema. Returns the entry type. From then on ledger_append() raises WL002 for data that does not fit. It checks required keys, types, enums, ranges of numbers and the items of top-level lists, and additionalProperties = false; with a JavaScript engine, the whole schema (see json_schema_errors()). Raises WL002.';
