-- Schema matrix: work in every situation, twice: submitted by the login whose calls are tried, and by another one. Beside it, what
-- tells which rows of a ledger a transaction has written, and whose they are. Run by a superuser on a ledger with roles, with the
-- names of the two logins in matrix.caller and matrix.another; the caller must be a client meanwhile.

create schema matrix;
grant usage on schema matrix to public;

-- Words by which a result is known to tell of the work of one of them.
create function matrix.word(p_side text) returns text language sql immutable as $$ select case p_side when 'own' then 'quokka' when 'held' then 'kiwi' else 'wombat' end $$;

create table matrix.work (
  place integer generated always as identity, side text, kind text, item uuid, child uuid, lease uuid, turn uuid, call uuid, code uuid, entry_call uuid, risky uuid,
  hook_run uuid, session text, message uuid, focus uuid, journal_entry uuid, conversation text, handle text, task text, recorded text);

-- As whom work is submitted: whoever is logged in then.
create function matrix.run_as(p_side text, p_sql text) returns text language plpgsql as $$
declare
  v_result text;
begin
  perform set_config('session_authorization', current_setting(case p_side when 'own' then 'matrix.caller' else 'matrix.another' end), true);
  execute p_sql into v_result;
  perform set_config('session_authorization', 'postgres', true);
  return v_result;
end
$$;

create function matrix.begin(p_item uuid) returns void language plpgsql as $$
begin
  if work_test.drive(p_item) ->> 'kind' = 'run_hook' then
    perform hook_record(p_item, work_test.lease(p_item), (work_test.stage(p_item) ->> 'hook_run_id')::uuid, '{"exit_code": 0}');
    perform work_test.begin_iteration(p_item);
  end if;
end
$$;

create function matrix.play(p_item uuid, p_says jsonb) returns void language plpgsql as $$
begin
  perform matrix.begin(p_item), work_test.answer(p_says, p_item), work_test.run(p_says, p_item), iteration_finish(p_item, work_test.lease(p_item));
end
$$;

create function matrix.recorded(p_side text, p_exchanges integer) returns text language sql as $$
  select jsonb_build_object('format', 'codex', 'sessionId', 'run-' || p_side, 'prompt', 'Feed the ' || matrix.word(p_side), 'raw', '[]'::jsonb, 'exchanges', jsonb_agg(jsonb_build_object(
           'id', format('%s-e%s', p_side, n), 'at', format('2026-01-01T00:0%s:00Z', n), 'model', 'm', 'text', 'The ' || matrix.word(p_side),
           'calls', jsonb_build_array(jsonb_build_object('id', format('%s-c%s', p_side, n), 'name', 'Read', 'input', '{"file_path": "a"}'::jsonb, 'result', 'x', 'isError', false)))))::text
    from generate_series(1, p_exchanges) n
$$;

-- Notes an item in its situation, with what belongs to it.
create function matrix.note(p_side text, p_kind text, p_item uuid, p_lease uuid default null) returns uuid language plpgsql as $$
declare
  v_item work_items := (select w from work_items w where w.id = p_item);
  v_turn uuid := coalesce((select id from turns where work_item_id = p_item order by depth desc limit 1), v_item.fork_turn_id);
begin
  insert into matrix.work (side, kind, item, child, lease, turn, call, code, entry_call, risky, hook_run, session, message, focus, journal_entry, conversation, handle, task, recorded)
  select p_side, p_kind, p_item, (select id from work_items where parent_id = p_item limit 1), p_lease, v_turn,
         coalesce(work_test.named('look', p_item), work_test.named('erase', p_item), (select id from tool_calls where work_item_id = p_item limit 1)),
         work_test.named('execute_code', p_item), work_test.named('ledger_append', p_item), work_test.named('erase', p_item),
         (select id from hook_runs where work_item_id = p_item limit 1),
         coalesce((select session_label from foci where work_item_id = p_item order by attempt desc limit 1), _session_of(v_turn)),
         (select id from messages where turn_id = v_turn order by sequence limit 1),
         (select id from foci where work_item_id = p_item order by attempt desc limit 1),
         (select id from journal_entries where work_item_id = p_item limit 1),
         v_item.params ->> 'conversationId',
         -- Who holds a lease has the handle of what another's work has kept.
         (select left(content_hash, 16) from artifact_uses where work_item_id = case when p_kind ~ '^held' then (select item from matrix.work where side = 'another' and kind = 'open') else p_item end),
         v_item.external_id, case p_kind when 'imported' then matrix.recorded(p_side, 3) end;
  return p_item;
end
$$;

create function work_test.named(p_tool text, p_item uuid) returns uuid language sql stable as $$
  select id from tool_calls where work_item_id = p_item and tool_name = p_tool and parent_call_id is null order by created_at desc, ordinal limit 1
