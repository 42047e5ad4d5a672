-- What people and other agents said to an agent. It survives elisions, compactions, forks and further attempts.

create or replace function _told(p_turn_id uuid, p_is_compaction boolean)
  returns table (n bigint, said text)
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
  select row_number() over (order by c.age desc, s.n), s.said
    from chain c
    cross join lateral _told_in(c.id) s
   where c.parent_turn_id is not null or not p_is_compaction or s.n >= 10000; -- what came with the task stays with it
$$;

comment on function _told(uuid, boolean) is
  'What people and other agents said up to a turn, oldest first. p_is_compaction: only in the turn''s own attempt, without what came with the task, which stays anyway; else in all attempts.';

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
  v_told text[] := array(select t.said from _told(p_turn_id, p_is_compaction) t order by t.n);
  v_most integer;
  v_from integer := 1;
begin
  -- All of it whole or, if there is no room, as much of each as lets all of them fit.
  select max(m) into v_most
    from unnest(array[2000000000, 8000, 4000, 2000, 1000]) m
   where (select sum(case when char_length(said) <= m then char_length(said) + 4 else m + 200 end) from unnest(v_told) said) <= p_max_chars;
  if v_most is null then
    v_most := 1000;
    select coalesce(max(t.n) + 1, 1) into v_from
      from (select u.n, sum(least(char_length(u.said), v_most + 200)) over (order by u.n desc) as chars from unnest(v_told) with ordinality as u(said, n)) t
     where t.chars > p_max_chars;
  end if;
  return concat_ws(E'\n',
    case when v_from > 1 then format('- (%s older: artifact_read("%s") has all of it)', v_from - 1, left(_content_hash(_told_whole(v_told)), 16)) end,
    _told_whole(array(
      select case when char_length(u.said) <= v_most then u.said else _excerpt(u.said, v_most) end
        from unnest(v_told[v_from :]) with ordinality as u(said, n) order by u.n)));
end
$$;

comment on function _told_text(uuid, boolean, integer) is
  'What _told() returns, as a list of about p_max_chars characters. Long messages are shortened to head, tail and handle; if not all fit even so, only the newest are listed, with a handle for all. Empty: nothing was said.';

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
