-- What people and other agents said to an agent. It survives elisions, compactions, forks and further attempts.

create or replace function _told(p_turn_id uuid, p_is_compaction boolean)
  returns table (n bigint, said text, is_person boolean)
  language sql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive chain as (
    select t.id, t.parent_turn_id, t.focus_id, 1 as age from turns t where t.id = p_turn_id
    union all
    select t.id, t.parent_turn_id, t.focus_id, c.age + 1
      from chain c
      join turns t on t.id = coalesce(c.parent_turn_id, case when not p_is_compaction then _earlier_head(c.focus_id) end)
  )
  select row_number() over (order by c.age desc, s.n), s.said, s.is_person
    from chain c
    cross join lateral _told_in(c.id) s
   where c.parent_turn_id is not null or not p_is_compaction or s.n >= 10000; -- what came with the task stays with it
$$;

comment on function _told(uuid, boolean) is
  'What people and other agents said up to a turn, oldest first. p_is_compaction: only in the turn''s own attempt, without what came with the task, which stays anyway; else in all attempts. is_person: a person said it.';

create or replace function _told_whole(p_told text[])
  returns text
  language sql
  immutable
  parallel safe
  return (select string_agg('- ' || _indent(u.said, '  '), E'\n' order by u.n) from unnest(p_told) with ordinality as u(said, n));

comment on function _told_whole(text[]) is 'What was said, as a list.';

create or replace function _told_text(p_turn_id uuid, p_is_compaction boolean, p_max_chars integer)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_told text[];
  v_is_person boolean[];
  v_people record;
  v_others record;
  v_shown text[];
  v_left_out integer;
begin
  select array_agg(t.said order by t.n), array_agg(t.is_person order by t.n) into v_told, v_is_person from _told(p_turn_id, p_is_compaction) t;
  select * into v_people from _told_fitting(v_told, v_is_person, p_max_chars);
  select * into v_others from _told_fitting(v_told, (select array_agg(not p) from unnest(v_is_person) p), p_max_chars - v_people.chars);
  select array_agg(coalesce(p.said, o.said) order by p.n) filter (where coalesce(p.said, o.said) is not null)
    into v_shown
    from unnest(v_people.shown) with ordinality as p(said, n)
    join unnest(v_others.shown) with ordinality as o(said, n) on o.n = p.n;
  v_left_out := cardinality(v_told) - coalesce(cardinality(v_shown), 0);
  return concat_ws(E'\n',
    case when v_left_out > 0 then format('- (%s more: artifact_read("%s") has all of it)', v_left_out, left(_content_hash(_told_whole(v_told)), 16)) end,
    _told_whole(v_shown));
end
$$;

comment on function _told_text(uuid, boolean, integer) is
  'What _told() returns, as a list of about p_max_chars characters. People''s words are cut last: others get the room that these leave. Long messages are shortened to head, tail and handle; if even so not all fit, only the newest are listed, with a handle for all. Empty: nothing was said.';

create or replace function _told_fitting(p_said text[], p_is_meant boolean[], p_max_chars integer, out shown text[], out chars integer)
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_most integer;
begin
  -- All of them in full or, if there is no room, as much of each as lets all of them fit.
  select max(m) into v_most
    from unnest(array[2000000000, 8000, 4000, 2000, 1000]) m
   where (select coalesce(sum(case when char_length(u.said) <= m then char_length(u.said) + 4 else m + 200 end), 0)
            from unnest(p_said, p_is_meant) as u(said, is_meant) where u.is_meant) <= p_max_chars;
  select array_agg(case when u.is_fitting then u.said end order by u.n), coalesce(sum(char_length(u.said) + 4) filter (where u.is_fitting), 0)
    into shown, chars
    from (select s.said, a.n,
                 a.is_meant and (v_most is not null
                   or sum(char_length(s.said)) filter (where a.is_meant) over (order by a.n desc) <= p_max_chars) as is_fitting
            from unnest(p_said, p_is_meant) with ordinality as a(said, is_meant, n)
            cross join lateral (
              select case when char_length(a.said) <= coalesce(v_most, 1000) then a.said else _excerpt(a.said, coalesce(v_most, 1000)) end) s(said)) u;
end
$$;

comment on function _told_fitting(text[], boolean[], integer) is
  'Of the messages that are meant, as much as fits into p_max_chars characters: each whole or shortened, if need be only the newest; null in place of each that is left out. chars: what they take.';

create or replace function _told_block(p_last_turn_id uuid, p_max_chars integer)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select E'=== WHAT YOU WERE TOLD ON THE WAY ===\n\n' || nullif(_told_text(p_last_turn_id, true, p_max_chars), '');
$$;

comment on function _told_block(uuid, integer) is 'What people and other agents said up to p_last_turn_id, for a compaction, which always keeps it; null: nothing was said.';

create or replace function _told_store(p_work_item_id uuid, p_turn_id uuid, p_is_compaction boolean, p_shown text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_told text[] := array(select t.said from _told(p_turn_id, p_is_compaction) t order by t.n);
begin
  perform _artifact_store(p_work_item_id, w.said)
     from unnest(v_told || _told_whole(v_told)) as w(said)
    where strpos(p_shown, left(_content_hash(w.said), 16)) > 0;
end
$$;

comment on function _told_store(uuid, uuid, boolean, text) is 'Stores as artifacts of a work item the messages whose handles are in p_shown.';
