-- Metrics: what the rows of a period say about it. A worker with telemetry collects them from time to time and counts them.

create or replace function _metrics()
  returns table (name text, type text, unit text, labels text[], says text)
  language sql
  immutable
  parallel safe
  rows 60
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  values
    ('work.engage.iterations', 'histogram', '{iteration}', '{faculty,faculty_project}'::text[], 'Iterations of each attempt that ended'),
    ('work.engage.parallel_tools', 'histogram', '{call}', '{faculty,faculty_project}', 'Tool calls of each response that made any'),
    ('work.context.blocks_closed', 'counter', '{block}', '{faculty,faculty_project}', 'Blocks closed by a step'),
    ('work.context.blocks_truncated', 'counter', '{block}', '{faculty,faculty_project}', 'Closed blocks that left the context'),
    ('work.context.cache_read_ratio', 'histogram', '1', '{faculty,faculty_project}', 'Share of each request''s input that came from the provider''s cache'),
    ('work.context.compactions', 'counter', '{compaction}', '{trigger,faculty,faculty_project}', 'Compactions, by trigger (threshold, emergency, manual, periodic)'),
    ('work.context.compaction.messages_removed', 'histogram', '{message}', '{}', 'Messages that each compaction removed'),
    ('work.context.emergency_summarizations', 'counter', '{summary}', '{faculty,faculty_project}', 'Summaries that a model wrote because the ledger had too little'),
    ('work.child.spawned', 'counter', '{child}', '{faculty,faculty_project,child_work_type}', 'Child work items, by the faculty that delegated them; work types that no faculty accepts: other'),
    ('work.child.await_duration', 'histogram', 's', '{faculty,faculty_project}', 'Time of each call that waited for children'),
    ('work.awareness.digest_size', 'histogram', '{token}', '{faculty,faculty_project}', 'Estimated tokens of each digest that was shown'),
    ('work.awareness.digest_latency', 'histogram', 's', '{}', 'Time to assemble a digest'),
    ('work.sandbox.executions', 'counter', '{execution}', '{faculty,faculty_project}', 'Executions of code'),
    ('work.sandbox.duration', 'histogram', 's', '{faculty,faculty_project}', 'Time of each execution'),
    ('work.sandbox.tool_calls', 'histogram', '{call}', '{faculty,faculty_project}', 'Tool calls that each execution made'),
    ('work.sandbox.output_bytes', 'histogram', 'By', '{faculty,faculty_project}', 'Bytes that each execution returned to the context'),
    ('work.sandbox.internal_bytes', 'histogram', 'By', '{faculty,faculty_project}', 'Bytes that the tools returned to the code of each execution'),
    ('work.sandbox.compression_ratio', 'histogram', '1', '{faculty,faculty_project}', 'internal_bytes / output_bytes of each execution that returned anything'),
    ('work.sandbox.timeouts', 'counter', '{execution}', '{faculty,faculty_project}', 'Executions stopped at their time limit'),
    ('work.sandbox.errors', 'counter', '{execution}', '{faculty,faculty_project}', 'Executions that ended with an exception'),
    ('work.ledger.entries', 'counter', '{entry}', '{entry_type,faculty,faculty_project}', 'Ledger entries; faculty none: from a client without a faculty'),
    ('work.ledger.soft_cap_warnings', 'counter', '{entry}', '{faculty,faculty_project}', 'Ledger entries over 4 KiB, which every reader pays for'),
    ('work.redactions', 'counter', '{secret}', '{place}', 'Secrets removed before a row was written, by table; known_value: values that the worker knows; log: from logs; model_error: from the model''s errors; web_fetch: from pages that echo them'),
    ('gen_ai.client.operation.duration', 'histogram', 's', '{gen_ai.operation.name,gen_ai.provider.name,gen_ai.request.model,gen_ai.response.model,error.type,server.address,faculty,faculty_project}', 'Time of each request to a model, by OpenTelemetry''s conventions; error.type: it failed. Requests that were lost with their worker are missing'),
    ('gen_ai.client.operation.time_to_first_chunk', 'histogram', 's', '{gen_ai.operation.name,gen_ai.provider.name,gen_ai.request.model,gen_ai.response.model,server.address,faculty,faculty_project}', 'Time until an answer began to arrive'),
    ('gen_ai.client.token.usage', 'histogram', '{token}', '{gen_ai.operation.name,gen_ai.provider.name,gen_ai.request.model,gen_ai.response.model,gen_ai.token.type,server.address,faculty,faculty_project}', 'Tokens of each answered request: input (all of it, including cached input) and output'),
    ('gen_ai.invoke_agent.duration', 'histogram', 's', '{gen_ai.operation.name,gen_ai.agent.name,error.type,faculty_project}', 'Time of each attempt at a work item'),
    ('gen_ai.execute_tool.duration', 'histogram', 's', '{gen_ai.operation.name,gen_ai.tool.name,gen_ai.tool.type,error.type,faculty,faculty_project}', 'Time of each tool call, without waits'),
    ('work.queue.due', 'gauge', '{item}', '{faculty,project}', 'Work items that could be worked on now and wait for a worker or a slot, also for one on another host or of their project, or to replace one that died; faculty none: no faculty accepts them'),
    ('work.queue.oldest_age', 'gauge', 's', '{faculty,project}', 'How long the oldest of them has been due'),
    ('work.slots.taken', 'gauge', '{slot}', '{faculty,faculty_project}', 'Slots of a faculty that has max_concurrent, which are taken'),
    ('work.slots.free', 'gauge', '{slot}', '{faculty,faculty_project}', 'Free slots of a faculty that has max_concurrent'),
    ('work.workers.alive', 'gauge', '{worker}', '{}', 'Workers heard from within a minute'),
    ('work.workers.free', 'gauge', '{item}', '{}', 'How many more items these workers can take'),
    ('work.leases.overdue', 'gauge', '{lease}', '{}', 'Expired leases that no sweep has ended yet'),
    ('work.approvals.waiting', 'gauge', '{call}', '{project}', 'Calls that wait for approval'),
    ('work.approvals.oldest_age', 'gauge', 's', '{project}', 'How long the oldest of them has waited'),
    ('work.retention.lag', 'gauge', 's', '{}', 'How long erasure by a policy has been overdue; 0: none is'),
    ('work.standby.lag', 'gauge', 's', '{standby}', 'How far a standby is behind; needs pg_monitor on the primary'),
    ('work.items.ended', 'total', '{item}', '{state,faculty,project}', 'Items that ended, by state'),
    ('work.attempts.ended', 'total', '{attempt}', '{outcome,faculty,project}', 'Attempts that ended, by outcome'),
    ('work.leases.expired', 'total', '{lease}', '{faculty,project}', 'Leases that expired: a worker died or hung. A lower bound: leases that a claim takes over during a sweep are not counted'),
    ('work.model.requests', 'total', '{request}', '{faculty,model,project}', 'Answered requests'),
    ('work.model.failures', 'total', '{request}', '{class,faculty,model,project}', 'Requests that failed, by class, without those that were lost with their worker, whose lease expired'),
    ('work.model.tokens', 'total', '{token}', '{kind,faculty,model,project}', 'Tokens: input (uncached), cache_read, cache_write, output'),
    ('work.model.cost', 'total', '{currency}', '{faculty,model,project}', 'Money, in the currency of the prices, at current prices; models without prices count nothing'),
    ('work.tool.calls', 'total', '{call}', '{tool,faculty,project}', 'Calls that ended'),
    ('work.tool.failures', 'total', '{call}', '{tool,faculty,project}', 'Calls that ended with an error'),
    ('work.tool.time', 'total', 's', '{tool,faculty,project}', 'Time that calls ran');
