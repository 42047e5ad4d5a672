-- The hash chain of a work item's turns. Each turn is sealed when the next one begins. When the item ends, the remaining turns are sealed, and then the
-- item. A seal also contains the hash of the ledger's newest entry, which links the two chains.

create or replace function _message_words(p_salt uuid, p_message messages)
  returns bytea
  language sql
  stable
  parallel safe
  return coalesce(p_message.erased_hash, sha256(uuid_send(p_salt) || _sized(p_message.content::text) || _sized(p_message.sent_content::text)
    || _sized(p_message.context::text) || _sized(p_message.metadata::text)));

comment on function _message_words(uuid, messages) is 'The salted hash of the words of a message, which stays in erased_hash once they, or a quote in them, are erased.';

create or replace function _message_hash(p_salt uuid, p_message messages)
  returns bytea
  language sql
  stable
  parallel safe
  return sha256(
    _message_words(p_salt, p_message)
    || timestamptz_send(p_message.created_at)
    || convert_to(row(p_message.id, p_message.turn_id, p_message.sequence, p_message.role, p_message.source, p_message.external_id)::text, 'UTF8'));

comment on function _message_hash(uuid, messages) is 'The hash of a message: its words, salted, and what else is known of it.';

create or replace function _call_hash(p_salt uuid, p_call tool_calls)
  returns bytea
  language sql
  stable
  parallel safe
  return sha256(
    coalesce(p_call.erased_hash, sha256(uuid_send(p_salt) || _sized(p_call.input::text) || _sized(p_call.rewritten_input::text)
      || _sized(p_call.result::text) || _sized(p_call.value::text) || _sized(p_call.artifact_hash)))
    || timestamptz_send(p_call.created_at)
    || convert_to(row(
         p_call.id, p_call.turn_id, p_call.parent_call_id, p_call.ordinal, p_call.work_item_id, p_call.message_id, p_call.provider_id, p_call.given_id,
         p_call.tool_name, p_call.effect, p_call.status, p_call.is_error, p_call.is_truncated, p_call.code_run, p_call.attempts,
         p_call.spawned_work_item_id, p_call.end_message_id, p_call.external_id, extract(epoch from p_call.started_at),
         extract(epoch from p_call.completed_at), extract(epoch from p_call.wait_ends_at))::text, 'UTF8'));

comment on function _call_hash(uuid, tool_calls) is 'The hash of a tool call: its arguments and its result, salted, and what else is known of it.';

create or replace function _turn_hash(p_salt uuid, p_turn turns, p_message_count integer, p_call_count integer)
  returns bytea
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select sha256(
    coalesce(p_turn.erased_hash, sha256(uuid_send(p_salt) || _sized(p_turn.error::text) || _sized(p_turn.workspace_path)))
    || timestamptz_send(p_turn.started_at) || timestamptz_send(p_turn.completed_at)
    || sha256(convert_to(row(
         p_turn.id, p_turn.parent_turn_id, p_turn.depth, p_turn.turn_type, p_turn.status, p_turn.work_item_id, p_turn.focus_id, p_turn.iteration,
         p_turn.config_hash, p_turn.block, p_turn.elision_id, p_turn.fork_turn_id, p_turn.provider, p_turn.model, p_turn.role, p_turn.stop_reason,
         p_turn.response_id, p_turn.request_id, p_turn.call_count, p_turn.input_tokens, p_turn.output_tokens, p_turn.cached_input_tokens,
         p_turn.cache_write_tokens, p_turn.reasoning_tokens, p_turn.chain_tokens, p_turn.reserved_tokens, p_turn.reserved_money, p_turn.duration_ms,
         p_turn.first_token_ms, p_turn.external_id)::text, 'UTF8'))
    || coalesce((select string_agg(_message_hash(p_salt, m), '' order by m.sequence)
                   from (select * from messages where turn_id = p_turn.id order by id limit p_message_count) m), '')
    || coalesce((select string_agg(_call_hash(p_salt, k), '' order by k.parent_call_id is not null, k.ordinal, k.id)
                   from (select * from tool_calls where turn_id = p_turn.id order by parent_call_id is not null, ordinal, id limit p_call_count) k), ''));
$$;

comment on function _turn_hash(uuid, turns, integer, integer) is 'The hash of a turn that is over, of the first p_message_count messages that were stored with it and its first p_call_count calls.';

create or replace function _item_hash(p_salt uuid, p_item work_items)
  returns bytea
  language sql
  stable
  parallel safe
  return sha256(
    coalesce(p_item.erased_hash,
      sha256(uuid_send(p_salt) || _sized(p_item.description) || _sized(p_item.params::text) || _sized(p_item.outcome_data::text)))
    || timestamptz_send(p_item.created_at) || timestamptz_send(p_item.resolved_at)
    || convert_to(row(
         p_item.id, p_item.parent_id, p_item.root_id, p_item.work_type, p_item.source, p_item.submitted_by, p_item.idempotency_key,
         p_item.external_id, p_item.state)::text, 'UTF8'));

comment on function _item_hash(uuid, work_items) is 'The hash of a work item that is over: its task, its outcome and how it ended.';

