-- Skip pointers along a conversation. They find any of its turns, or where two conversations diverge, in a number of steps that is logarithmic
-- in the depth.

create or replace function _leap_of(p_parent turns)
  returns uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Two leaps of the same length are joined into one of twice that length.
  select coalesce((
    select case when p_parent.depth - a.depth = a.depth - b.depth then b.id else p_parent.id end
      from turn_sizes s
      join turns a on a.id = s.leap_turn_id
      join turn_sizes r on r.turn_id = a.id
      join turns b on b.id = r.leap_turn_id
     where s.turn_id = p_parent.id), p_parent.id);
$$;

comment on function _leap_of(turns) is 'Where a child of this turn leaps to; see turn_sizes.leap_turn_id.';

create or replace function _ancestor_at(p_turn_id uuid, p_depth integer)
  returns turns
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns := (select t from turns t where t.id = p_turn_id);
  v_leap turns;
begin
  while v_turn.depth > p_depth loop
    select a.* into v_leap from turn_sizes s join turns a on a.id = s.leap_turn_id where s.turn_id = v_turn.id;
    if not found or v_leap.depth < p_depth or v_leap.id = v_turn.id then
      select * into v_leap from turns where id = v_turn.parent_turn_id;
    end if;
    v_turn := v_leap;
  end loop;
  return v_turn;
end
$$;

comment on function _ancestor_at(uuid, integer) is 'The ancestor of a turn at a depth; the turn itself, if it is no deeper.';

create or replace function _common_turn(p_a uuid, p_b uuid)
  returns turns
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_a turns := _ancestor_at(p_a, (select depth from turns where id = p_b));
  v_b turns := _ancestor_at(p_b, v_a.depth);
  v_leaps record;
begin
  if v_a.id is null or v_b.id is null then
    return null;
  end if;
  while v_a.id <> v_b.id loop
    -- Turns at the same depth leap equally far.
    select x.leap_turn_id as a, y.leap_turn_id as b into v_leaps
      from turn_sizes x join turn_sizes y on y.turn_id = v_b.id where x.turn_id = v_a.id;
    if v_leaps.a is null or v_leaps.a = v_leaps.b or v_leaps.a = v_a.id then
      v_leaps.a := v_a.parent_turn_id;
      v_leaps.b := v_b.parent_turn_id;
    end if;
    select * into v_a from turns where id = v_leaps.a;
    select * into v_b from turns where id = v_leaps.b;
  end loop;
  return v_a;
end
$$;

comment on function _common_turn(uuid, uuid) is 'The newest turn that two turns have in common, themselves included; null: they belong to different conversations.';