$$;

comment on function _metrics() is 'Every metric that is counted from rows: its name, type (counter, histogram; gauge, total), unit (UCUM), labels and meaning. The only list: instruments, v_metrics, what /metrics says and the table in docs/observability.md come from it.';

create or replace view v_metrics with (security_invoker = true) as select name, type, unit, labels, says from _metrics();
comment on view v_metrics is 'Every metric that is computed from rows: name, type, unit (UCUM), labels, meaning. Counters and histograms are of what happened: work_metrics(). Gauges and totals are of how the ledger stands: work_gauges().';
comment on column v_metrics.type is 'counter or histogram: observations, each of which one worker counts. gauge or total (a counter that only grows): of the whole ledger, whoever is asked.';
comment on column v_metrics.unit is 'As UCUM writes it.';
comment on column v_metrics.labels is 'By which it is split.';
comment on column v_metrics.says is 'What it counts.';

create or replace function work_metrics(p_from timestamptz, p_until timestamptz)
  returns table (metric text, labels jsonb, value double precision, times bigint)
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select o.metric, jsonb_strip_nulls(o.labels), o.value, count(*)
    from (
      select * from _metrics_of_turns(p_from, p_until)
      union all
      select * from _metrics_of_calls(p_from, p_until)
      union all
      select * from _metrics_of_the_ledger(p_from, p_until)
      union all
      select * from _genai_metrics(p_from, p_until)
      union all
      select 'work.redactions', jsonb_build_object('place', r.place), r.secrets from redactions r where r.created_at >= p_from and r.created_at < p_until
      union all
      select 'work.engage.iterations', _faculty_labels(f.faculty, c.project), f.iteration
        from foci f
        join faculties c on c.content_hash = f.faculty_hash
       where f.ended_at >= p_from and f.ended_at < p_until and f.faculty <> 'imported'
         and not exists (select from turns t where t.work_item_id = f.work_item_id and t.focus_id = f.id and t.external_id is not null)
      union all
      select 'work.child.spawned',
             _spawning_labels(w) || jsonb_build_object(
               'child_work_type', case when (_faculty_for(null, w.work_type, _project_now(w.project))).name is null then 'other' else w.work_type end),
             1
        from work_items w
       where w.created_at >= p_from and w.created_at < p_until and w.parent_id is not null and w.external_id is null
    ) o(metric, labels, value)
   group by 1, 2, 3;
