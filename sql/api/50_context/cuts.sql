-- The cuts that a request uses: a chain of elisions, and how a new cut changes it.

create or replace function _elision_chain(p_elision_id uuid)
  returns elisions[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive chain(cut) as (
    select e from elisions e where e.id = p_elision_id
    union all
    select e from chain c join elisions e on e.id = (c.cut).previous_id
  )
  select array_agg(c.cut order by (c.cut).ordinal) from chain c;
$$;

comment on function _elision_chain(uuid) is 'The cuts that a request uses, given the newest, oldest first; null: none.';

create or replace function _with_cut(p_cuts elisions[], p_cut elisions)
  returns elisions[]
  language sql
  immutable
  parallel safe
  return (select array_agg(c order by c.ordinal) from unnest(p_cuts) c where p_cut.previous_id is not null and c.ordinal < p_cut.ordinal) || p_cut;

comment on function _with_cut(elisions[], elisions) is 'The cuts p_cuts after a compaction made p_cut, which replaces all of them; or, if it has a previous cut (selective), only the newest.';
