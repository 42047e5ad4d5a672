-- Returns transcripts that other programs stored in the ledger, as they came.

create or replace function transcript_load(p_project_key text, p_session_id text, p_subpath text default null, p_after integer default 0,
                                           p_limit integer default null, p_bytes bigint default null)
  returns table (seq integer, entry text)
  language plpgsql
  stable
  rows 1000
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_length integer;
  v_bytes bigint := 0;
begin
  if p_limit < 0 or p_bytes < 1 then
    perform _raise_invalid('p_limit must not be negative, and p_bytes at least 1');
  end if;
  -- The length is known without reading the words, so entries beyond p_bytes are not read.
  for seq, entry, v_length in
    select e.seq, e.entry, octet_length(e.entry)
      from transcript_entries e
     where e.transcript_id = (select t.id from transcripts t
                               where t.session_id = p_session_id and t.project_key = p_project_key and t.subpath = coalesce(p_subpath, '')
                                 and t.deleted_at is null)
       and e.seq > coalesce(p_after, 0)
     order by e.seq
     limit p_limit
  loop
    return next;
    v_bytes := v_bytes + v_length;
    exit when v_bytes >= p_bytes;
  end loop;
end
$$;

comment on function transcript_load(text, text, text, integer, integer, bigint) is
  'The entries of a transcript in the order in which they were appended, each as JSON in a text; seq counts them from 1. p_subpath: null: the main transcript. p_after: only those after this number. p_limit: the first of these; null: all. p_bytes: the last one is that with which they are so many bytes (of UTF-8) together; null: all. None: it was never written, or is erased. Raises WL002.';

create or replace function transcript_list(p_project_key text, p_session_id text default null)
  returns table (session_id text, subpath text, mtime bigint, entry_count integer, summary text)
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select t.session_id, nullif(t.subpath, ''), floor(extract(epoch from t.updated_at) * 1000)::bigint, t.last_seq,
         case when t.summary_seq = t.last_seq then t.summary end
    from transcripts t
   where t.project_key = p_project_key and t.deleted_at is null and t.last_seq > 0 and (p_session_id is null or t.session_id = p_session_id)
   order by t.updated_at desc, t.id;
$$;

comment on function transcript_list(text, text) is
  'The transcripts of a project key, or of one of its sessions, those that were appended to last first. subpath: null for a main one. mtime: when something was appended last, in milliseconds since 1970 by the clock of the database. summary: as transcript_append() was given it; null: it does not go to the end.';