$$;

comment on function work_metrics(timestamptz, timestamptz) is
  'What the rows say of the time from p_from (included) to p_until (not included): select * from work_metrics(now() - interval ''1 day'', now()). One row for each counter and histogram of v_metrics, set of labels and value: of a counter, value times `times` is its increase; of a histogram, value was observed so many times. faculty_project: whose the faculty is (two projects may each have one of a name), by the name that the project has when it is asked; of the ledger''s there is none. Imported sessions are left out. For totals: select metric, labels, sum(value * times), sum(times) … group by 1, 2.';

create or replace function work_metrics_take()
  returns table (metric text, labels jsonb, value double precision, times bigint)
  language plpgsql
  volatile
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_from timestamptz;
  v_until timestamptz := _settled_until();
begin
  -- At most an hour: its events are looked up row by row, however long the ledger is.
  select until_at into v_from from metrics_taken for no key update skip locked;
  if not found then
    -- Another worker is collecting now, and this one does not wait for it; or nobody has collected yet.
    insert into metrics_taken (until_at) select v_until where not exists (select from metrics_taken) on conflict do nothing;
    return;
  end if;
  v_until := least(v_until, v_from + interval '1 hour');
  if v_until > v_from then
    update metrics_taken set until_at = v_until;
    return query select * from work_metrics(v_from, v_until); -- a new statement, so that it sees everything committed since
  end if;
end
$$;

comment on function work_metrics_take() is
  'What to count now: work_metrics() from where the last call ended, at most an hour at once, to the start of the oldest transaction that may still write. Each observation is given out once, to one caller, whoever else calls at the same time; what the caller has not exported when its process dies is lost. The first call of a ledger returns nothing: counting begins with it. Only a worker whose metrics go somewhere calls it. Returns the columns of work_metrics().';

create or replace function _settled_until()
  returns timestamptz
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- A row may have the time at which its transaction began, and become visible only when that ends. So nothing is counted that is newer than the start of a
  -- transaction that has written, waits for a lock, or has only just begun. A role without pg_read_all_stats does not see when other roles' transactions
  -- started, and does not wait for them.
  select least(_now(), min(a.xact_start))
    from pg_stat_activity a
   where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'
     and (a.backend_xid is not null or (a.state = 'active' and (a.wait_event_type = 'Lock' or a.xact_start > clock_timestamp() - interval '1 minute')));
