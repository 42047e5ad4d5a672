-- The tree of turns, as people and programs ask for it.

create or replace view threads with (security_invoker = true) as
  select t.id as turn_id, coalesce(f.session_label, '') || '/' || t.id as thread_key, t.depth, t.chain_tokens as total_tokens,
         coalesce(f.faculty, s.persona_id) as persona_id, _content_hash(c.config ->> 'system') as system_prompt_hash, t.config_hash,
         t.work_item_id, t.status, t.started_at,
         not exists (select from turns n where n.parent_turn_id = t.id) as is_leaf
    from turns t
    left join foci f on f.id = t.focus_id
    left join sessions s on s.head_turn_id = t.id
    left join turn_configs c on c.content_hash = t.config_hash;
comment on view threads is 'Each turn as the end of a conversation: how deep and how expensive its chain is, as whom and under which prompt it ran. thread_key addresses it for ever; its turns: turn_ancestry(turn_id).';

create or replace view v_exchanges with (security_invoker = true) as
  select t.id as turn_id, t.work_item_id, t.depth, t.started_at, t.completed_at, t.model, t.total_tokens,
         (select string_agg(_result_text(m.content), E'\n\n' order by m.sequence) from messages m where m.turn_id = t.id and m.role = 'user') as said,
         (select string_agg(_result_text(m.content), E'\n\n' order by m.sequence) from messages m where m.turn_id = t.id and m.role = 'assistant') as answered,
         (select array_agg(k.tool_name order by k.ordinal) from tool_calls k where k.turn_id = t.id and k.parent_call_id is null) as called
    from turns t
   where t.turn_type = 'normal';
comment on view v_exchanges is 'Each turn in plain text: what was said to the model (results of tools apart), what it answered, which tools it called.';

create or replace view v_turn_tools with (security_invoker = true) as
  select t.id as turn_id, t.work_item_id, t.role, f.faculty as toolset_name, t.config_hash,
         (select array_agg(tool.value ->> 'name' order by tool.n) from json_array_elements(c.config -> 'tools') with ordinality as tool(value, n)) as tools_available,
         (select array_agg(distinct _tool_name(k.tool_name)) from tool_calls k where k.turn_id = t.id) as tools_used
    from turns t
    left join foci f on f.id = t.focus_id
    left join turn_configs c on c.content_hash = t.config_hash;
comment on view v_turn_tools is 'What each turn was allowed to call (by the hash of its configuration), and what it and its code called.';

create or replace view v_calls_out_of_toolset with (security_invoker = true) as
  select k.id as tool_call_id, k.work_item_id, k.turn_id, k.tool_name, k.status, k.is_error, k.parent_call_id is not null as is_from_code, k.created_at
    from tool_calls k
    join turns t on t.id = k.turn_id
    join turn_configs c on c.content_hash = t.config_hash
   where not exists (select from json_array_elements(c.config -> 'tools') tool where tool ->> 'name' = _tool_name(k.tool_name));
comment on view v_calls_out_of_toolset is 'Which call used, or tried to use, a tool that its turn was not given?';

create or replace view v_fork_points with (security_invoker = true) as
  select p.turn_id, p.work_item_id, p.depth, p.reason, p.context_tokens, p.entry, row_number() over (partition by p.work_item_id order by p.weight desc, p.depth desc) as rank
    from (select t.id as turn_id, t.work_item_id, t.depth, t.total_tokens as context_tokens, l.content as entry,
                 case l.entry_type when 'decision' then 'before it decided' when 'error' then 'before it failed' else 'a step was done' end as reason,
                 case l.entry_type when 'error' then 3 when 'decision' then 2 else 1 end as weight
            from work_ledger l
            join turns made on made.id = l.turn_id
            join turns t on t.id = case l.entry_type when 'step' then made.id else made.parent_turn_id end
           where l.entry_type in ('step', 'decision', 'error') and not l.is_inherited and t.status = 'completed' and t.turn_type = 'normal'
             and not exists (select from tool_calls k where k.turn_id = t.id and k.completed_at is null)) p;
comment on view v_fork_points is 'Where a work item might go another way, best first: before something failed, before something was decided, after a step. work_fork(turn_id) goes on from there.';

create or replace view message_files with (security_invoker = true) as
  select k.message_id, k.id as tool_call_id, case x.action when 'read' then 'read' when 'search' then 'referenced' else 'written' end as kind, x.target as file_path,
         l.line_start, l.line_end, x.action
    from touches x
    join tool_calls k on k.id = x.tool_call_id
    left join lateral _lines_read(k.tool_name, _jsonb_of(k.input)) l on x.action = 'read'
   where x.kind = 'path' and k.message_id is not null;
comment on view message_files is 'Files that the calls of a message read, wrote or looked through, what was done to each (action: read, create, modify, delete, search), and the lines where a call says which it reads.';

create or replace view message_codeblocks with (security_invoker = true) as
  select m.id as message_id, (b.idx - 1)::integer as idx, nullif(substring(b.part[1] from '^\s*([\w+#.-]+)'), '') as language, b.part[2] as content,
         substring(b.part[1] from '(?:[:\s]|title="|file=)((?:[\w.@-]+/)*[\w@-]+\.\w+)') as file_path
    from messages m
    cross join lateral regexp_matches(_result_text(m.content), '^ {0,3}?```([^\n`]*?)\n(.*?)\n {0,3}?```[ \t]*?$', 'gw') with ordinality as b(part, idx)
   where m.role = 'assistant';
comment on view message_codeblocks is 'Fenced code blocks of what models wrote, with their language and the file that the fence names.';
