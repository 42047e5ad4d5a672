-- Retention policies: what the ledger erases automatically, and when: see work_retention_run().

create or replace function retention_policy_save(
    p_age interval,
    p_state text default null,
    p_faculty text default null,
    p_keep text default 'nothing',
    p_export regprocedure default null)
  returns retention_policies
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_policy retention_policies;
  v_faculty text;
begin
  perform _check_word('a final state', coalesce(p_state, 'completed'), '{completed,failed,dead,cancelled}');
  perform _check_word('a choice of what to keep', p_keep, '{nothing,ledger,all}'), _check_key('a faculty', p_faculty);
  v_faculty := _retention_faculty(p_faculty);
  if p_age is null then
    delete from retention_policies where state is not distinct from p_state and faculty is not distinct from v_faculty returning * into v_policy;
    return v_policy;
  end if;
  perform _check_span('p_age', p_age);
  if p_export is not null and not exists (
       select from pg_proc p where p.oid = p_export and p.prokind = 'f' and p.pronargs = 1 and p.proargtypes[0] = 'uuid'::regtype) then
    perform _raise_invalid('an export function must have one uuid argument: the root of the tree to be erased');
  end if;
  if not (select pg_has_role(session_user, c.relowner, 'usage') or p.proowner = c.relowner
            from pg_class c, pg_proc p where c.oid = 'retention_policies'::regclass and p.oid = p_export) then
    raise exception using
      errcode = 'insufficient_privilege',
      message = format('%s does not belong to the ledger''s owner, as whom it would run', p_export),
      hint = 'Only the owner may name functions of others.';
  end if;
  insert into retention_policies (state, faculty, age, keep, export_function)
  values (
    p_state, v_faculty, p_age, p_keep,
    (select format('%I.%I', n.nspname, p.proname) from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.oid = p_export))
  on conflict (state, faculty) do update
     set age = excluded.age, keep = excluded.keep, export_function = excluded.export_function, updated_at = _now()
  returning * into v_policy;
  return v_policy;
end
$$;

comment on function retention_policy_save(interval, text, text, text, regprocedure) is
  'Says what is erased by itself: select retention_policy_save(''90 days''), or select retention_policy_save(''30 days'', ''failed'', ''engineer'', ''ledger''). p_age: since the last item of a tree ended; null: removes the policy. p_state: completed, failed, dead or cancelled, of the root; null: any. p_faculty: that worked on the root last (if none did, that it was submitted to); null: any. A name is that of the ledger''s faculty or, if only one project has one of it and the ledger none, of that project''s; name@project is a project''s. A policy is for that one faculty, never for another of its name. Of several policies that fit, the one that names the faculty counts, then the one that names the state. p_keep: nothing; ledger (task, outcome and ledger entries stay, the conversation goes); all (an exception). p_export: a function f(uuid), called with the root before its tree goes; an error keeps the tree, and it is tried again after an hour. The policy for any state and any faculty, if it keeps nothing, is also that of versions of notes which no work item wrote: their words go so long after another version followed. Without a policy nothing is erased. Returns the retention_policies row. Raises WL002 (several projects have one of that name), 42501 (a function that does not belong to the ledger''s owner, by somebody else).';

create or replace function _retention_faculty(p_faculty text)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_at integer := strpos(p_faculty, '@');
  v_refs text[];
begin
  if v_at > 0 then
    return concat_ws('@', left(p_faculty, v_at - 1), _project_check(substr(p_faculty, v_at + 1)));
  end if;
  v_refs := array(select _faculty_ref(f) from faculties f where f.is_current and f.name = p_faculty order by f.project nulls first);
  -- The name under which a policy is listed identifies it.
  if cardinality(v_refs) = 0 or v_refs[1] = p_faculty or exists (select from retention_policies p where p.faculty = p_faculty) then
    return p_faculty;
  elsif cardinality(v_refs) > 1 then
    perform _raise_invalid(format('several projects have a faculty "%s"', p_faculty), format('Name one: %s.', array_to_string(v_refs[:9], ', ')));
  end if;
  return v_refs[1];
end
$$;

comment on function _retention_faculty(text) is 'The reference of the faculty that is meant, see retention_policy_save(); null for null. Raises WL002.';

create or replace view v_retention_policies with (security_invoker = true) as
  select p.*
    from retention_policies p
   order by p.faculty, p.state;

comment on view v_retention_policies is 'What is erased by itself, see retention_policy_save().';