$$;

comment on function _settled_until() is 'The time before which no row will appear any more: the start of the oldest transaction that may still write.';

create or replace function _metrics_of_turns(p_from timestamptz, p_until timestamptz)
  returns table (metric text, labels jsonb, value double precision)
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with answered as materialized (
    select t, _faculty_labels(f.faculty, c.project) as labels
      from turns t
      join foci f on f.id = t.focus_id
      join faculties c on c.content_hash = f.faculty_hash
     where t.completed_at >= p_from and t.completed_at < p_until and t.external_id is null
  )
  select 'work.engage.parallel_tools', a.labels, k.calls::double precision
    from answered a
    cross join lateral (select count(*) as calls from tool_calls k where k.turn_id = (a.t).id and k.parent_call_id is null) k
   where (a.t).turn_type = 'normal' and (a.t).status = 'completed' and k.calls > 0
  union all
  select 'work.context.cache_read_ratio', a.labels, coalesce((a.t).cached_input_tokens, 0)::double precision / _input_total(a.t)
    from answered a
   where (a.t).turn_type = 'normal' and _input_total(a.t) > 0
  union all
  -- A cut counts with the first answered request that used it.
  select 'work.context.blocks_truncated', a.labels, e.last_block - greatest(e.first_block - 1, b.last_block)
    from answered a
    join elisions e on e.focus_id = (a.t).focus_id and e.iteration = (a.t).iteration
    left join compactions k on k.work_item_id = e.work_item_id and k.elision_id = e.id
    left join elisions b on b.id = k.base_elision_id
   where (a.t).turn_type = 'normal' and (a.t).status = 'completed' and (a.t).elision_id is not null
     and e.last_block > greatest(e.first_block - 1, b.last_block) and (k.is_applied or e.id = (a.t).elision_id)
  union all
  select v.metric, v.labels, v.value
    from answered a
    join awareness_digests d on d.turn_id = (a.t).id
    cross join lateral (values
      ('work.awareness.digest_size', a.labels, case when d.entries > 0 or not d.is_delta then d.tokens::double precision end),
      ('work.awareness.digest_latency', '{}', d.duration_ms / 1000)) v(metric, labels, value)
   where (a.t).status = 'completed' and v.value is not null
  union all
  select v.metric, v.labels, v.value
    from answered a
    join compactions c on c.turn_id = (a.t).id
    cross join lateral (values
      ('work.context.compactions', a.labels || jsonb_build_object('trigger', _telemetry_trigger(c.trigger)), 1::double precision, c.is_applied),
      ('work.context.compaction.messages_removed', '{}', greatest(c.messages_before - c.messages_after, 0), c.is_applied),
      ('work.context.emergency_summarizations', a.labels, 1, c.compaction_type = 'summary' and (a.t).provider is not null)) v(metric, labels, value, is_due)
   where v.is_due;
$$;

comment on function _metrics_of_turns(timestamptz, timestamptz) is 'The observations of answered requests and compactions, see work_metrics().';

