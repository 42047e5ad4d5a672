-- Views of the tree of turns, for people and programs.

create or replace view threads with (security_invoker = true) as
  select t.id as turn_id, coalesce(f.session_label, '') || '/' || t.id as thread_key, t.depth, t.chain_tokens as total_tokens,
         coalesce(h.persona_id, s.persona_id) as persona_id, _content_hash(c.config ->> 'system') as system_prompt_hash, t.config_hash,
         t.work_item_id, t.status, t.started_at,
         not exists (select from turns n where n.parent_turn_id = t.id) as is_leaf
    from turns t
    left join foci f on f.id = t.focus_id and f.work_item_id = t.work_item_id -- always true, but lets foci be found by their item
    left join sessions h on h.label = f.session_label
    -- session_history has each move of a head.
    left join lateral (
      select s.persona_id from session_history m join sessions s on s.label = m.session_label
       where f.id is null and m.turn_id = t.id and s.head_turn_id = t.id
       order by m.id
       limit 1) s on true
    left join turn_configs c on c.content_hash = t.config_hash;
comment on view threads is 'Each turn as the end of a conversation: depth and total tokens of its chain, persona, and hashes of system prompt and configuration. thread_key is a permanent address; turn_ancestry(turn_id) returns its turns.';
comment on column threads.thread_key is 'A permanent address of the conversation that ends here.';
comment on column threads.system_prompt_hash is 'Shows whether two conversations have the same system prompt.';
comment on column threads.total_tokens is 'Total tokens of the whole conversation.';
comment on column threads.is_leaf is 'True: no turn continues it.';

create or replace view v_exchanges with (security_invoker = true) as
  select t.id as turn_id, t.work_item_id, t.depth, t.started_at, t.completed_at, t.model, t.total_tokens,
         (select string_agg(_result_text(m.content), E'\n\n' order by m.sequence) from messages m where m.turn_id = t.id and m.role = 'user') as said,
         (select string_agg(b.value ->> 'text', E'\n\n' order by m.sequence, b.n)
            from messages m
            cross join json_array_elements(m.content) with ordinality as b(value, n)
           where m.turn_id = t.id and m.role = 'assistant' and b.value ->> 'type' = 'text' and b.value ->> 'text' ~ '\S') as answered,
         (select array_agg(k.tool_name order by k.ordinal) from tool_calls k where k.turn_id = t.id and k.parent_call_id is null) as called
    from turns t
   where t.turn_type = 'normal';
comment on view v_exchanges is 'Each turn as plain text: what was said to the model (without tool results), what it answered, which tools it called.';
comment on column v_exchanges.said is 'What was said to the model, without tool results.';
comment on column v_exchanges.answered is 'Its text.';
comment on column v_exchanges.called is 'The tools that it called.';

