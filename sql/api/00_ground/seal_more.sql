-- Further contents of a seal, in addition to its turn or item: the decisions on the turn's calls, how the item's attempts ended, which artifacts belong to it.
-- Names, times and states are hashed as they are. Words are hashed separately with the item's salt (seals.words), so that the hash survives
-- erasure. All of it is final when it is sealed: a turn's once its calls are over, an item's once the item has ended. The parts for items are kept out
-- of the query for turns, since a turn is sealed in each iteration.

create or replace function _sealed_facts(p_seal seals)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_seal.turn_id is not null then
    return (
      select string_agg(row(
               a.tool_call_id, a.work_item_id, a.risk, extract(epoch from a.requested_at), extract(epoch from a.expires_at), a.decision, a.decided_by, a.person,
               extract(epoch from a.decided_at))::text, '' order by a.tool_call_id)
        from tool_calls k
        join approvals a on a.tool_call_id = k.id
       where k.turn_id = p_seal.turn_id);
  end if;
  return (
      select row(w.faculty, w.priority, w.depth, w.attempts, w.max_attempts, extract(epoch from w.started_at), w.ledger_epoch, w.spawn_tool_call_id)::text
          -- Absent values add nothing, so that seals made before these columns existed stay valid.
          || case when num_nonnulls(w.continues_id, w.continued_by, w.continued_with) > 0
                  then row(w.continues_id, w.continued_by, w.continued_with)::text else '' end
          || coalesce(string_agg(row(
               f.id, f.attempt, f.faculty, f.faculty_hash, f.session_label, f.iteration, f.lease_generation, f.outcome, f.awaited_by,
               extract(epoch from f.created_at), extract(epoch from f.ended_at))::text, '' order by f.attempt), '')
        from work_items w
        -- An import adds to its only attempt, which no worker ever ran, after that has ended.
        left join foci f on f.work_item_id = w.id and f.lease_generation > 0
       where w.id = p_seal.work_item_id
       group by w.id);
end
$$;

comment on function _sealed_facts(seals) is 'Of a turn: the decisions on its calls; of an item: who was asked for it, from which it goes on and who let it, how often it was tried, and how each attempt ended. Without words.';

create or replace function _sealed_words(p_salt uuid, p_seal seals)
  returns bytea
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_seal.turn_id is not null then
    return coalesce((
      select sha256(uuid_send(p_salt) || string_agg(_sized(a.input_hash) || _sized(a.reason), '' order by a.tool_call_id))
        from tool_calls k
        join approvals a on a.tool_call_id = k.id
       where k.turn_id = p_seal.turn_id), '');
  end if;
  return (
      select sha256(uuid_send(p_salt) || _sized(w.state_reason)
               || case when w.result_schema is not null then _sized(w.result_schema::text) else '' end
               || coalesce((
                    select string_agg(_sized(f.error::text), '' order by f.attempt) from foci f where f.work_item_id = w.id and f.lease_generation > 0), '')
               || coalesce((
                    select string_agg(_sized(u.content_hash) || _sized(a.media_type), '' order by u.content_hash)
                      from artifact_uses u
                      left join artifacts a on a.content_hash = u.content_hash
                     where u.work_item_id = w.id and exists (select from foci f where f.work_item_id = w.id and f.lease_generation > 0)), ''))
        from work_items w
       where w.id = p_seal.work_item_id);
end
$$;

comment on function _sealed_words(uuid, seals) is
  'seals.words: of a turn, the salted hash of the arguments that were decided on and of what was said with each decision (empty: nothing was); of an item, of the reason for its state, the shape that its result is to have, the errors of its attempts and the list of its artifacts.';