create or replace function _genai_metrics(p_from timestamptz, p_until timestamptz)
  returns table (metric text, labels jsonb, value double precision)
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with asked as materialized (
    select t, _faculty_labels(f.faculty, c.project) || _genai_labels(t, c.config) || jsonb_build_object('gen_ai.response.model', t.model) as labels
      from turns t
      join foci f on f.id = t.focus_id
      join faculties c on c.content_hash = f.faculty_hash
     where t.completed_at >= p_from and t.completed_at < p_until and t.external_id is null and t.total_tokens > 0
  )
  select v.metric, a.labels || v.labels, v.value
    from asked a
    cross join lateral (values
      ('gen_ai.client.operation.duration', '{}'::jsonb, ((a.t).duration_ms / 1000.0)::double precision),
      ('gen_ai.client.operation.time_to_first_chunk', '{}', (a.t).first_token_ms / 1000.0),
      ('gen_ai.client.token.usage', '{"gen_ai.token.type": "input"}', nullif(_input_total(a.t), 0)),
      ('gen_ai.client.token.usage', '{"gen_ai.token.type": "output"}', (a.t).output_tokens)) v(metric, labels, value)
   where v.value is not null
  union all
  select 'gen_ai.client.operation.duration', _faculty_labels(f.faculty, c.project) || _genai_labels(t, c.config)
           || jsonb_build_object('gen_ai.request.model', m.model, 'error.type', m.error_class), extract(epoch from m.ended_at - m.started_at)
    from model_calls m
    join turns t on t.id = m.turn_id
    join foci f on f.id = t.focus_id
    join faculties c on c.content_hash = f.faculty_hash
   -- A request that was lost with its worker is noticed only later, and how long it took is unknown.
   where m.ended_at >= p_from and m.ended_at < p_until and m.error_class <> 'lost' and t.external_id is null
  union all
  select 'gen_ai.invoke_agent.duration', (_faculty_labels(null, c.project) - 'faculty') || jsonb_build_object('gen_ai.operation.name', 'invoke_agent',
           'gen_ai.agent.name', f.faculty, 'error.type', case when f.outcome in ('failed', 'crashed') then f.outcome end),
         extract(epoch from f.ended_at - f.created_at)
    from foci f
    join faculties c on c.content_hash = f.faculty_hash
   where f.ended_at >= p_from and f.ended_at < p_until and f.faculty <> 'imported'
     and not exists (select from turns t where t.work_item_id = f.work_item_id and t.focus_id = f.id and t.external_id is not null)
  union all
  select 'gen_ai.execute_tool.duration', _faculty_labels(f.faculty, c.project) || jsonb_build_object('gen_ai.operation.name', 'execute_tool',
           'gen_ai.tool.name', coalesce(a.tool_name, 'other'), 'gen_ai.tool.type', 'function', 'error.type', case when k.is_error then k.status end),
         extract(epoch from k.completed_at - k.started_at)
    from tool_calls k
    join turns t on t.id = k.turn_id
    join foci f on f.id = t.focus_id
    join faculties c on c.content_hash = f.faculty_hash
    left join abilities a on a.tool_name = k.tool_name
   where k.completed_at > '-infinity' and k.completed_at >= p_from and k.completed_at < p_until and t.external_id is null and k.external_id is null
     and k.started_at is not null and not _is_wait(k.tool_name);
$$;

comment on function _genai_metrics(timestamptz, timestamptz) is 'The observations of requests, attempts and calls by the names of OpenTelemetry''s GenAI conventions, see work_metrics(). A tool that is not registered is counted as other.';