create or replace function _seal_link(p_previous bytea, p_seal seals, p_hash bytea, p_entry_link bytea)
  returns bytea
  language sql
  stable
  parallel safe
  return sha256(
    coalesce(p_previous, sha256(uuid_send(p_seal.work_item_id))) || p_hash || coalesce(p_entry_link, sha256(uuid_send(p_seal.work_item_id)))
    || timestamptz_send(p_seal.created_at)
    || convert_to(row(p_seal.work_item_id, p_seal.n, p_seal.turn_id, p_seal.message_count, p_seal.call_count, p_seal.ledger_count)::text, 'UTF8')
    || coalesce(p_seal.words, ''));

comment on function _seal_link(bytea, seals, bytea, bytea) is 'seals.link: the hash of the link before it (null: it is the first), of what is sealed, and of the link of the ledger''s newest entry by then (null: it had none).';

create or replace function _seal(p_work_item_id uuid, p_turn_id uuid, p_message_count integer, p_call_count integer)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_salt uuid;
  v_seal seals;
  v_previous bytea;
  v_entry_link bytea;
begin
  v_seal.work_item_id := p_work_item_id;
  v_seal.turn_id := p_turn_id;
  v_seal.message_count := p_message_count;
  v_seal.call_count := p_call_count;
  v_seal.created_at := _now();
  -- Finds the newest entry the same way as _complete_entry().
  select f.salt, f.ledger_count,
         (select l.link from work_ledger l where l.work_item_id = f.work_item_id and l.seq <= f.ledger_count order by l.seq desc limit 1),
         s.n, s.link
    into v_salt, v_seal.ledger_count, v_entry_link, v_seal.n, v_previous
    from fences f
    left join lateral (select * from seals where work_item_id = f.work_item_id order by n desc limit 1) s on true
   where f.work_item_id = p_work_item_id;
  v_seal.n := coalesce(v_seal.n, 0) + 1;
  v_seal.words := _sealed_words(v_salt, v_seal);
  v_seal.link := _seal_link(v_previous, v_seal, _sealed_hash(v_salt, v_seal), v_entry_link);
  insert into seals select v_seal.*;
end
$$;

comment on function _seal(uuid, uuid, integer, integer) is 'Adds a seal to the chain of a work item, whose fence the caller holds: of a turn with its first messages and calls, or (p_turn_id null) of the item.';

create or replace function _sealed_hash(p_salt uuid, p_seal seals)
  returns bytea
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hash bytea;
begin
  if p_seal.turn_id is null then
    v_hash := (select _item_hash(p_salt, w) from work_items w where w.id = p_seal.work_item_id);
  else
    v_hash := (select _turn_hash(p_salt, t, p_seal.message_count, p_seal.call_count) from turns t where t.id = p_seal.turn_id);
  end if;
  if p_seal.words is null then
    return v_hash; -- a seal made by an earlier version covers less
  end if;
  return sha256(v_hash || sha256(convert_to(coalesce(_sealed_facts(p_seal), ''), 'UTF8')));
end
$$;

comment on function _sealed_hash(uuid, seals) is 'The hash of what a seal stands for, as it is now; null: it is gone.';

create or replace function _turns_unsealed(p_work_item_id uuid, p_since uuid)
  returns table (turn_id uuid, message_count integer, call_count integer)
  language sql
  stable
begin atomic
  select t.id, m.n::integer, k.n::integer
    from turns t
    left join lateral (
      select s.message_count, s.call_count from seals s where s.turn_id = t.id and s.work_item_id = t.work_item_id order by s.n desc limit 1) s on true
    cross join lateral (select count(*) as n from messages where turn_id = t.id) m
    cross join lateral (select count(*) as n, count(*) filter (where completed_at is null) as open from tool_calls where turn_id = t.id) k
   where t.work_item_id = p_work_item_id and t.id >= coalesce(p_since, '00000000-0000-0000-0000-000000000000') and t.completed_at is not null
     and k.open = 0 and (m.n, k.n) is distinct from (s.message_count, s.call_count)
   order by t.id;
end;

comment on function _turns_unsealed(uuid, uuid) is 'Turns of a work item from p_since on (null: all) that are over, with all their calls, and of which something is not sealed.';

create or replace function _turns_seal(p_work_item_id uuid, p_is_over boolean)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _seal(f.work_item_id, u.turn_id, u.message_count, u.call_count)
     from fences f
    -- Starts at the newest sealed turn, to which an import may have added, so the cost does not grow with the conversation.
     left join lateral (
       select turn_id from seals where work_item_id = f.work_item_id and turn_id is not null and not p_is_over order by n desc limit 1) s on true
    cross join lateral _turns_unsealed(f.work_item_id, s.turn_id) u
    where f.work_item_id = p_work_item_id and f.salt is not null;
end
$$;

comment on function _turns_seal(uuid, boolean) is 'Seals the turns of a work item, whose fence the caller holds, that are over. p_is_over: all of them, since nothing follows; else from the newest sealed one on.';

create or replace function _item_seal(p_item work_items)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if _salt(p_item.id) is null then
    return;
  end if;
  perform _turns_seal(p_item.id, true);
  -- A task of Agent OS can still change after its end.
  perform _seal(p_item.id, null, 0, 0) where p_item.work_type <> 'ldg:task';
end
$$;

comment on function _item_seal(work_items) is 'Seals all turns of a work item that has just ended, whose fence the caller holds, and then the item.';
