-- Gives transcripts to workers to import, and records how far each was read and when to try again.

create or replace function transcripts_take(p_age interval default interval '10 seconds', p_limit integer default 10)
  returns table (project_key text, session_id text, subpath text, project text, submitted_by name)
  language plpgsql
  volatile
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
  if p_age is null or p_age not between interval '0' and interval '1 year' or p_limit is null or p_limit < 0 then
    perform _raise_invalid('p_age must be from nothing to a year, and p_limit given and not negative');
  end if;
  return query
    with due as (
      select t.id
        from transcripts t
       where t.understood_seq < t.last_seq and t.deleted_at is null and t.updated_at < _now() - p_age
         and (t.taken_ends_at is null or t.taken_ends_at < _now()) and (t.retry_at is null or t.retry_at <= _now())
         and (t.submitted_by = session_user or _writes_for_all())
       order by t.updated_at
       limit p_limit
         for no key update skip locked
    )
    update transcripts t set taken_ends_at = _now() + interval '5 minutes'
      from due d where t.id = d.id
    returning t.project_key, t.session_id, nullif(t.subpath, ''), t.project, t.submitted_by;
end
$$;

comment on function transcripts_take(interval, integer) is
  'Transcripts whose newest entries nobody has read into turns for p_age, for the caller to read: at most p_limit, the oldest first. Nobody else is given them for five minutes, and one that could not be read waits, see transcript_understood(). Whoever appends reads them itself; this finds what a program left that ended. session_import() stores what was read, transcript_understood() says so. Raises WL002.';

create or replace function transcript_understood(p_project_key text, p_session_id text, p_subpath text, p_seq integer, p_problem text default null)
  returns table (understood_seq integer, wait_seconds double precision)
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_of transcripts;
begin
  select * into v_of from transcripts
   where session_id = p_session_id and project_key = p_project_key and subpath = coalesce(p_subpath, '') for no key update;
  if not found then
    perform _raise_invalid(format('there is no transcript of session %s', _one_line(coalesce(p_session_id, 'null'), 100)));
  end if;
  perform _transcript_check(v_of);
  if p_problem is not null then
    -- 1, 2, 4 ... minutes, at most a day: a later version may understand what this one does not.
    update transcripts t
       set problem = _cap_text(p_problem, 1000), failure_count = t.failure_count + 1, taken_ends_at = null,
           retry_at = _now() + make_interval(mins => least(power(2, least(t.failure_count, 11)), 1440)::integer)
     where t.id = v_of.id
    returning * into v_of;
  elsif p_seq > v_of.understood_seq then
    update transcripts t
       set understood_seq = least(p_seq, t.last_seq), problem = null, failure_count = 0, retry_at = null, taken_ends_at = null
     where t.id = v_of.id
    returning * into v_of;
  end if;
  return query select v_of.understood_seq, greatest(extract(epoch from v_of.retry_at - _now()), 0)::double precision;
end
$$;

comment on function transcript_understood(text, text, text, integer, text) is
  'Says that the entries of a transcript up to number p_seq were read into turns; 0 only asks. p_problem: why they could not be read: they count as not read, and are tried again after a minute, then after two, four and so on, at most a day, until something was read. Returns {understood_seq, wait_seconds}: up to which entry it was read, and for how long nobody is to try again. Raises WL002, 42501.';