create or replace function _genai_labels(p_turn turns, p_config jsonb)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object(
           'gen_ai.operation.name', 'chat', 'gen_ai.provider.name', coalesce(p_turn.provider, 'anthropic'),
           'gen_ai.request.model', coalesce((select c.model from turn_configs c where c.content_hash = p_turn.config_hash), p_turn.model),
           'server.address', _server_address(p_config #>> '{engage,base_url}'));
$$;

comment on function _genai_labels(turns, jsonb) is 'What was asked, and where, by the names of OpenTelemetry''s GenAI conventions; p_config: its faculty''s.';

create or replace function _server_address(p_url text)
  returns text
  language sql
  immutable
  parallel safe
  return substring(p_url from '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#@]*@)?(\[[^]]*\]|[^/?#:]+)');

comment on function _server_address(text) is 'The host of a URL. Null for null: who works knows the address of its own model, the ledger does not.';

create or replace function _telemetry_trigger(p_trigger text)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case p_trigger when 'context_limit' then 'threshold' when 'context_overflow' then 'emergency' else p_trigger end;
$$;

comment on function _telemetry_trigger(text) is 'What caused a compaction (compactions.trigger), in the word of its span and of its metric.';

create or replace function _metrics_of_calls(p_from timestamptz, p_until timestamptz)
  returns table (metric text, labels jsonb, value double precision)
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with ended as materialized (
    select k, _faculty_labels(f.faculty, c.project) as labels
      from tool_calls k
      join turns t on t.id = k.turn_id
      join foci f on f.id = t.focus_id
      join faculties c on c.content_hash = f.faculty_hash
     where k.completed_at > '-infinity' and k.completed_at >= p_from and k.completed_at < p_until
       and k.tool_name in ('execute_code', 'await_child_work') and t.external_id is null and k.external_id is null
  )
  select 'work.child.await_duration', e.labels, extract(epoch from (e.k).completed_at - (e.k).started_at)::double precision
    from ended e
   where (e.k).tool_name = 'await_child_work' and (e.k).started_at is not null and ((e.k).status = 'completed' or (e.k).wait_ends_at is not null)
  union all
  select v.metric, e.labels, v.value
    from ended e
    cross join lateral jsonb_to_record((e.k).code_run) r(verdict text, calls double precision, bytes_seen double precision,
      bytes_returned double precision, duration_ms double precision)
    cross join lateral (values
      ('work.sandbox.executions', 1),
      ('work.sandbox.duration', r.duration_ms / 1000),
      ('work.sandbox.tool_calls', r.calls),
      ('work.sandbox.output_bytes', r.bytes_returned),
      ('work.sandbox.internal_bytes', r.bytes_seen),
      ('work.sandbox.compression_ratio', r.bytes_seen / nullif(r.bytes_returned, 0)),
      ('work.sandbox.timeouts', case r.verdict when 'timeout' then 1 end),
      ('work.sandbox.errors', case r.verdict when 'error' then 1 end)) v(metric, value)
   where (e.k).tool_name = 'execute_code' and (e.k).code_run is not null and v.value is not null;
$$;

comment on function _metrics_of_calls(timestamptz, timestamptz) is 'The observations of executed code and of waits for children, see work_metrics().';

create or replace function _metrics_of_the_ledger(p_from timestamptz, p_until timestamptz)
  returns table (metric text, labels jsonb, value double precision)
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with entry as materialized (
    select l.work_item_id, l.seq, l.entry_type, l.turn_id, octet_length(l.content) as size, _faculty_labels(f.faculty, c.project) as labels
      from work_ledger l
      left join foci f on f.id = l.focus_id
      left join faculties c on c.content_hash = f.faculty_hash
     where l.created_at >= p_from and l.created_at < p_until and not l.is_inherited
  )
  select 'work.ledger.entries', e.labels || jsonb_build_object('entry_type', e.entry_type), 1::double precision from entry e
  union all
  select 'work.ledger.soft_cap_warnings', e.labels, 1 from entry e where e.size > 4096
  union all
  -- Several steps of one response close one block.
  select 'work.context.blocks_closed', e.labels, 1
    from entry e
   where e.entry_type = 'step' and e.turn_id is not null
     and not exists (select from work_ledger l where l.turn_id = e.turn_id and l.entry_type = 'step' and l.seq < e.seq and not l.is_inherited);
$$;

comment on function _metrics_of_the_ledger(timestamptz, timestamptz) is 'The observations of ledger entries, see work_metrics().';

create or replace function _faculty_labels(p_faculty text, p_project text)
  returns jsonb
  language sql
  immutable
  parallel safe
  return case when p_project is null then jsonb_build_object('faculty', coalesce(p_faculty, 'none'))
              else jsonb_build_object('faculty', p_faculty, 'faculty_project', p_project) end;

comment on function _faculty_labels(text, text) is 'By which faculty is counted: its name, and whose it is, unless it is the ledger''s; none: it was a client.';

create or replace function _spawning_labels(p_child work_items)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(
    (select _faculty_labels(f.faculty, c.project)
       from tool_calls k
       join turns t on t.id = k.turn_id
       join foci f on f.id = t.focus_id
       join faculties c on c.content_hash = f.faculty_hash
      where k.id = p_child.spawn_tool_call_id),
    (select _faculty_labels(f.faculty, c.project)
       from foci f
       join faculties c on c.content_hash = f.faculty_hash
      where f.work_item_id = p_child.parent_id and f.created_at <= p_child.created_at
      order by f.attempt desc
      limit 1),
    _faculty_labels(null, null));
$$;

comment on function _spawning_labels(work_items) is '_faculty_labels() of the attempt that submitted a child, or of none: a client did.';
