-- The reverse of session_import(): writes a session as another program stores its own, so that it can continue there. It contains what the next request would
-- contain, from the rows that requests are made of. What a program cannot represent is reported, never dropped silently.

create or replace function session_export(p_session text, p_format text, p_cwd text default null)
  returns table (n bigint, record json, left_out text)
  language plpgsql
  volatile
  rows 500
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_place record;
  v_item work_items;
  v_session uuid;
  v_cwd text;
  v_pieces export_piece[];
  v_said export_piece[];
begin
  -- It writes nothing. It calls functions that are volatile because of their random markers: see context_window().
  if p_format is null or p_format not in ('claude-code', 'codex', 'work-ledger') then
    perform _raise_invalid(format('sessions cannot be exported for "%s"', coalesce(p_format, '(null)')), 'One of: claude-code, codex, work-ledger.');
  elsif octet_length(p_cwd) > 4000 or p_cwd !~ '^(/|[A-Za-z]:)' then
    perform _raise_invalid('p_cwd must be the absolute path of a directory, at most 4,000 bytes');
  end if;
  select * into v_place from _export_place(p_session, p_format = 'work-ledger');
  select * into v_item from work_items w where w.id = v_place.work_item_id;
  v_session := _export_id(p_format, coalesce((v_place.turn).id, v_item.id)::text);
  v_cwd := coalesce(p_cwd, (v_place.turn).workspace_path, v_item.params ->> 'cwd', v_item.workspace_dir);
  if p_format = 'work-ledger' then
    v_pieces := '{}';
  else
    v_pieces := array(select s from _export_stream(p_format, v_item, v_place.turn, v_place.elision_id) s);
  end if;
  v_said := array(select p from unnest(v_pieces) p where p.block is not null order by p.n);
  return query
    with made as (
      select r.n, r.record, null::text as left_out from _export_claude_code(v_said, v_session, v_cwd) r where p_format = 'claude-code'
      union all
      select r.n, r.record, null from _export_codex(v_said, v_session, v_cwd) r where p_format = 'codex'
      union all
      select 0, json_build_object('work_item_id', v_place.work_item_id, 'turn_id', (v_place.turn).id, 'cwd', v_cwd), null where p_format = 'work-ledger'
      union all
      select p.n, null, l.reason from unnest(v_pieces) p cross join unnest(p.left_out) as l(reason)
      union all
      select 9223372036854775807, null, l.reason from unnest(v_place.left_out) as l(reason)
    )
    select row_number() over w, m.record, m.left_out from made m window w as (order by m.n, m.record is null) order by 1;
end
$$;

comment on function session_export(text, text, text) is
  'A session as another program keeps its own, so that it can be gone on with there: select record from session_export(''…'', ''claude-code'') where record is not null order by n gives the lines of a file that "claude --resume" reads. "work-ledger resume SESSION --in claude-code" writes it where that program looks. p_session: a session, a work item (or the end of its id), a turn, or the id that a session had in the program that it was imported from. p_format: claude-code, codex, or work-ledger: then one record says where it goes on, {work_item_id, turn_id, cwd}, for work_fork(). p_cwd: the directory in which it goes on; null: where it worked, if that is known, else /. It holds what the next request would hold: what a compaction or closed blocks left out stays out, and their stubs are told. Calls of tools that the program has are its own calls, all others a text; the id of the new session follows from the turn. left_out (record is null): what could not be carried, once for each time. A session that is being driven is taken at its last turn whose calls have all ended; one without turns is its resumption packet. Secrets are redacted as in the rows. Writes nothing. Raises WL001, WL002, WL003 (erased).';

create or replace function _export_place(
    p_session text, p_is_settled boolean, out work_item_id uuid, out turn turns, out elision_id uuid, out left_out text[])
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_place record;
  v_waiting integer;
  v_is_over boolean;