$$;

create function matrix.submitted(p_side text, p_kind text) returns uuid language sql as $$
  select matrix.run_as(p_side, format('select id from work_submit(''chore'', %L, p_external_id => %L, p_dedup_key => %L, p_idempotency_key => %L, p_budget => ''{"calls": 100}'')',
    'Feed the ' || matrix.word(p_side), p_kind || '-' || p_side, p_kind || '-' || p_side, p_kind || '-' || p_side))::uuid
$$;

create function matrix.driven(p_side text, p_kind text, p_is_answered boolean) returns uuid language plpgsql as $$
declare
  v_item uuid := matrix.submitted(p_side, p_kind);
begin
  perform matrix.begin(v_item);
  if p_is_answered then
    perform work_test.answer('[{"type": "tool_use", "id": "a", "name": "look", "input": {"at": "a"}}, {"type": "tool_use", "id": "b", "name": "execute_code", "input": {"code": "look()"}},
      {"type": "tool_use", "id": "c", "name": "erase", "input": {}}, {"type": "tool_use", "id": "d", "name": "ledger_append", "input": {"entry_type": "note", "content": "x"}}]', v_item);
    perform spawn_child_work(v_item, 'chore', 'A part', p_lease => work_test.lease(v_item));
  end if;
  return v_item;
end
$$;

create function matrix.seen(p_side text, p_type text) returns jsonb language sql as $$
  select jsonb_build_array(jsonb_build_array('look', repeat(matrix.word(p_side) || ' ', 10000)), jsonb_build_array(p_type, 'A ' || matrix.word(p_side) || ' was seen'))
$$;

-- Ten items of one side; those that are held follow when both sides have theirs.
create function matrix.fill(p_side text) returns void language plpgsql as $$
declare
  v_word text := matrix.word(p_side);
  v_finished uuid;
  v_item uuid;
begin
  v_item := matrix.submitted(p_side, 'open');
  perform matrix.play(v_item, matrix.seen(p_side, 'step')), work_test.give_up(v_item), matrix.note(p_side, 'open', v_item);

  v_item := matrix.submitted(p_side, 'waiting');
  perform matrix.play(v_item, '[["erase"]]'), matrix.note(p_side, 'waiting', v_item);

  v_item := matrix.submitted(p_side, 'between');
  perform matrix.play(v_item, matrix.seen(p_side, 'note')), matrix.note(p_side, 'between', v_item);

  v_item := matrix.driven(p_side, 'driven', true);
  perform matrix.note(p_side, 'driven', v_item);

  v_finished := matrix.submitted(p_side, 'finished');
  perform matrix.play(v_finished, matrix.seen(p_side, 'finding')), matrix.play(v_finished, to_jsonb(array['The ' || v_word || ' is fed'])), matrix.note(p_side, 'finished', v_finished);

  v_item := matrix.submitted(p_side, 'erased');
  perform matrix.play(v_item, matrix.seen(p_side, 'finding')), matrix.play(v_item, '["Done"]'), matrix.note(p_side, 'erased', v_item);
  perform count(*) from work_erase(v_item, 'It was to go');

  v_item := matrix.run_as(p_side, format('select session_import(%L) ->> ''work_item_id''', matrix.recorded(p_side, 2)))::uuid;
  perform matrix.note(p_side, 'imported', v_item);
  perform matrix.run_as(p_side, format('select appended from transcript_append(''-home'', %L, null, %L, ''{u}'')', 'kept-' || p_side,
    jsonb_build_array(jsonb_build_object('type', 'user', 'about', v_word))));
  update transcripts set work_item_id = v_item where session_id = 'kept-' || p_side;

  -- Of what another one did.
  v_item := matrix.run_as(p_side, format('select id from work_fork(%L, %L)', (select turn from matrix.work where kind = 'finished' and (side <> p_side or p_side = 'another') order by side <> p_side limit 1), 'And the ' || v_word || '?'))::uuid;
  perform matrix.note(p_side, 'forked', v_item);

  v_item := matrix.run_as(p_side, format('select id from journal_session_create(%L, %L)', 'talk-' || p_side, 'About the ' || v_word))::uuid;
  perform matrix.run_as(p_side, format('select id from journal_log(%L, ''thinking'', %L)', v_item, jsonb_build_object('reasoning', v_word))), matrix.note(p_side, 'journal', v_item);

  perform matrix.run_as(p_side, format('select ability_invoke(''ldg:batch:save'', %L)', jsonb_build_object('entities', jsonb_build_array(
    jsonb_build_object('task', jsonb_build_object('id', 'task-' || p_side, 'systemPrompt', 'Feed the ' || v_word, 'createdAt', 1700000000000, 'updatedAt', 1700000000001)),
    jsonb_build_object('message', jsonb_build_object('id', 'message-' || p_side, 'taskId', 'task-' || p_side, 'role', 'user', 'content', 'The ' || v_word, 'timestamp', 1700000000002))))));
  perform matrix.note(p_side, 'task', (select id from work_items where external_id = 'task-' || p_side));
