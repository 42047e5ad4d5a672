-- Turns in the tree: which sessions contain them, what led to them, whether a conversation can continue from them.

create or replace function sessions_with_turn(p_turn_id uuid)
  returns table (session_label text, is_current boolean, first_at timestamptz)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive below(id) as (
    select p_turn_id
    union all
    select t.id from below b join turns t on t.parent_turn_id = b.id
  )
  select h.session_label, bool_or(s.head_turn_id = h.turn_id), min(h.changed_at)
    from below b
    join session_history h on h.turn_id = b.id
    join sessions s on s.label = h.session_label
   group by h.session_label
   order by min(h.changed_at), h.session_label;
$$;

comment on function sessions_with_turn(uuid) is 'The sessions whose conversation contains or once contained a turn, whether it still does (is_current), and since when (first_at).';

create or replace function turn_ancestry(p_turn_id uuid)
  returns setof turns
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive chain(turn) as (
    select t from turns t where t.id = p_turn_id
    union all
    select p from chain c join turns p on p.id = (c.turn).parent_turn_id
  )
  select (c.turn).* from chain c order by (c.turn).depth;
$$;

comment on function turn_ancestry(uuid) is 'A turn and all its ancestors, from the root.';

create or replace function turn_workspace_set(p_turn_id uuid, p_ref text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if coalesce(p_ref, '') !~ '\S' or char_length(p_ref) > 1000 then
    perform _raise_invalid('p_ref must be a name of at most 1,000 characters');
  elsif p_turn_id is null then
    perform _raise_not_found('turn', p_turn_id);
  end if;
  perform _hold_off_erasing((select work_item_id from turns where id = p_turn_id));
  insert into turn_workspaces (turn_id, ref) values (p_turn_id, p_ref);
exception
  when unique_violation then
    raise exception using errcode = 'WL007', message = format('the state of the files at turn %s is already recorded', p_turn_id);
  when foreign_key_violation then
    perform _raise_not_found('turn', p_turn_id);
end
$$;

comment on function turn_workspace_set(uuid, text) is
  'Records the state of the files at a turn. p_ref: how to find that state again (a git commit, a snapshot). The agent of a fork from that turn is told. Can be set once per turn. Raises WL001, WL002, WL003 (erased), WL007 (already set).';

create or replace function turn_archive(p_turn_id uuid, p_is_archived boolean default true)
  returns turns
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
begin
  select * into v_turn from turns where id = p_turn_id for no key update;
  if not found then
    perform _raise_not_found('turn', p_turn_id);
  elsif v_turn.completed_at is null then
    raise exception using errcode = 'WL008', message = format('turn %s has not ended', v_turn.id);
  end if;
  update turns set archived_at = case when p_is_archived then coalesce(archived_at, _now()) end where id = v_turn.id returning * into v_turn;
  return v_turn;
end
$$;

comment on function turn_archive(uuid, boolean) is
  'Marks a turn as kept for the record only, or removes the mark, and returns its row. Turns are never deleted, and conversations that contain the turn do not change. Raises WL001, WL008 (it is not over).';

create or replace function _fork_turn(p_parent turns, p_work_item_id uuid)
  returns uuid
  language sql
  immutable
  parallel safe
  return case when p_parent.work_item_id is distinct from p_work_item_id then p_parent.id else p_parent.fork_turn_id end;

comment on function _fork_turn(turns, uuid) is 'For a child turn of p_parent in work item p_work_item_id: the newest ancestor that belongs to another work item; null: there is none.';

create or replace function _forked_at(p_fork_turn_id uuid)
  returns setof turns
  language sql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive forked as (
    select t.* from turns t where t.id = p_fork_turn_id
    union all
    select t.* from forked f join turns t on t.id = f.fork_turn_id
  )
  select * from forked;
$$;

comment on function _forked_at(uuid) is
  'The turns at which a conversation branched off another work item''s, nearest first: the given fork_turn_id, then that of the turn there, and so on. Conversations have few of these, however many turns they have.';

create or replace function _session_of(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(
    (select f.session_label from turns t join foci f on f.id = t.focus_id where t.id = p_turn_id),
    (select session_label from session_history where turn_id = p_turn_id order by id limit 1));
$$;

comment on function _session_of(uuid) is 'The session in which a turn was made; null if it is in none.';

create or replace function _turn_settled(p_turn_id uuid)
  returns turns
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
begin
  select * into v_turn from turns where id = p_turn_id;
  if not found then
    perform _raise_not_found('turn', p_turn_id);
  end if;
  if v_turn.status <> 'completed' or exists (select from tool_calls where turn_id = p_turn_id and completed_at is null) then
    raise exception using errcode = 'WL008', message = format('turn %s has not ended: its response or results of its calls are missing', p_turn_id);
  end if;
  perform _refuse_erased(v_turn.work_item_id);
  return v_turn;
end
$$;

comment on function _turn_settled(uuid) is 'The turn, checked: it is completed and its calls are settled, so a conversation can continue from it. Raises WL001, WL003 (erased), WL008.';
