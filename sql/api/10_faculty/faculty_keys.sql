-- The keys of a faculty, in the order in which people read them. Nobody else lists them: defaults, checks, the view, the
-- table in the README and what the runtime knows of commands come from here.

create or replace function _faculty_keys()
  returns table (path text, type text, "least" numeric, most numeric, choices text[], default_value jsonb, says text)
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select k.path, k.type, k.least::numeric, k.most::numeric, k.choices::text[], k.default_value::jsonb, k.says
    from (values
      ('name', 'string', 1, 63, null, null, 'What it is called. Saving another configuration of the name replaces this one; attempts under way keep theirs'),
      ('accepts', 'list of strings', null, null, null, '[]', 'The work types that it takes'),
      ('role', 'string', null, null, '{manager,worker,unified}', '"unified"', 'What it is among others; stored with its turns'),
      ('persona', 'string', 1, null, null, null, 'As whom it speaks; stored with its sessions. Left out: its name'),
      ('max_concurrent', 'whole number', 1, null, null, null, 'How many of its items may be under way at once, on all workers together. Left out: any number'),

      ('orient', 'table', null, null, null, null, 'A command before the first request of an attempt'),
      ('orient.command', 'command', 1, null, null, null, 'Prints what the agent is told, or {"context"} or {"refuse"}'),
      ('orient.timeout', 'whole number', 1, null, null, '60', 'Seconds'),
      ('orient.on_failure', 'string', null, null, '{fail,continue}', '"fail"', 'Whether the attempt fails where the command does'),

      ('engage', 'table', null, null, null, null, 'The loop: model, tools, context, files'),
      ('engage.mode', 'string', null, null, '{builtin,external}', '"builtin"', 'external: the program in command does the work instead of the loop'),
      ('engage.command', 'command', 1, null, null, null, 'The program of mode = "external"'),
      ('engage.command_timeout', 'whole number', 1, null, null, '3600', 'Seconds that it may take'),
      ('engage.check_command', 'command', 1, null, null, null, 'Decides whether done counts: its first failure is told to the model, the second fails the item. Runs where the agent''s files are'),
      ('engage.check_timeout', 'whole number', 1, null, null, '600', 'Seconds that it may take'),
      ('engage.model', 'string', 1, null, null, '"claude-sonnet-5-5"', 'The model'),
      ('engage.fallback_model', 'string', 1, null, null, null, 'The model that is asked while the other one says that it is asked too much'),
      ('engage.system_prompt', 'string', 0, null, null, null, 'Comes after the engine''s own prompt'),
      ('engage.system_prompt_file', 'string', 1, null, null, null, 'A file with it, beside the faculty''s'),
      ('engage.tools', 'list of strings', null, null, null, '[]', 'The tools that it is offered besides the engine''s own'),
      ('engage.toolset', 'string', 1, null, null, null, 'A name for its tools; stored with its turns. Left out: the faculty''s'),
      ('engage.max_turns', 'whole number', 1, null, null, '50', 'Iterations of an attempt; an item that needs more fails'),
      ('engage.max_output_tokens', 'whole number', 1, null, null, '32000', 'The longest answer of the model'),
      ('engage.parallel_tool_execution', 'boolean', null, null, null, 'true', 'Whether calls that the model makes together run together'),
      ('engage.max_parallel_tools', 'whole number', 1, null, null, '8', 'How many of them at most'),
      ('engage.compact_threshold', 'number', 0, 1, null, '0.7', 'How much of the model''s window a request may fill before it is compacted; 0: never'),
      ('engage.compact_keep_recent', 'whole number', 0, null, null, '10', 'The newest messages that a compaction keeps, rounded up to whole exchanges'),
      ('engage.compact_strategy', 'string', null, null, '{ledger,sliding_window,selective}', '"ledger"', 'What is tried first: the ledger stands for old turns, nothing does, or results of pure calls are shortened'),
      ('engage.compact_every', 'whole number', 0, null, null, '0', 'Compacts every so many iterations, whatever the size; 0: never'),
      ('engage.compact_model', 'string', 1, null, null, null, 'Writes summaries. Left out: the model'),
      ('engage.context_window', 'whole number', 1000, null, null, null, 'Tokens that the model takes. Left out: what models says of it'),
      ('engage.ledger_nudge_interval', 'whole number', 0, null, null, '5', 'Iterations without a ledger entry after which it is reminded; 0: never'),
      ('engage.stall_limit', 'whole number', 0, null, null, '8', 'Iterations with the same calls and results, and no ledger entry, after which the item pauses; 0: never'),
      ('engage.truncate_closed_blocks', 'boolean', null, null, null, 'true', 'Whether closed blocks leave the context as stubs'),
      ('engage.truncate_processed_results', 'boolean', null, null, null, 'true', 'Accepted without an effect of its own: truncate_closed_blocks takes whole blocks, their results included'),
      ('engage.elide_budget', 'whole number', 0, null, null, '15000', 'Tokens that closed blocks may hold before they leave; 0: they leave at every step'),
      ('engage.keep_budget', 'whole number', 0, null, null, '16000', 'Tokens of what steps name in keep that stay word for word; a tenth of the window at most'),
      ('engage.keep_auto', 'whole number', 0, null, null, '4000', 'Tokens of files read lately that stay where a step names nothing; 0: none'),
      ('engage.max_result_chars', 'whole number', 1000, null, null, '50000', 'A longer result is shown by its head and tail, with a handle to the rest'),
      ('engage.require_approval', 'string', null, null, '{never,dangerous,moderate}', '"never"', 'Calls of which risk wait for approval; moderate: of both'),
      ('engage.approval_timeout', 'whole number', 1, null, null, '86400', 'Seconds that they wait; then they do not run'),
      ('engage.max_children', 'whole number', 0, null, null, '20', 'How many children a run may have'),
      ('engage.max_descendants', 'whole number', 0, null, null, '100', 'How many items a tree may have below its root'),
      ('engage.workspace', 'string', null, null, '{host,container,none}', '"container"', 'Where its files and commands are: in a container of the item, on the worker''s machine, nowhere'),
      ('engage.workspace_dir', 'string', 1, null, null, null, 'The directory: copied into the container at the start, or worked in on the host'),
      ('engage.workspace_image', 'string', 1, null, null, '"work-ledger-sandbox"', 'The container''s image; yours may hold compilers and packages, and needs bash and python3'),
      ('engage.workspace_memory', 'size', null, null, null, '"1g"', 'The container''s memory'),
      ('engage.workspace_cpus', 'number', 0.01, null, null, '2.0', 'The container''s processors'),
      ('engage.workspace_size', 'size', null, null, null, '"1g"', 'The most that its files may take'),
      ('engage.workspace_keep_hours', 'whole number', 0, null, null, '24', 'How long the files stay when the work is over'),
      ('engage.web_fetch_allow', 'list of strings', null, null, null, '[]', 'Private hosts that web_fetch may reach, as host or host:port'),
      ('engage.code_execution', 'boolean', null, null, null, 'false', 'Offers execute_code: Python in a container, with the tools as functions'),
      ('engage.code_execution_timeout', 'whole number', 1, null, null, '300', 'Seconds that code may take; 120 unless the code says'),
      ('engage.code_execution_image', 'string', 1, null, null, '"work-ledger-sandbox"', 'The image that it runs in'),
      ('engage.code_execution_memory', 'size', null, null, null, '"512m"', 'The memory that it has'),
      ('engage.code_execution_cpus', 'number', 0.01, null, null, '2.0', 'The processors that it has'),
      ('engage.code_execution_pool', 'whole number', 0, null, null, '1', 'Containers that wait started; each is used once'),
      ('engage.code_execution_session', 'boolean', null, null, null, 'false', 'One container for all code of a focus; files in /tmp stay until the work rests or code ends badly'),

      ('awareness', 'table', null, null, null, null, 'The digest of what the others do'),
      ('awareness.enabled', 'boolean', null, null, null, 'true', 'Whether the agent is told'),
      ('awareness.lookback_hours', 'whole number', 0, null, null, '24', 'How old what it is told may be'),
      ('awareness.max_running', 'whole number', 0, null, null, '10', 'Items under way, at most'),
      ('awareness.max_recent_completed', 'whole number', 0, null, null, '20', 'Items completed, at most'),
      ('awareness.max_recent_findings', 'whole number', 0, null, null, '20', 'Findings, at most'),
      ('awareness.max_recent_errors', 'whole number', 0, null, null, '10', 'Errors, at most'),
      ('awareness.max_tokens', 'whole number', 0, null, null, '1500', 'Its size; 0: no limit'),
      ('awareness.include_child_work', 'boolean', null, null, null, 'false', 'Also children and what they found, one''s own included'),
      ('awareness.include_queued', 'boolean', null, null, null, 'false', 'Also what is queued'),
      ('awareness.refresh_every', 'whole number', 0, null, null, '10', 'Iterations after which it is told what is new; 0: never'),
      ('awareness.rank_by', 'string', null, null, '{recency,relevance}', '"recency"', 'relevance: of the newest 200 findings those that have most words of the item''s description'),

      ('budget', 'table', null, null, null, null, 'What each of its items and everything below it may use'),
      ('budget.tokens', 'whole number', 0, 1000000000000000, null, null, 'Input and output, cached ones too'),
      ('budget.money', 'number', 0, 1000000000000000, null, null, 'By the prices of model_price_save()'),
      ('budget.seconds', 'number', 0, 1000000000000000, null, null, 'Of workers driving it'),
      ('budget.calls', 'whole number', 0, 1000000000000000, null, null, 'Of models'),
      ('budget.children', 'whole number', 0, 1000000000000000, null, null, 'Spawned below it'),

      ('hooks', 'table', null, null, null, null, 'Commands around requests and calls'),
      ('hooks.before_model_call', 'command', 1, null, null, null, 'Each request: prints nothing, or {"say"} or {"refuse"}: the item pauses'),
      ('hooks.before_tool', 'command', 1, null, null, null, 'Each call: prints nothing, or {"input"} or {"refuse"}'),
      ('hooks.after_tool', 'command', 1, null, null, null, 'Each result: prints nothing, or {"content", "is_error"} or {"refuse"}'),
      ('hooks.timeout', 'whole number', 1, null, null, '30', 'Seconds'),
      ('hooks.on_failure', 'string', null, null, '{refuse,allow}', '"refuse"', 'Whether what a failed hook was asked about goes on'),

      ('consolidate', 'table', null, null, null, null, 'A command when the work is done'),
      ('consolidate.command', 'command', 1, null, null, null, 'What it prints becomes outcome_data.consolidated'),
      ('consolidate.timeout', 'whole number', 1, null, null, '60', 'Seconds'),
      ('consolidate.on_failure', 'string', null, null, '{fail,continue}', '"continue"', 'Whether the attempt fails where the command does'),

      ('recover', 'table', null, null, null, null, 'Further attempts'),
      ('recover.command', 'command', 1, null, null, null, 'Runs before each attempt but the first, ahead of orient: prints text, or {"context", "mode"} or {"give_up"}'),
      ('recover.timeout', 'whole number', 1, null, null, '60', 'Seconds'),
      ('recover.on_failure', 'string', null, null, '{fail,continue}', '"continue"', 'Whether the attempt fails where the command does'),
      ('recover.max_attempts', 'whole number', 1, null, null, '3', 'Attempts in all'),
      ('recover.backoff', 'string', null, null, '{exponential,constant}', '"exponential"', 'They come after 5, 10, 20 … seconds, or after 5 each'),
      ('recover.mode', 'string', null, null, '{resume,fresh}', '"resume"', 'They go on with the ledger of those before, or without')
    ) as k(path, type, least, most, choices, default_value, says);