end
$$;

-- The work item that a row belongs to; null: to none.
create function matrix.item_of(p_rel regclass, p_row jsonb) returns uuid language plpgsql stable security definer set search_path = ledger, pg_temp set quote_all_identifiers = off as $$
declare
  v_turn uuid := (p_row ->> 'turn_id')::uuid;
  v_label text := coalesce(p_row ->> 'session_label', p_row ->> 'label');
begin
  if p_rel::text = 'work_items' then
    return p_row ->> 'id';
  elsif p_rel::text = 'graphile_worker._private_jobs' then
    return (select id from work_items where id::text = split_part(p_row ->> 'key', ':', 2));
  elsif p_rel::text ~ '^session' then -- a name belongs to the attempt that has it, not to those whose turns it points at
    return (select work_item_id from foci where session_label = v_label order by attempt desc limit 1);
  elsif p_rel::text = 'awareness_shown' then -- who was told, not of whom
    return coalesce((select work_item_id from foci where id = (p_row ->> 'focus_id')::uuid), (p_row ->> 'focus_id')::uuid);
  elsif p_rel::text = 'transcript_entries' then
    return (select work_item_id from transcripts where id = (p_row ->> 'transcript_id')::uuid);
  elsif p_rel::text = 'message_lints' then
    return (select t.work_item_id from messages m join turns t on t.id = m.turn_id where m.id = (p_row ->> 'message_id')::uuid);
  end if;
  return coalesce(
    (p_row ->> 'work_item_id')::uuid, (p_row ->> 'root_id')::uuid,
    (select work_item_id from turns where id = v_turn),
    (select work_item_id from foci where id = (p_row ->> 'focus_id')::uuid),
    (select work_item_id from tool_calls where id = (p_row ->> 'tool_call_id')::uuid));
end
$$;

-- A note of a project, whose work is nobody's here.
select memory_write('/memories/a.md', 'A note', 'shop');

create table matrix.relations as
  select oid, oid::regclass::text as name from pg_class
   where relkind = 'r' and (relnamespace = 'ledger'::regnamespace or oid = to_regclass('graphile_worker._private_jobs'));
-- Where each row was before any call, and which transactions came after.
create table matrix.baseline (rel oid, place tid, item uuid, primary key (rel, place));
create table matrix.since (xid xid);

create function matrix.take_baseline() returns void language plpgsql as $$
declare
  v_rel regclass;
begin
  for v_rel in select oid from matrix.relations loop
    execute format('insert into matrix.baseline select %s, t.ctid, matrix.item_of(%s, to_jsonb(t)) from %s t', v_rel::oid, v_rel::oid, v_rel);
  end loop;
  insert into matrix.since select pg_snapshot_xmax(pg_current_snapshot())::xid;
end
$$;

-- Whose rows this transaction has written: own, another's, or the name of a table, where rows belong to no work. p_held: the item whose
-- lease the caller was given, which counts as its own with all that is below it.
create function matrix.written(p_held uuid) returns setof text language plpgsql volatile security definer set search_path = ledger, pg_temp set quote_all_identifiers = off as $$
declare
  v_rel record;
begin
  for v_rel in
    select r.oid::regclass as rel, r.name from matrix.relations r
     -- Counted, whatever was rolled back; what there is to see is looked at below.
     where pg_stat_get_xact_tuples_inserted(r.oid) + pg_stat_get_xact_tuples_updated(r.oid) + pg_stat_get_xact_tuples_deleted(r.oid) > 0
  loop
    return query execute format($query$
      with written(item) as (
        select matrix.item_of(%1$s, to_jsonb(t)) from %2$s t, matrix.since s where age(t.xmin) <= age(s.xid)
        union all
        select b.item from matrix.baseline b where b.rel = %1$s and not exists (select from %2$s t, matrix.since s where t.ctid = b.place and age(t.xmin) > age(s.xid)))
      select distinct case
               when w.id is null then %3$L
               when w.submitted_by = session_user or r.root_id = w.root_id then 'own'
               else 'another''s' end
        from written
        left join work_items w on w.id = item
        left join work_items r on r.id = $1 $query$, v_rel.rel::oid, v_rel.rel, v_rel.name) using p_held;
  end loop;
end
$$;

-- Ids of another's work, which whoever reads the ledger has.
create view matrix.told as select kind, item::text, turn::text, call::text from matrix.work where side = 'another';
grant select on matrix.told to public;