begin
  select f.work_item_id, f.turn_id into v_place from _export_find(p_session) f;
  left_out := '{}';
  select t.* into turn from turns t where t.id = v_place.turn_id;
  work_item_id := coalesce(v_place.work_item_id, (turn).work_item_id);
  perform _refuse_erased(work_item_id), _refuse_erased((turn).work_item_id);
  elision_id := (turn).elision_id;
  while (turn).id is not null loop
    v_is_over := (select s.is_final from work_items w join _work_states() s on s.state = w.state where w.id = (turn).work_item_id);
    exit when (turn).turn_type = 'normal' and (turn).status = 'completed'
      and ((v_is_over and not p_is_settled) or not exists (select from tool_calls k where k.turn_id = (turn).id and k.completed_at is null));
    if (turn).turn_type = 'normal' then
      left_out := left_out || 'a turn that has not ended, with what it was told'::text;
      elision_id := null;
    end if;
    select t.* into turn from turns t where t.id = (turn).parent_turn_id;
    elision_id := coalesce(elision_id, (turn).elision_id);
  end loop;
  select count(*) into v_waiting from inbox i where i.work_item_id = _export_place.work_item_id and i.consumed_at is null;
  left_out := left_out || array_fill('a message that waits for its next request'::text, array[v_waiting]);
end
$$;

comment on function _export_place(text, boolean) is
  'Where a session is gone on with: its last turn whose response and results are there (p_is_settled false: also calls without a result, where nobody drives it any more); null: it has none. elision_id: the newest cut that applies. left_out: what comes after that turn. Raises WL001, WL002, WL003 (erased).';

create or replace function _export_find(p_session text, out work_item_id uuid, out turn_id uuid)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_session sessions;
  v_id uuid := case when p_session ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then p_session::uuid end;
  v_found integer;
begin
  select w.id into work_item_id from work_items w where w.id = v_id;
  if found then
    turn_id := _newest_turn(work_item_id);
    return;
  end if;
  select t.id into turn_id from turns t where t.id = v_id;
  if found then
    return;
  end if;
  v_session := session_find(p_session);
  if v_session.label is null then
    select count(*), min(s.label) into v_found, v_session.label from sessions s where s.origin_session_id = p_session and s.origin <> 'work-ledger';
    if v_found > 1 then
      perform _raise_invalid(format('%s sessions had the id "%s"', v_found, p_session), 'Put the program before the id, as in claude-code:ID.');
    end if;
    v_session := session_find(v_session.label);
  end if;
  if v_session.label is not null then
    turn_id := v_session.head_turn_id;
    work_item_id := (select f.work_item_id from foci f where f.session_label = v_session.label order by f.created_at desc, f.id desc limit 1);
    if turn_id is null and work_item_id is null then
      perform _raise_invalid(format('session "%s" has no turns', v_session.label));
    end if;
    return;
  end if;
  if p_session ~* '^[0-9a-f-]{6,35}$' then
    select count(*), (array_agg(w.id))[1] into v_found, work_item_id from work_items w where right(w.id::text, char_length(p_session)) = lower(p_session);
    if v_found > 1 then
      perform _raise_invalid(format('the ids of %s work items end with %s', v_found, p_session), 'Pass more of the id.');
    elsif v_found = 1 then
      turn_id := _newest_turn(work_item_id);
      return;
    end if;
  end if;
  raise exception using errcode = 'WL001', message = format('there is no session, work item or turn "%s"', _one_line(p_session, 200));
end
$$;

comment on function _export_find(text) is 'The work item and the newest turn that are meant by an id or a name: see session_export(). Raises WL001, WL002.';

create or replace function _export_id(p_format text, p_of text)
  returns uuid
  language sql
  immutable
  parallel safe
  -- In the form of random UUIDs, since programs check it.
  return overlay(overlay(md5(p_format || ' ' || p_of) placing '4' from 13) placing '8' from 17)::uuid;

comment on function _export_id(text, text) is 'An id in a session that is written for another program: the same for the same.';

create or replace function _export_at(p_at timestamptz)
  returns text
  language sql
  stable
  parallel safe
  return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

comment on function _export_at(timestamptz) is 'A time as other programs write it.';