$$;

comment on function _faculty_keys() is
  'Every key of a faculty. path: "engage.model"; type: string, command (a string), size, list of strings, boolean, whole number, number or table; least and most: of a number, or of the characters of a string (least 1: not blank), most null: 2147483647 of a number; choices: the only strings that it takes; default_value: null: none.';

create or replace function _faculty_takes(p_type text, p_least numeric, p_most numeric, p_choices text[])
  returns text
  language sql
  immutable
  parallel safe
  return case
    when p_choices is not null then regexp_replace(array_to_string(p_choices, ', '), ', ([^,]*)$', ' or \1')
    when p_type in ('whole number', 'number') then format('a %s from %s', p_type, p_least) || coalesce(' to ' || p_most, '')
    when p_type = 'boolean' then 'true or false'
    when p_type = 'size' then 'a size like "512m"'
    when p_type = 'table' then 'a table of keys'
    else 'a ' || p_type
  end;

comment on function _faculty_takes(text, numeric, numeric, text[]) is 'What a key of a faculty takes, in words, from its row of _faculty_keys(): "a whole number from 1".';

create or replace function _faculty_complete(p_given jsonb)
  returns jsonb
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_object_agg(section.key, section.value)
    from (
      select v.path[1], coalesce(jsonb_object_agg(v.path[2], v.value) filter (where v.path[2] is not null), jsonb_agg(v.value) -> 0)
        from (
          select p.path, case jsonb_typeof(f.value) when 'number' then to_jsonb(trim_scale(f.value::numeric)) else f.value end
            from _faculty_keys() k
            cross join lateral (select string_to_array(k.path, '.')) as p(path)
            cross join lateral (select coalesce(nullif(p_given #> p.path, 'null'), k.default_value, 'null')) as f(value)
           where k.type <> 'table') as v(path, value)
       group by v.path[1]) as section(key, value);
$$;

comment on function _faculty_complete(jsonb) is 'A configuration without problems with every key: what is not given, or null, has its default; null: no default.';

-- In plpgsql, whose plan keeps the constant for the session: it takes 2 ms to make.
create or replace function _faculty_defaults()
  returns jsonb
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return _faculty_complete('{}');
end
$$;

comment on function _faculty_defaults() is 'A faculty configuration with every key and its default; null: no default.';
