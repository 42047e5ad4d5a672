-- The resumption packet: what another attempt, conversation or agent needs to continue. Never larger than requested.

create or replace function resumption_context(p_work_item_id uuid, p_target_tokens integer default 4000)
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
  v_model text;
  v_now record;
  v_open text[];
  v_packet jsonb;
  v_next jsonb;
  v_one record;
  v_prompt_chars integer := 200;
  v_line_chars integer := 100;
begin
  if p_target_tokens is null or p_target_tokens < 500 then
    perform _raise_invalid(format('a packet needs at least 500 tokens, not %s', p_target_tokens));
  end if;
  select * into v_item from work_items where id = p_work_item_id;
  if not found then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  v_model := _item_model(v_item.id);
  select * into v_now from _progress_of(v_item, null);
  v_open := _open_actions(v_now.plan, v_now.uncertain, v_now.children);

  -- First the essentials, in their shortest form: what was asked, what is open, what failed, what is uncertain.
  v_packet := jsonb_build_object(
    'originalPrompt', _shortened_to(v_item.description, v_prompt_chars),
    'workSummary', '', 'keyDecisions', '[]'::jsonb,
    'currentState', _one_line(_state_line(v_item, v_now.steps, v_now.asked), v_line_chars), 'filesModified', '[]'::jsonb,
    'pendingActions', (select coalesce(jsonb_agg(_one_line(a, v_line_chars) order by n), '[]') from unnest(v_open) with ordinality as x(a, n)),
    'errorHistory', (select coalesce(jsonb_agg(_one_line(e, v_line_chars) order by n), '[]') from unnest(v_now.errors) with ordinality as x(e, n)),
    'suggestedNextSteps', '[]'::jsonb, 'tokenCount', 0);
  if _packet_tokens(v_packet, v_model) > p_target_tokens then
    -- Lists only the newest five errors, and counts older ones.
    v_packet := jsonb_set(v_packet, '{errorHistory}', (select coalesce(jsonb_agg(e order by n), '[]') from (
      select e, n from jsonb_array_elements(v_packet -> 'errorHistory') with ordinality as x(e, n) where n <= 5
      union all select to_jsonb(format('and %s older ones', cardinality(v_now.errors) - 5)), 6 where cardinality(v_now.errors) > 5) y));
  end if;
  if _packet_tokens(v_packet, v_model) > p_target_tokens then
    perform _raise_invalid(format(
      'the essentials of work item %s need %s tokens, more than %s', v_item.id, _packet_tokens(v_packet, v_model),
      p_target_tokens),
      'Ask for a larger packet.');
  end if;

  -- Then whatever fits, most useful first; what does not fit is skipped.
  for v_one in
    select * from (
      select 1 as priority, 1::bigint as n, '{originalPrompt}'::text[] as field,
             to_jsonb(_shortened_to(v_item.description, least(20000, p_target_tokens))) as content, false as is_item
      union all select 2, 1, '{originalPrompt}', to_jsonb(_shortened_to(v_item.description, 20000)), false
      union all select 3, 1, '{currentState}', to_jsonb(_state_line(v_item, v_now.steps, v_now.asked)), false
      union all select 4, 1, '{pendingActions}', to_jsonb(v_open), false
      union all select 5, 1, '{suggestedNextSteps}', to_jsonb(
                         _next_steps(v_item, v_now.uncertain, v_now.plan, v_now.work, v_now.steps, v_now.asked)), false
      union all select 6, n, '{workSummary}', to_jsonb(_work_line(s, p_target_tokens)), true from unnest(v_now.work) with ordinality as x(s, n) where n <= 5
      union all select 7, n, '{keyDecisions}', to_jsonb(_one_line(d, 400)), true from unnest(v_now.decisions) with ordinality as x(d, n) where n <= 10
      union all select 8, n, '{filesModified}', to_jsonb(f), true from unnest(v_now.files) with ordinality as x(f, n) where n <= 200
      union all select 9, 1, '{errorHistory}', to_jsonb(v_now.errors), false
      union all select 10, n, '{workSummary}', to_jsonb(_work_line(s, p_target_tokens)), true
                  from unnest(v_now.work) with ordinality as x(s, n) where n > 5 and n <= 500
      union all select 11, n, '{keyDecisions}', to_jsonb(_one_line(d, 400)), true
                  from unnest(v_now.decisions) with ordinality as x(d, n) where n > 10 and n <= 200
    ) c order by priority, n
  loop
    v_next := jsonb_set(v_packet, v_one.field, case
      when not v_one.is_item then v_one.content
      when jsonb_typeof(v_packet #> v_one.field) = 'array' then (v_packet #> v_one.field) || jsonb_build_array(v_one.content)
      else to_jsonb(concat_ws(E'\n', '- ' || (v_one.content #>> '{}'), nullif(v_packet #>> v_one.field, ''))) end);
    if _packet_tokens(v_next, v_model) <= p_target_tokens then
      v_packet := v_next;
    end if;
  end loop;
  return jsonb_set(v_packet, '{tokenCount}', to_jsonb(_packet_tokens(v_packet, v_model)));
end
$$;

comment on function resumption_context(uuid, integer) is
  'What an agent needs to know to continue a work item: {originalPrompt, workSummary, keyDecisions, currentState, filesModified, pendingActions, errorHistory, suggestedNextSteps, tokenCount}, in at most p_target_tokens (500 or more), as estimated for its model. The task, the open parts of the plan, errors, and calls that may or may not have happened are always included, shortened if necessary. The same rows give the same packet. Raises WL001, WL002 (p_target_tokens too small, even for those).';

create or replace function _open_actions(p_plan text[], p_uncertain text[], p_children text[])
  returns text[]
  language sql
  immutable
  parallel safe
  return coalesce(p_plan, '{}')
    || (select coalesce(array_agg('may or may not have happened: ' || u), '{}') from unnest(p_uncertain) u)
    || p_children;

comment on function _open_actions(text[], text[], text[]) is 'The open actions of a work item, from the results of _progress_of(): the plan, uncertain calls, children.';

create or replace function _next_steps(p_item work_items, p_uncertain text[], p_plan text[], p_work text[], p_steps text[], p_asked text)
  returns text[]
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array_remove(array[
    case when cardinality(p_uncertain) > 0 then 'Check whether the uncertain calls took effect.' end,
    case
      when p_item.state in ('completed', 'failed', 'cancelled') and p_item.work_type not in ('journal', 'import') then null
      when cardinality(p_plan) > 0 then 'Continue with: ' || p_plan[1]
      when p_item.work_type = 'import' and p_work[1] ~ '^Said last: ' then 'Continue from its last answer: ' || _one_line(substr(p_work[1], 12), 300)
      when cardinality(p_steps) > 0 then 'Continue after: ' || _one_line(p_steps[1], 200)
      when p_asked is not null then 'Continue with what was asked last.'
      when p_item.attempts > 0 then 'Check how far it got, and continue.'
      else 'Begin.'
    end], null);
$$;

comment on function _next_steps(work_items, text[], text[], text[], text[], text) is 'What to do first when continuing a work item, from the results of _progress_of(). None for the ledger''s own work that is over; a session may continue.';

create or replace function _work_line(p_text text, p_max_chars integer)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _one_line(p_text, case when p_text ~ '^(Its own summary|Said last): ' then greatest(400, p_max_chars) else 400 end);
$$;

comment on function _work_line(text, integer) is 'One line of the work summary; the agent''s own summary may be longer.';

create or replace function export_for_resumption(p_work_item_id uuid, p_target_tokens integer default 4000)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_from work_items := _resumed_from(p_work_item_id);
begin
  if v_from.id is not null then
    p_target_tokens := p_target_tokens / 2;
  end if;
  return concat_ws(
    E'\n\n',
    case when v_from.id is not null then _packet_text(v_from.id, p_target_tokens, format(
      'What work item %s, shown below, continues (work item %s, %s), as data between the markers', p_work_item_id, v_from.id, _journal_state(v_from))) end,
    _packet_text(p_work_item_id, p_target_tokens, format(
      'Work to continue (work item %s), as data between the markers: continue its task, all else is what was recorded about it',
      p_work_item_id)));
end
$$;

comment on function export_for_resumption(uuid, integer) is
  'resumption_context() as text for a new conversation, between random markers that differ each time. For a session that journal_resume() made, the packet of the work item it continues comes first. p_target_tokens: for all of it. Raises WL001, WL002.';

create or replace function _packet_text(p_work_item_id uuid, p_target_tokens integer, p_says text)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_target integer := greatest(620, p_target_tokens) - 120;
  v_standing text;
  v_packet jsonb;
begin
  -- The standing takes a third of the room, unless the essentials need it.
  v_standing := _standing_of((select w from work_items w where w.id = p_work_item_id), null, 'packet', least(6000, v_target - 500) * 4 / 3);
  begin
    v_packet := resumption_context(p_work_item_id, v_target - coalesce(_tokens(char_length(v_standing), _item_model(p_work_item_id)), 0));
  exception when sqlstate 'WL002' then
    v_standing := null;
    v_packet := resumption_context(p_work_item_id, v_target);
  end;
  return _fenced(
    p_says,
    concat_ws(E'\n\n', E'## The task\n\n' || (v_packet ->> 'originalPrompt'), E'## Where it stands\n\n' || (v_packet ->> 'currentState'), v_standing,
      E'## Done\n\n' || nullif(v_packet ->> 'workSummary', ''), E'## Decided\n\n' || _listed(v_packet -> 'keyDecisions'),
      case when v_standing is null then E'## Files written\n\n' || _listed(v_packet -> 'filesModified') end,
      E'## Open\n\n' || _listed(v_packet -> 'pendingActions'), E'## Errors met\n\n' || _listed(v_packet -> 'errorHistory'),
      E'## Next\n\n' || _listed(v_packet -> 'suggestedNextSteps')));
end
$$;

comment on function _packet_text(uuid, integer, text) is 'resumption_context() as text between random markers, under a line that says what it is. Raises WL001, WL002.';

create or replace function _packet_tokens(p_packet jsonb, p_model text)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _tokens(char_length(p_packet::text) + 8, p_model);
$$;

comment on function _packet_tokens(jsonb, text) is 'Estimated tokens of a packet, including its tokenCount.';

create or replace function _listed(p_list jsonb)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select string_agg('- ' || _indent(e, '  '), E'\n' order by n) from jsonb_array_elements_text(p_list) with ordinality as x(e, n);
$$;

comment on function _listed(jsonb) is 'A list of texts as lines with dashes; null for an empty list.';

create or replace function _shortened_to(p_text text, p_chars integer)
  returns text
  language sql
  immutable
  parallel safe
  return case when char_length(p_text) <= p_chars then p_text
              else left(p_text, p_chars) || format('… [%s more characters]', char_length(p_text) - p_chars) end;

comment on function _shortened_to(text, integer) is 'The text or, if it has more than p_chars characters, its beginning with a note of how much is left out.';