create or replace view v_turn_tools with (security_invoker = true) as
  select t.id as turn_id, t.work_item_id, t.role, coalesce(y.config #>> '{engage,toolset}', f.faculty) as toolset_name, t.config_hash,
         (select array_agg(tool.value ->> 'name' order by tool.n)
            from json_array_elements(c.config -> 'tools') with ordinality as tool(value, n)) as tools_available,
         (select array_agg(distinct _tool_name(k.tool_name)) from tool_calls k where k.turn_id = t.id) as tools_used,
         case when y.content_hash is not null then jsonb_build_object(
           'require_approval', y.config #> '{engage,require_approval}',
           'workspace', y.config #> '{engage,workspace}',
           'web_fetch_allow', y.config #> '{engage,web_fetch_allow}',
           'code_execution', y.config #> '{engage,code_execution}',
           'max_children', y.config #> '{engage,max_children}') end as permissions_granted,
         (select jsonb_strip_nulls(jsonb_build_object(
                   'effects', jsonb_agg(distinct k.effect),
                   'approved', jsonb_agg(distinct k.tool_name) filter (where a.decision = 'approved'),
                   'changed', jsonb_agg(distinct x.target) filter (where x.action in ('create', 'modify', 'delete')),
                   'fetched', jsonb_agg(distinct x.target) filter (where x.kind = 'url')))
            from tool_calls k left join approvals a on a.tool_call_id = k.id left join touches x on x.tool_call_id = k.id
           where k.turn_id = t.id and k.status in ('running', 'completed', 'uncertain')) as permissions_used
    from turns t
    left join foci f on f.id = t.focus_id and f.work_item_id = t.work_item_id
    left join faculties y on y.content_hash = f.faculty_hash
    left join turn_configs c on c.content_hash = t.config_hash;
comment on view v_turn_tools is 'What each turn was allowed to call and to do, and what it and its code called and did. toolset_name: the faculty''s toolset, else its name. config_hash: the configuration with all tools.';
comment on column v_turn_tools.toolset_name is 'The faculty''s toolset, else its name.';
comment on column v_turn_tools.tools_available is 'The tools it was offered.';
comment on column v_turn_tools.tools_used is 'The tools it and its code called.';
comment on column v_turn_tools.permissions_granted is 'What its tools may do.';
comment on column v_turn_tools.permissions_used is 'What its calls did.';

create or replace view v_turn_options with (security_invoker = true) as
  select t.id as turn_id, t.work_item_id, c.model, o.max_tokens, o.thinking, o.effort, o.temperature, o.top_p, o.tool_choice, c.cache_ttl,
         o.service_tier, o.betas
    from turns t
    join turn_configs c on c.content_hash = t.config_hash
   cross join lateral _options_of(c.config) o;
comment on view v_turn_options is 'What the request of each turn asked of the model besides its messages, prompt and tools, as its faculty configures it. Null: nothing was asked, and the model uses its default.';
comment on column v_turn_options.model is 'The model that was asked.';
comment on column v_turn_options.max_tokens is 'Maximum tokens of the response.';
comment on column v_turn_options.thinking is 'adaptive, disabled or between_tools (off), or the maximum tokens for it.';
comment on column v_turn_options.effort is 'low, medium, high, xhigh or max.';
comment on column v_turn_options.temperature is 'How freely the model chooses words.';
comment on column v_turn_options.top_p is 'The share of likely words to choose from.';
comment on column v_turn_options.tool_choice is 'auto, any, none, or the tool that had to be called.';
comment on column v_turn_options.cache_ttl is 'How long the provider keeps what the request leaves in its cache: 5m or 1h.';
comment on column v_turn_options.service_tier is 'auto or standard_only.';
comment on column v_turn_options.betas is 'Beta features of the API that it asked for.';

create or replace view v_calls_out_of_toolset with (security_invoker = true) as
  select k.id as tool_call_id, k.work_item_id, k.turn_id, k.tool_name, k.status, k.is_error, k.parent_call_id is not null as is_from_code, k.created_at
    from tool_calls k
    join turns t on t.id = k.turn_id
    join turn_configs c on c.content_hash = t.config_hash
   where not exists (select from json_array_elements(c.config -> 'tools') tool where tool ->> 'name' = _tool_name(k.tool_name));
comment on view v_calls_out_of_toolset is 'Calls that used, or tried to use, a tool that their turn was not offered.';
comment on column v_calls_out_of_toolset.is_from_code is 'True: code of execute_code made the call.';

create or replace view v_fork_points with (security_invoker = true) as
  select p.turn_id, p.work_item_id, p.depth, p.reason, p.context_tokens, p.entry,
         row_number() over (partition by p.work_item_id order by p.weight desc, p.depth desc) as rank
    from (select t.id as turn_id, l.work_item_id, t.depth, t.total_tokens as context_tokens, l.content as entry,
                 case l.entry_type when 'decision' then 'before it decided' when 'error' then 'before it failed' else 'a step was done' end as reason,
                 case l.entry_type when 'error' then 3 when 'decision' then 2 else 1 end as weight
            from work_ledger l
            join turns made on made.id = l.turn_id
            join turns t on t.id = case l.entry_type when 'step' then made.id else made.parent_turn_id end
           where l.entry_type in ('step', 'decision', 'error') and not l.is_inherited and t.status = 'completed' and t.turn_type = 'normal'
             and not exists (select from tool_calls k where k.turn_id = t.id and k.completed_at is null)) p;
comment on view v_fork_points is 'Turns at which a work item might take a different path, best first by rank: before an error, before a decision, after a step. work_fork(turn_id) continues from there.';
comment on column v_fork_points.reason is 'Why this turn: before an error, before a decision, after a step.';
comment on column v_fork_points.context_tokens is 'Size of the context that a fork starts with.';
comment on column v_fork_points.entry is 'The ledger entry that makes it a fork point.';
comment on column v_fork_points.rank is '1 is the best.';

create or replace view message_files with (security_invoker = true) as
  select k.message_id, k.id as tool_call_id,
         case x.action when 'read' then 'read' when 'search' then 'referenced' else 'written' end as kind, x.target as file_path,
         l.line_start, l.line_end, x.action
    from (
      select m.id as message_id, k.id, k.tool_name, k.input
        from messages m join tool_calls k on k.turn_id = m.turn_id and k.message_id = m.id and k.external_id is null
      union all
      select message_id, id, tool_name, input from tool_calls where external_id is not null) k
    join touches x on x.tool_call_id = k.id
    left join lateral _lines_read(k.tool_name, _jsonb_of(k.input)) l on x.action = 'read'
   where x.kind = 'path' and k.message_id is not null
  union all
  select m.id, null, 'attached', coalesce(b.value ->> 'title', 'artifact:' || left(b.value #>> '{source,artifact}', 16), b.value ->> 'type'), null, null, null
    from messages m cross join lateral json_array_elements(m.content) b
   where m.role = 'user' and b.value ->> 'type' in ('image', 'document');
comment on view message_files is 'Files that the calls of a message touched, and images and documents attached to a message. kind: read, written, referenced (searched or listed) or attached. file_path: for an attachment without a name, its handle. line_start and line_end: set if the call specifies the lines that it reads. action: read, create, modify, delete, search.';
comment on column message_files.kind is 'read, written, referenced or attached.';
comment on column message_files.file_path is 'The path; for an attachment without a name, its handle.';
comment on column message_files.line_start is 'First line, if the call specifies lines.';
comment on column message_files.line_end is 'Last line, if the call specifies lines.';

create or replace view message_codeblocks with (security_invoker = true) as
  select m.id as message_id, (b.idx - 1)::integer as idx, nullif(substring(b.part[1] from '^\s*([A-Za-z][\w+#.-]*)'), '') as language, b.part[2] as content,
         (f.lines[1])::integer as line_start, (f.lines[2])::integer as line_end,
         substring(b.part[1] from '(?:[:\s]|title="|file=)((?:[\w.@-]+/)*[\w@-]+\.\w+)') as file_path
    from messages m
    cross join lateral regexp_matches(_result_text(m.content), '^ {0,3}?```([^\n`]*?)\n(.*?)\n {0,3}?```[ \t]*?$', 'gw') with ordinality as b(part, idx)
    left join lateral regexp_match(b.part[1], '(?:^|\s|:)#?L?(\d{1,7})(?::|-L?)(\d{1,7})(?::|\s|$)') as f(lines) on true
   where m.role = 'assistant';
comment on view message_codeblocks is 'Fenced code blocks in what models wrote, with their language, and the file and lines given in the fence (```ts src/a.ts:10-20, ```10:20:src/a.ts).';
comment on column message_codeblocks.idx is 'Position among the blocks of the message.';
comment on column message_codeblocks.language is 'As given in the fence; null: none is given.';
comment on column message_codeblocks.content is 'The code, without its fence.';
comment on column message_codeblocks.line_start is 'First line, if the fence specifies lines.';
comment on column message_codeblocks.line_end is 'Last line, if the fence specifies lines.';
comment on column message_codeblocks.file_path is 'The file given in the fence; null: none.';

create or replace view v_sessions with (security_invoker = true) as
  select s.label, s.head_turn_id, s.persona_id, s.status, s.origin, s.origin_session_id, s.is_subagent, s.parent_session_label,
         s.parent_turn_id, s.spawn_tool_call_id, s.task_description,
         case when f.id is null then null
              when f.outcome = 'completed' then 'completed'
              when f.outcome is not null then 'failed'
              when f.iteration = 0 and f.lease_owner is null then 'pending'
              else 'running' end as task_status,
         f.work_item_id, s.created_at, s.updated_at
    from sessions s
    left join foci f on f.session_label = s.label
     and not exists (select from foci n where n.session_label = f.session_label and (n.created_at, n.id) > (f.created_at, f.id));
comment on view v_sessions is 'Sessions, and the status of each one''s task (pending, running, completed, failed), taken from its attempt (from the newest item''s, if the session covers several); null for a session without a work item.';
comment on column v_sessions.task_status is 'pending, running, completed or failed; null: the session has no work item.';
